# mypy: disable-error-code="valid-type,no-untyped-def,no-untyped-call,misc"
"""Walls and nozzles inside the projections.

A particle is a ball of diameter d, its spacing: it touches a wall at the distance d/2. Those near a
wall, and those driven inside a nozzle, are collected into a short list once per step, so that contact
costs nothing elsewhere. Contact takes part in both projections: if it acted on positions only, a fast
body would pile several layers of particles onto a wall in one step.

In the linear velocity projection a contact takes away degrees of freedom (`free_part`): all of them
where it sticks, the normal one where it slides. A wall never pulls.

Where colliders are tracked (`coupled`), what they do to particles is noted as impulses, which move
dynamic bodies in return (`coupling`). Pushes then point along the normal at the start of the step: with
arms of that time too they keep the angular momentum, and put no torque on a smooth ball (as in SHAKE).
"""

import dataclasses
import enum
from collections.abc import Sequence
from typing import Any

import numpy as np
import quadrants as qd

from viscoil.bodies.arrays import BodyArrays, body_velocity, is_dynamic
from viscoil.bodies.arrays import allocate as allocate_bodies
from viscoil.colliders.arrays import (
    ColliderArrays,
    carried,
    distance_and_normal,
    surface_friction,
    surface_velocity,
)
from viscoil.colliders.primitives import Contact
from viscoil.compute import Floats, Ints, Vec3s, Vec4s, scalars, vec3, vec4, vectors, write
from viscoil.constraints.density import wall_share
from viscoil.emitters import EmitterFrame
from viscoil.neighbors import separation
from viscoil.reductions import block_count, exclusive_scan
from viscoil.solvers.resolution import pair_size, spacing_of, support_of
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
    bodies: BodyArrays  # of the colliders that are tracked
    body_count: qd.i32


@dataclasses.dataclass
class Contacts:
    """The particles near walls or in nozzles; one entry each, or one for each slot of a body."""

    count: qd.i32
    particle: Ints
    mode: Ints  # a Mode
    nozzle: Ints  # index of the nozzle that drives it, -1 if none
    normal: Vec3s  # of the wall it slides on
    push: Floats  # m: how far walls have pushed it out in this step
    shielded: Ints  # 1: other particles lie between it and the wall
    height: Floats  # m: distance to the nearest wall at the start of the step
    spacing: Floats  # d of the particle, m
    holder: Ints  # slot of the body that takes away its freedom; -1: none that is tracked
    start: Vec4s  # (slots) normal and distance (m) of the body, both at the start of the step
    impulse: Vec3s  # (slots) what the body gave to the particle since bodies last moved, see users
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
    coupled: qd.template(),
    scale: Scale,
    walls: Walls,
    fluid: Fluid,
    velocity: Vec3s,
    marks: Ints,
):
    for i in range(n):
        x = fluid.position[i]
        near = nozzle_of(walls, 0.5 * spacing_of(scale, fluid, i), x) >= 0
        for k in range(walls.count):
            begin = carried(walls.colliders, k, scale.dt, x)
            reach = support_of(scale, fluid, i) + (x + scale.dt * velocity[i] - begin).norm()
            if qd.static(coupled):
                slot = walls.bodies.slot[k]
                if is_dynamic(walls.bodies, slot):
                    reach += scale.dt * body_velocity(walls.bodies, slot, x).norm()
            if distance_and_normal(walls.colliders, k, begin)[3] < reach:
                near = True
        marks[i] = qd.cast(near, qd.i32)


