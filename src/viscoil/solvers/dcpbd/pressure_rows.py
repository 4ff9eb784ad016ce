# mypy: disable-error-code="valid-type,no-untyped-def,no-untyped-call,misc"
"""Pressures as unknowns of the velocity projection, beside stresses and bends.

A viscous fluid resists what pressure does to it. Solved one after the other, the two undo each other's
work in every step; solved together they agree. A particle takes part that is full, had pressure in the
last step or lies among others that had, and belongs to a fluid that is firm enough to resist it and
forgets its shape, however slowly: it is *pressed*. Its stress is a deviator, and its volume is kept by

    2 (C⁰ s + Δt dC/dt) = χ Δp,    dC/dt = Σ_j V_j ∇W_ij·(u_i − u_j),

images of j in walls included, and Δp the rise above what was recalled, which has acted in u*. The force
of a pressure is the adjoint of that rate, so the system stays symmetric and positive definite. The factor
2 is that of the strain Δt (L + Lᵀ). What a straight step under the spin ω stretches counts as it does
there.

χ > 0 makes it an augmented Lagrangian (Hestenes 1969; Powell 1969): what a step leaves of dC/dt, the
next ones find in a pressure that has risen, and at rest nothing is left. Of an old compression only the
share s = χ/diagonal counts, and no more than the tolerance: enough to keep the density from drifting,
and never so much that stiff fluids answer disorder with thrust.

It is pressed by a share w from 0 to 1, which is smooth in firmness, density and pressure: as a matter of
yes or no, the last bit of a pressure moved particles by a thousandth of a spacing. The unknown is then
Δp/√w and the row is taken times √w, so that the compliance is χ/w; that of the mean of stress is
a/(1 − w) (`elasticity.resisted`).

Signs are left to what follows: a pressure that has become negative is released by the first iteration of
the position projection, and its particle is not pressed in the next step.

Not pressed are particles beside walls with friction, which is in proportion to what contacts carry and
not pressures; between two rigid bodies that fluid moves; and beside particles of another size, whose
densities count each other unevenly, or of a separate body.
"""

import quadrants as qd

from viscoil.colliders.arrays import distance_and_normal
from viscoil.colliders.primitives import Contact
from viscoil.constraints.conformation import rotation_strain
from viscoil.constraints.density import pressure_stiffness, wall_share
from viscoil.constraints.symmetric import double_dot, inverse
from viscoil.core.compute import vec3
from viscoil.neighbors.arrays import ParticleArrays
from viscoil.neighbors.bodies import apart
from viscoil.neighbors.period import separation
from viscoil.neighbors.resolution import spacing_of, support_of, volume_of
from viscoil.neighbors.scale import Scale
from viscoil.solvers.dcpbd.arrays import Stencil, Unknowns
from viscoil.solvers.dcpbd.elasticity import has_gradient, least_compliance
from viscoil.solvers.dcpbd.mirrors import (
    along_normals,
    is_mirrored,
    mirrored_weights,
    note_push,
    prepare_wall_row,
    pushes_of,
)
from viscoil.solvers.dcpbd.operators import traction
from viscoil.solvers.dcpbd.separate_bodies import density_of_others, ramp, touches
from viscoil.solvers.dcpbd.stress_table import StressTable, compliance
from viscoil.walls.arrays import WallArrays, is_driven, note_impulse
from viscoil.walls.body_velocities import tell_fixed


@qd.func
def prepare_pressure_rows(
    n: qd.i32,
    tolerance: qd.f32,
    undone: qd.f32,
    excess: qd.f32,
    faint: qd.f32,
    stiffness: qd.f32,
    corotated: qd.template(),
    scale: Scale,
    materials: StressTable,
    near: ParticleArrays,
    walls: WallArrays,
    stencil: Stencil,
    unknowns: Unknowns,
):
    """Who is pressed, by p of the last step and C⁰, and the rows of these.

    Steps that are shorter than those before them undo the share `undone` of C⁰ that others would.
    `stiffness` (m⁻²) is the least that pressures can push against.
    """
    for i in range(n):
        share = _pressed_share(
            tolerance, faint, scale, materials, near, walls, stencil, unknowns, i
        )
        if qd.static(scale.parted):
            if stencil.loose[i] > 0.0:
                stencil.touching[i] = stencil.loose[i] * share
                share = 0.0
        if share > 0.0:
            stencil.pressed[i] = share
            stencil.bend_share[i] = _bend_share(scale, materials, near, stencil, unknowns, i)
            _prepare_row(scale, near, walls, stencil, i)
            stencil.pressed_compliance[i] = _compliance(materials, near, stencil, i)
            answered = stencil.pressed_compliance[i] / stencil.pressed_diagonal[i]
            old = undone * answered * qd.min(unknowns.old_compression[i] - excess, tolerance)
            stencil.pressed_offset[i] += 2.0 * old
            if qd.static(corotated):
                # what a spin stretches is measured as rates are: by the neighbourhood's moments
                turned = rotation_strain(stencil.spin[i], scale.dt)
                stretched = double_dot(turned, inverse(stencil.correction[i]))
                stencil.pressed_offset[i] -= stretched
        elif touches(scale, stencil, i):
            _prepare_row(scale, near, walls, stencil, i)
            # where particles lie in each other, pressure has nothing to push against
            usual = 2.0 * scale.dt * scale.dt * volume_of(scale, near, i) * near.inverse_mass[i]
            firm = ramp(stencil.pressed_diagonal[i] / (usual * stiffness), 1.0, 3.0)
            stencil.touching[i] *= firm
            stencil.pressed_compliance[i] = _compliance(materials, near, stencil, i)
            excess = density_of_others(scale, near, i) - scale.beside
            old = 0.1 * undone * qd.min(excess, 0.05)
            stencil.pressed_offset[i] = 2.0 * old


