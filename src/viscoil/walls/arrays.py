# mypy: disable-error-code="valid-type,no-untyped-def,no-untyped-call,misc"
"""Walls, nozzles and contacts as kernels see them."""

import dataclasses
import enum
from collections.abc import Sequence

import numpy as np
import quadrants as qd

from viscoil.bodies.arrays import BodyArrays
from viscoil.colliders.arrays import (
    ColliderArrays,
    distance_and_normal,
)
from viscoil.constraints.density import wall_share
from viscoil.core.compute import (
    COMPILED_IN,
    Floats,
    Ints,
    Vec3s,
    Vec4s,
    scalars,
    vec3,
    vec4,
    vectors,
    write,
)
from viscoil.emitters.nozzles import EmitterFrame


class Mode(enum.IntEnum):
    """What a contact leaves of a particle's freedom; cached kernels hold the values."""

    FREE = 0
    SLIDING = 1  # on one wall
    ALONG = 2  # on two, along the edge between them
    FIXED = 3


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
class Contacts:
    """The particles near walls or in nozzles; one entry each, or one for each slot of a body."""

    count: qd.i32
    particle: Ints
    mode: Ints  # a Mode
    nozzle: Ints  # index of the nozzle that drives it, -1 if none
    normal: Vec3s  # of the wall it slides on; the direction of the edge that it slides along
    push: Floats  # m: how far walls have pushed it out in this step
    shielded: Ints  # 1: other particles lie between it and the wall
    height: Floats  # m: distance to the nearest wall at the start of the step
    spacing: Floats  # d of the particle, m
    holder: Ints  # slot of the body that takes away its freedom; -1: none that is tracked
    start: Vec4s  # (slots) normal and distance (m) of the body, both at the start of the step
    impulse: (
        Vec3s  # (slots) from the body to the particle since bodies last moved, N s; of places kg m
    )
    friction: Floats  # factor of its material on the walls' friction
    thinness: Floats  # 0 to 1: how freely images alone may keep it from walls (`resting_distance`)
    linked: Ints  # 1: stress holds it to sticky walls (`solvers.dcpbd.no_slip`), which else fix it
    link_arm: Vec3s  # Σ g x of the points where these walls are nearest, m²
    link_velocity: Vec3s  # of these surfaces, m/s; without what a body adds (`walls.body_loads`)
    link_wall: Ints  # the collider that it is linked to most
    body: Ints  # slot of the body beside it that fluid moves, -1: none, -2: several
    link_share: Floats  # how much of the links is that body's
    link_point: Vec3s  # where the body is nearest at the start of the step, m
    press_arm: Vec3s  # a: what V of the body takes from dC/dt, 1/m
    press_twist: Vec3s  # t: what ω of it does
    load: Vec3s  # what the body gets from the particle in the solve so far, N s
    load_twist: Vec3s  # its moment, N m s
    load_change: Vec3s  # the same of a direction of conjugate gradients
    load_twist_change: Vec3s
    mirrors: Ints  # how many walls mirror its neighbours (`mirrors`), three at most
    mirror: Ints  # (3 each) these walls
    mirror_height: Floats  # (3 each) m: how far these are, now
    mirror_normal: Vec3s  # (3 each) at the start of the step
    wanted: Vec3s  # its velocity if no wall were there, m/s
    wanted_change: Vec3s  # m/s: what a direction of conjugate gradients does to that
    before: Vec3s  # its velocity before an iteration, m/s
    plane_wall: Ints  # (3 each) the collider of a plane (`planes`), -1: none
    plane_gap: Floats  # (3 each) m: how far from resting on it the way without forces ends
    plane_start: Floats  # (3 each) m: how far from resting on it the step starts
    plane_normal: Vec3s  # (3 each)


@dataclasses.dataclass
class WallArrays:
    """All that holds or drives particles, and the contacts of the step."""

    colliders: ColliderArrays
    count: qd.i32  # of colliders
    nozzles: Nozzles
    nozzle_count: qd.i32
    bodies: BodyArrays  # of the colliders that are tracked
    body_count: qd.i32
    contacts: Contacts
    density: Floats  # γ over the distance from 0 to h (`constraints.density.wall_table`)
    # Whether any collider reports, or is moved by, what it does to particles.
    coupled: qd.template() = dataclasses.field(default=False, metadata=COMPILED_IN)


