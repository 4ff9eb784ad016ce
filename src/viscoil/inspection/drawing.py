"""Plots of curves with matplotlib: one panel a quantity, time along the bottom."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from viscoil.core.errors import MissingExtraError, RunError
from viscoil.core.files import replacing
from viscoil.inspection.curves import Curves, Quantity
from viscoil.snapshots.snapshot import Array

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

KINDS = (".png", ".svg", ".pdf")
PANEL = (5.4, 2.7)  # inches
MOST_POINTS = 3000  # of a curve; more cannot be told apart on a page
# Okabe and Ito's colours, which can be told apart without seeing red or green, darkest first.
COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")


def check_path(path: Path) -> None:
    """Raises RunError for a file that cannot be a plot."""
    if path.suffix.lower() not in KINDS:
        raise RunError(f"{path} is no name for a plot: let it end in .png, .svg or .pdf")
    if path.is_dir() or not path.parent.is_dir():
        raise RunError(
            f"{path} cannot be written: give the name of a file in a folder that is there"
        )


def draw(curves: Sequence[Curves], quantities: Mapping[str, Quantity], path: Path) -> None:
    """Writes a plot of the quantities of one or several runs, whole or not at all."""
    check_path(path)
    figure = _figure(curves, quantities)
    # without the date and with names that do not change, equal curves give equal files
    dated = {".svg": {"Date": None}, ".pdf": {"CreationDate": None}}.get(path.suffix.lower())
    from matplotlib import rc_context

    with replacing(path) as part, rc_context({"svg.hashsalt": "viscoil"}):
        figure.savefig(part, dpi=150, metadata=dated)


def _figure(curves: Sequence[Curves], quantities: Mapping[str, Quantity]) -> "Figure":
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise MissingExtraError(
            "plots need matplotlib, which is not here: pip install 'viscoil[plot]'"
        ) from error
    columns = 1 if len(quantities) == 1 else 2
    rows = -(-len(quantities) // columns)
    figure = Figure(figsize=(PANEL[0] * columns, PANEL[1] * rows + 0.4), layout="constrained")
    panels = figure.subplots(rows, columns, squeeze=False, sharex=True).flatten()
    for (name, quantity), panel in zip(quantities.items(), panels, strict=False):
        _panel(panel, name, quantity, curves)
    _tidy(panels, len(quantities), columns)
    _title(figure, panels[0], curves)
    return figure


def _panel(panel: "Axes", name: str, quantity: Quantity, curves: Sequence[Curves]) -> None:
    for k, run in enumerate(curves):
        parts = run.values[name]
        for j, (part, values) in enumerate(parts.items()):
            if len(curves) == 1 or part == (quantity.main or part):
                color = COLORS[(k if len(curves) > 1 else j) % len(COLORS)]
                label = run.name if len(curves) > 1 else part
                style = "-" if k < len(COLORS) else "--"
                _line(panel, run.time, values, color=color, label=label, linestyle=style)
    panel.set_title(_heading(quantity, len(curves) > 1), loc="left", fontsize=10)
    _axis(panel, name, quantity)
    if len(curves) == 1 and len(panel.lines) > 1:
        panel.legend(fontsize=8, frameon=False, ncols=2)


def _line(panel: "Axes", time: Array, values: Array, **how: Any) -> None:
    panel.plot(*reduced(time, values), linewidth=1.2, **how)


def _heading(quantity: Quantity, main_only: bool) -> str:
    """What a panel shows, and its unit where that is not beside the numbers."""
    part = f" ({quantity.main})" if main_only and quantity.main else ""
    unit = f" [{quantity.unit}]" if quantity.unit and not _has_prefixes(quantity.unit) else ""
    return f"{quantity.label}{part}{unit}"


def _has_prefixes(unit: str) -> bool:
    """Whether numbers are written as in 2 ms; products of units are not."""
    return " " not in unit


def _axis(panel: "Axes", name: str, quantity: Quantity) -> None:
    """Scale and numbers; letters before the unit keep them short: 2 ms, not 0.002 s."""
    from matplotlib.ticker import EngFormatter, MaxNLocator, NullFormatter

    panel.spines[["top", "right"]].set_visible(False)
    panel.grid(alpha=0.25, linewidth=0.6)
    panel.margins(x=0.01, y=0.1)
    if quantity.logarithmic and _has_positive(panel):
        panel.set_yscale("log", nonpositive="mask")
        panel.yaxis.set_minor_formatter(NullFormatter())
    else:
        panel.yaxis.set_major_locator(MaxNLocator(5, integer=quantity.whole))
        if name != "momentum":
            panel.set_ylim(bottom=0.0)
    if quantity.unit and _has_prefixes(quantity.unit):
        panel.yaxis.set_major_formatter(EngFormatter(unit=quantity.unit))
    elif name == "particles":
        panel.yaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")


def _has_positive(panel: "Axes") -> bool:
    return any(np.any(np.asarray(line.get_ydata()) > 0.0) for line in panel.lines)


def _tidy(panels: Any, used: int, columns: int) -> None:
    """Takes away panels that are empty, and names the time axis under those that are lowest."""
    for panel in panels[used:]:
        panel.remove()
    for panel in panels[max(used - columns, 0) : used]:
        panel.set_xlabel("time [s]")
        panel.tick_params(labelbottom=True)


def _title(figure: "Figure", panel: "Axes", curves: Sequence[Curves]) -> None:
    if len(curves) == 1:
        figure.suptitle(curves[0].name, fontsize=12, x=0.01, ha="left")
        return
    handles, labels = panel.get_legend_handles_labels()
    figure.legend(
        handles, labels, loc="outside upper left", ncols=min(len(labels), 4), frameon=False
    )


def reduced(time: Array, values: Array) -> tuple[Array, Array]:
    """A long curve by the least and the largest value in each of many parts, which keeps peaks."""
    if len(time) <= MOST_POINTS:
        return time, values
    parts = np.array_split(np.arange(len(time)), MOST_POINTS // 2)
    kept: list[int] = []
    for part in parts:
        known = part[np.isfinite(values[part])]
        if len(known):
            kept += sorted({int(known[values[known].argmin()]), int(known[values[known].argmax()])})
    return time[kept], values[kept]
