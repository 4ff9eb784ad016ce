# mypy: disable-error-code="valid-type,no-untyped-def,no-untyped-call,misc"
"""Kernels of the position projection and of the conformation update (sections 5.3 and 3.2)."""

import quadrants as qd

from viscoil.compute import Doubles, vec3, vec6
from viscoil.constraints.conformation import (
    convect,
    implicit_euler,
    strain_of_deformation,
    strain_step,
)
from viscoil.constraints.rotation import nearest_rotation
from viscoil.constraints.symmetric import congruence
from viscoil.solvers.density_kernels import trusted
from viscoil.solvers.operators import gradient, leak, stress_force
from viscoil.solvers.relaxation import jacobi_update, sum_terms
from viscoil.solvers.tables import MaterialTable, Scale
from viscoil.solvers.workspace import Fluid, Unknowns


@qd.kernel(fastcache=True)
def clear_sums(n: qd.i32, unknowns: Unknowns):
    """The position projection adds up its Δσ and shifts."""
    for i in range(n):
        unknowns.direction[i] = vec6(0.0)
        unknowns.shift[i] = vec3(0.0)


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
        unknowns.change[i] = unknowns.trial[i] - unknowns.shift[i] - fluid.position[i]
    for i in range(n):
        moved = gradient(periodic, scale, fluid, unknowns.change, i)
        strain = strain_step(moved, 1.0)
        if qd.static(corotated):
            deformation = moved + qd.Matrix.identity(qd.f32, 3)
            strain = strain_of_deformation(deformation, nearest_rotation(deformation))
        jacobi_update(strain, beta, scale, materials, fluid, unknowns, i)
    sum_terms(n, unknowns, sums)


@qd.kernel(fastcache=True)
def add_position_change(
    n: qd.i32, periodic: qd.template(), scale: Scale, fluid: Fluid, unknowns: Unknowns
):
    """Eq. 18: y += Δt² f/m."""
    for i in range(n):
        force = stress_force(periodic, fluid, unknowns, i)
        change = scale.dt * scale.dt * fluid.inverse_mass[i] * force
        unknowns.trial[i] = trusted(unknowns.trial[i] + change, scale, fluid, unknowns, i)


@qd.kernel(fastcache=True)
def displacements(n: qd.i32, fluid: Fluid, unknowns: Unknowns):
    """change ← y − x⁰, without shifts."""
    for i in range(n):
        unknowns.change[i] = unknowns.trial[i] - unknowns.shift[i] - fluid.position[i]


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
        m = fluid.material[i]
        relaxation = materials.relaxation[m] * (1.0 - leak(materials, fluid, i))
        deformation = gradient(periodic, scale, fluid, unknowns.change, i)
        deformation += qd.Matrix.identity(qd.f32, 3)
        q = fluid.conformation[i]
        if qd.static(implicit):
            q = implicit_euler(q, deformation, relaxation)
        else:
            q = convect(q, deformation, relaxation)
        fluid.conformation[i] = q
        growth = 2.0 / 3.0 * qd.log(qd.max(deformation.determinant(), 0.1))
        fluid.dilation[i] = relaxation * (fluid.dilation[i] + growth)
        # Density and conformation may ask for what cannot be had together; what the position
        # projection added for that would pile up from step to step, so it is left behind.
        kept = unknowns.stress[i] - unknowns.direction[i]
        turn = nearest_rotation(deformation)
        unknowns.stress[i] = congruence(turn, kept)
        # c⁰ + e, taken from the bend that it causes: what the iterations left undone is not remembered
        curvature = (1.0 - materials.memory[m]) * fluid.curvature[i]
        curvature += materials.shear_compliance[m] * unknowns.bend[i]
        fluid.curvature[i] = relaxation * (turn @ curvature)
        unknowns.bend[i] = turn @ unknowns.bend[i]
