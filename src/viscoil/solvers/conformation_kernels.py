# mypy: disable-error-code="valid-type,no-untyped-def,no-untyped-call,misc"
"""Loops over particles for the conformation constraint, discretised as in Barreiro 2017, section 5.

The velocity gradient of particle i is L_i = 1/V_i Σ_j g_ij (u_j − u_i) ⊗ K_i x_ij with the pair weight
g_ij = V_i V_j W'(r)/r, symmetric in i and j, and the first-order correction K_i, which makes L exact
for linear fields: a rigid rotation has no strain, also at a free surface. The force of stresses σ
follows from virtual work, f_i = Σ_j g_ij (σ_i K_i + σ_j K_j) x_ij: pairwise opposite, so linear
momentum is kept to round-off, and free of torque about x⁰, because Σ_j g_ij x_ij ⊗ K_i x_ij = −V_i I.

All passes gather: two loops (gradients, then forces) and no atomics.
"""

import quadrants as qd

from viscoil.compute import Doubles, mat3, vec3, vec6
from viscoil.constraints.conformation import (
    convect,
    implicit_euler,
    rotation_strain,
    strain_of_deformation,
    strain_step,
)
from viscoil.constraints.rotation import nearest_rotation
from viscoil.constraints.symmetric import (
    congruence,
    determinant,
    double_dot,
    identity,
    inverse,
    times_vector,
    to_matrix,
)
from viscoil.neighbors import separation
from viscoil.reductions import block_begin, block_end, blocks, sum_blocks
from viscoil.smoothing import slope_over_q
from viscoil.solvers.contact import Contacts, free_part
from viscoil.solvers.density_kernels import limited
from viscoil.solvers.tables import MaterialTable, Scale
from viscoil.solvers.workspace import Fluid, Unknowns


@qd.func
def comply(stress: vec6, materials: MaterialTable, fluid: Fluid, i: qd.i32) -> vec6:
    """a σ: the strain that a stress costs, its mean and its deviator with compliances of their own.

    A floor keeps the system definite when a material has no compliance.
    """
    m = fluid.material[i]
    floor = 1e-5 * fluid.diagonal[i]
    normal = materials.normal_compliance[m] + floor
    shear = materials.shear_compliance[m] + floor
    mean = (stress[0] + stress[1] + stress[2]) / 3.0
    volume = (materials.volume_compliance[m] + floor - normal) * mean
    return vec6(normal, normal, normal, shear, shear, shear) * stress + volume * identity()


@qd.func
def remembered(materials: MaterialTable, fluid: Fluid, i: qd.i32) -> vec6:
    """The part of Q⁰ − I that enters the constraint."""
    m = fluid.material[i]
    q = fluid.conformation[i] - identity()
    mean = (q[0] + q[1] + q[2]) / 3.0
    return materials.memory[m] * q + (materials.volume_memory[m] - materials.memory[m]) * mean * (
        identity()
    )


@qd.func
def invert_moment(moment: vec6, corrected: qd.template()) -> vec6:
    """K from the moment matrix; 0 (no gradient, no stress) where neighbours lie in a plane or line."""
    k = identity()
    if qd.static(corrected):
        trace = moment[0] + moment[1] + moment[2]
        k = vec6(0.0)
        if trace > 0.05 and determinant(moment) > 4e-3 * trace * trace * trace:
            k = inverse(moment)
    return k


