# mypy: disable-error-code="valid-type,no-untyped-def,no-untyped-call,misc"
"""Loops over particles for the density constraint (position-based fluids).

The multiplier is a pressure: f_i = −Σ_j V_i V_j (p_i + p_j) ∇W_ij − V_i p_i ∇γ_i, and a change of
pressure moves particles by Δt² f/m. Its stiffness S_i = −dC_i/dp_i is taken once per step.
"""

import quadrants as qd

from viscoil.colliders.arrays import ColliderArrays
from viscoil.compute import Doubles, Floats, vec3
from viscoil.constraints.density import projected_pressure
from viscoil.neighbors import separation
from viscoil.reductions import block_begin, block_end, blocks
from viscoil.smoothing import slope_over_q, value
from viscoil.solvers.contact import Contacts, is_driven, wall_density
from viscoil.solvers.tables import MaterialTable, Scale
from viscoil.solvers.workspace import Fluid, Unknowns


@qd.kernel(fastcache=True)
def predict_positions(n: qd.i32, scale: Scale, fluid: Fluid, unknowns: Unknowns):
    """y ← x⁰ + Δt u."""
    for i in range(n):
        unknowns.trial[i] = fluid.position[i] + scale.dt * unknowns.velocity[i]


@qd.func
def firmness(materials: MaterialTable, fluid: Fluid, i: qd.i32) -> qd.f32:
    """D/(D + a/10): 0 for water, 1 for what answers a strain with stress at once."""
    d = fluid.diagonal[i]
    return d / (d + 0.1 * materials.normal_compliance[fluid.material[i]] + 1e-30)


@qd.kernel(fastcache=True)
def recall_pressures(
    n: qd.i32, materials: MaterialTable, fluid: Fluid, contacts: Contacts, unknowns: Unknowns
):
    """Δp ← p ← what of the last step's p is worth keeping, y ← x⁰.

    Afterwards `apply_pressure_change` gives its whole force. It acts along the directions of x⁰
    and not of y, which feeds energy to motions that nothing damps: a material keeps its pressure in
    the measure of its `firmness`, and water keeps none. A tenth is always forgotten, so that no
    pressure winds up where particles cannot yield to it. Those that a nozzle drives have none.
    """
    for i in range(n):
        kept = 0.9 * firmness(materials, fluid, i) * unknowns.pressure[i]
        if is_driven(fluid.wall[i], contacts):
            kept = 0.0
        unknowns.pressure[i] = kept
        unknowns.pressure_change[i] = kept
        unknowns.trial[i] = fluid.position[i]


@qd.kernel(fastcache=True)
def prepare_stiffness(
    n: qd.i32,
    kind: qd.template(),
    periodic: qd.template(),
    least: qd.f32,
    margin: qd.f32,
    collider_count: qd.i32,
    scale: Scale,
    materials: MaterialTable,
    fluid: Fluid,
    colliders: ColliderArrays,
    wall_table: Floats,
    unknowns: Unknowns,
    sums: Doubles,
):
    """S_i = Δt² V_i (|Σ_j V_j ∇W_ij + ∇γ|²/m_i + Σ_j V_j² |∇W_ij|²/m_j), at least `least`/m_i.

    The floor is scale-free: a share of the stiffness of a full neighbourhood (DYVERSO, eq. 3).
    What is kept is S_i over the length of a Jacobi step, which with momentum must stay below 1/λ_max,
    about 0.4. A firm material keeps its volume by stress and takes a twentieth of that: pressure then
    only has to make up for what adds up over many steps, and what it does passes through the velocity
    projection of the next one. Strong corrections here would push single particles out of line,
    which no gradient sees: a viscous cube swelled by a tenth within two seconds.
    Per block: how many particles move so much against a neighbour that another one, beyond the
    margin of the pair list, may have come within reach unseen.
    """
    for i in range(n):
        xi = fluid.position[i]
        yi = unknowns.trial[i]
        total = vec3(0.0)
        squares = 0.0
        approach = 0.0
        for k in range(fluid.pairs.start[i], fluid.pairs.start[i + 1]):
            j = fluid.pairs.neighbor[k]
            x = separation(periodic, fluid.period, yi, unknowns.trial[j])
            before = separation(periodic, fluid.period, xi, fluid.position[j])
            approach = qd.max(approach, before.norm() - x.norm())
            slope = slope_over_q(kind, x.norm() / scale.support)
            arm = scale.volume * scale.gradient_scale * slope * x
            total += arm
            squares += arm.dot(arm) * fluid.inverse_mass[j]
        if fluid.wall[i] >= 0:
            behind = wall_density(yi, collider_count, scale.support, colliders, wall_table)
            total += vec3(behind[0], behind[1], behind[2])
        stiffness = total.dot(total) * fluid.inverse_mass[i] + squares
        stiffness = qd.max(stiffness, least * fluid.inverse_mass[i])
        length = 0.35 * (1.0 - 0.95 * firmness(materials, fluid, i))
        unknowns.stiffness[i] = scale.dt * scale.dt * scale.volume * stiffness / length
        unknowns.projected_pressure[i] = unknowns.pressure[i]
        unknowns.compression[i] = approach
    for b in range(blocks(n)):
        beyond = qd.f64(0.0)
        for i in range(block_begin(b), block_end(b, n)):
            beyond += qd.cast(unknowns.compression[i] > margin * scale.support, qd.f64)
        sums[b] = beyond


