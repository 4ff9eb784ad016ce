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

Not linked are elastic solids, of which the first layer is held: what is stored of a link whose arm
changes from step to step adds up where nothing is forgotten, and a gel crept across its plate. Nor are
particles without a gradient, as single drops, which stick where they touch; nor bodies that fluid moves,
which would have to move in the same solve.
"""

import quadrants as qd

from viscoil.bodies.arrays import is_dynamic
from viscoil.colliders.arrays import carried, distance_and_normal, surface_velocity
from viscoil.colliders.primitives import Contact
from viscoil.core.compute import mat3, vec3, vec6
from viscoil.neighbors.arrays import ParticleArrays
from viscoil.neighbors.resolution import spacing_of, volume_of
from viscoil.neighbors.scale import Scale
from viscoil.solvers.dcpbd.separate_bodies import ramp
from viscoil.walls.arrays import WallArrays, is_known


@qd.func
def link_to_walls(moment: vec6, scale: Scale, near: ParticleArrays, walls: WallArrays, i: qd.i32):
    """Σ_j g_ij x_ij ⊗ x_ij of particle i with what sticky walls add; notes how it is linked to them."""
    total = moment
    c = near.contact[i]
    if c >= 0:
        if walls.contacts.nozzle[c] < 0:
            volume, spacing = volume_of(scale, near, i), spacing_of(scale, near, i)
            arm, velocity = vec3(0.0), vec3(0.0)
            weight, most = 0.0, 0.0
            for k in range(walls.count):
                if walls.colliders.contact[k] == Contact.STICKY and not _moved_by_fluid(walls, k):
                    x = carried(walls.colliders, k, scale.dt, near.position[i])
                    at = distance_and_normal(walls.colliders, k, x)
                    share = _link(at[3] / spacing)
                    if share > 0.0 and is_known(at):
                        n = vec3(at[0], at[1], at[2])
                        square = vec6(
                            n[0] * n[0], n[1] * n[1], n[2] * n[2],
                            n[0] * n[1], n[0] * n[2], n[1] * n[2],
                        )  # fmt: skip
                        seen = -(
                            total[0] * square[0] + total[1] * square[1] + total[2] * square[2]
                            + 2.0 * (total[3] * square[3] + total[4] * square[4] + total[5] * square[5])
                        ) / volume  # fmt: skip
                        a = share * qd.min(qd.max(1.0 - seen, 0.0), 0.5)
                        height = qd.max(at[3], 0.25 * spacing)
                        total -= volume * a * square
                        arm -= volume * a / height * n
                        velocity += a / height * surface_velocity(walls.colliders, k, x)
                        weight += a / height
                        if a / height > most:
                            most = a / height
                            walls.contacts.link_wall[c] = k
            if weight > 0.0:
                walls.contacts.linked[c] = 1
                walls.contacts.link_arm[c] = arm
                walls.contacts.link_velocity[c] = velocity / weight
    return total


@qd.func
def _link(height: qd.f32) -> qd.f32:
    """From 1 where a particle rests on a wall to 0 a spacing away from it."""
    return 1.0 - ramp(height, 0.75, 1.0)


@qd.func
def _moved_by_fluid(walls: WallArrays, k: qd.i32):
    moved = False
    if qd.static(walls.coupled):
        moved = is_dynamic(walls.bodies, walls.bodies.slot[k])
    return moved


@qd.func
def unlink(near: ParticleArrays, walls: WallArrays, i: qd.i32):
    """Leaves particle i to contact alone."""
    if near.contact[i] >= 0:
        walls.contacts.linked[near.contact[i]] = 0
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
    """Σ g (v − u) ⊗ x of the links of particle i; v is 0 of a change of velocities (`changed`)."""
    total = qd.Matrix.zero(qd.f32, 3, 3)
    if near.contact[i] >= 0:
        c = near.contact[i]
        step = -u
        if qd.static(not changed):
            if walls.contacts.linked[c] == 1:
                step += walls.contacts.link_velocity[c]
        total = step.outer_product(walls.contacts.link_arm[c])
    return total
