# mypy: disable-error-code="valid-type,no-untyped-def,no-untyped-call,misc"
"""What walls are to velocities within a step: up to three planes for each particle that may touch them.

A plane is chosen once, where the way of the particle leads without the forces of a solve, and stays.
While a solve goes on, velocities of particles that are held show what they bear, not where they would
get: walls looked for along such ways would change from iteration to iteration. With planes that stay,
the velocities that walls admit are a convex set, and contact is a projection onto it.
"""

import quadrants as qd

from viscoil.bodies.arrays import body_velocity, is_dynamic
from viscoil.colliders.arrays import surface_friction, surface_velocity
from viscoil.colliders.primitives import Contact
from viscoil.core.compute import Vec3s, vec3
from viscoil.neighbors.arrays import ParticleArrays
from viscoil.neighbors.scale import Scale
from viscoil.walls.arrays import Mode, WallArrays, is_known, note_impulse
from viscoil.walls.paths import body_ahead, resting_distance, wall_ahead


@qd.func
def planes_each() -> qd.i32:
    """How many planes a particle may have: in the corner of a box it has three."""
    return 3


@qd.kernel(fastcache=True)
def choose_planes(
    count: qd.i32, scale: Scale, near: ParticleArrays, walls: WallArrays, velocity: Vec3s
):
    """The planes of all contacts, for particles that would go x⁰ + Δt u."""
    for c in range(count):
        for s in range(planes_each()):
            walls.contacts.plane_wall[planes_each() * c + s] = -1
            walls.contacts.plane_gap[planes_each() * c + s] = 1e30
        if walls.contacts.nozzle[c] < 0:
            for k in range(walls.count):
                _keep_plane(c, k, velocity[walls.contacts.particle[c]], scale, near, walls)


@qd.func
def _keep_plane(
    c: qd.i32, k: qd.i32, u: vec3, scale: Scale, near: ParticleArrays, walls: WallArrays
):
    """Puts the plane of collider k among those of contact c if it is one of the nearest."""
    x = near.position[walls.contacts.particle[c]]
    end = x + scale.dt * u
    spacing = walls.contacts.spacing[c]
    at, _safe = wall_ahead(walls.colliders, k, scale.dt, spacing, x, end)
    moved = scale.dt * u
    if qd.static(walls.coupled):
        slot = walls.bodies.slot[k]
        if is_dynamic(walls.bodies, slot):
            at = body_ahead(c, slot, scale, walls, x, end)
            moved -= scale.dt * body_velocity(walls.bodies, slot, x)
    gap = at[3] - resting_distance(c, k, walls)
    farthest = planes_each() * c
    for s in range(1, planes_each()):
        if walls.contacts.plane_gap[planes_each() * c + s] > walls.contacts.plane_gap[farthest]:
            farthest = planes_each() * c + s
    if is_known(at) and gap < walls.contacts.plane_gap[farthest]:
        n = vec3(at[0], at[1], at[2])
        walls.contacts.plane_wall[farthest] = k
        walls.contacts.plane_gap[farthest] = gap
        walls.contacts.plane_normal[farthest] = n
        walls.contacts.plane_start[farthest] = gap - n.dot(moved)


@qd.func
def hold(
    in_solve: qd.i32,
    c: qd.i32,
    scale: Scale,
    near: ParticleArrays,
    walls: WallArrays,
    velocity: Vec3s,
):
    """Takes from u of the particle with contact c what leads into walls, or drives it by its nozzle.

    u is the velocity with the whole load of the step and without any wall; what freedom is left is
    noted. In the solve of stresses (`in_solve` 1) shielded particles are left to it: the layers below
    stop them. Holding them too would ask the fluid to be flattened and to keep its shape at once.
    """
    i = walls.contacts.particle[c]
    e = walls.contacts.nozzle[c]
    walls.contacts.wanted[c] = velocity[i]
    walls.contacts.mode[c] = Mode.FREE
    walls.contacts.push[c] = 0.0
    if qd.static(walls.coupled):
        walls.contacts.holder[c] = -1
    if e >= 0:
        velocity[i] = walls.nozzles.speed[e] * walls.nozzles.direction[e]
        walls.contacts.mode[c] = Mode.FIXED
    elif walls.contacts.shielded[c] == 0 or in_solve == 0:
        for s in range(planes_each()):
            if walls.contacts.plane_wall[planes_each() * c + s] >= 0:
                velocity[i] = _held_by(c, planes_each() * c + s, velocity[i], scale, near, walls)