@qd.func
def _pressed_share(
    tolerance: qd.f32,
    faint: qd.f32,
    scale: Scale,
    materials: StressTable,
    near: ParticleArrays,
    walls: WallArrays,
    stencil: Stencil,
    unknowns: Unknowns,
    i: qd.i32,
) -> qd.f32:
    """w, from 0 to 1: smooth, so that nothing hangs on the last bit of what decides."""
    share = 0.0
    soft = compliance(materials, near.material[i], near.softness[i])[0] > 0.0
    fluid = soft and materials.relaxation[near.material[i]] < 1.0
    if qd.static(scale.parted):
        fluid = soft and (fluid or stencil.loose[i] > 0.0)
    if fluid and has_gradient(stencil, i) and not is_driven(near.contact[i], walls):
        excess = unknowns.old_compression[i]
        if qd.static(scale.parted):
            if stencil.loose[i] > 0.0:
                excess = density_of_others(scale, near, i) - scale.beside
        # below a firmness of 0.01, stress undoes less than a thousandth of a strain in a step
        share = ramp(stencil.firmness[i], 0.002, 0.01)
        share *= ramp(excess, -2.0 * tolerance, -tolerance)
        if share > 0.0:
            least = _least_pressure(faint, scale, near, i)
            around = _pressure_around(scale, near, unknowns, i)
            share *= ramp(qd.max(unknowns.pressure[i], around), least, 10.0 * least)
    if share > 0.0:
        share *= 1.0 - _share_of_others(scale, near, walls, stencil, i)
    return share


@qd.func
def _pressure_around(scale: Scale, near: ParticleArrays, unknowns: Unknowns, i: qd.i32) -> qd.f32:
    """The mean pressure of the neighbours of particle i in its body, Pa."""
    total, count = 0.0, 1e-30
    for k in range(near.pairs.start[i], near.pairs.start[i + 1]):
        j = near.pairs.neighbor[k]
        if not apart(scale, near, i, j):
            total += qd.max(unknowns.pressure[j], 0.0)
            count += 1.0
    return total / count


@qd.func
def _least_pressure(faint: qd.f32, scale: Scale, near: ParticleArrays, i: qd.i32) -> qd.f32:
    """Pa: what makes a difference of `faint` (m/s²), and of ten times the rounding of C, 1e-7.

    A lattice that falls is neither full nor empty: rounding would decide who is pressed as it lands.
    """
    spacing = spacing_of(scale, near, i)
    acceleration = qd.max(faint, 1e-6 * spacing / (scale.dt * scale.dt))
    return acceleration * spacing / (near.inverse_mass[i] * volume_of(scale, near, i))


@qd.func
def _share_of_others(
    scale: Scale, near: ParticleArrays, walls: WallArrays, stencil: Stencil, i: qd.i32
) -> qd.f32:
    """0 to 1: how much walls with friction, two bodies that fluid moves and other sizes are in reach."""
    others = 0.0
    if qd.static(scale.mixed):
        for k in range(near.pairs.start[i], stencil.weighted_end[i]):
            if near.size[near.pairs.neighbor[k]] != near.size[i]:
                others = 1.0
    if near.contact[i] >= 0:
        if qd.static(walls.coupled):
            if walls.contacts.body[near.contact[i]] == -2:
                others = 1.0
        for k in range(walls.count):
            if walls.colliders.contact[k] == Contact.FRICTION:
                at = distance_and_normal(walls.colliders, k, near.position[i])
                behind = wall_share(at[3], support_of(scale, near, i), walls.density)
                others = qd.max(others, ramp(behind[0], 0.0, 0.01))
    return others


