# mypy: disable-error-code="valid-type,no-untyped-def,no-untyped-call,misc"
"""The conformation constraint of one particle: what it remembers, what stress costs, its diagonal.

Eq. 7 of Barreiro 2017 with compliance: 0 = remembered Q⁰ − I + strain − a σ, and the same for bends
(`operators`) with c⁰ + e − a μ.
"""

import quadrants as qd

from viscoil.constraints.symmetric import double_dot, identity
from viscoil.core.compute import vec3, vec6
from viscoil.neighbors.arrays import ParticleArrays
from viscoil.solvers.dcpbd.arrays import Memory, Stencil
from viscoil.solvers.dcpbd.stress_table import StressTable, compliance


@qd.func
def has_gradient(stencil: Stencil, i: qd.i32):
    """Whether a gradient can be taken at particle i, so that it has stress at all."""
    return double_dot(stencil.correction[i], stencil.correction[i]) > 0.0


@qd.func
def least_compliance(diagonal: qd.f32) -> qd.f32:
    """What is added to every compliance, 1/Pa, so that the system stays definite without any.

    1e-5 of the diagonal: some ten times the rounding of a sum of thirty products in single precision,
    and a hundredth of the usual tolerance.
    """
    return 1e-5 * diagonal


@qd.func
def comply(
    stress: vec6, materials: StressTable, near: ParticleArrays, stencil: Stencil, i: qd.i32
) -> vec6:
    """a σ: the strain that a stress costs, its mean and its deviator with compliances of their own."""
    floor = least_compliance(stencil.diagonal[i])
    a = compliance(materials, near.material[i], near.softness[i])
    normal = a[0] + floor
    shear = a[1] + floor
    mean = (stress[0] + stress[1] + stress[2]) / 3.0
    volume = (a[2] + floor - normal) * mean
    return vec6(normal, normal, normal, shear, shear, shear) * stress + volume * identity()


@qd.func
def recovery(materials: StressTable, near: ParticleArrays, stencil: Stencil, i: qd.i32) -> qd.f32:
    """The share of a remembered strain that a step may undo: 1, but 1/5 without compliance.

    A material so stiff that it springs back within a step turns every error of Q into a velocity;
    undoing a part of it at a time keeps it stable (Baumgarte). The fifth was tried and is not derived.
    The share is half way to it at a = D/100, so that real moduli keep theirs: at a = D it costs 0.8 %.
    """
    rigid = 0.2
    slack = 100.0 * compliance(materials, near.material[i], near.softness[i])[0] + 1e-30
    return (slack + rigid * stencil.diagonal[i]) / (slack + stencil.diagonal[i])


@qd.func
def leak(materials: StressTable, near: ParticleArrays, stencil: Stencil, i: qd.i32) -> qd.f32:
    """The share of Q − I that a step forgets besides relaxation: 0, but 1/10 without compliance.

    Without compliance Q − I is nothing but what iterations left undone, and must not pile up. The tenth
    was tried and is not derived. It is meant for no compliance at all: a quarter of it is left at
    a = D/10⁴, and 1e-9 of Q − I a step at a = D.
    """
    rigid = 0.1
    slack = 1e4 * compliance(materials, near.material[i], near.softness[i])[0] + 1e-30
    share = stencil.diagonal[i] / (slack + stencil.diagonal[i])
    return rigid * share * share


@qd.func
def remembered(
    materials: StressTable, near: ParticleArrays, stencil: Stencil, memory: Memory, i: qd.i32
) -> vec6:
    """What enters the constraint of Q⁰ − I, and of θ⁰ for the volume.

    The mean of Q is no measure of volume: it grows in shear, where polymers stretch. A fluid that
    forgets its shape within a step still remembers its pressure, by θ⁰.
    """
    m = near.material[i]
    q = memory.conformation[i] - identity()
    mean = (q[0] + q[1] + q[2]) / 3.0
    volume = materials.volume_memory[m] * mean + materials.memory[m] * (memory.dilation[i] - mean)
    strain = recovery(materials, near, stencil, i) * (materials.memory[m] * q + volume * identity())
    if materials.relaxation[m] == 0.0:
        strain = materials.pressure_memory[m] * memory.dilation[i] * identity()
    return strain


@qd.func
def constraint(
    strain: vec6,
    stress: vec6,
    materials: StressTable,
    near: ParticleArrays,
    stencil: Stencil,
    memory: Memory,
    i: qd.i32,
) -> vec6:
    """Remembered Q⁰ − I + strain − a σ: eq. 7 with compliance; 0 where no gradient can be taken."""
    known = strain + remembered(materials, near, stencil, memory, i)
    left = resisted(known, stencil, i) - comply(stress, materials, near, stencil, i)
    if not has_gradient(stencil, i):
        left = vec6(0.0)
    return left


@qd.func
def resisted(strain: vec6, stencil: Stencil, i: qd.i32) -> vec6:
    """R of a strain: what stress answers to, and of a stress: what acts.

    All of it, but the deviator alone where pressure keeps the volume. Of a particle that is pressed by a
    share w, √(1 − w) of the mean: as it is applied on both sides, the compliance of the mean becomes
    a/(1 − w), and the system stays symmetric.
    """
    mean = (strain[0] + strain[1] + strain[2]) / 3.0
    return strain - (1.0 - qd.sqrt(1.0 - stencil.pressed[i])) * mean * identity()


@qd.func
def precondition(
    r: vec6, materials: StressTable, near: ParticleArrays, stencil: Stencil, i: qd.i32
) -> vec6:
    """z = r/(D + a); the least value only guards particles without neighbours, where r is 0."""
    d = stencil.diagonal[i] + 1e-30
    a = compliance(materials, near.material[i], near.softness[i])
    normal = 1.0 / (d + a[0])
    shear = 1.0 / (d + a[1])
    mean = (r[0] + r[1] + r[2]) / 3.0
    volume = (1.0 / ((1.0 - stencil.pressed[i]) * d + a[2]) - normal) * mean
    return vec6(normal, normal, normal, shear, shear, shear) * r + volume * identity()


@qd.func
def bend_compliance(
    materials: StressTable, near: ParticleArrays, stencil: Stencil, i: qd.i32
) -> qd.f32:
    """What a bend costs, 1/Pa: as a shear does, but less under much pressure (`pressure_rows`)."""
    a = compliance(materials, near.material[i], near.softness[i])[1]
    return stencil.bend_share[i] * (a + least_compliance(stencil.bend_diagonal[i]))


@qd.func
def bend_constraint(
    bend_strain: vec3,
    bend: vec3,
    materials: StressTable,
    near: ParticleArrays,
    stencil: Stencil,
    memory: Memory,
    i: qd.i32,
) -> vec3:
    """Remembered c⁰ + e − a μ; 0 where no gradient can be taken."""
    kept = stencil.bend_share[i] * materials.memory[near.material[i]]
    left = bend_strain + kept * memory.curvature[i]
    left -= bend_compliance(materials, near, stencil, i) * bend
    if not has_gradient(stencil, i):
        left = vec3(0.0)
    return left


@qd.func
def bend_precondition(
    r: vec3, materials: StressTable, near: ParticleArrays, stencil: Stencil, i: qd.i32
) -> vec3:
    return r / (stencil.bend_diagonal[i] + bend_compliance(materials, near, stencil, i) + 1e-30)