@qd.kernel(fastcache=True)
def prepare(
    n: qd.i32,
    kind: qd.template(),
    periodic: qd.template(),
    corrected: qd.template(),
    scale: Scale,
    materials: MaterialTable,
    fluid: Fluid,
):
    """Pair weights, gradient corrections and diagonals: all that is constant over the iterations."""
    for i in range(n):
        fluid.inverse_mass[i] = 1.0 / (materials.density[fluid.material[i]] * scale.volume)
    for i in range(n):
        xi = fluid.position[i]
        moment = vec6(0.0)
        total = vec3(0.0)
        for k in range(fluid.pairs.start[i], fluid.pairs.start[i + 1]):
            x = separation(periodic, fluid.period, xi, fluid.position[fluid.pairs.neighbor[k]])
            q = x.norm() / scale.support
            g = scale.volume * scale.volume * scale.gradient_scale * slope_over_q(kind, q)
            fluid.weight[k] = g
            total += g * x
            moment += g * vec6(
                x[0] * x[0], x[1] * x[1], x[2] * x[2], x[0] * x[1], x[0] * x[2], x[1] * x[2]
            )
        correction = invert_moment(-moment / scale.volume, corrected)
        own = times_vector(correction, total)
        sum_of_squares = own.dot(own) * fluid.inverse_mass[i]
        for k in range(fluid.pairs.start[i], fluid.pairs.start[i + 1]):
            j = fluid.pairs.neighbor[k]
            x = separation(periodic, fluid.period, xi, fluid.position[j])
            arm = fluid.weight[k] * times_vector(correction, x)
            sum_of_squares += arm.dot(arm) * fluid.inverse_mass[j]
        fluid.correction[i] = correction
        # the mean over the six unit stresses e of |e v|² is |v|²/3
        fluid.diagonal[i] = 2.0 / 3.0 * scale.dt * scale.dt / scale.volume * sum_of_squares
        if materials.active[fluid.material[i]] == 0:
            fluid.correction[i] = vec6(0.0)


@qd.func
def gradient(
    periodic: qd.template(), scale: Scale, fluid: Fluid, field: qd.template(), i: qd.i32
) -> mat3:
    """L_i of a vector field: ∂field_a/∂x_b."""
    xi = fluid.position[i]
    fi = field[i]
    total = qd.Matrix.zero(qd.f32, 3, 3)
    for k in range(fluid.pairs.start[i], fluid.pairs.start[i + 1]):
        j = fluid.pairs.neighbor[k]
        x = fluid.weight[k] * separation(periodic, fluid.period, xi, fluid.position[j])
        total += (field[j] - fi).outer_product(x)
    return total @ to_matrix(fluid.correction[i]) / scale.volume


@qd.func
def strain_under(
    corotated: qd.template(),
    periodic: qd.template(),
    scale: Scale,
    fluid: Fluid,
    unknowns: Unknowns,
    i: qd.i32,
) -> vec6:
    """The strain of the step x⁰ + Δt u, with or without what rotation adds to it.

    The spin is that of u*, which is smooth: u may be torn between walls and stress.
    """
    strain = strain_step(gradient(periodic, scale, fluid, unknowns.velocity, i), scale.dt)
    if qd.static(corotated):
        free = gradient(periodic, scale, fluid, unknowns.trial, i)
        strain += rotation_strain(free, scale.dt)
    return strain


@qd.func
def stress_force(periodic: qd.template(), fluid: Fluid, unknowns: Unknowns, i: qd.i32) -> vec3:
    """f_i of the stresses whose tractions T = σ K are stored, N."""
    xi = fluid.position[i]
    own = unknowns.traction[i]
    force = vec3(0.0)
    for k in range(fluid.pairs.start[i], fluid.pairs.start[i + 1]):
        j = fluid.pairs.neighbor[k]
        x = fluid.weight[k] * separation(periodic, fluid.period, xi, fluid.position[j])
        force += (own + unknowns.traction[j]) @ x
    return force


@qd.kernel(fastcache=True)
def tractions_of_stress(n: qd.i32, fluid: Fluid, unknowns: Unknowns):
    """T ← σ K, and no stress where no gradient can be taken."""
    for i in range(n):
        if double_dot(fluid.correction[i], fluid.correction[i]) == 0.0:
            unknowns.stress[i] = vec6(0.0)
        unknowns.traction[i] = to_matrix(unknowns.stress[i]) @ to_matrix(fluid.correction[i])


@qd.kernel(fastcache=True)
def tractions_of_direction(n: qd.i32, fluid: Fluid, unknowns: Unknowns):
    """T ← p K."""
    for i in range(n):
        unknowns.traction[i] = to_matrix(unknowns.direction[i]) @ to_matrix(fluid.correction[i])


