# mypy: disable-error-code="valid-type,no-untyped-def,no-untyped-call,misc"
"""Walls and nozzles inside the projections.

A particle is a ball of diameter d: it touches a wall at the distance d/2. Those near a wall, and
those driven inside a nozzle, are collected into a short list once per step, so that contact costs
nothing elsewhere. Contact takes part in both projections: if it acted on positions only, a fast body
would pile several layers of particles onto a wall in one step.

In the linear velocity projection a contact takes away degrees of freedom (`free_part`): all of them
where it sticks, the normal one where it slides. A wall never pulls.
"""

import dataclasses
import enum
from collections.abc import Sequence
from typing import Any

import numpy as np
import quadrants as qd

from viscoil.colliders.arrays import ColliderArrays, distance_and_normal, surface_velocity
from viscoil.colliders.primitives import Contact
from viscoil.compute import Floats, Ints, Vec3s, scalars, vec3, vec4, vectors, write
from viscoil.constraints.density import wall_share
from viscoil.emitters import EmitterFrame
from viscoil.neighbors import PairList, Period, separation
from viscoil.reductions import block_count, exclusive_scan
from viscoil.solvers.tables import Scale
from viscoil.solvers.workspace import Fluid


class Mode(enum.IntEnum):
    """What a contact leaves of a particle's freedom; cached kernels hold the values."""

    FREE = 0
    SLIDING = 1
    FIXED = 2


@dataclasses.dataclass
class Nozzles:
    """Zones in which particles move as an emitter says; one entry per emitter."""

    origin: Vec3s  # m
    direction: Vec3s
    width_axis: Vec3s
    height_axis: Vec3s
    half_width: Floats  # m
    half_height: Floats  # m
    is_disc: Ints
    run_in: Floats  # m
    speed: Floats  # m/s


@dataclasses.dataclass
class Walls:
    """All that holds or drives particles."""

    colliders: ColliderArrays
    count: qd.i32  # of colliders
    nozzles: Nozzles
    nozzle_count: qd.i32


@dataclasses.dataclass
class Contacts:
    """The particles near walls or in nozzles; one entry each."""

    particle: Ints
    mode: Ints  # a Mode
    nozzle: Ints  # index of the nozzle that drives it, -1 if none
    normal: Vec3s  # of the wall it slides on
    push: Floats  # m: how far walls have pushed it out in this step
    shielded: Ints  # 1: other particles lie between it and the wall
    height: Floats  # m: distance to the nearest wall at the start of the step
    friction: Floats  # factor of its material on the walls' friction


@qd.func
def free_part(contact: qd.i32, contacts: Contacts, v: vec3) -> vec3:
    """What remains of a velocity change for a particle with this contact (-1: none)."""
    free = v
    if contact >= 0:
        mode = contacts.mode[contact]
        if mode == Mode.FIXED:
            free = vec3(0.0)
        elif mode == Mode.SLIDING:
            n = contacts.normal[contact]
            free = v - n.dot(v) * n
    return free


@qd.func
def is_driven(contact: qd.i32, contacts: Contacts) -> bool:
    """Whether a nozzle prescribes the motion of the particle with this contact (-1: none)."""
    driven = False
    if contact >= 0:
        driven = contacts.nozzle[contact] >= 0
    return driven


@qd.func
def nozzle_of(walls: Walls, margin: qd.f32, x: vec3) -> qd.i32:
    """The nozzle in whose run-in zone x lies, or -1."""
    found = -1
    for e in range(walls.nozzle_count):
        r = x - walls.nozzles.origin[e]
        along = r.dot(walls.nozzles.direction[e])
        u = qd.abs(r.dot(walls.nozzles.width_axis[e]))
        v = qd.abs(r.dot(walls.nozzles.height_axis[e]))
        inside = (
            u < walls.nozzles.half_width[e] + margin and v < walls.nozzles.half_height[e] + margin
        )
        if walls.nozzles.is_disc[e] == 1:
            radius = walls.nozzles.half_width[e] + margin
            inside = u * u + v * v < radius * radius
        if inside and along < 0.0 and along > -walls.nozzles.run_in[e] - 2.0 * margin:
            found = e
    return found


