# mypy: disable-error-code="valid-type,no-untyped-def,no-untyped-call,misc"
"""Contact inside the projections: clamped velocities, places pushed out of walls, friction."""

import quadrants as qd

from viscoil.bodies.arrays import body_velocity, is_dynamic
from viscoil.colliders.arrays import surface_friction, surface_velocity
from viscoil.colliders.primitives import Contact
from viscoil.core.compute import Vec3s, vec3
from viscoil.neighbors.arrays import ParticleArrays
from viscoil.neighbors.scale import Scale
from viscoil.walls.arrays import Mode, WallArrays, note_impulse
from viscoil.walls.paths import body_ahead, resting_distance, wall_ahead


@qd.kernel(fastcache=True)
def constrain_velocities(
    count: qd.i32,
    as_load: qd.i32,
    scale: Scale,
    near: ParticleArrays,
    walls: WallArrays,
    velocity: Vec3s,
) -> qd.i32:
    """Clamps u so that x⁰ + Δt u stays outside, and notes what freedom is left.

    Returns for how many particles that changed.
    """
    changed = 0
    for c in range(count):
        i = walls.contacts.particle[c]
        e = walls.contacts.nozzle[c]
        before = walls.contacts.mode[c]
        walls.contacts.mode[c] = Mode.FREE
        walls.contacts.push[c] = 0.0
        if qd.static(walls.coupled):
            walls.contacts.holder[c] = -1
        if e >= 0:
            velocity[i] = walls.nozzles.speed[e] * walls.nozzles.direction[e]
            walls.contacts.mode[c] = Mode.FIXED
        else:
            for k in range(walls.count):
                velocity[i] = clamped(as_load, c, k, velocity[i], scale, near, walls)
        if walls.contacts.mode[c] != before:
            changed += 1
    return changed


@qd.func
def clamped(
    as_load: qd.i32,
    c: qd.i32,
    k: qd.i32,
    u: vec3,
    scale: Scale,
    near: ParticleArrays,
    walls: WallArrays,
) -> vec3:
    """u of the particle with contact c, such that it does not enter collider k.

    `as_load` (1): u is what the forces of a solve ask for, so for a particle that is held it shows
    its load, not where it would get. Shielded particles are then left to the solve: the layers below
    stop them. Holding them too would ask the fluid to be flattened and to keep its shape at once.
    Impulses are noted in N s.
    """
    i = walls.contacts.particle[c]
    x = near.position[i]
    predicted = x + scale.dt * u
    slot = -1
    moves = False
    at, _safe = wall_ahead(
        walls.colliders, k, scale.dt, walls.contacts.spacing[c], as_load, x, predicted
    )
    if qd.static(walls.coupled):
        slot = walls.bodies.slot[k]
        moves = is_dynamic(walls.bodies, slot)
        if moves:
            at = body_ahead(c, slot, scale, walls, x, predicted)
    gap = at[3] - resting_distance(walls.contacts.spacing[c], walls.contacts.height[c])
    held = u
    if gap < 0.0 and (walls.contacts.shielded[c] == 0 or as_load == 0):
        n = vec3(at[0], at[1], at[2])
        held -= gap / scale.dt * n
        surface = surface_velocity(walls.colliders, k, predicted)
        if qd.static(walls.coupled):
            if moves:
                surface = body_velocity(walls.bodies, slot, x)
        slip = held - surface
        slip -= slip.dot(n) * n
        friction = walls.contacts.friction[c] * surface_friction(walls.colliders, k, predicted)
        grip = friction * (-gap / scale.dt)
        lost = share_of_slip_lost(walls.colliders.contact[k], slip.norm(), grip, grip)
        held -= lost * slip
        mode = Mode.FIXED if lost == 1.0 else Mode.SLIDING
        if qd.static(walls.coupled):
            if -gap > walls.contacts.push[c] or mode == Mode.FIXED:
                walls.contacts.holder[c] = slot
        note_impulse(c, slot, walls, (held - u) / near.inverse_mass[i])
        if -gap > walls.contacts.push[c]:
            walls.contacts.push[c] = -gap
            walls.contacts.normal[c] = n
        walls.contacts.mode[c] = qd.max(walls.contacts.mode[c], mode)
    return held


