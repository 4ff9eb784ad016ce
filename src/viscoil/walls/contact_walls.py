"""Distance walls: the colliders and nozzles of a simulation, and the contacts of the current step."""

from collections.abc import Sequence
from typing import Any

import quadrants as qd

from viscoil.bodies.arrays import BodyArrays
from viscoil.bodies.arrays import allocate as allocate_bodies
from viscoil.colliders.arrays import ColliderArrays
from viscoil.constraints.density import WALL_TABLE, wall_table
from viscoil.core.compute import scalars, write
from viscoil.core.reductions import block_count, exclusive_scan
from viscoil.emitters.nozzles import EmitterFrame
from viscoil.neighbors.arrays import ParticleArrays
from viscoil.neighbors.scale import Scale
from viscoil.neighbors.smoothing import Smoothing
from viscoil.walls import body_positions, body_velocities, planes, search
from viscoil.walls.arrays import WallArrays, make_contacts, make_nozzles


class ContactWalls:
    """Walls that are distances: they clamp velocities and push places out (see the room's page)."""

    def __init__(
        self,
        colliders: ColliderArrays,
        collider_count: int,
        smoothing: Smoothing,
        support: float,
        bodies: BodyArrays | None = None,
        body_count: int = 0,
    ) -> None:
        """`support` is h in spacings; `bodies` are the colliders that are tracked."""
        density = scalars(qd.f32, WALL_TABLE + 1)
        write(density, wall_table(smoothing, support))
        self.arrays = WallArrays(
            colliders=colliders,
            count=collider_count,
            nozzles=make_nozzles([]),
            nozzle_count=0,
            bodies=bodies or allocate_bodies(collider_count, 0),
            body_count=body_count,
            contacts=make_contacts(1, body_count),
            density=density,
            coupled=body_count > 0,
        )
        self._marks: Any = scalars(qd.i32, 1)
        self._sums: Any = scalars(qd.i32, 1)

    @property
    def count(self) -> int:
        """Of contacts."""
        return int(self.arrays.contacts.count)

    def set_nozzles(self, frames: Sequence[EmitterFrame]) -> None:
        """The nozzles in which particles move as their emitters say."""
        self.arrays.nozzles = make_nozzles(frames)
        self.arrays.nozzle_count = len(frames)

    def find(
        self, n: int, scale: Scale, near: ParticleArrays, velocity: Any, friction: Any
    ) -> None:
        """Collects the particles that may touch a wall in this step, or are driven.

        `friction` holds a factor per material.
        """
        room = near.contact.shape[0] + 1
        if self._marks.shape[0] != room:
            self._marks = scalars(qd.i32, room)
            self._sums = scalars(qd.i32, block_count(room))
        search.mark(n, scale, near, self.arrays, velocity, self._marks)
        count = exclusive_scan(n, self._marks, self._sums, self._marks)
        if self.arrays.contacts.particle.shape[0] < count:
            self.arrays.contacts = make_contacts(int(count * 1.2), self.arrays.body_count)
        self.arrays.contacts.count = count
        search.collect(n, scale, near, self.arrays, friction, self._marks)
        search.survey(count, scale, near, self.arrays)
        if self.arrays.coupled:
            body_velocities.place_bodies(scale.dt, self.arrays)

    def choose_planes(self, scale: Scale, near: ParticleArrays, velocity: Any) -> None:
        """Says which planes walls are to particles that would go with these velocities."""
        if self.count:
            planes.choose_planes(self.count, scale, near, self.arrays, velocity)

    def constrain_velocities(
        self,
        scale: Scale,
        near: ParticleArrays,
        velocity: Any,
        *,
        in_solve: bool = False,
        anew: bool = True,
    ) -> None:
        """Takes from velocities what leads into walls, and moves bodies with them.

        `in_solve`: they show what the forces of a solve ask for (see `planes.hold`).
        `anew`: they are those without any contact (see `body_velocities.move_together`).
        """
        if self.count:
            planes.hold_velocities(self.count, int(in_solve), scale, near, self.arrays, velocity)
        if self.arrays.coupled:
            body_velocities.move_together(scale.dt, int(anew), near, self.arrays, velocity)

    def bound_others(self, n: int, scale: Scale, near: ParticleArrays, velocity: Any) -> None:
        """Particles that are in no contact stay in none, however forces drive them."""
        if self.arrays.count:
            search.bound_others(n, scale, near, self.arrays, velocity)

    def constrain_positions(self, scale: Scale, near: ParticleArrays, place: Any) -> None:
        """Moves the places that particles go to out of the walls, and bodies by the opposite."""
        if self.count:
            body_positions.constrain_positions(self.count, scale, near, self.arrays, place)