@qd.kernel(fastcache=True)
def _mark(
    n: qd.i32,
    scale: Scale,
    walls: Walls,
    position: Vec3s,
    velocity: Vec3s,
    marks: Ints,
):
    for i in range(n):
        x = position[i]
        reach = scale.support + scale.dt * velocity[i].norm()
        near = nozzle_of(walls, 0.5 * scale.spacing, x) >= 0
        for k in range(walls.count):
            if distance_and_normal(walls.colliders, k, x)[3] < reach:
                near = True
        marks[i] = qd.cast(near, qd.i32)


@qd.kernel(fastcache=True)
def _collect(
    n: qd.i32,
    scale: Scale,
    walls: Walls,
    fluid: Fluid,
    friction: Floats,
    offsets: Ints,
    contacts: Contacts,
):
    """Fills the list from the offsets, which are the scanned marks."""
    for i in range(n):
        c = offsets[i]
        fluid.wall[i] = -1
        if offsets[i + 1] > c:
            fluid.wall[i] = c
            nozzle = nozzle_of(walls, 0.5 * scale.spacing, fluid.position[i])
            contacts.particle[c] = i
            contacts.nozzle[c] = nozzle
            contacts.mode[c] = Mode.FREE
            contacts.normal[c] = vec3(0.0)
            contacts.push[c] = 0.0
            contacts.friction[c] = friction[fluid.material[i]]


@qd.kernel(fastcache=True)
def _find_shields(
    count: qd.i32,
    periodic: qd.template(),
    scale: Scale,
    walls: Walls,
    pairs: PairList,
    period: Period,
    position: Vec3s,
    contacts: Contacts,
):
    """A particle is shielded if it does not touch the wall and another is between them."""
    for c in range(count):
        i = contacts.particle[c]
        nearest = vec4(0.0, 0.0, 0.0, 1e30)
        for k in range(walls.count):
            at = distance_and_normal(walls.colliders, k, position[i])
            if at[3] < nearest[3]:
                nearest = at
        n = vec3(nearest[0], nearest[1], nearest[2])
        shielded = 0
        if nearest[3] > scale.spacing:
            for k in range(pairs.start[i], pairs.start[i + 1]):
                x = separation(periodic, period, position[i], position[pairs.neighbor[k]])
                if x.dot(n) > 0.7 * x.norm() and x.norm() < 1.5 * scale.spacing:
                    shielded = 1
        contacts.shielded[c] = shielded
        contacts.height[c] = nearest[3]


@qd.func
def resting_distance(scale: Scale, height: qd.f32) -> qd.f32:
    """How near to a wall a particle may come: d/2, and a little more the higher it was.

    When several layers are about to cross a wall in one step they keep their order instead of
    landing on top of each other.
    """
    return 0.5 * scale.spacing + 0.05 * qd.max(height - 0.5 * scale.spacing, 0.0)


@qd.func
def wall_density(y: vec3, support: qd.f32, walls: Walls, table: Floats) -> vec4:
    """(∇γ, γ) at y: the share of the smoothing function behind the walls, and its gradient."""
    outside = 1.0
    gradient = vec3(0.0)
    for k in range(walls.count):
        at = distance_and_normal(walls.colliders, k, y)
        share = wall_share(at[3], support, table)
        if share[0] > 0.0:
            left = qd.max(1.0 - share[0], 0.05)
            outside *= left
            gradient += share[1] / left * vec3(at[0], at[1], at[2])
    gradient *= outside
    return vec4(gradient[0], gradient[1], gradient[2], 1.0 - outside)


