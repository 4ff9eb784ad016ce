"""When something in a scene acts, and on what."""

from collections.abc import Iterator

from viscoil.scene._base import Model, NonNegative, Positive, Problem


class Timed(Model):
    """What acts for a while."""

    start: NonNegative = 0.0
    """When it begins, s."""
    stop: Positive | None = None
    """When it ends, s; without it, never."""

    def _problems(self) -> Iterator[Problem]:
        yield from super()._problems()
        if self.stop is not None and self.stop <= self.start:
            yield ("stop",), f"must be later than start ({self.start:g})", self.stop


class Limited(Timed):
    """What acts for a while, on some materials."""

    materials: tuple[str, ...] = ()
    """Names of the materials that it acts on; all of them unless given."""


def overlap(start: float, stop: float | None, time: float, dt: float) -> float:
    """The share of the step of `dt` from `time` on that lies between start and stop (s)."""
    end = time + dt if stop is None else min(stop, time + dt)
    return min(max((end - max(start, time)) / dt, 0.0), 1.0)
