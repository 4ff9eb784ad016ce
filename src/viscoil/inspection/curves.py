"""Curves over time from the statistics of runs: what can be plotted, and its numbers."""

import math
from array import array
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import repeat
from pathlib import Path
from typing import Any

import numpy as np

from viscoil.core.errors import RunError
from viscoil.core.figures import Figure, from_record
from viscoil.core.names import unknown_name
from viscoil.outputs.stats import read_stats
from viscoil.runs.run import Run
from viscoil.snapshots.snapshot import Array

MOST_PHASES = 5  # curves of a step's phases, the costliest of them


@dataclass(frozen=True)
class Quantity:
    """Something that can be plotted: its axis, and what of a step's figures belongs to it.

    `parts` are curves by name. With several runs only `main` of them is drawn, so that colours can
    tell the runs apart; None if there is only one part.
    """

    label: str
    parts: Callable[[Mapping[str, Any]], Mapping[str, float]]
    main: str | None = None
    unit: str = ""
    logarithmic: bool = False
    whole: bool = False  # whether it counts something


@dataclass(frozen=True)
class Curves:
    """The curves of one run."""

    name: str
    time: Array
    """(n,) s"""
    values: Mapping[str, Mapping[str, Array]]
    """By quantity, then by part: (n,) each; NaN where there is no number."""


def _number(record: Mapping[str, Any], key: str) -> float:
    value = record.get(key)
    return float(value) if isinstance(value, int | float) else math.nan


def _momentum(record: Mapping[str, Any]) -> Mapping[str, float]:
    given = record.get("linear_momentum")
    if not isinstance(given, list) or len(given) != 3 or None in given:
        return {}
    x, y, z = map(float, given)
    return {"magnitude": math.hypot(x, y, z), "x": x, "y": y, "z": z}


def _cost(record: Mapping[str, Any]) -> Mapping[str, float]:
    phases = record.get("milliseconds")
    if not isinstance(phases, dict):
        return {}
    seconds = {name: float(value) / 1000.0 for name, value in phases.items()}
    return {"whole step": sum(seconds.values()), **seconds}


def _named(keys: Mapping[str, str]) -> Callable[[Mapping[str, Any]], Mapping[str, float]]:
    """Parts that are numbers of the record themselves: labels, and the keys that they are under."""
    return lambda record: {label: _number(record, key) for label, key in keys.items()}


QUANTITIES = {
    "energy": Quantity("kinetic energy", _named({"energy": "kinetic_energy"}), unit="J"),
    "momentum": Quantity("linear momentum", _momentum, "magnitude", "kg m/s"),
    "step-size": Quantity("time step", _named({"step": "dt"}), unit="s"),
    "cost": Quantity("wall time of a step", _cost, "whole step", "s", logarithmic=True),
    "particles": Quantity("particles", _named({"particles": "particles"}), whole=True),
}
"""What every run has, whatever its solver."""


def quantities_of(paths: Sequence[Path]) -> dict[str, Quantity]:
    """What can be plotted of these runs: what every run has, and the figures of their solvers."""
    found = dict(QUANTITIES)
    for path in paths:
        for name, figures in _panels(_figures_of(Run(path))).items():
            found.setdefault(name, _quantity(figures))
    return found


def _figures_of(run: Run) -> tuple[Figure, ...]:
    """As run.json says; of a run of an earlier version, those of its solver."""
    if (told := from_record(run.record.get("figures", ()))) or "figures" in run.record:
        return told
    from viscoil.solvers.registry import find_solver

    return find_solver(run.scene.solver.method).figures


def _panels(figures: Sequence[Figure]) -> dict[str, list[Figure]]:
    """Figures by the panel that they share; those without one are not plotted."""
    panels: dict[str, list[Figure]] = {}
    for figure in figures:
        if figure.panel is not None:
            panels.setdefault(figure.panel, []).append(figure)
    return panels


def _quantity(figures: Sequence[Figure]) -> Quantity:
    first = figures[0]
    return Quantity(
        label=first.axis or first.label,
        parts=_named({figure.label: figure.key for figure in figures}),
        main=first.label if len(figures) > 1 else None,
        unit=first.unit,
        logarithmic=first.logarithmic,
        whole=first.whole,
    )


def chosen(text: str | None, known: Mapping[str, Quantity]) -> dict[str, Quantity]:
    """The quantities that a user asks for, as in "energy,cost"; all that are known by default."""
    names = [part.strip() for part in text.split(",")] if text else list(known)
    for name in names:
        if name not in known:
            raise RunError(f"{name!r} {unknown_name('quantity to plot', name, known)}")
    return {name: known[name] for name in names}


def read_curves(paths: Sequence[Path], quantities: Mapping[str, Quantity]) -> list[Curves]:
    """The curves of each run folder; runs of the same name are told apart by their folders."""
    runs = [Run(path) for path in paths]
    names = [run.name for run in runs]
    labels = [
        run.name if names.count(run.name) == 1 else str(path)
        for run, path in zip(runs, paths, strict=True)
    ]
    return [_curves(run, label, quantities) for run, label in zip(runs, labels, strict=True)]


def _curves(run: Run, name: str, quantities: Mapping[str, Quantity]) -> Curves:
    path = run.path / "stats.jsonl"
    time, columns = array("d"), {name: _Columns() for name in quantities}
    for record in read_stats(path) if path.is_file() else ():
        time.append(_number(record, "time"))
        for quantity, found in columns.items():
            found.append(quantities[quantity].parts(record))
    if not time:
        raise RunError(f"{run.path} has no statistics to plot: let the run take a step first")
    values = {n: _shown(quantities[n], found.arrays()) for n, found in columns.items()}
    return Curves(name, np.asarray(time), values)


class _Columns:
    """Numbers by name, a row at a time, since a run may have millions of steps."""

    def __init__(self) -> None:
        self._rows = 0
        self._columns: dict[str, array[float]] = {}

    def append(self, row: Mapping[str, float]) -> None:
        """Adds a row; a name that comes late, or is left out, has NaN there."""
        for name, value in row.items():
            column = self._columns.setdefault(name, array("d"))
            column.extend(repeat(math.nan, self._rows - len(column)))
            column.append(value)
        self._rows += 1

    def arrays(self) -> dict[str, Array]:
        """(rows,) each."""
        for column in self._columns.values():
            column.extend(repeat(math.nan, self._rows - len(column)))
        return {name: np.asarray(column) for name, column in self._columns.items()}


def _shown(quantity: Quantity, columns: Mapping[str, Array]) -> dict[str, Array]:
    """The main part, and the largest of the others."""
    rest = sorted((n for n in columns if n != quantity.main), key=lambda n: -_size(columns[n]))
    shown = [quantity.main, *rest[:MOST_PHASES]]
    return {name: columns[name] for name in columns if name in shown}


def _size(column: Array) -> float:
    """How much a part matters: its typical size."""
    known = np.abs(column[np.isfinite(column)])
    return float(np.median(known)) if len(known) else 0.0