@qd.func
def wall_ahead(
    colliders: ColliderArrays, k: qd.i32, spacing: qd.f32, start: vec3, end: vec3
) -> vec4:
    """Normal and distance of collider k for a particle that goes from `start` to `end`.

    A particle that was outside and ends deep inside, or beyond, is held by the side it came from:
    the nearest side may be the far one of a thin plate.
    """
    at = distance_and_normal(colliders, k, end)
    origin = distance_and_normal(colliders, k, start)
    n = vec3(origin[0], origin[1], origin[2])
    flat = origin[3] + n.dot(end - start)
    turned = n.dot(vec3(at[0], at[1], at[2])) < 0.0
    if origin[3] > 0.0 and flat < 0.0 and (turned or at[3] < -spacing):
        at = vec4(n[0], n[1], n[2], flat)
    return at


@qd.kernel(fastcache=True)
def constrain_velocities(
    count: qd.i32,
    through_stress: qd.i32,
    scale: Scale,
    walls: Walls,
    contacts: Contacts,
    position: Vec3s,
    velocity: Vec3s,
) -> qd.i32:
    """Clamps u so that x⁰ + Δt u stays outside, and notes what freedom is left.

    Returns for how many particles that changed.

    Shielded particles are left to the stress: the layers below stop them. Holding them too would
    ask the fluid to be flattened and to keep its shape at once.
    """
    changed = 0
    for c in range(count):
        i = contacts.particle[c]
        u = velocity[i]
        mode = qd.cast(Mode.FREE, qd.i32)
        push = 0.0
        if contacts.nozzle[c] >= 0:
            e = contacts.nozzle[c]
            u = walls.nozzles.speed[e] * walls.nozzles.direction[e]
            mode = Mode.FIXED
        else:
            for k in range(walls.count):
                predicted = position[i] + scale.dt * u
                at = wall_ahead(walls.colliders, k, scale.spacing, position[i], predicted)
                gap = at[3] - resting_distance(scale, contacts.height[c])
                if gap < 0.0 and (contacts.shielded[c] == 0 or through_stress == 0):
                    n = vec3(at[0], at[1], at[2])
                    if -gap > push:
                        push = -gap
                        contacts.normal[c] = n
                    u -= gap / scale.dt * n
                    slip = u - surface_velocity(walls.colliders, k, predicted)
                    slip -= slip.dot(n) * n
                    kind = walls.colliders.contact[k]
                    grip = contacts.friction[c] * walls.colliders.friction[k] * (-gap / scale.dt)
                    if kind == Contact.STICKY or (kind == Contact.FRICTION and slip.norm() <= grip):
                        u -= slip
                        mode = Mode.FIXED
                    else:
                        if kind == Contact.FRICTION:
                            u -= grip / slip.norm() * slip
                        mode = qd.max(mode, qd.cast(Mode.SLIDING, qd.i32))
        velocity[i] = u
        if contacts.mode[c] != mode:
            changed += 1
        contacts.mode[c] = mode
        contacts.push[c] = push
    return changed


@qd.func
def push_out(
    c: qd.i32,
    y: vec3,
    scale: Scale,
    walls: Walls,
    contacts: Contacts,
    position: Vec3s,
    shift: Vec3s,
) -> vec3:
    """y of the particle with contact c, out of the walls.

    Sticking and friction act on the displacement along them. A shift into the wall is taken back
    first: undoing it must not become a velocity.
    """
    i = contacts.particle[c]
    out = y
    shifted = shift[i]
    if contacts.nozzle[c] >= 0:
        e = contacts.nozzle[c]
        shifted = vec3(0.0)
        out = position[i] + scale.dt * walls.nozzles.speed[e] * walls.nozzles.direction[e]
    else:
        for k in range(walls.count):
            at = wall_ahead(walls.colliders, k, scale.spacing, position[i], out)
            gap = at[3] - resting_distance(scale, contacts.height[c])
            kind = walls.colliders.contact[k]
            touching = 0.0
            if kind == Contact.STICKY:
                touching = 0.02 * scale.spacing  # a stuck layer stays stuck while it breathes
            if gap < touching:
                n = vec3(at[0], at[1], at[2])
                inward = qd.min(shifted.dot(n), 0.0)
                shifted -= inward * n
                depth = qd.max(inward - gap, 0.0)
                contacts.push[c] = contacts.push[c] + depth
                out += (depth - inward) * n
                slip = out - shifted - position[i]
                slip -= scale.dt * surface_velocity(walls.colliders, k, out)
                slip -= slip.dot(n) * n
                if kind == Contact.STICKY:
                    out -= slip
                elif kind == Contact.FRICTION:
                    length = slip.norm()
                    friction = contacts.friction[c] * walls.colliders.friction[k]
                    if length <= friction * contacts.push[c]:
                        out -= slip
                    else:
                        out -= qd.min(1.0, friction * depth / length) * slip
    shift[i] = shifted
    return out


