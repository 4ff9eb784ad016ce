# mypy: disable-error-code="valid-type,no-untyped-def,no-untyped-call,misc"
"""The discrete operators of the conformation constraint (Barreiro 2017, section 5).

The velocity gradient of particle i is L_i = 1/V_i Σ_j g_ij (u_j − u_i) ⊗ K_i x_ij with the pair weight
g_ij = V_i V_j W'(r)/r, symmetric in i and j, and the first-order correction K_i, which makes L exact
for linear fields: a rigid rotation has no strain, also at a free surface. The force of stresses σ
follows from virtual work, f_i = Σ_j g_ij (σ_i K_i + σ_j K_j) x_ij: pairwise opposite, so linear
momentum is kept to round-off, and free of torque about x⁰, because Σ_j g_ij x_ij ⊗ K_i x_ij = −V_i I.

A gradient taken at the particles does not see the shortest waves, in which neighbours move against
each other: a fluid could flow in them without viscosity, and once it has lost its lattice it does (it
kept half its viscosity). So each particle has a second constraint, on what its neighbours do beyond
the linear field, e_i = b Δt/V_i Σ_j g_ij (1 + s_i·x_ij) (u_j − u_i), with the asymmetry
s_i = K_i Σ_j g_ij x_ij/V_i that makes it vanish for linear fields (so its forces have no torque and
no mean stress), the length b = √2 d, and the compliance of the material; what it remembers, the
curvature c, relaxes as Q does. Its multiplier is called bend, μ. The paper has nothing like it.

All passes gather: two loops (differences, then forces) and no atomics.
"""

import quadrants as qd

from viscoil.constraints.conformation import spin_of
from viscoil.constraints.symmetric import (
    determinant,
    double_dot,
    identity,
    inverse,
    square,
    times_vector,
    to_matrix,
)
from viscoil.core.compute import Vec3s, mat3, vec3, vec6
from viscoil.neighbors.arrays import ParticleArrays
from viscoil.neighbors.bodies import apart
from viscoil.neighbors.period import separation
from viscoil.neighbors.resolution import pair_size, spacing_of, volume_of, weight_share
from viscoil.neighbors.scale import Scale
from viscoil.neighbors.smoothing import slope_over_q
from viscoil.solvers.dcpbd.arrays import Stencil, Unknowns
from viscoil.solvers.dcpbd.elasticity import resisted
from viscoil.solvers.dcpbd.no_slip import (
    link_arm,
    link_difference,
    link_force,
    link_to_walls,
    unlink,
)
from viscoil.solvers.dcpbd.separate_bodies import beside_another, ramp, touches
from viscoil.solvers.dcpbd.stress_table import StressTable, compliance
from viscoil.walls.arrays import WallArrays


@qd.func
def bend_length(scale: Scale, near: ParticleArrays, i: qd.i32) -> qd.f32:
    """b/2 = d/√2, m: gradient and bend of a shear wave on a lattice then make up second differences."""
    return 0.70710678 * spacing_of(scale, near, i)


@qd.func
def invert_moment(moment: vec6, corrected: qd.template()) -> vec6:
    """K from the moment matrix, whose trace is 3 in the bulk and whose determinant is 1/27 of trace³.

    0 (no gradient, no stress) where neighbours are few or lie in a plane or line: drops of a few
    particles fly freely. The bars were tried and are not derived: a fifth of the bulk's trace, and a
    ninth of its determinant, which keeps the condition of K below 36.
    """
    k = identity()
    if qd.static(corrected):
        trace = moment[0] + moment[1] + moment[2]
        k = vec6(0.0)
        least_trace, least_determinant = 0.6, 4e-3
        if trace > least_trace and determinant(moment) > least_determinant * trace * trace * trace:
            k = inverse(moment)
    return k


@qd.kernel(fastcache=True)
def prepare_stencil(
    n: qd.i32,
    active: qd.template(),
    corrected: qd.template(),
    scale: Scale,
    materials: StressTable,
    near: ParticleArrays,
    walls: WallArrays,
    velocity: Vec3s,
    stencil: Stencil,
):
    """Weights, gradient corrections, diagonals, spins of u⁰: all that is constant over the iterations.

    Where no material is active, no particle is firm, and nothing else is needed.
    """
    for i in range(n):
        stencil.firmness[i] = 0.0
        stencil.pressed[i] = 0.0
        if qd.static(scale.parted):
            stencil.loose[i] = 0.0
            stencil.touching[i] = 0.0
    if qd.static(active):
        _prepare_gradients(n, corrected, scale, materials, near, walls, stencil)
        for i in range(n):
            if qd.static(scale.parted):
                stencil.loose[i] = beside_another(scale, near, stencil, i)
            stencil.spin[i] = spin_of(gradient(scale, near, walls, stencil, velocity, i))
            stencil.wall_slope[i] = vec3(0.0)
            stencil.pressed_diagonal[i] = 1.0
            stencil.pressed_offset[i] = 0.0
            stencil.bend_share[i] = 1.0
            stencil.pressed_compliance[i] = 0.0
    for i in range(n):
        if near.contact[i] >= 0:
            # exactly 0 of firm ones: who is pushed out by a hair's breadth within a step is thrown
            walls.contacts.thinness[near.contact[i]] = 1.0 - ramp(stencil.firmness[i], 0.0, 0.5)


