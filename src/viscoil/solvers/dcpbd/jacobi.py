# mypy: disable-error-code="valid-type,no-untyped-def,no-untyped-call,misc"
"""Jacobi iterations of the conformation constraint, shared by both projections (eqs. 11 and 17)."""

import quadrants as qd

from viscoil.constraints.symmetric import double_dot
from viscoil.core.compute import vec3, vec6
from viscoil.neighbors.arrays import ParticleArrays
from viscoil.neighbors.resolution import volume_of
from viscoil.neighbors.scale import Scale
from viscoil.solvers.dcpbd.arrays import Memory, Stencil, Unknowns
from viscoil.solvers.dcpbd.elasticity import constraint, precondition
from viscoil.solvers.dcpbd.operators import set_traction
from viscoil.solvers.dcpbd.stress_table import StressTable


@qd.func
def relaxation_factor(beta: qd.f32, near: ParticleArrays, i: qd.i32) -> qd.f32:
    """β/n_i of eqs. 12 and 18, on the multiplier so that corrections stay opposite in pairs.

    n is at least 25, a little less than in the bulk (26 on a lattice): a particle of few neighbours would
    take long steps, which these, with many, answer too. Found by trying, 20 before.
    """
    fewest = 25
    count = near.pairs.start[i + 1] - near.pairs.start[i]
    return qd.min(1.0, beta / qd.cast(qd.max(count, fewest), qd.f32))


@qd.func
def jacobi_update(
    strain: vec6,
    beta: qd.f32,
    scale: Scale,
    materials: StressTable,
    near: ParticleArrays,
    stencil: Stencil,
    memory: Memory,
    unknowns: Unknowns,
    i: qd.i32,
):
    """σ += Δσ = β/n z, which then acts; `added_stress` adds up the Δσ, `term` holds r·z. No bends."""
    r = constraint(strain, unknowns.stress[i], materials, near, stencil, memory, i)
    z = precondition(r, materials, near, stencil, i)
    step = relaxation_factor(beta, near, i) * z
    unknowns.term[i] = volume_of(scale, near, i) * double_dot(r, z)
    unknowns.stress[i] = unknowns.stress[i] + step
    unknowns.added_stress[i] = unknowns.added_stress[i] + step
    set_traction(step, vec3(0.0), 0.0, scale, near, stencil, unknowns, i)
