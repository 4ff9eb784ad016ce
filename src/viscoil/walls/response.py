# mypy: disable-error-code="valid-type,no-untyped-def,no-untyped-call,misc"
"""Contact inside the projections: clamped velocities, places pushed out of walls, friction."""

import quadrants as qd

from viscoil.bodies.arrays import body_velocity, is_dynamic
from viscoil.colliders.arrays import surface_friction, surface_velocity
from viscoil.colliders.primitives import Contact
from viscoil.core.compute import Vec3s, vec3
from viscoil.neighbors.scale import Scale
from viscoil.solvers.dcpbd.workspace import Fluid
from viscoil.walls.paths import body_ahead, resting_distance, wall_ahead
from viscoil.walls.walls import Contacts, Mode, Walls, note_impulse


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

    Returns for how many particles that changed.
    """
    changed = 0
    for c in range(count):
        i = contacts.particle[c]
        e = contacts.nozzle[c]
        before = contacts.mode[c]
        contacts.mode[c] = Mode.FREE
        contacts.push[c] = 0.0
        if qd.static(coupled):
            contacts.holder[c] = -1
        if e >= 0:
            velocity[i] = walls.nozzles.speed[e] * walls.nozzles.direction[e]
            contacts.mode[c] = Mode.FIXED
        else:
            for k in range(walls.count):
                velocity[i] = clamped(
                    coupled, through_stress, c, k, velocity[i], scale, walls, contacts, fluid
                )
        if contacts.mode[c] != before:
            changed += 1
    return changed


@qd.func
def clamped(
    coupled: qd.template(),
    through_stress: qd.i32,
    c: qd.i32,
    k: qd.i32,
    u: vec3,
    scale: Scale,
    walls: Walls,
    contacts: Contacts,
    fluid: Fluid,
) -> vec3:
    """u of the particle with contact c, such that it does not enter collider k.

    Impulses are noted in N s. Shielded particles are left to the stress: the layers below stop
    them. Holding them too would ask the fluid to be flattened and to keep its shape at once.
    """
    i = contacts.particle[c]
    x = fluid.position[i]
    predicted = x + scale.dt * u
    slot = -1
    moves = False
    # Under stress, velocities of held particles show their load, not where they would get.
    at, _safe = wall_ahead(
        walls.colliders, k, scale.dt, contacts.spacing[c], through_stress, x, predicted
    )
    if qd.static(coupled):
        slot = walls.bodies.slot[k]
        moves = is_dynamic(walls.bodies, slot)
        if moves:
            at = body_ahead(c, slot, scale, walls, contacts, x, predicted)
    gap = at[3] - resting_distance(contacts.spacing[c], contacts.height[c])
    held = u
    if gap < 0.0 and (contacts.shielded[c] == 0 or through_stress == 0):
        n = vec3(at[0], at[1], at[2])
        held -= gap / scale.dt * n
        surface = surface_velocity(walls.colliders, k, predicted)
        if qd.static(coupled):
            if moves:
                surface = body_velocity(walls.bodies, slot, x)
        slip = held - surface
        slip -= slip.dot(n) * n
        friction = contacts.friction[c] * surface_friction(walls.colliders, k, predicted)
        grip = friction * (-gap / scale.dt)
        lost = share_of_slip_lost(walls.colliders.contact[k], slip.norm(), grip, grip)
        held -= lost * slip
        mode = Mode.FIXED if lost == 1.0 else Mode.SLIDING
        if qd.static(coupled):
            if -gap > contacts.push[c] or mode == Mode.FIXED:
                contacts.holder[c] = slot
            note_impulse(c, slot, walls, contacts, (held - u) / fluid.inverse_mass[i])
        if -gap > contacts.push[c]:
            contacts.push[c] = -gap
            contacts.normal[c] = n
        contacts.mode[c] = qd.max(contacts.mode[c], mode)
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
            at, safe = wall_ahead(walls.colliders, k, scale.dt, contacts.spacing[c], 0, x, out)
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
                friction = contacts.friction[c] * surface_friction(walls.colliders, k, out)
                holds, brakes = friction * contacts.push[c], friction * depth
                out -= share_of_slip_lost(kind, slip.norm(), holds, brakes) * slip
                if qd.static(coupled):
                    given = (out - shifted - before) / fluid.inverse_mass[i]
                    note_impulse(c, slot, walls, contacts, given)
    shift[i] = shifted
    return out
