"""The colliders and nozzles of a simulation, and the contacts of the current step."""

from collections.abc import Sequence
from typing import Any

import quadrants as qd

from viscoil.bodies.arrays import BodyArrays
from viscoil.bodies.arrays import allocate as allocate_bodies
from viscoil.colliders.arrays import ColliderArrays
from viscoil.compute import scalars
from viscoil.emitters.nozzles import EmitterFrame
from viscoil.reductions import block_count, exclusive_scan
from viscoil.solvers.contact.response import constrain_velocities
from viscoil.solvers.contact.search import collect, find_shields, mark, rein_in
from viscoil.solvers.contact.walls import Walls, make_contacts, make_nozzles
from viscoil.solvers.tables import Scale
from viscoil.solvers.workspace import Fluid


class Boundary:
    """Colliders and nozzles of a simulation, and the contacts of the current step."""

    def __init__(
        self, colliders: ColliderArrays, collider_count: int, bodies: BodyArrays | None = None,
        body_count: int = 0,
    ) -> None:  # fmt: skip
        bodies = bodies or allocate_bodies(collider_count, 0)
        self.walls = Walls(colliders, collider_count, make_nozzles([]), 0, bodies, body_count)
        self.contacts = make_contacts(1, body_count)
        self._marks: Any = scalars(qd.i32, 1)
        self._sums: Any = scalars(qd.i32, 1)

    @property
    def count(self) -> int:
        """Of contacts."""
        return int(self.contacts.count)

    @property
    def coupled(self) -> bool:
        """Whether any collider is told, or moved by, what it does to the fluid."""
        return int(self.walls.body_count) > 0

    def set_nozzles(self, frames: Sequence[EmitterFrame]) -> None:
        self.walls.nozzles = make_nozzles(frames)
        self.walls.nozzle_count = len(frames)

    def find(
        self, n: int, periodic: bool, scale: Scale, fluid: Fluid, velocity: Any, friction: Any
    ) -> None:
        """Collects the particles that may touch a wall in this step, or are driven.

        `friction` holds a factor per material.
        """
        room = fluid.wall.shape[0] + 1
        if self._marks.shape[0] != room:
            self._marks = scalars(qd.i32, room)
            self._sums = scalars(qd.i32, block_count(room))
        mark(n, self.coupled, scale, self.walls, fluid, velocity, self._marks)
        count = exclusive_scan(n, self._marks, self._sums, self._marks)
        if self.contacts.particle.shape[0] < count:
            self.contacts = make_contacts(int(count * 1.2), self.walls.body_count)
        self.contacts.count = count
        collect(n, self.coupled, scale, self.walls, fluid, friction, self._marks, self.contacts)
        find_shields(self.count, periodic, scale, self.walls, fluid, self.contacts)

    def constrain_velocities(
        self, scale: Scale, fluid: Fluid, velocity: Any, through_stress: bool
    ) -> bool:
        """Whether any contact opened or closed; `through_stress` leaves particles to those below."""
        if not self.count:
            return False
        changed = constrain_velocities(
            self.count, self.coupled, int(through_stress), scale, self.walls, self.contacts, fluid,
            velocity,
        )  # fmt: skip
        return int(changed) > 0

    def rein_in(self, n: int, scale: Scale, fluid: Fluid, velocity: Any) -> None:
        """Particles that are in no contact stay in none, however forces and stresses drive them."""
        if self.walls.count:
            rein_in(n, scale, self.walls, fluid, velocity)