@qd.func
def share_of_slip_lost(kind: qd.i32, slip: qd.f32, holds: qd.f32, brakes: qd.f32) -> qd.f32:
    """How much of a slip along a wall contact takes away: all of what friction can hold."""
    lost = 0.0
    if kind == Contact.STICKY or (kind == Contact.FRICTION and slip <= holds):
        lost = 1.0
    elif kind == Contact.FRICTION:
        lost = qd.min(1.0, brakes / slip)
    return lost


@qd.func
def push_out(
    c: qd.i32, y: vec3, offset: vec3, scale: Scale, near: ParticleArrays, walls: WallArrays
):
    """(y, offset) of the particle with contact c, out of the walls.

    `offset` is the part of y that is no motion. A nozzle says where its particles go. Pushing a
    particle out of one wall may push it through another, or through another part of the same one: a
    second round stops it where its way meets the first of them, so that nothing leaks.
    """
    x = near.position[walls.contacts.particle[c]]
    out = y
    still = offset
    if walls.contacts.nozzle[c] >= 0:
        e = walls.contacts.nozzle[c]
        still = vec3(0.0)
        out = x + scale.dt * walls.nozzles.speed[e] * walls.nozzles.direction[e]
    else:
        for visit in range(2 * walls.count):
            k = visit % walls.count
            last_word = visit >= walls.count
            out, still = _pushed_from(last_word, c, k, out, still, scale, near, walls)
    return out, still


@qd.func
def _pushed_from(
    last_word: bool,
    c: qd.i32,
    k: qd.i32,
    y: vec3,
    offset: vec3,
    scale: Scale,
    near: ParticleArrays,
    walls: WallArrays,
):
    """(y, offset), out of collider k; with `last_word` no farther than where the way meets it.

    Sticking and friction act on the displacement without the offset. An offset into the wall is taken
    back first: undoing it must not become a velocity. Impulses are noted in kg m: of the step, times
    Δt.
    """
    i = walls.contacts.particle[c]
    x = near.position[i]
    out = y
    still = offset
    at, safe = wall_ahead(walls.colliders, k, scale.dt, walls.contacts.spacing[c], 0, x, out)
    slot = -1
    moves = False
    take = 1.0
    if qd.static(walls.coupled):
        slot = walls.bodies.slot[k]
        moves = is_dynamic(walls.bodies, slot)
        if moves:
            at = body_ahead(c, slot, scale, walls, x, out)
            safe = out
            take = walls.bodies.push_share[slot]
    gap = at[3] - resting_distance(walls.contacts.spacing[c], walls.contacts.height[c])
    if last_word:
        out = safe
    elif gap < touching_gap(walls.colliders.contact[k], walls.contacts.spacing[c]):
        n = vec3(at[0], at[1], at[2])
        inward = qd.min(still.dot(n), 0.0)
        still -= inward * n
        depth = take * qd.max(inward - gap, 0.0)
        walls.contacts.push[c] = walls.contacts.push[c] + depth
        out += (depth - inward) * n
        surface = surface_velocity(walls.colliders, k, out)
        if qd.static(walls.coupled):
            if moves:
                surface = body_velocity(walls.bodies, slot, x)
        slip = out - still - x - scale.dt * surface
        slip -= slip.dot(n) * n
        slip *= take
        friction = walls.contacts.friction[c] * surface_friction(walls.colliders, k, out)
        holds, brakes = friction * walls.contacts.push[c], friction * depth
        out -= share_of_slip_lost(walls.colliders.contact[k], slip.norm(), holds, brakes) * slip
        note_impulse(c, slot, walls, (out - still - (y - offset)) / near.inverse_mass[i])
    return out, still


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
