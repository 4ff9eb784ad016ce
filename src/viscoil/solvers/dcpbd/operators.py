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
the linear field, e_i = b Δt/V_i Σ_j g_ij (1 + s_i·x_ij) (u_j − u_i), with the lean
s_i = K_i Σ_j g_ij x_ij/V_i that makes it vanish for linear fields (so its forces have no torque and
no mean stress), the length b = √2 d, and the compliance of the material; what it remembers, the
curvature c, relaxes as Q does. Its multiplier is called bend, μ. The paper has nothing like it.

All passes gather: two loops (differences, then forces) and no atomics.
"""

import quadrants as qd

from viscoil.constraints.symmetric import (
    determinant,
    double_dot,
    identity,
    inverse,
    times_vector,
    to_matrix,
)
from viscoil.core.compute import mat3, vec3, vec6
from viscoil.materials.table import MaterialTable
from viscoil.neighbors.pairs import separation
from viscoil.neighbors.resolution import pair_size, spacing_of, volume_of, weight_share
from viscoil.neighbors.scale import Scale
from viscoil.neighbors.smoothing import slope_over_q
from viscoil.solvers.dcpbd.workspace import Fluid, Unknowns


@qd.func
def bend_length(scale: Scale, fluid: Fluid, i: qd.i32) -> qd.f32:
    """b/2 = d/√2, m: gradient and bend of a shear wave on a lattice then make up second differences."""
    return 0.70710678 * spacing_of(scale, fluid, i)


@qd.func
def compliance(materials: MaterialTable, fluid: Fluid, i: qd.i32) -> vec3:
    """a of particle i, 1/Pa, against normal, shear and mean stress: its material's, by its softness."""
    m = fluid.material[i]
    return fluid.softness[i] * vec3(
        materials.normal_compliance[m],
        materials.shear_compliance[m],
        materials.volume_compliance[m],
    )


@qd.func
def comply(stress: vec6, materials: MaterialTable, fluid: Fluid, i: qd.i32) -> vec6:
    """a σ: the strain that a stress costs, its mean and its deviator with compliances of their own.

    A floor keeps the system definite when a material has no compliance.
    """
    floor = 1e-5 * fluid.diagonal[i]
    a = compliance(materials, fluid, i)
    normal = a[0] + floor
    shear = a[1] + floor
    mean = (stress[0] + stress[1] + stress[2]) / 3.0
    volume = (a[2] + floor - normal) * mean
    return vec6(normal, normal, normal, shear, shear, shear) * stress + volume * identity()


@qd.func
def recovery(materials: MaterialTable, fluid: Fluid, i: qd.i32) -> qd.f32:
    """The share of a remembered strain that a step may undo: 1, but 1/5 without compliance.

    A material so stiff that it springs back within a step turns every error of Q into a velocity;
    undoing a part of it at a time keeps it stable (Baumgarte). At a = D it costs 0.8 % of the modulus.
    """
    slack = 100.0 * compliance(materials, fluid, i)[0] + 1e-30
    return (slack + 0.2 * fluid.diagonal[i]) / (slack + fluid.diagonal[i])


@qd.func
def leak(materials: MaterialTable, fluid: Fluid, i: qd.i32) -> qd.f32:
    """The share of Q − I that a step forgets besides relaxation: 0, but 1/10 without compliance.

    Without compliance Q − I is nothing but what iterations left undone, and must not pile up.
    """
    slack = 1e4 * compliance(materials, fluid, i)[0] + 1e-30
    share = fluid.diagonal[i] / (slack + fluid.diagonal[i])
    return 0.1 * share * share


@qd.func
def remembered(materials: MaterialTable, fluid: Fluid, i: qd.i32) -> vec6:
    """What enters the constraint of Q⁰ − I, and of θ⁰ for the volume.

    The mean of Q is no measure of volume: it grows in shear, where polymers stretch. A fluid that
    forgets its shape within a step still remembers its pressure, by θ⁰.
    """
    m = fluid.material[i]
    q = fluid.conformation[i] - identity()
    mean = (q[0] + q[1] + q[2]) / 3.0
    volume = materials.volume_memory[m] * mean + materials.memory[m] * (fluid.dilation[i] - mean)
    strain = recovery(materials, fluid, i) * (materials.memory[m] * q + volume * identity())
    if materials.relaxation[m] == 0.0:
        strain = materials.pressure_memory[m] * fluid.dilation[i] * identity()
    return strain


