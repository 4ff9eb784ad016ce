"""What a run says at its end of steps that did not go as they should have."""

from collections.abc import Mapping, Sequence
from typing import Any

from viscoil.core import progress
from viscoil.core.figures import Figure

MARGIN = 1.001  # figures that were stopped at their aim are within it but for rounding


class Hindsight:
    """Looks at the figures of each step, and has a sentence for what was not as it should be."""

    def __init__(self, figures: Sequence[Figure]) -> None:
        self._figures = figures
        self._steps = 0
        self._shortened: list[float] = []  # times of the steps that went wrong at first, s
        self._missed: dict[str, list[float]] = {}  # by figure, what was beyond its aim

    def take(self, time: float, stats: Mapping[str, Any]) -> None:
        """A step that ended at this time (s)."""
        self._steps += 1
        if stats.get("halvings"):
            self._shortened.append(time)
        for figure in self._figures:
            value = stats.get(figure.key, 0.0)
            if value > MARGIN * figure.aim:
                self._missed.setdefault(figure.key, []).append(value)

    def notes(self) -> list[str]:
        """The sentences; none if all is well."""
        return self._shortened_note() + [
            self._missed_note(f) for f in self._figures if f.key in self._missed
        ]

    def _shortened_note(self) -> list[str]:
        times = self._shortened
        if not times:
            return []
        return [
            f"{progress.counted(len(times), 'step')} went wrong at first and were taken again with half "
            f"the length or less, the first at {times[0]:.4g} s: look there whether all is well, or "
            "make simulation.max_time_step shorter"
        ]

    def _missed_note(self, figure: Figure) -> str:
        missed = self._missed[figure.key]
        return (
            f"{figure.key} was above {figure.aim:g} in {len(missed)} of {self._steps} steps, up to "
            f"{max(missed):.2g}: {figure.remedy}"
        )