class Boundary:
    """Colliders and nozzles of a simulation, and the contacts of the current step."""

    def __init__(self, colliders: ColliderArrays, collider_count: int) -> None:
        self.walls = Walls(colliders, collider_count, _make_nozzles([]), 0)
        self.contacts = _make_contacts(1)
        self.count = 0
        self._marks: Any = scalars(qd.i32, 1)
        self._sums: Any = scalars(qd.i32, 1)

    def set_nozzles(self, frames: Sequence[EmitterFrame]) -> None:
        self.walls.nozzles = _make_nozzles(frames)
        self.walls.nozzle_count = len(frames)

    def find(
        self, n: int, periodic: bool, scale: Scale, fluid: Fluid, velocity: Any, friction: Any
    ) -> None:
        """Collects the particles that may touch a wall in this step, or are driven.

        `friction` holds a factor per material.
        """
        position, wall = fluid.position, fluid.wall
        if self._marks.shape[0] < wall.shape[0] + 1:
            self._marks = scalars(qd.i32, wall.shape[0] + 1)
            self._sums = scalars(qd.i32, block_count(wall.shape[0] + 1))
        _mark(n, scale, self.walls, position, velocity, self._marks)
        self.count = exclusive_scan(n, self._marks, self._sums, self._marks)
        if self.contacts.particle.shape[0] < self.count:
            self.contacts = _make_contacts(int(self.count * 1.2))
        _collect(n, scale, self.walls, fluid, friction, self._marks, self.contacts)
        _find_shields(
            self.count, periodic, scale, self.walls, fluid.pairs, fluid.period, position,
            self.contacts,
        )  # fmt: skip

    def constrain_velocities(
        self, scale: Scale, position: Any, velocity: Any, through_stress: bool
    ) -> bool:
        """Whether any contact opened or closed; `through_stress` leaves particles to those below."""
        if not self.count:
            return False
        changed = constrain_velocities(
            self.count, through_stress, scale, self.walls, self.contacts, position, velocity,
        )  # fmt: skip
        return int(changed) > 0


def _make_contacts(count: int) -> Contacts:
    return Contacts(
        particle=scalars(qd.i32, count),
        mode=scalars(qd.i32, count),
        nozzle=scalars(qd.i32, count),
        normal=vectors(3, count),
        push=scalars(qd.f32, count),
        shielded=scalars(qd.i32, count),
        height=scalars(qd.f32, count),
        friction=scalars(qd.f32, count),
    )


def _make_nozzles(frames: Sequence[EmitterFrame]) -> Nozzles:
    count = len(frames)
    nozzles = Nozzles(
        origin=vectors(3, count),
        direction=vectors(3, count),
        width_axis=vectors(3, count),
        height_axis=vectors(3, count),
        half_width=scalars(qd.f32, count),
        half_height=scalars(qd.f32, count),
        is_disc=scalars(qd.i32, count),
        run_in=scalars(qd.f32, count),
        speed=scalars(qd.f32, count),
    )
    for name in ("origin", "direction", "width_axis", "height_axis", "is_disc", "run_in", "speed"):
        write(getattr(nozzles, name), np.array([getattr(frame, name) for frame in frames]))
    write(nozzles.half_width, np.array([frame.half_size[0] for frame in frames]))
    write(nozzles.half_height, np.array([frame.half_size[1] for frame in frames]))
    return nozzles
