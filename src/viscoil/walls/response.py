# mypy: disable-error-code="valid-type,no-untyped-def,no-untyped-call,misc"
"""Contact inside the position projection: places pushed out of walls, friction."""

import quadrants as qd

from viscoil.bodies.arrays import body_velocity, is_dynamic
from viscoil.colliders.arrays import surface_friction, surface_velocity
from viscoil.colliders.primitives import Contact
from viscoil.core.compute import vec3
from viscoil.neighbors.arrays import ParticleArrays
from viscoil.neighbors.scale import Scale
from viscoil.walls.arrays import WallArrays, note_impulse
from viscoil.walls.paths import body_ahead, resting_distance, wall_ahead
from viscoil.walls.planes import share_of_slip_lost


@qd.func
def push_out(
    c: qd.i32,
    shift: vec3,
    u: vec3,
    scale: Scale,
    near: ParticleArrays,
    walls: WallArrays,
):
    """(shift, u) with which the particle with contact c ends outside of the walls.

    It ends at x⁰ + Δt u + shift. An inward shift is taken back first: undoing it must not become a
    velocity, as what is pushed besides does. A nozzle says where its particles go. Pushing a particle
    out of one wall may push it through another, or through another part of the same one: a second
    round stops it where its way meets the first of them, so that nothing leaks.
    """
    still = shift
    moving = u
    if walls.contacts.nozzle[c] >= 0:
        e = walls.contacts.nozzle[c]
        still = vec3(0.0)
        moving = walls.nozzles.speed[e] * walls.nozzles.direction[e]
    else:
        for visit in range(2 * walls.count):
            k = visit % walls.count
            last_word = visit >= walls.count
            still, moving = _pushed_from(last_word, c, k, still, moving, scale, near, walls)
    return still, moving


@qd.func
def _pushed_from(
    last_word: bool,
    c: qd.i32,
    k: qd.i32,
    shift: vec3,
    u: vec3,
    scale: Scale,
    near: ParticleArrays,
    walls: WallArrays,
):
    """(shift, u), out of collider k; with `last_word` no farther than where the way meets it.

    Sticking and friction act on u alone. Impulses are noted in kg m: of the step, times Δt.
    """
    i = walls.contacts.particle[c]
    x = near.position[i]
    still = shift
    moving = u
    y = x + (scale.dt * moving + still)
    at, safe = wall_ahead(walls.colliders, k, scale.dt, walls.contacts.spacing[c], x, y)
    slot = -1
    moves = False
    take = 1.0
    if qd.static(walls.coupled):
        slot = walls.bodies.slot[k]
        moves = is_dynamic(walls.bodies, slot)
        if moves:
            at = body_ahead(c, slot, scale, walls, x, y)
            safe = y
            take = walls.bodies.push_share[slot]
    gap = at[3] - resting_distance(c, k, walls)
    push = vec3(0.0)
    if last_word:
        push = safe - y
    elif gap < touching_gap(walls.colliders.contact[k], walls.contacts.spacing[c]):
        n = vec3(at[0], at[1], at[2])
        inward = qd.min(still.dot(n), 0.0)
        still -= inward * n
        depth = take * qd.max(inward - gap, 0.0)
        push = depth * n
        surface = surface_velocity(walls.colliders, k, y)
        if qd.static(walls.coupled):
            if moves:
                surface = body_velocity(walls.bodies, slot, x)
        slip = moving - surface
        slip -= slip.dot(n) * n
        slip *= take
        friction = walls.contacts.friction[c] * surface_friction(walls.colliders, k, y)
        grip = friction * depth / scale.dt
        lost = share_of_slip_lost(c, k, walls, slip.norm(), grip)
        moving -= lost * slip
    moving += push / scale.dt
    if not last_word:
        note_impulse(c, slot, walls, scale.dt * (moving - u) / near.inverse_mass[i])
    return still, moving


@qd.func
def touching_gap(kind: qd.i32, spacing: qd.f32) -> qd.f32:
    """The gap below which a particle is pushed or held, m.

    A layer that sticks stays so while rounding and density corrections move it: by a fiftieth of a
    spacing, which was tried and is not derived.
    """
    gap = 0.0
    if kind == Contact.STICKY:
        gap = 0.02 * spacing
    return gap
