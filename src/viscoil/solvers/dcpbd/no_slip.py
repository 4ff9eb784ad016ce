# mypy: disable-error-code="valid-type,no-untyped-def,no-untyped-call,misc"
"""No slip at the surface of sticky walls: to a particle that rests on one, it is one more neighbour.

A particle rests half a spacing above a wall. Held there, as if the surface were where it is, a film of 8
layers flows at 0.7 of its speed. And a gradient that sees particles on one side only makes the traction
between the first layers one and a half times what it should be: T₁₂ = σ₁ + σ₂/2 instead of (σ₁ + σ₂)/2,
for K is 2 where half of the neighbours are missing.

Both are mended by a neighbour at the nearest point of the surface, a way h n from the particle, which
moves with the wall's velocity v. It makes up for what particles lack of the second moment along n:

    L V = (Σ_j g_ij (u_j − u_i) ⊗ x_ij + g (v − u_i) ⊗ h n) K,   g h² = −a V,   a = 1 − n·M n,

where M is the moment of the particles, 1 in the bulk and 1/2 on a wall. That is what a lattice that is
mirrored, with velocities 2 v − u, adds: for the first layer of a shear flow L = (u₂ + u₁)/(2 d), and the
wall bears the traction σ₁. The force is the adjoint of the gradient, so the system stays symmetric.
Contact keeps particles out of the wall, as everywhere; pressure is the density's.

Bodies that fluid moves get the opposite of that, and move in the same solve (`walls.body_loads`).

Not linked are elastic solids, of which the first layer is held: what is stored of a link whose arm
changes from step to step adds up where nothing is forgotten, and a gel crept across its plate. Nor are
particles without a gradient, as single drops, which stick where they touch.
"""

import quadrants as qd

from viscoil.bodies.arrays import is_dynamic
from viscoil.colliders.arrays import carried, distance_and_normal, surface_velocity
from viscoil.colliders.primitives import Contact
from viscoil.constraints.symmetric import double_dot, square
from viscoil.core.compute import mat3, vec3, vec6
from viscoil.neighbors.arrays import ParticleArrays
from viscoil.neighbors.resolution import spacing_of, volume_of
from viscoil.neighbors.scale import Scale
from viscoil.solvers.dcpbd.arrays import Unknowns
from viscoil.solvers.dcpbd.separate_bodies import ramp
from viscoil.walls.arrays import WallArrays, is_known, note_impulse
from viscoil.walls.body_loads import linked_change, linked_velocity


@qd.func
def link_to_walls(moment: vec6, scale: Scale, near: ParticleArrays, walls: WallArrays, i: qd.i32):
    """Σ_j g_ij x_ij ⊗ x_ij of particle i with what sticky walls add; notes how it is linked to them."""
    total = moment
    c = near.contact[i]
    if c >= 0:
        if walls.contacts.nozzle[c] < 0:
            volume, spacing = volume_of(scale, near, i), spacing_of(scale, near, i)
            arm, velocity = vec3(0.0), vec3(0.0)
            weight, most, of_body = 0.0, 0.0, 0.0
            for k in range(walls.count):
                slot = _dynamic_slot(walls, k)
                if walls.colliders.contact[k] == Contact.STICKY and not _is_other_body(
                    slot, c, walls
                ):
                    x = carried(walls.colliders, k, scale.dt, near.position[i])
                    at = distance_and_normal(walls.colliders, k, x)
                    if qd.static(walls.coupled):
                        if slot >= 0:
                            at = walls.contacts.start[c * walls.body_count + slot]
                    share = _link(at[3] / spacing)
                    if share > 0.0 and is_known(at):
                        n = vec3(at[0], at[1], at[2])
                        across = square(n)
                        seen = -double_dot(total, across) / volume
                        a = share * qd.min(qd.max(1.0 - seen, 0.0), 0.5)
                        height = qd.max(at[3], 0.25 * spacing)
                        total -= volume * a * across
                        arm -= volume * a / height * n
                        weight += a / height
                        if slot < 0:
                            velocity += a / height * surface_velocity(walls.colliders, k, x)
                        elif qd.static(walls.coupled):
                            of_body = a / height
                            walls.contacts.link_point[c] = near.position[i] - at[3] * n
                        if a / height > most:
                            most = a / height
                            walls.contacts.link_wall[c] = k
            if weight > 0.0:
                walls.contacts.linked[c] = 1
                walls.contacts.link_arm[c] = arm
                walls.contacts.link_velocity[c] = velocity / weight
                if qd.static(walls.coupled):
                    walls.contacts.link_share[c] = of_body / weight
    return total