@qd.func
def _prepare_row(
    scale: Scale, near: ParticleArrays, walls: WallArrays, stencil: Stencil, i: qd.i32
):
    """What images push, how walls move, and the diagonal.

    That is 2 Δt² V (|Σ_j V_j ∇W_ij|²/m_i + Σ_j V_j² |∇W_ij|²/m_j).
    """
    xi = near.position[i]
    volume = volume_of(scale, near, i)
    total = vec3(0.0)
    squares = 0.0
    across = touches(scale, stencil, i)
    for k in range(near.pairs.start[i], stencil.weighted_end[i]):
        j = near.pairs.neighbor[k]
        if apart(scale, near, i, j) == across:
            x = separation(near.period, xi, near.position[j])
            g, lengths = mirrored_weights(-x, scale, near, walls, j, i)
            arm = (stencil.weight[k] + g) / volume * x
            total += arm
            arm -= along_normals(lengths, near, walls, j) / volume
            squares += arm.dot(arm) * near.inverse_mass[j]
    if not across:
        prepare_wall_row(scale, near, walls, stencil, i)
        total += stencil.wall_slope[i]
    stiffness = total.dot(total) * near.inverse_mass[i] + squares
    stencil.pressed_diagonal[i] = 2.0 * scale.dt * scale.dt * volume * stiffness


@qd.func
def _compliance(
    materials: StressTable, near: ParticleArrays, stencil: Stencil, i: qd.i32
) -> qd.f32:
    """χ: what a rise of pressure costs, 1/Pa.

    Of the two limits, 2 Δt/(50 η) (with `coefficients.VOLUME_STIFFNESS`) and 1/200 of the diagonal, half
    of their harmonic mean. The first makes pressure rise as a viscosity against compression of 50 η
    would; without it small disorder of the particles asks of stiff fluids what no pressure can give. The
    second lets thin fluids solve for their pressure. 200 was tried and is not derived; with 20 water-like
    fluids of 1 Pa s did not come to rest.
    """
    stiffness = 200.0 / stencil.pressed_diagonal[i]
    normal = compliance(materials, near.material[i], near.softness[i])[2]
    return 1.0 / (stiffness + 0.5 / (normal + least_compliance(stencil.pressed_diagonal[i])))


@qd.func
def _bend_share(
    scale: Scale,
    materials: StressTable,
    near: ParticleArrays,
    stencil: Stencil,
    unknowns: Unknowns,
    i: qd.i32,
) -> qd.f32:
    """What is left of the compliance of bends when these are as stiff as the pressure that pushes.

    A pressure that acts at x⁰ on particles that are out of line is stable up to 0.42 ρ d²/Δt² (see
    `pressure_stiffness`): a column of 24 layers of 2 cm at 1/120 s. A viscosity of Δt p against bends
    lifts that to 3.2 ρ d²/Δt². It begins at half of what is stable without.
    """
    a = compliance(materials, near.material[i], near.softness[i])[1]
    way = spacing_of(scale, near, i) / scale.dt
    harmless = (
        2.0 / pressure_stiffness() * way * way / (near.inverse_mass[i] * volume_of(scale, near, i))
    )
    return 1.0 / (1.0 + a * stencil.pressed[i] * qd.max(unknowns.pressure[i] - harmless, 0.0))


@qd.kernel(fastcache=True)
def tell_walls(
    n: qd.i32,
    scale: Scale,
    near: ParticleArrays,
    walls: WallArrays,
    stencil: Stencil,
    unknowns: Unknowns,
):
    """Fixed colliders that are tracked get the opposite of what the solve did to particles at them.

    That is the rise of pressure, and the stress by which they are linked.
    """
    for i in range(n):
        if is_mirrored(scale, near, walls, i):
            push = pushes_of(
                unknowns.pressure, unknowns.pressure_aside, stencil.pressed, scale, near, walls, i
            )
            note_push(push, scale, near, walls, i)
    for c in range(walls.contacts.count):
        if walls.contacts.linked[c] == 1:
            i = walls.contacts.particle[c]
            acting = traction(unknowns.stress[i], unknowns.bend[i], scale, near, stencil, i)
            share = 1.0 - walls.contacts.link_share[c]  # a body has got the rest in the solve
            pull = share * scale.dt * scale.dt * (acting @ walls.contacts.link_arm[c])
            note_impulse(c, walls.bodies.slot[walls.contacts.link_wall[c]], walls, pull)
    tell_fixed(scale.dt, near, walls)
