"""What forces can do to a particle at most, by which the length of a step is chosen."""

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Drive:
    """The most that fields, gravity aside, can do to a particle."""

    acceleration: float = 0.0  # m/s², whatever its velocity
    drag: float = 0.0  # m/s²: by the winds on a particle at rest
    wind: float = 0.0  # m/s: the fastest velocity that it is dragged to


def joined(drives: Iterable[Drive]) -> Drive:
    """What several forces can do together."""
    found = list(drives)
    return Drive(
        acceleration=sum(d.acceleration for d in found),
        drag=sum(d.drag for d in found),
        wind=max((d.wind for d in found), default=0.0),
    )