@qd.func
def constraint(
    strain: vec6, stress: vec6, materials: MaterialTable, fluid: Fluid, i: qd.i32
) -> vec6:
    """Remembered Q⁰ − I + strain − a σ: eq. 7 with compliance; 0 where no gradient can be taken."""
    left = strain + remembered(materials, fluid, i) - comply(stress, materials, fluid, i)
    if double_dot(fluid.correction[i], fluid.correction[i]) == 0.0:
        left = vec6(0.0)
    return left


@qd.func
def precondition(r: vec6, materials: MaterialTable, fluid: Fluid, i: qd.i32) -> vec6:
    """z = r/(D + a); the least value only guards particles without neighbours, where r is 0."""
    d = fluid.diagonal[i] + 1e-30
    a = compliance(materials, fluid, i)
    normal = 1.0 / (d + a[0])
    shear = 1.0 / (d + a[1])
    mean = (r[0] + r[1] + r[2]) / 3.0
    volume = (1.0 / (d + a[2]) - normal) * mean
    return vec6(normal, normal, normal, shear, shear, shear) * r + volume * identity()


@qd.func
def bend_compliance(materials: MaterialTable, fluid: Fluid, i: qd.i32) -> qd.f32:
    return compliance(materials, fluid, i)[1] + 1e-5 * fluid.bend_diagonal[i]


@qd.func
def bend_constraint(
    bend_strain: vec3, bend: vec3, materials: MaterialTable, fluid: Fluid, i: qd.i32
) -> vec3:
    """Remembered c⁰ + e − a μ; 0 where no gradient can be taken."""
    left = bend_strain + materials.memory[fluid.material[i]] * fluid.curvature[i]
    left -= bend_compliance(materials, fluid, i) * bend
    if double_dot(fluid.correction[i], fluid.correction[i]) == 0.0:
        left = vec3(0.0)
    return left


@qd.func
def bend_precondition(r: vec3, materials: MaterialTable, fluid: Fluid, i: qd.i32) -> vec3:
    return r / (fluid.bend_diagonal[i] + bend_compliance(materials, fluid, i) + 1e-30)


@qd.func
def invert_moment(moment: vec6, corrected: qd.template()) -> vec6:
    """K from the moment matrix, whose trace is 3 in the bulk.

    0 (no gradient, no stress) where neighbours are few or lie in a plane or line: drops of a few
    particles fly freely.
    """
    k = identity()
    if qd.static(corrected):
        trace = moment[0] + moment[1] + moment[2]
        k = vec6(0.0)
        if trace > 0.6 and determinant(moment) > 4e-3 * trace * trace * trace:
            k = inverse(moment)
    return k


@qd.kernel(fastcache=True)
def prepare(
    n: qd.i32,
    kind: qd.template(),
    periodic: qd.template(),
    corrected: qd.template(),
    active: qd.template(),
    scale: Scale,
    materials: MaterialTable,
    fluid: Fluid,
):
    """Pair weights, gradient corrections and diagonals: all that is constant over the iterations.

    Pairs with less than half a percent of the weight at q = 1/2 have none, and are put last in their
    rows, out of the iterations' way: every seventh listed pair of a fluid, beyond 0.95 h. Where no
    material is active, nothing but masses is needed.
    """
    for i in range(n):
        mass = materials.density[fluid.material[i]] * volume_of(scale, fluid, i)
        fluid.inverse_mass[i] = 1.0 / mass
        fluid.firmness[i] = 0.0
    if qd.static(active):
        _prepare_gradients(n, kind, periodic, corrected, scale, materials, fluid)


