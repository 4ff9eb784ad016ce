# mypy: disable-error-code="valid-type,no-untyped-def,no-untyped-call,misc"
"""Contact inside the projections: clamped velocities, places pushed out of walls, friction."""

import quadrants as qd

from viscoil.bodies.arrays import body_velocity, is_dynamic
from viscoil.colliders.arrays import surface_friction, surface_velocity
from viscoil.colliders.primitives import Contact
from viscoil.compute import Vec3s, vec3
from viscoil.solvers.contact.walls import Contacts, Mode, Walls, note_impulse
from viscoil.solvers.contact.ways import body_ahead, resting_distance, wall_ahead
from viscoil.solvers.tables import Scale
from viscoil.solvers.workspace import Fluid


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
                # Under stress, velocities of held particles show their load, not where they would get.
                at, _safe = wall_ahead(
                    walls.colliders, k, scale.dt, contacts.spacing[c], through_stress, x, predicted
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