@qd.kernel(fastcache=True)
def change_pressure(
    n: qd.i32,
    kind: qd.template(),
    periodic: qd.template(),
    momentum: qd.f32,
    collider_count: qd.i32,
    scale: Scale,
    materials: MaterialTable,
    fluid: Fluid,
    contacts: Contacts,
    colliders: ColliderArrays,
    wall_table: Floats,
    unknowns: Unknowns,
    sums: Doubles,
):
    """Δp from C at y: a projected Jacobi step and, with momentum, what Nesterov adds to it.

    Momentum is for particles that only the density holds. A firm material also answers with stress,
    in steps without momentum, and the two would drive each other apart.

    Per block: Σ max(C, 0), max C, Σ of the error of complementarity (C where it may grow or press),
    and the product that tells whether momentum has carried too far.
    """
    for i in range(n):
        yi = unknowns.trial[i]
        kernel_sum = value(kind, 0.0)
        for k in range(fluid.pairs.start[i], fluid.pairs.start[i + 1]):
            j = fluid.pairs.neighbor[k]
            x = separation(periodic, fluid.period, yi, unknowns.trial[j])
            kernel_sum += value(kind, x.norm() / scale.support)
        compression = scale.volume * scale.value_scale * kernel_sum - 1.0
        if fluid.wall[i] >= 0:
            compression += wall_density(yi, collider_count, scale.support, colliders, wall_table)[3]
        unknowns.compression[i] = compression
        applied = unknowns.pressure[i]
        projected = projected_pressure(applied, compression, unknowns.stiffness[i])
        if is_driven(fluid.wall[i], contacts):
            projected = 0.0
        step = projected - unknowns.projected_pressure[i]
        carried = momentum * (1.0 - firmness(materials, fluid, i)) * step
        unknowns.pressure_change[i] = projected + carried - applied
    for b in range(blocks(n)):
        total = qd.f64(0.0)
        largest = qd.f64(0.0)
        unbalanced = qd.f64(0.0)
        overshoot = qd.f64(0.0)
        for i in range(block_begin(b), block_end(b, n)):
            c = unknowns.compression[i]
            before = unknowns.pressure[i]
            after = projected_pressure(before, c, unknowns.stiffness[i])
            if is_driven(fluid.wall[i], contacts):
                after = before
                c = 0.0  # what a nozzle presses together is not for the solver to undo
            error = qd.cast(qd.max(c, 0.0), qd.f64)
            total += error
            largest = qd.max(largest, error)
            unbalanced += qd.abs(after - before) * unknowns.stiffness[i]
            overshoot += (
                (before - after) * (after - unknowns.projected_pressure[i]) * unknowns.stiffness[i]
            )
            unknowns.projected_pressure[i] = after
            unknowns.pressure[i] = before + unknowns.pressure_change[i]
        sums[4 * b] = total
        sums[4 * b + 1] = largest
        sums[4 * b + 2] = unbalanced
        sums[4 * b + 3] = overshoot


@qd.kernel(fastcache=True)
def settle_pressures(n: qd.i32, unknowns: Unknowns):
    """Leaves no pull behind: momentum may have carried a pressure below zero."""
    for i in range(n):
        unknowns.pressure[i] = qd.max(unknowns.pressure[i], 0.0)


@qd.kernel(fastcache=True)
def apply_pressure_change(
    n: qd.i32,
    kind: qd.template(),
    periodic: qd.template(),
    collider_count: qd.i32,
    scale: Scale,
    fluid: Fluid,
    colliders: ColliderArrays,
    wall_table: Floats,
    unknowns: Unknowns,
):
    """change ← Δt² f/m of the pressures Δp."""
    for i in range(n):
        yi = unknowns.trial[i]
        own = unknowns.pressure_change[i]
        push = vec3(0.0)
        for k in range(fluid.pairs.start[i], fluid.pairs.start[i + 1]):
            j = fluid.pairs.neighbor[k]
            x = separation(periodic, fluid.period, yi, unknowns.trial[j])
            slope = slope_over_q(kind, x.norm() / scale.support)
            push -= (own + unknowns.pressure_change[j]) * slope * x
        push *= scale.volume * scale.gradient_scale
        if fluid.wall[i] >= 0:
            behind = wall_density(yi, collider_count, scale.support, colliders, wall_table)
            push -= own * vec3(behind[0], behind[1], behind[2])
        factor = scale.dt * scale.dt * scale.volume * fluid.inverse_mass[i]
        unknowns.change[i] = factor * push


@qd.kernel(fastcache=True)
def move(n: qd.i32, scale: Scale, fluid: Fluid, unknowns: Unknowns):
    """y += change."""
    for i in range(n):
        unknowns.trial[i] = trusted(
            unknowns.trial[i] + unknowns.change[i], scale, fluid, unknowns, i
        )


@qd.func
def trusted(y: vec3, scale: Scale, fluid: Fluid, unknowns: Unknowns, i: qd.i32) -> vec3:
    """y, but within a spacing of where the velocity projection sent the particle.

    Farther than that its neighbours at x⁰ say nothing about it, and a particle whose neighbourhood
    makes no sense is not flung away.
    """
    predicted = fluid.position[i] + scale.dt * unknowns.velocity[i]
    offset = y - predicted
    return predicted + offset * qd.min(1.0, scale.spacing / qd.max(offset.norm(), 1e-30))


@qd.func
def limited(change: vec3, scale: Scale) -> vec3:
    """At most half a spacing: farther than that the neighbourhood says nothing about the constraint."""
    longest = 0.5 * scale.spacing
    return change * qd.min(1.0, longest / qd.max(change.norm(), 1e-6 * longest))