@qd.func
def _prepare_gradients(
    n: qd.i32,
    kind: qd.template(),
    periodic: qd.template(),
    corrected: qd.template(),
    scale: Scale,
    materials: MaterialTable,
    fluid: Fluid,
):
    for i in range(n):
        xi = fluid.position[i]
        volume = volume_of(scale, fluid, i)
        moment = vec6(0.0)
        total = vec3(0.0)
        unit = scale.volume * scale.volume * scale.gradient_scale
        least = 0.005 * slope_over_q(kind, 0.5)
        end = fluid.pairs.start[i]
        for k in range(fluid.pairs.start[i], fluid.pairs.start[i + 1]):
            j = fluid.pairs.neighbor[k]
            x = separation(periodic, fluid.period, xi, fluid.position[j])
            size = pair_size(scale, fluid, i, j)
            slope = slope_over_q(kind, x.norm() / (size * scale.support))
            fluid.weight[k] = 0.0
            if slope < least:
                g = unit * weight_share(scale, fluid, i, j) * slope
                fluid.pairs.neighbor[k] = fluid.pairs.neighbor[end]
                fluid.pairs.neighbor[end] = j
                fluid.weight[end] = g
                end += 1
                total += g * x
                moment += g * vec6(
                    x[0] * x[0], x[1] * x[1], x[2] * x[2], x[0] * x[1], x[0] * x[2], x[1] * x[2]
                )
        fluid.weighty[i] = end
        correction = invert_moment(-moment / volume, corrected)
        own = times_vector(correction, total)
        sum_of_squares = own.dot(own) * fluid.inverse_mass[i]
        tilted_sum = 0.0
        tilted_squares = 0.0
        for k in range(fluid.pairs.start[i], end):
            j = fluid.pairs.neighbor[k]
            x = separation(periodic, fluid.period, xi, fluid.position[j])
            arm = fluid.weight[k] * times_vector(correction, x)
            sum_of_squares += arm.dot(arm) * fluid.inverse_mass[j]
            tilted = fluid.weight[k] * (1.0 + own.dot(x) / volume)
            tilted_sum += tilted
            tilted_squares += tilted * tilted * fluid.inverse_mass[j]
        # the mean over the six unit stresses e of |e v|² is |v|²/3
        unit = 2.0 * scale.dt * scale.dt / volume
        fluid.diagonal[i] = unit / 3.0 * sum_of_squares
        length = bend_length(scale, fluid, i)
        tilted_squares += tilted_sum * tilted_sum * fluid.inverse_mass[i]
        fluid.bend_diagonal[i] = unit * length * length * tilted_squares
        if materials.active[fluid.material[i]] == 0:
            correction = vec6(0.0)
        fluid.correction[i] = correction
        if double_dot(correction, correction) > 0.0:
            slack = 0.1 * compliance(materials, fluid, i)[0]
            fluid.firmness[i] = fluid.diagonal[i] / (fluid.diagonal[i] + slack)
        fluid.lean[i] = times_vector(correction, total) / volume


@qd.func
def differences(
    periodic: qd.template(), scale: Scale, fluid: Fluid, field: qd.template(), i: qd.i32
):
    """(L_i, e_i/Δt) of a vector field: its gradient ∂field_a/∂x_b, and how it bends."""
    xi = fluid.position[i]
    fi = field[i]
    total = qd.Matrix.zero(qd.f32, 3, 3)
    plain = vec3(0.0)
    for k in range(fluid.pairs.start[i], fluid.weighty[i]):
        j = fluid.pairs.neighbor[k]
        step = fluid.weight[k] * (field[j] - fi)
        x = separation(periodic, fluid.period, xi, fluid.position[j])
        total += step.outer_product(x)
        plain += step
    volume = volume_of(scale, fluid, i)
    bend = 2.0 * bend_length(scale, fluid, i) / volume * (plain + total @ fluid.lean[i])
    return total @ to_matrix(fluid.correction[i]) / volume, bend


@qd.func
def gradient(
    periodic: qd.template(), scale: Scale, fluid: Fluid, field: qd.template(), i: qd.i32
) -> mat3:
    """L_i of a vector field: ∂field_a/∂x_b."""
    rate, _bend = differences(periodic, scale, fluid, field, i)
    return rate


@qd.func
def load(stress: vec6, bend: vec3, scale: Scale, fluid: Fluid, unknowns: Unknowns, i: qd.i32):
    """Stores what `stress_force` needs of σ and μ: T = σ K + (b/2) μ ⊗ s, and the pull (b/2) μ."""
    pull = bend_length(scale, fluid, i) * bend
    traction = to_matrix(stress) @ to_matrix(fluid.correction[i])
    unknowns.traction[i] = traction + pull.outer_product(fluid.lean[i])
    unknowns.pull[i] = pull


@qd.func
def stress_force(periodic: qd.template(), fluid: Fluid, unknowns: Unknowns, i: qd.i32) -> vec3:
    """f_i of the stresses and bends that were loaded, N."""
    xi = fluid.position[i]
    own = unknowns.traction[i]
    pull = unknowns.pull[i]
    force = vec3(0.0)
    arm = vec3(0.0)
    for k in range(fluid.pairs.start[i], fluid.weighty[i]):
        j = fluid.pairs.neighbor[k]
        g = fluid.weight[k]
        x = g * separation(periodic, fluid.period, xi, fluid.position[j])
        arm += x
        force += unknowns.traction[j] @ x + g * (pull - unknowns.pull[j])
    return force + own @ arm