@qd.kernel(fastcache=True)
def velocities_under_stress(
    n: qd.i32, periodic: qd.template(), scale: Scale, fluid: Fluid, unknowns: Unknowns
):
    """u ← u* + Δt f/m, as if no wall were there."""
    for i in range(n):
        force = stress_force(periodic, fluid, unknowns, i)
        unknowns.velocity[i] = unknowns.trial[i] + scale.dt * fluid.inverse_mass[i] * force


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
    m = fluid.material[i]
    d = fluid.diagonal[i] + 1e-30
    normal = 1.0 / (d + materials.normal_compliance[m])
    shear = 1.0 / (d + materials.shear_compliance[m])
    mean = (r[0] + r[1] + r[2]) / 3.0
    volume = (1.0 / (d + materials.volume_compliance[m]) - normal) * mean
    return vec6(normal, normal, normal, shear, shear, shear) * r + volume * identity()


@qd.kernel(fastcache=True)
def right_side(
    n: qd.i32,
    periodic: qd.template(),
    corotated: qd.template(),
    scale: Scale,
    materials: MaterialTable,
    fluid: Fluid,
    unknowns: Unknowns,
    sums: Doubles,
):
    """Per block: b·z(b) and b·σ, with b the constraint at u without any stress; p ← σ, T ← σ K."""
    for i in range(n):
        strain = strain_under(corotated, periodic, scale, fluid, unknowns, i)
        unknowns.residual[i] = constraint(strain, vec6(0.0), materials, fluid, i)
        unknowns.direction[i] = unknowns.stress[i]
        unknowns.traction[i] = to_matrix(unknowns.stress[i]) @ to_matrix(fluid.correction[i])
    for block in range(blocks(n)):
        size = qd.f64(0.0)
        along = qd.f64(0.0)
        for i in range(block_begin(block), block_end(block, n)):
            b = unknowns.residual[i]
            size += scale.volume * double_dot(b, precondition(b, materials, fluid, i))
            along += scale.volume * double_dot(b, unknowns.stress[i])
        sums[2 * block] = size
        sums[2 * block + 1] = along


@qd.kernel(fastcache=True)
def scale_stress(n: qd.i32, factor: qd.f32, unknowns: Unknowns):
    for i in range(n):
        unknowns.stress[i] = unknowns.stress[i] * factor


@qd.kernel(fastcache=True)
def start_conjugate_gradients(
    n: qd.i32,
    periodic: qd.template(),
    corotated: qd.template(),
    scale: Scale,
    materials: MaterialTable,
    fluid: Fluid,
    unknowns: Unknowns,
    sums: Doubles,
):
    """r ← constraint at u, p ← z = r/(D + a), T ← p K; per block: r·z."""
    for i in range(n):
        strain = strain_under(corotated, periodic, scale, fluid, unknowns, i)
        r = constraint(strain, unknowns.stress[i], materials, fluid, i)
        z = precondition(r, materials, fluid, i)
        unknowns.residual[i] = r
        unknowns.direction[i] = z
        unknowns.traction[i] = to_matrix(z) @ to_matrix(fluid.correction[i])
    sum_residuals(n, scale, materials, fluid, unknowns, sums)


@qd.func
def sum_residuals(
    n: qd.i32,
    scale: Scale,
    materials: MaterialTable,
    fluid: Fluid,
    unknowns: Unknowns,
    sums: Doubles,
):
    """Per block: r·z."""
    for b in range(blocks(n)):
        rz = qd.f64(0.0)
        for i in range(block_begin(b), block_end(b, n)):
            r = unknowns.residual[i]
            rz += scale.volume * double_dot(r, precondition(r, materials, fluid, i))
        sums[b] = rz


