"""What forces can do to a particle at most, by which the length of a step is chosen."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Drive:
    """The most that fields, gravity aside, can do to a particle."""

    acceleration: float = 0.0  # m/s², whatever its velocity
    drag: float = 0.0  # m/s²: by the winds on a particle at rest
    wind: float = 0.0  # m/s: the fastest velocity that it is dragged to