@qd.kernel(fastcache=True)
def _collect(
    n: qd.i32,
    coupled: qd.template(),
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
            spacing = spacing_of(scale, fluid, i)
            nozzle = nozzle_of(walls, 0.5 * spacing, fluid.position[i])
            contacts.particle[c] = i
            contacts.spacing[c] = spacing
            contacts.nozzle[c] = nozzle
            contacts.mode[c] = Mode.FREE
            contacts.normal[c] = vec3(0.0)
            contacts.push[c] = 0.0
            if qd.static(coupled):
                contacts.holder[c] = -1
                for b in range(walls.body_count):
                    place = c * walls.body_count + b
                    contacts.impulse[place] = vec3(0.0)
                    k = walls.bodies.primitive[b]
                    if k >= 0:
                        at = distance_and_normal(walls.colliders, k, fluid.position[i])
                        contacts.start[place] = at
            contacts.friction[c] = friction[fluid.material[i]]


@qd.kernel(fastcache=True)
def _find_shields(
    count: qd.i32,
    periodic: qd.template(),
    scale: Scale,
    walls: Walls,
    fluid: Fluid,
    contacts: Contacts,
):
    """A particle is shielded if it does not touch the wall and another is between them."""
    for c in range(count):
        i = contacts.particle[c]
        nearest = vec4(0.0, 0.0, 0.0, 1e30)
        for k in range(walls.count):
            at = distance_and_normal(walls.colliders, k, fluid.position[i])
            if at[3] < nearest[3]:
                nearest = at
        n = vec3(nearest[0], nearest[1], nearest[2])
        shielded = 0
        if nearest[3] > contacts.spacing[c]:
            for k in range(fluid.pairs.start[i], fluid.pairs.start[i + 1]):
                j = fluid.pairs.neighbor[k]
                x = separation(periodic, fluid.period, fluid.position[i], fluid.position[j])
                reach = 1.5 * pair_size(scale, fluid, i, j) * scale.spacing
                if x.dot(n) > 0.7 * x.norm() and x.norm() < reach:
                    shielded = 1
        contacts.shielded[c] = shielded
        contacts.height[c] = nearest[3]


@qd.func
def resting_distance(spacing: qd.f32, height: qd.f32) -> qd.f32:
    """How near to a wall a particle may come: d/2, and a little more the higher it was.

    When several layers are about to cross a wall in one step they keep their order instead of
    landing on top of each other.
    """
    return 0.5 * spacing + 0.05 * qd.max(height - 0.5 * spacing, 0.0)


@qd.func
def is_known(at: vec4):
    """Whether a distance is one: beyond the band of a mesh it is only a bound, without a normal."""
    return at[0] * at[0] + at[1] * at[1] + at[2] * at[2] > 0.5


@qd.func
def wall_density(y: vec3, support: qd.f32, walls: Walls, table: Floats) -> vec4:
    """(∇γ, γ) at y: the share of the smoothing function behind the walls, and its gradient."""
    outside = 1.0
    gradient = vec3(0.0)
    for k in range(walls.count):
        at = distance_and_normal(walls.colliders, k, y)
        share = wall_share(at[3], support, table)
        if share[0] > 0.0 and is_known(at):
            left = qd.max(1.0 - share[0], 0.05)
            outside *= left
            gradient += share[1] / left * vec3(at[0], at[1], at[2])
    gradient *= outside
    return vec4(gradient[0], gradient[1], gradient[2], 1.0 - outside)


@qd.func
def follow(colliders: ColliderArrays, k: qd.i32, least: qd.f32, start: vec3, end: vec3):
    """What a way meets of collider k: normal and distance at its end, and where it touches first.

    The second result is normal and distance at the last place before that, and the third the share
    of the way up to there, 2 if it touches nothing; a way that starts inside never does. Steps along
    the way are as long as the distance allows, and at least `least` (m). To touch is to come nearer
    than half of that: inside a plate as thin as a cell the distances of a mesh are hardly negative,
    and their normals mean nothing. One loop for all, because every place that asks for a distance is
    compiled on its own.
    """
    way = end - start
    length = qd.max(way.norm(), 1e-20)
    at_end = vec4(0.0)
    before = vec4(0.0)
    skin = 0.0
    share = 0.0
    last = 0.0
    met = 2.0
    looks = 2
    look = 0
    while look < looks:
        x = end
        if look > 0:
            x = start + share * way
        at = distance_and_normal(colliders, k, x)
        if look == 0:
            at_end = at
        elif look == 1:
            skin = 0.5 * qd.min(least, at[3])
            if at[3] > 0.0 and length > at[3] - skin:
                looks = 64
        elif at[3] <= skin:
            met = last
            looks = 0
        if look > 0 and looks > 0:
            before = at
            last = share
            share += qd.max(at[3], least) / length
            if share > 1.0:
                looks = 0
        look += 1
    if looks == 64:  # it ran out of looks, closely along a wall: go no farther than was seen
        met = last
    return at_end, before, met


@qd.func
def wall_ahead(
    colliders: ColliderArrays, k: qd.i32, dt: qd.f32, spacing: qd.f32, start: vec3, end: vec3
):
    """What collider k is to a particle that goes from `start` to `end` in a step.

    Returns normal and distance, and `end`, or if the way passes a wall the place where it would.
    A particle that was outside and ends inside, or beyond, is held by the side it came from: the
    nearest side may be the far one of a thin plate. Its way is seen from the collider, which
    may itself have run over the particle.
    """
    begin = carried(colliders, k, dt, start)
    way = end - begin
    at, outside, share = follow(colliders, k, 0.05 * spacing, begin, end)
    safe = end
    if share <= 1.0:
        safe = begin + share * way
        n = vec3(outside[0], outside[1], outside[2])
        turned = n.dot(vec3(at[0], at[1], at[2])) <= 0.0
        if turned or at[3] < 0.025 * spacing:
            flat = outside[3] + n.dot((1.0 - share) * way)
            at = vec4(n[0], n[1], n[2], qd.min(flat, 0.0))
    return at, safe


@qd.func
def body_ahead(
    c: qd.i32, slot: qd.i32, scale: Scale, walls: Walls, contacts: Contacts, start: vec3, end: vec3
) -> vec4:
    """`wall_ahead` for a dynamic body, which moves too; the normal is that of the start.

    Unless the particle has come around an edge, and not through it: then it is the present one.
    """
    at = distance_and_normal(walls.colliders, walls.bodies.primitive[slot], end)
    origin = contacts.start[c * walls.body_count + slot]
    n = vec3(origin[0], origin[1], origin[2])
    moved = end - start - scale.dt * body_velocity(walls.bodies, slot, start)
    flat = origin[3] + n.dot(moved)
    along = n.dot(vec3(at[0], at[1], at[2]))
    through = along < 0.0 or at[3] < -contacts.spacing[c] or (along < 0.8 and at[3] < 0.0)
    if origin[3] > 0.0 and flat < 0.0 and through:
        at = vec4(n[0], n[1], n[2], flat)
    elif along > 0.8:
        at = vec4(n[0], n[1], n[2], at[3])
    return at


@qd.kernel(fastcache=True)
def constrain_velocities(
    count: qd.i32,
    coupled: qd.template(),
    through_stress: qd.i32,
    scale: Scale,
    walls: Walls,
    contacts: Contacts,
    fluid: Fluid,
    velocity: Vec3s,
) -> qd.i32:
    """Clamps u so that x⁰ + Δt u stays outside, and notes what freedom is left.

    Returns for how many particles that changed. Impulses are noted in N s.

    Shielded particles are left to the stress: the layers below stop them. Holding them too would
    ask the fluid to be flattened and to keep its shape at once.
    """
    changed = 0
    for c in range(count):
        i = contacts.particle[c]
        u = velocity[i]
        mode = qd.cast(Mode.FREE, qd.i32)
        push = 0.0
        holder = -1
        if contacts.nozzle[c] >= 0:
            e = contacts.nozzle[c]
            u = walls.nozzles.speed[e] * walls.nozzles.direction[e]
            mode = Mode.FIXED
        else:
            for k in range(walls.count):
                x = fluid.position[i]
                predicted = x + scale.dt * u
                before = u
                slot = -1
                at, _safe = wall_ahead(
                    walls.colliders, k, scale.dt, contacts.spacing[c], x, predicted
                )
                if qd.static(coupled):
                    slot = walls.bodies.slot[k]
                    if is_dynamic(walls.bodies, slot):
                        at = body_ahead(c, slot, scale, walls, contacts, x, predicted)
                gap = at[3] - resting_distance(contacts.spacing[c], contacts.height[c])
                if gap < 0.0 and (contacts.shielded[c] == 0 or through_stress == 0):
                    n = vec3(at[0], at[1], at[2])
                    if -gap > push:
                        push = -gap
                        contacts.normal[c] = n
                        holder = slot
                    u -= gap / scale.dt * n
                    slip = u - surface_velocity(walls.colliders, k, predicted)
                    if qd.static(coupled):
                        if is_dynamic(walls.bodies, slot):
                            slip = u - body_velocity(walls.bodies, slot, x)
                    slip -= slip.dot(n) * n
                    kind = walls.colliders.contact[k]
                    friction = contacts.friction[c] * surface_friction(
                        walls.colliders, k, predicted
                    )
                    grip = friction * (-gap / scale.dt)
                    if kind == Contact.STICKY or (kind == Contact.FRICTION and slip.norm() <= grip):
                        u -= slip
                        mode = Mode.FIXED
                        holder = slot
                    else:
                        if kind == Contact.FRICTION:
                            u -= grip / slip.norm() * slip
                        mode = qd.max(mode, qd.cast(Mode.SLIDING, qd.i32))
                    if qd.static(coupled):
                        note_impulse(c, slot, walls, contacts, (u - before) / fluid.inverse_mass[i])
        velocity[i] = u
        if qd.static(coupled):
            contacts.holder[c] = holder
        if contacts.mode[c] != mode:
            changed += 1
        contacts.mode[c] = mode
        contacts.push[c] = push
    return changed


@qd.func
def note_impulse(c: qd.i32, slot: qd.i32, walls: Walls, contacts: Contacts, impulse: vec3):
    """Adds what the body in a slot (-1: none is tracked) gave to the particle with contact c."""
    if slot >= 0:
        place = c * walls.body_count + slot
        contacts.impulse[place] = contacts.impulse[place] + impulse


@qd.func
def push_out(
    coupled: qd.template(),
    c: qd.i32,
    y: vec3,
    scale: Scale,
    walls: Walls,
    contacts: Contacts,
    fluid: Fluid,
    shift: Vec3s,
) -> vec3:
    """y of the particle with contact c, out of the walls.

    Sticking and friction act on the displacement along them. A shift into the wall is taken back
    first: undoing it must not become a velocity. Impulses are noted in kg m: of the step, times Δt.
    """
    i = contacts.particle[c]
    x = fluid.position[i]
    out = y
    shifted = shift[i]
    if contacts.nozzle[c] >= 0:
        e = contacts.nozzle[c]
        shifted = vec3(0.0)
        out = x + scale.dt * walls.nozzles.speed[e] * walls.nozzles.direction[e]
    else:
        # Pushing a particle out of one wall may push it through another, or through another part of
        # the same one: a second round has the last word, so that nothing leaks.
        for visit in range(2 * walls.count):
            k = visit % walls.count
            at, safe = wall_ahead(walls.colliders, k, scale.dt, contacts.spacing[c], x, out)
            before = out - shifted
            slot = -1
            moves = False
            take = 1.0
            if qd.static(coupled):
                slot = walls.bodies.slot[k]
                moves = is_dynamic(walls.bodies, slot)
                if moves:
                    at = body_ahead(c, slot, scale, walls, contacts, x, out)
                    safe = out
                    take = walls.bodies.yielding[slot]
            gap = at[3] - resting_distance(contacts.spacing[c], contacts.height[c])
            kind = walls.colliders.contact[k]
            touching = 0.0
            if kind == Contact.STICKY:
                touching = 0.02 * contacts.spacing[c]  # a stuck layer stays stuck while it breathes
            if visit >= walls.count:
                out = safe
            elif gap < touching:
                n = vec3(at[0], at[1], at[2])
                inward = qd.min(shifted.dot(n), 0.0)
                shifted -= inward * n
                depth = qd.max(inward - gap, 0.0)
                if qd.static(coupled):
                    depth *= take
                contacts.push[c] = contacts.push[c] + depth
                out += (depth - inward) * n
                slip = out - shifted - x
                surface = surface_velocity(walls.colliders, k, out)
                if qd.static(coupled):
                    if moves:
                        surface = body_velocity(walls.bodies, slot, x)
                slip -= scale.dt * surface
                slip -= slip.dot(n) * n
                if qd.static(coupled):
                    slip *= take
                if kind == Contact.STICKY:
                    out -= slip
                elif kind == Contact.FRICTION:
                    length = slip.norm()
                    friction = contacts.friction[c] * surface_friction(walls.colliders, k, out)
                    if length <= friction * contacts.push[c]:
                        out -= slip
                    else:
                        out -= qd.min(1.0, friction * depth / length) * slip
                if qd.static(coupled):
                    given = (out - shifted - before) / fluid.inverse_mass[i]
                    note_impulse(c, slot, walls, contacts, given)
    shift[i] = shifted
    return out


class Boundary:
    """Colliders and nozzles of a simulation, and the contacts of the current step."""

    def __init__(
        self, colliders: ColliderArrays, collider_count: int, bodies: BodyArrays | None = None,
        body_count: int = 0,
    ) -> None:  # fmt: skip
        bodies = bodies or allocate_bodies(collider_count, 0)
        self.walls = Walls(colliders, collider_count, _make_nozzles([]), 0, bodies, body_count)
        self.contacts = _make_contacts(1, body_count)
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
        self.walls.nozzles = _make_nozzles(frames)
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
        _mark(n, self.coupled, scale, self.walls, fluid, velocity, self._marks)
        count = exclusive_scan(n, self._marks, self._sums, self._marks)
        if self.contacts.particle.shape[0] < count:
            self.contacts = _make_contacts(int(count * 1.2), self.walls.body_count)
        self.contacts.count = count
        _collect(n, self.coupled, scale, self.walls, fluid, friction, self._marks, self.contacts)
        _find_shields(self.count, periodic, scale, self.walls, fluid, self.contacts)

    def constrain_velocities(
        self, scale: Scale, fluid: Fluid, velocity: Any, through_stress: bool
    ) -> bool:
        """Whether any contact opened or closed; `through_stress` leaves particles to those below."""
        if not self.count:
            return False
        changed = constrain_velocities(
            self.count, self.coupled, through_stress, scale, self.walls, self.contacts, fluid,
            velocity,
        )  # fmt: skip
        return int(changed) > 0


def _make_contacts(count: int, bodies: int) -> Contacts:
    """For none so far, and up to `count`."""
    return Contacts(
        count=0,
        particle=scalars(qd.i32, count),
        mode=scalars(qd.i32, count),
        nozzle=scalars(qd.i32, count),
        normal=vectors(3, count),
        push=scalars(qd.f32, count),
        shielded=scalars(qd.i32, count),
        height=scalars(qd.f32, count),
        spacing=scalars(qd.f32, count),
        holder=scalars(qd.i32, count if bodies else 1),
        start=vectors(4, count * bodies),
        impulse=vectors(3, count * bodies),
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
