"""Figures that a step reports: what they are called, their unit, and when they mean trouble."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any


@dataclass(frozen=True)
class Figure:
    """A number that a solver reports of every step, in stats.jsonl under `key`."""

    key: str
    label: str
    unit: str = ""
    panel: str | None = None
    """What `viscoil plot` calls the panel that it is drawn in; figures may share one."""
    axis: str = ""
    """What the axis of that panel says; the label unless given."""
    logarithmic: bool = False
    """How that panel's axis is drawn."""
    most: float = math.inf
    """A step with more than this has gone wrong; one that is no number always has."""
    doubtful: float = math.inf
    """A step with more than this, after one with less, is tried with half its length first."""
    aim: float = math.inf
    """What a step should not exceed. A run says at its end in how many it did, and by how much."""
    remedy: str = ""
    """What to do about that."""
    whole: bool = False
    """Whether it counts something, so that its axis has whole numbers."""
    progress: str | None = None
    """How the progress of a run shows it, such as "density error {:.1e}"; None: not at all."""

    def is_trouble(self, value: float) -> bool:
        """Whether the step that reported this value went wrong."""
        return not math.isfinite(value) or value > self.most


def trouble(figures: Iterable[Figure], stats: Mapping[str, Any]) -> str | None:
    """What is wrong with the figures of a step, or None."""
    for figure in figures:
        value = stats.get(figure.key)
        if isinstance(value, int | float) and figure.is_trouble(value):
            return f"{figure.key} is {value:g}"
    return None


def doubtful(figures: Iterable[Figure], stats: Mapping[str, Any]) -> bool:
    """Whether half the step might have done better by one of the figures."""
    return any(stats.get(figure.key, 0.0) > figure.doubtful for figure in figures)


def to_record(figures: Iterable[Figure]) -> list[dict[str, Any]]:
    """For run.json, so that a run can be plotted by a program that does not know its solver."""
    return [
        {key: value for key, value in asdict(figure).items() if value != math.inf}
        for figure in figures
    ]


def from_record(record: Any) -> tuple[Figure, ...]:
    """What run.json says; nothing if it says none, or something else."""
    known = {field.name for field in fields(Figure)}
    try:
        return tuple(Figure(**{k: v for k, v in row.items() if k in known}) for row in record)
    except (TypeError, AttributeError):
        return ()