@qd.func
def _dynamic_slot(walls: WallArrays, k: qd.i32) -> qd.i32:
    """That of collider k if fluid moves it, else -1."""
    found = -1
    if qd.static(walls.coupled):
        slot = walls.bodies.slot[k]
        if is_dynamic(walls.bodies, slot):
            found = slot
    return found


@qd.func
def _is_other_body(slot: qd.i32, c: qd.i32, walls: WallArrays):
    """Whether fluid moves the body in this slot, but not in one solve with the particle of contact c."""
    other = False
    if qd.static(walls.coupled):
        other = slot >= 0 and walls.contacts.body[c] != slot
    return other


@qd.func
def _link(height: qd.f32) -> qd.f32:
    """From 1 where a particle rests on a wall to 0 a spacing away from it."""
    return 1.0 - ramp(height, 0.75, 1.0)


@qd.func
def unlink(near: ParticleArrays, walls: WallArrays, i: qd.i32):
    """Leaves particle i to contact alone."""
    if near.contact[i] >= 0:
        walls.contacts.linked[near.contact[i]] = 0
        if qd.static(walls.coupled):
            walls.contacts.link_share[near.contact[i]] = 0.0
        walls.contacts.link_arm[near.contact[i]] = vec3(0.0)


@qd.func
def link_arm(near: ParticleArrays, walls: WallArrays, i: qd.i32) -> vec3:
    """Σ g x of the links of particle i, 0 if it has none."""
    arm = vec3(0.0)
    if near.contact[i] >= 0:
        arm = walls.contacts.link_arm[near.contact[i]]
    return arm


@qd.func
def link_difference(
    u: vec3, changed: qd.template(), near: ParticleArrays, walls: WallArrays, i: qd.i32
) -> mat3:
    """Σ g (v − u) ⊗ x of the links of particle i, or what it is of a change of velocities (`changed`)."""
    total = qd.Matrix.zero(qd.f32, 3, 3)
    if near.contact[i] >= 0:
        c = near.contact[i]
        step = -u
        if walls.contacts.linked[c] == 1:
            if qd.static(changed):
                step += linked_change(c, walls)
            else:
                step += linked_velocity(c, walls)
        total = step.outer_product(walls.contacts.link_arm[c])
    return total


@qd.func
def link_force(
    pressure: qd.f32, near: ParticleArrays, walls: WallArrays, unknowns: Unknowns, i: qd.i32
) -> vec3:
    """What the links of particle i give to it under the stress that acts, N; √w p is to be left out."""
    arm = link_arm(near, walls, i)
    return unknowns.traction[i] @ arm + pressure * arm


@qd.func
def tell_linked_walls(
    scale: Scale, near: ParticleArrays, walls: WallArrays, unknowns: Unknowns, i: qd.i32
):
    """Notes Δt² times that for what particle i is linked to, kg m: a body, and another wall."""
    if qd.static(walls.coupled):
        c = near.contact[i]
        if c >= 0:
            given = scale.dt * scale.dt * link_force(0.0, near, walls, unknowns, i)
            share = walls.contacts.link_share[c]
            if walls.contacts.linked[c] == 1:
                wall = walls.bodies.slot[walls.contacts.link_wall[c]]
                if wall != walls.contacts.body[c]:
                    note_impulse(c, wall, walls, (1.0 - share) * given)
                note_impulse(c, walls.contacts.body[c], walls, share * given)
