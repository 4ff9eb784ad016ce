"""What a solver asks of walls, whatever they are made of."""

from typing import Any, Protocol

from viscoil.neighbors.arrays import ParticleArrays
from viscoil.neighbors.scale import Scale
from viscoil.walls.arrays import WallArrays


class Walls(Protocol):
    """All that holds or drives particles in a step.

    The order of a step is `find`, `choose_planes`, `constrain_velocities` as often as a solve needs it,
    then `constrain_positions` (or the functions of `walls.response` inside a solver's own kernels).
    """

    arrays: WallArrays
    """What kernels see of them."""

    @property
    def count(self) -> int:
        """Of the particles that they may touch in this step."""

    def find(
        self, n: int, scale: Scale, near: ParticleArrays, velocity: Any, friction: Any
    ) -> None:
        """Collects those particles; `velocity` is u⁰, `friction` a factor per material."""

    def choose_planes(self, scale: Scale, near: ParticleArrays, velocity: Any) -> None:
        """Looks for walls along the ways of particles with these velocities, u*."""

    def constrain_velocities(
        self,
        scale: Scale,
        near: ParticleArrays,
        velocity: Any,
        *,
        in_solve: bool = False,
        anew: bool = True,
    ) -> None:
        """Takes from velocities what leads into those walls; `in_solve`: they show loads, not ways."""

    def bound_others(self, n: int, scale: Scale, near: ParticleArrays, velocity: Any) -> None:
        """Bounds velocities of the particles that `find` did not collect."""

    def constrain_positions(self, scale: Scale, near: ParticleArrays, place: Any) -> None:
        """Moves the places that particles go to out of the walls."""
