# mypy: disable-error-code="valid-type,no-untyped-def,no-untyped-call,misc"
"""What materials remember of a step (Barreiro 2017, section 3.2)."""

import quadrants as qd

from viscoil.constraints.conformation import convect, implicit_euler
from viscoil.constraints.rotation import nearest_rotation
from viscoil.constraints.symmetric import congruence
from viscoil.core.compute import vec6
from viscoil.neighbors.arrays import ParticleArrays
from viscoil.neighbors.scale import Scale
from viscoil.solvers.dcpbd.arrays import Memory, Stencil, Unknowns
from viscoil.solvers.dcpbd.elasticity import leak, resisted
from viscoil.solvers.dcpbd.operators import gradient
from viscoil.solvers.dcpbd.stress_table import StressTable, compliance
from viscoil.walls.arrays import WallArrays


@qd.func
def kept_pressure() -> qd.f32:
    """The share of its pressure that a fluid without elastic memory remembers from step to step.

    Below 1, so that what is wrong fades; found by trying on syrup in a cup, which with 0.98 still stirs
    itself at 4 mm/s.
    """
    return 0.998


@qd.func
def least_growth() -> qd.f32:
    """The volume below which a step is not taken to squeeze a neighbourhood, of what it was.

    A guard and no measure: gradients of neighbourhoods that are turned inside out have no logarithm.
    """
    return 0.1


@qd.func
def squeezed(stress: vec6, materials: StressTable, near: ParticleArrays, i: qd.i32) -> qd.f32:
    """θ of a fluid without elastic memory: what its pressure stands for, and nothing under tension.

    Without it pressure would cost a flow: syrup at rest would sink into itself, at the rate at which
    its stiffness against changes of volume gives way, and shifts would bring it back up elsewhere.
    Taken from the stress, it does not add up what iterations leave undone.
    """
    mean = (stress[0] + stress[1] + stress[2]) / 3.0
    strain = kept_pressure() * compliance(materials, near.material[i], near.softness[i])[2]
    strain *= qd.min(mean, 0.0)
    return strain / materials.pressure_memory[near.material[i]]


@qd.kernel(fastcache=True)
def update_conformation(
    n: qd.i32,
    implicit: qd.template(),
    scale: Scale,
    materials: StressTable,
    near: ParticleArrays,
    walls: WallArrays,
    stencil: Stencil,
    memory: Memory,
    unknowns: Unknowns,
):
    """Q by eq. 6 with the deformation that the step ended with; the stress turns with the fluid."""
    for i in range(n):
        m = near.material[i]
        relaxation = materials.relaxation[m] * (1.0 - leak(materials, near, stencil, i))
        deformation = scale.dt * gradient(scale, near, walls, stencil, unknowns.velocity, i)
        deformation += qd.Matrix.identity(qd.f32, 3)
        q = memory.conformation[i]
        if qd.static(implicit):
            q = implicit_euler(q, deformation, relaxation)
        else:
            q = convect(q, deformation, relaxation)
        memory.conformation[i] = q
        growth = 2.0 / 3.0 * qd.log(qd.max(deformation.determinant(), least_growth()))
        memory.dilation[i] = relaxation * (memory.dilation[i] + growth)
        memory.dilation[i] *= 1.0 - stencil.pressed[i]  # pressure remembers by itself
        # Density and conformation may ask for what cannot be had together; what the position
        # projection added for that would pile up from step to step, so it is left behind.
        kept = resisted(unknowns.stress[i] - unknowns.added_stress[i], stencil, i)
        if relaxation == 0.0:
            memory.dilation[i] = squeezed(kept, materials, near, i)
        turn = nearest_rotation(deformation)
        unknowns.stress[i] = congruence(turn, kept)
        # c⁰ + e, taken from the bend that it causes: what iterations left undone is not remembered
        share = stencil.bend_share[i]
        curvature = (1.0 - share * materials.memory[m]) * memory.curvature[i]
        curvature += share * compliance(materials, m, near.softness[i])[1] * unknowns.bend[i]
        memory.curvature[i] = relaxation * (turn @ curvature)
        unknowns.bend[i] = turn @ unknowns.bend[i]
