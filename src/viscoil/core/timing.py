"""How long each phase of a step takes."""

import time
from collections.abc import Iterator
from contextlib import contextmanager


class PhaseClock:
    """Adds up wall-clock milliseconds per named phase until `take` empties it."""

    def __init__(self) -> None:
        self._milliseconds: dict[str, float] = {}

    @contextmanager
    def __call__(self, phase: str) -> Iterator[None]:
        begin = time.perf_counter()
        try:
            yield
        finally:
            spent = (time.perf_counter() - begin) * 1e3
            self._milliseconds[phase] = self._milliseconds.get(phase, 0.0) + spent

    def take(self) -> dict[str, float]:
        """The phases since the last call."""
        taken, self._milliseconds = self._milliseconds, {}
        return {phase: round(spent, 3) for phase, spent in taken.items()}