@qd.func
def respond(
    n: qd.i32,
    periodic: qd.template(),
    scale: Scale,
    materials: MaterialTable,
    fluid: Fluid,
    contacts: Contacts,
    unknowns: Unknowns,
    sums: Doubles,
):
    """w ← velocity change under p; per block: p·A p = Σ V a p:p + 2 Σ m |w|²."""
    for i in range(n):
        force = stress_force(periodic, fluid, unknowns, i)
        w = scale.dt * fluid.inverse_mass[i] * force
        unknowns.change[i] = free_part(fluid.wall[i], contacts, w)
    for b in range(blocks(n)):
        curvature = qd.f64(0.0)
        for i in range(block_begin(b), block_end(b, n)):
            w = unknowns.change[i]
            p = unknowns.direction[i]
            curvature += 2.0 * w.dot(w) / fluid.inverse_mass[i]
            curvature += scale.volume * double_dot(p, comply(p, materials, fluid, i))
        sums[b] = curvature


@qd.kernel(fastcache=True)
def response(
    n: qd.i32,
    periodic: qd.template(),
    scale: Scale,
    materials: MaterialTable,
    fluid: Fluid,
    contacts: Contacts,
    unknowns: Unknowns,
    sums: Doubles,
):
    """w and p·A p of the direction p."""
    respond(n, periodic, scale, materials, fluid, contacts, unknowns, sums)


@qd.kernel(fastcache=True)
def conjugate_gradient_iteration(
    n: qd.i32,
    periodic: qd.template(),
    rz: qd.f64,
    scale: Scale,
    materials: MaterialTable,
    fluid: Fluid,
    contacts: Contacts,
    unknowns: Unknowns,
    sums: Doubles,
) -> qd.f64:
    """One iteration, from r·z to the next r·z, which it returns.

    length ← r·z / p·A p; σ += length p; u += length w; r −= length A p; p ← z + (r·z)'/(r·z) p.
    """
    respond(n, periodic, scale, materials, fluid, contacts, unknowns, sums)
    sum_blocks(n, rz, sums)
    for i in range(n):
        length = 1.0 / qd.cast(sums[1], qd.f32)
        p = unknowns.direction[i]
        strain = strain_step(gradient(periodic, scale, fluid, unknowns.change, i), scale.dt)
        r = unknowns.residual[i] - length * (comply(p, materials, fluid, i) - strain)
        if double_dot(fluid.correction[i], fluid.correction[i]) == 0.0:
            r = vec6(0.0)
        unknowns.residual[i] = r
        unknowns.stress[i] = unknowns.stress[i] + length * p
        unknowns.velocity[i] = unknowns.velocity[i] + length * unknowns.change[i]
    sum_residuals(n, scale, materials, fluid, unknowns, sums)
    sum_blocks(n, rz, sums)
    for i in range(n):
        keep = qd.cast(sums[1], qd.f32)
        z = precondition(unknowns.residual[i], materials, fluid, i)
        p = z + keep * unknowns.direction[i]
        unknowns.direction[i] = p
        unknowns.traction[i] = to_matrix(p) @ to_matrix(fluid.correction[i])
    return sums[0]


@qd.func
def relaxation_factor(beta: qd.f32, fluid: Fluid, i: qd.i32) -> qd.f32:
    """β/n_i of eqs. 12 and 18, on the multiplier so that corrections stay opposite in pairs."""
    count = fluid.pairs.start[i + 1] - fluid.pairs.start[i]
    return qd.min(1.0, beta / qd.cast(qd.max(count, 20), qd.f32))


@qd.func
def jacobi_update(
    strain: vec6,
    beta: qd.f32,
    materials: MaterialTable,
    fluid: Fluid,
    unknowns: Unknowns,
    i: qd.i32,
):
    """σ += Δσ = β/n z, T ← Δσ K; `residual` keeps r and `direction` adds up the Δσ."""
    r = constraint(strain, unknowns.stress[i], materials, fluid, i)
    step = relaxation_factor(beta, fluid, i) * precondition(r, materials, fluid, i)
    unknowns.residual[i] = r
    unknowns.stress[i] = unknowns.stress[i] + step
    unknowns.direction[i] = unknowns.direction[i] + step
    unknowns.traction[i] = to_matrix(step) @ to_matrix(fluid.correction[i])


