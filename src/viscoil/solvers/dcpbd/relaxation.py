# mypy: disable-error-code="valid-type,no-untyped-def,no-untyped-call,misc"
"""Jacobi iterations of the conformation constraint, shared by both projections (eqs. 11 and 17)."""

import quadrants as qd

from viscoil.constraints.symmetric import double_dot
from viscoil.core.compute import Doubles, on_cpu, vec3, vec6
from viscoil.core.reductions import block_begin, block_end, blocks
from viscoil.materials.table import MaterialTable
from viscoil.neighbors.resolution import volume_of
from viscoil.neighbors.scale import Scale
from viscoil.solvers.dcpbd.operators import bend_precondition, constraint, load, precondition
from viscoil.solvers.dcpbd.workspace import Fluid, Unknowns


@qd.func
def relaxation_factor(beta: qd.f32, fluid: Fluid, i: qd.i32) -> qd.f32:
    """β/n_i of eqs. 12 and 18, on the multiplier so that corrections stay opposite in pairs."""
    count = fluid.pairs.start[i + 1] - fluid.pairs.start[i]
    return qd.min(1.0, beta / qd.cast(qd.max(count, 25), qd.f32))


@qd.func
def jacobi_update(
    strain: vec6,
    beta: qd.f32,
    scale: Scale,
    materials: MaterialTable,
    fluid: Fluid,
    unknowns: Unknowns,
    i: qd.i32,
):
    """σ += Δσ = β/n z, loaded; `direction` adds up the Δσ, `term` holds r·z. No bends."""
    r = constraint(strain, unknowns.stress[i], materials, fluid, i)
    step = relaxation_factor(beta, fluid, i) * precondition(r, materials, fluid, i)
    unknowns.term[i] = residual_term(r, vec3(0.0), scale, materials, fluid, i)
    unknowns.stress[i] = unknowns.stress[i] + step
    unknowns.direction[i] = unknowns.direction[i] + step
    load(step, vec3(0.0), scale, fluid, unknowns, i)


@qd.func
def residual_term(
    r: vec6, e: vec3, scale: Scale, materials: MaterialTable, fluid: Fluid, i: qd.i32
) -> qd.f32:
    """What a particle adds to r·z."""
    strains = double_dot(r, precondition(r, materials, fluid, i))
    bends = e.dot(bend_precondition(e, materials, fluid, i))
    return volume_of(scale, fluid, i) * (strains + bends)


@qd.func
def sum_terms(n: qd.i32, unknowns: Unknowns, sums: Doubles):
    """Per block: the sum of the terms. On a CPU it is over before a second thread has woken up."""
    qd.loop_config(serialize=qd.static(on_cpu()))
    for b in range(blocks(n)):
        total = qd.f64(0.0)
        for i in range(block_begin(b), block_end(b, n)):
            total += unknowns.term[i]
        sums[b] = total