@qd.func
def _held_by(
    c: qd.i32, p: qd.i32, u: vec3, scale: Scale, near: ParticleArrays, walls: WallArrays
) -> vec3:
    """u of the particle with contact c at the end of which it is not behind plane p, with friction.

    Friction is in proportion to all that presses the particle on in this step. Impulses are noted in
    N s.
    """
    i = walls.contacts.particle[c]
    x = near.position[i]
    k = walls.contacts.plane_wall[p]
    n = walls.contacts.plane_normal[p]
    slot = -1
    surface = surface_velocity(walls.colliders, k, x)
    gap = walls.contacts.plane_start[p] + scale.dt * n.dot(u)
    if qd.static(walls.coupled):
        slot = walls.bodies.slot[k]
        if is_dynamic(walls.bodies, slot):
            surface = body_velocity(walls.bodies, slot, x)
            gap -= scale.dt * n.dot(surface)
    held = u
    if gap < 0.0:
        held -= gap / scale.dt * n
        slip = held - surface
        slip -= slip.dot(n) * n
        friction = walls.contacts.friction[c] * surface_friction(walls.colliders, k, x)
        grip = friction * (-gap / scale.dt)
        lost = share_of_slip_lost(c, k, walls, slip.norm(), grip)
        held -= lost * slip
        if qd.static(walls.coupled):
            if -gap > walls.contacts.push[c] or lost == 1.0:
                walls.contacts.holder[c] = slot
        note_impulse(c, slot, walls, (held - u) / near.inverse_mass[i])
        walls.contacts.push[c] = qd.max(walls.contacts.push[c], -gap)
        _take_freedom(c, n, lost == 1.0, walls)
    return held


@qd.func
def _take_freedom(c: qd.i32, n: vec3, sticks: bool, walls: WallArrays):
    """Notes that contact c is held by a wall of normal n too, and whether it sticks to it.

    Walls whose normals are less than a tenth of a right angle apart count as one.
    """
    mode = walls.contacts.mode[c]
    before = walls.contacts.normal[c]
    edge = before.cross(n)
    apart = 0.16
    if sticks:
        walls.contacts.mode[c] = Mode.FIXED
    elif mode == Mode.FREE:
        walls.contacts.mode[c] = Mode.SLIDING
        walls.contacts.normal[c] = n
    elif mode == Mode.SLIDING and edge.norm() > apart:
        walls.contacts.mode[c] = Mode.ALONG
        walls.contacts.normal[c] = edge / edge.norm()
    elif mode == Mode.ALONG and qd.abs(before.dot(n)) > apart:
        walls.contacts.mode[c] = Mode.FIXED


@qd.func
def share_of_slip_lost(
    c: qd.i32, k: qd.i32, walls: WallArrays, slip: qd.f32, grip: qd.f32
) -> qd.f32:
    """How much of a slip of contact c along wall k it takes away: all of it up to the `grip` of friction.

    A sticky wall takes all of it, unless stress holds the particle to the wall's surface.
    """
    lost = 0.0
    kind = walls.colliders.contact[k]
    if kind == Contact.STICKY:
        if walls.contacts.linked[c] == 0:
            lost = 1.0
    elif kind == Contact.FRICTION:
        lost = qd.min(1.0, grip / qd.max(slip, 1e-30))
    return lost


@qd.kernel(fastcache=True)
def hold_velocities(
    count: qd.i32,
    in_solve: qd.i32,
    scale: Scale,
    near: ParticleArrays,
    walls: WallArrays,
    velocity: Vec3s,
):
    """Takes from u what leads into walls, and notes what freedom is left."""
    for c in range(count):
        hold(in_solve, c, scale, near, walls, velocity)
