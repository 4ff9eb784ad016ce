"""Curves over time from the statistics of runs: what can be plotted, and its numbers."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from viscoil.errors import RunError
from viscoil.outputs.protocol import Array
from viscoil.outputs.stats import read_stats
from viscoil.runs import Run
from viscoil.scene.names import unknown_name

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


def _named(**keys: str) -> Callable[[Mapping[str, Any]], Mapping[str, float]]:
    """Parts that are numbers of the record themselves."""
    return lambda record: {label: _number(record, key) for label, key in keys.items()}


QUANTITIES = {
    "energy": Quantity("kinetic energy", _named(energy="kinetic_energy"), unit="J"),
    "momentum": Quantity("linear momentum", _momentum, "magnitude", "kg m/s"),
    "density-error": Quantity(
        "compression, relative",
        _named(mean="density_error_mean", largest="density_error_max"),
        "mean",
        logarithmic=True,
    ),
    "step-size": Quantity("time step", _named(step="dt"), unit="s"),
    "cost": Quantity("wall time of a step", _cost, "whole step", "s", logarithmic=True),
    "particles": Quantity("particles", _named(particles="particles")),
    "iterations": Quantity(
        "iterations of a step",
        _named(velocity="velocity_iterations", position="position_iterations"),
        "velocity",
    ),
}


def chosen(text: str | None) -> list[str]:
    """The quantities that a user asks for, as in "energy,cost"; all by default."""
    names = [part.strip() for part in text.split(",")] if text else list(QUANTITIES)
    for name in names:
        if name not in QUANTITIES:
            raise RunError(f"{name!r} {unknown_name('quantity to plot', name, QUANTITIES)}")
    return list(dict.fromkeys(names))


def read_curves(paths: Sequence[Path], quantities: Sequence[str]) -> list[Curves]:
    """The curves of each run folder; runs of the same name are told apart by their folders."""
    runs = [Run(path) for path in paths]
    names = [run.name for run in runs]
    labels = [
        run.name if names.count(run.name) == 1 else str(path)
        for run, path in zip(runs, paths, strict=True)
    ]
    return [_curves(run, label, quantities) for run, label in zip(runs, labels, strict=True)]


def _curves(run: Run, name: str, quantities: Sequence[str]) -> Curves:
    path = run.path / "stats.jsonl"
    records = list(read_stats(path)) if path.is_file() else []
    if not records:
        raise RunError(f"{run.path} has no statistics to plot: let the run take a step first")
    time = np.array([_number(record, "time") for record in records])
    values = {name: _columns(QUANTITIES[name], records) for name in quantities}
    return Curves(name, time, values)


def _columns(quantity: Quantity, records: Iterable[Mapping[str, Any]]) -> dict[str, Array]:
    rows = [quantity.parts(record) for record in records]
    names = dict.fromkeys(name for row in rows for name in row)
    columns = {
        name: np.array([row.get(name, math.nan) for row in rows], dtype=np.float64)
        for name in names
    }
    rest = sorted((n for n in columns if n != quantity.main), key=lambda n: -_size(columns[n]))
    shown = [quantity.main, *rest[:MOST_PHASES]]
    return {name: columns[name] for name in columns if name in shown}


def _size(column: Array) -> float:
    """How much a part matters: its typical size."""
    known = np.abs(column[np.isfinite(column)])
    return float(np.median(known)) if len(known) else 0.0