@qd.func
def free_part(contact: qd.i32, walls: WallArrays, v: vec3) -> vec3:
    """What remains of a velocity change for a particle with this contact (-1: none)."""
    free = v
    if contact >= 0:
        mode = walls.contacts.mode[contact]
        if mode == Mode.FIXED:
            free = vec3(0.0)
        elif mode == Mode.SLIDING:
            n = walls.contacts.normal[contact]
            free = v - n.dot(v) * n
        elif mode == Mode.ALONG:
            edge = walls.contacts.normal[contact]
            free = edge.dot(v) * edge
    return free


@qd.func
def is_driven(contact: qd.i32, walls: WallArrays) -> bool:
    """Whether a nozzle prescribes the motion of the particle with this contact (-1: none)."""
    driven = False
    if contact >= 0:
        driven = walls.contacts.nozzle[contact] >= 0
    return driven


@qd.func
def nozzle_of(walls: WallArrays, margin: qd.f32, x: vec3) -> qd.i32:
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


@qd.func
def is_known(at: vec4):
    """Whether a distance is one: beyond the band of a mesh it is only a bound, without a normal."""
    return at[0] * at[0] + at[1] * at[1] + at[2] * at[2] > 0.5


@qd.func
def least_outside() -> qd.f32:
    """The least share of the smoothing function that a wall leaves outside, so that 1/share is finite.

    A wall leaves 0.85 of a particle that rests on it and 0.6 of one in its surface; 0.05 is what it would
    leave a spacing behind that, where no particle should be.
    """
    return 0.05


@qd.func
def wall_density(y: vec3, support: qd.f32, walls: WallArrays) -> vec4:
    """(∇γ, γ) at y: the share of the smoothing function behind the walls, and its gradient."""
    outside = 1.0
    gradient = vec3(0.0)
    for k in range(walls.count):
        at = distance_and_normal(walls.colliders, k, y)
        share = wall_share(at[3], support, walls.density)
        if share[0] > 0.0 and is_known(at):
            left = qd.max(1.0 - share[0], least_outside())
            outside *= left
            gradient += share[1] / left * vec3(at[0], at[1], at[2])
    gradient *= outside
    return vec4(gradient[0], gradient[1], gradient[2], 1.0 - outside)


@qd.func
def note_impulse(c: qd.i32, slot: qd.i32, walls: WallArrays, impulse: vec3):
    """Adds what the body in a slot (-1: none is tracked) gave to the particle with contact c."""
    if qd.static(walls.coupled):
        if slot >= 0:
            place = c * walls.body_count + slot
            walls.contacts.impulse[place] = walls.contacts.impulse[place] + impulse


def make_contacts(count: int, bodies: int) -> Contacts:
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
        thinness=scalars(qd.f32, count),
        linked=scalars(qd.i32, count),
        link_arm=vectors(3, count),
        link_velocity=vectors(3, count),
        link_wall=scalars(qd.i32, count),
        body=scalars(qd.i32, count if bodies else 1),
        link_share=scalars(qd.f32, count if bodies else 1),
        link_point=vectors(3, count if bodies else 1),
        press_arm=vectors(3, count if bodies else 1),
        press_twist=vectors(3, count if bodies else 1),
        load=vectors(3, count if bodies else 1),
        load_twist=vectors(3, count if bodies else 1),
        load_change=vectors(3, count if bodies else 1),
        load_twist_change=vectors(3, count if bodies else 1),
        mirrors=scalars(qd.i32, count),
        mirror=scalars(qd.i32, 3 * count),
        mirror_height=scalars(qd.f32, 3 * count),
        mirror_normal=vectors(3, 3 * count),
        wanted=vectors(3, count),
        wanted_change=vectors(3, count),
        before=vectors(3, count),
        plane_wall=scalars(qd.i32, 3 * count),
        plane_gap=scalars(qd.f32, 3 * count),
        plane_start=scalars(qd.f32, 3 * count),
        plane_normal=vectors(3, 3 * count),
    )


def make_nozzles(frames: Sequence[EmitterFrame]) -> Nozzles:
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