@qd.kernel(fastcache=True)
def jacobi_from_velocities(
    n: qd.i32,
    periodic: qd.template(),
    corotated: qd.template(),
    beta: qd.f32,
    scale: Scale,
    materials: MaterialTable,
    fluid: Fluid,
    unknowns: Unknowns,
    sums: Doubles,
):
    """Eq. 11: Δσ from the constraint at the velocities u; per block: r·z."""
    for i in range(n):
        strain = strain_under(corotated, periodic, scale, fluid, unknowns, i)
        jacobi_update(strain, beta, materials, fluid, unknowns, i)
    sum_residuals(n, scale, materials, fluid, unknowns, sums)


@qd.kernel(fastcache=True)
def jacobi_from_positions(
    n: qd.i32,
    periodic: qd.template(),
    corotated: qd.template(),
    beta: qd.f32,
    scale: Scale,
    materials: MaterialTable,
    fluid: Fluid,
    unknowns: Unknowns,
    sums: Doubles,
):
    """Eq. 17: Δσ from the constraint at the displacements y − x⁰; per block: r·z."""
    for i in range(n):
        unknowns.change[i] = unknowns.trial[i] - fluid.position[i]
    for i in range(n):
        moved = gradient(periodic, scale, fluid, unknowns.change, i)
        strain = strain_step(moved, 1.0)
        if qd.static(corotated):
            deformation = moved + qd.Matrix.identity(qd.f32, 3)
            strain = strain_of_deformation(deformation, nearest_rotation(deformation))
        jacobi_update(strain, beta, materials, fluid, unknowns, i)
    sum_residuals(n, scale, materials, fluid, unknowns, sums)


@qd.kernel(fastcache=True)
def add_velocity_change(
    n: qd.i32, periodic: qd.template(), scale: Scale, fluid: Fluid, unknowns: Unknowns
):
    """Eq. 12: u += Δt f/m."""
    for i in range(n):
        force = stress_force(periodic, fluid, unknowns, i)
        unknowns.velocity[i] = unknowns.velocity[i] + scale.dt * fluid.inverse_mass[i] * force


@qd.kernel(fastcache=True)
def add_position_change(
    n: qd.i32, periodic: qd.template(), scale: Scale, fluid: Fluid, unknowns: Unknowns
):
    """Eq. 18: y += Δt² f/m."""
    for i in range(n):
        force = stress_force(periodic, fluid, unknowns, i)
        change = scale.dt * scale.dt * fluid.inverse_mass[i] * force
        unknowns.trial[i] = unknowns.trial[i] + limited(change, scale)


@qd.kernel(fastcache=True)
def clear_direction(n: qd.i32, unknowns: Unknowns):
    for i in range(n):
        unknowns.direction[i] = vec6(0.0)


@qd.kernel(fastcache=True)
def displacements(n: qd.i32, fluid: Fluid, unknowns: Unknowns):
    """change ← y − x⁰."""
    for i in range(n):
        unknowns.change[i] = unknowns.trial[i] - fluid.position[i]


@qd.kernel(fastcache=True)
def update_conformation(
    n: qd.i32,
    periodic: qd.template(),
    implicit: qd.template(),
    scale: Scale,
    materials: MaterialTable,
    fluid: Fluid,
    unknowns: Unknowns,
):
    """Q by eq. 6 with the deformation that the step ended with; the stress turns with the fluid."""
    for i in range(n):
        relaxation = materials.relaxation[fluid.material[i]]
        deformation = gradient(periodic, scale, fluid, unknowns.change, i)
        deformation += qd.Matrix.identity(qd.f32, 3)
        q = fluid.conformation[i]
        if qd.static(implicit):
            q = implicit_euler(q, deformation, relaxation)
        else:
            q = convect(q, deformation, relaxation)
        fluid.conformation[i] = q
        # Density and conformation may ask for what cannot be had together; what the position
        # projection added for that would pile up from step to step, so it is left behind.
        kept = unknowns.stress[i] - unknowns.direction[i]
        unknowns.stress[i] = congruence(nearest_rotation(deformation), kept)