@qd.func
def _prepare_gradients(
    n: qd.i32,
    corrected: qd.template(),
    scale: Scale,
    materials: StressTable,
    near: ParticleArrays,
    walls: WallArrays,
    stencil: Stencil,
):
    for i in range(n):
        moment, total = _prepare_weights(scale, near, stencil, i)
        volume = volume_of(scale, near, i)
        if qd.static(corrected):
            if materials.relaxation[near.material[i]] < 1.0:
                moment = link_to_walls(moment, scale, near, walls, i)
        correction = invert_moment(-moment / volume, corrected)
        if materials.active[near.material[i]] == 0 or double_dot(correction, correction) == 0.0:
            unlink(near, walls, i)
        own = times_vector(correction, total)
        linked = link_arm(near, walls, i)
        _prepare_diagonals(correction, own, linked, scale, near, stencil, i)
        if materials.active[near.material[i]] == 0:
            correction = vec6(0.0)
        stencil.correction[i] = correction
        if double_dot(correction, correction) > 0.0:
            a = compliance(materials, near.material[i], near.softness[i])[0]
            stencil.firmness[i] = firmness_of(stencil.diagonal[i], a)
        stencil.asymmetry[i] = times_vector(correction, total) / volume


@qd.func
def firmness_of(diagonal: qd.f32, a: qd.f32) -> qd.f32:
    """D/(D + a/10): how much of a change of volume stress undoes within a step, from 0 to 1.

    The tenth was tried and is not derived: a material counts as firm up to ten times the compliance at
    which stress undoes half of a strain.
    """
    slack = 0.1 * a
    return diagonal / (diagonal + slack)


@qd.func
def least_weight() -> qd.f32:
    """The weight, of that at q = 1/2, below which a pair is left out.

    Such pairs lie beyond 0.95 h, a seventh of those that are listed of a fluid, and have under half a
    percent of the influence of near ones: iterations visit a seventh less.
    """
    return 0.005


@qd.func
def _prepare_weights(scale: Scale, near: ParticleArrays, stencil: Stencil, i: qd.i32):
    """Weights of the pairs of particle i; (Σ_j g_ij x_ij ⊗ x_ij, Σ_j g_ij x_ij).

    Pairs with less than the least weight have none, and are put last in their row, out of the
    iterations' way.
    """
    xi = near.position[i]
    moment = vec6(0.0)
    total = vec3(0.0)
    unit = scale.volume * scale.volume * scale.gradient_scale
    least = least_weight() * slope_over_q(scale.kind, 0.5)
    end = near.pairs.start[i]
    for k in range(near.pairs.start[i], near.pairs.start[i + 1]):
        j = near.pairs.neighbor[k]
        x = separation(near.period, xi, near.position[j])
        size = pair_size(scale, near, i, j)
        slope = slope_over_q(scale.kind, x.norm() / (size * scale.support))
        stencil.weight[k] = 0.0
        if slope < least:
            g = unit * weight_share(scale, near, i, j) * slope
            near.pairs.neighbor[k] = near.pairs.neighbor[end]
            near.pairs.neighbor[end] = j
            stencil.weight[end] = g
            end += 1
            if not apart(scale, near, i, j):
                total += g * x
                moment += g * square(x)
    stencil.weighted_end[i] = end
    return moment, total


@qd.func
def _prepare_diagonals(
    correction: vec6,
    own: vec3,
    linked: vec3,
    scale: Scale,
    near: ParticleArrays,
    stencil: Stencil,
    i: qd.i32,
):
    """Mean diagonals of the systems of stresses and of bends.

    `own` is K Σ_j g_ij x_ij over particles, `linked` Σ g x over walls.
    """
    xi = near.position[i]
    volume = volume_of(scale, near, i)
    all_arms = own + times_vector(correction, linked)
    sum_of_squares = all_arms.dot(all_arms) * near.inverse_mass[i]
    tilted_sum = own.dot(linked) / volume
    tilted_squares = 0.0
    for k in range(near.pairs.start[i], stencil.weighted_end[i]):
        j = near.pairs.neighbor[k]
        if apart(scale, near, i, j):
            continue
        x = separation(near.period, xi, near.position[j])
        arm = stencil.weight[k] * times_vector(correction, x)
        sum_of_squares += arm.dot(arm) * near.inverse_mass[j]
        tilted = stencil.weight[k] * (1.0 + own.dot(x) / volume)
        tilted_sum += tilted
        tilted_squares += tilted * tilted * near.inverse_mass[j]
    # the mean over the six unit stresses e of |e v|² is |v|²/3
    unit = 2.0 * scale.dt * scale.dt / volume
    stencil.diagonal[i] = unit / 3.0 * sum_of_squares
    length = bend_length(scale, near, i)
    tilted_squares += tilted_sum * tilted_sum * near.inverse_mass[i]
    stencil.bend_diagonal[i] = unit * length * length * tilted_squares


@qd.func
def differences(
    scale: Scale,
    near: ParticleArrays,
    walls: WallArrays,
    stencil: Stencil,
    field: qd.template(),
    changed: qd.template(),
    i: qd.i32,
):
    """(L_i, e_i/Δt, −Σ_j V_j ∇W_ij·(f_j − f_i)) of a field f of velocities, or of changes of them.

    Its gradient ∂f_a/∂x_b, how it bends, and the rate at which it compresses, without what walls add.
    """
    xi = near.position[i]
    fi = field[i]
    total = qd.Matrix.zero(qd.f32, 3, 3)
    plain = vec3(0.0)
    across = 0.0
    for k in range(near.pairs.start[i], stencil.weighted_end[i]):
        j = near.pairs.neighbor[k]
        step = stencil.weight[k] * (field[j] - fi)
        x = separation(near.period, xi, near.position[j])
        if apart(scale, near, i, j):
            across += step.dot(x)
        else:
            total += step.outer_product(x)
            plain += step
    volume = volume_of(scale, near, i)
    together = total.trace()
    if touches(scale, stencil, i):
        together = across
    total += link_difference(fi, changed, near, walls, i)
    bend = 2.0 * bend_length(scale, near, i) / volume * (plain + total @ stencil.asymmetry[i])
    return total @ to_matrix(stencil.correction[i]) / volume, bend, -together / volume


@qd.func
def gradient(
    scale: Scale,
    near: ParticleArrays,
    walls: WallArrays,
    stencil: Stencil,
    field: qd.template(),
    i: qd.i32,
) -> mat3:
    """L_i of a field of velocities: ∂field_a/∂x_b."""
    rate, _bend, _squeeze = differences(scale, near, walls, stencil, field, False, i)
    return rate


@qd.func
def set_traction(
    stress: vec6,
    bend: vec3,
    pressure: qd.f32,
    scale: Scale,
    near: ParticleArrays,
    stencil: Stencil,
    unknowns: Unknowns,
    i: qd.i32,
):
    """Lets σ, μ and p act by `stress_force`: T ← `traction` − √w p I; the pull ← (b/2) μ."""
    acting = qd.sqrt(stencil.pressed[i]) * pressure
    if qd.static(scale.parted):
        unknowns.repulsion[i] = qd.sqrt(stencil.touching[i]) * pressure
    unknowns.traction[i] = traction(stress, bend, scale, near, stencil, i)
    unknowns.traction[i] -= acting * qd.Matrix.identity(qd.f32, 3)
    unknowns.pull[i] = bend_length(scale, near, i) * bend


@qd.func
def traction(
    stress: vec6, bend: vec3, scale: Scale, near: ParticleArrays, stencil: Stencil, i: qd.i32
) -> mat3:
    """R(σ) K + (b/2) μ ⊗ s: what σ and μ of particle i do along the ways to its neighbours."""
    pull = bend_length(scale, near, i) * bend
    stressed = to_matrix(resisted(stress, stencil, i)) @ to_matrix(stencil.correction[i])
    return stressed + pull.outer_product(stencil.asymmetry[i])


@qd.func
def stress_force(
    pressure: qd.f32,
    scale: Scale,
    near: ParticleArrays,
    walls: WallArrays,
    stencil: Stencil,
    unknowns: Unknowns,
    i: qd.i32,
) -> vec3:
    """f_i of the stresses, bends and pressures that act (`set_traction`), N.

    Walls bear no pressure here: √w p of the particle is given, to be left out.
    """
    xi = near.position[i]
    own = unknowns.traction[i]
    pull = unknowns.pull[i]
    force = vec3(0.0)
    arm = vec3(0.0)
    for k in range(near.pairs.start[i], stencil.weighted_end[i]):
        j = near.pairs.neighbor[k]
        g = stencil.weight[k]
        x = g * separation(near.period, xi, near.position[j])
        if apart(scale, near, i, j):
            force -= (unknowns.repulsion[i] + unknowns.repulsion[j]) * x
        else:
            arm += x
            force += unknowns.traction[j] @ x + g * (pull - unknowns.pull[j])
    return force + own @ arm + link_force(pressure, near, walls, unknowns, i)
