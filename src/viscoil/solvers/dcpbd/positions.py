# mypy: disable-error-code="valid-type,no-untyped-def,no-untyped-call,misc"
"""Kernels of the position projection (Barreiro 2017, section 5.3)."""

import dataclasses

import quadrants as qd

from viscoil.constraints.conformation import strain_of_deformation, strain_step
from viscoil.constraints.rotation import nearest_rotation
from viscoil.core.compute import COMPILED_IN, Doubles, Flag, Floats, Vec3s, on_cpu, vec3, vec6
from viscoil.core.reductions import block_begin, block_end, blocks, total_blocks
from viscoil.neighbors.arrays import ParticleArrays
from viscoil.neighbors.resolution import spacing_of
from viscoil.neighbors.scale import Scale
from viscoil.solvers.dcpbd.arrays import Memory, Stencil, Unknowns
from viscoil.solvers.dcpbd.compression import measure_old_compression
from viscoil.solvers.dcpbd.density import (
    allow_old_compression,
    apply_pressure_change,
    change_pressure,
    prepare_stiffness,
    recall_pressure,
)
from viscoil.solvers.dcpbd.jacobi import jacobi_update
from viscoil.solvers.dcpbd.no_slip import tell_linked_walls
from viscoil.solvers.dcpbd.operators import gradient, stress_force
from viscoil.solvers.dcpbd.pressure_rows import prepare_pressure_rows
from viscoil.solvers.dcpbd.prototype_stiffness import prepare_prototype_stiffness
from viscoil.solvers.dcpbd.separate_bodies import row_share, rub
from viscoil.solvers.dcpbd.stress_table import StressTable
from viscoil.solvers.dcpbd.tallies import Tally, sum_tallies
from viscoil.solvers.linear.conjugate_gradients import sum_terms
from viscoil.solvers.linear.iterations import LoopArrays
from viscoil.walls.arrays import WallArrays
from viscoil.walls.body_positions import move_bodies, share_pushes, take_back
from viscoil.walls.body_velocities import press_bodies
from viscoil.walls.mirrors import follow
from viscoil.walls.response import push_out


@dataclasses.dataclass
class Options:
    """How positions are projected."""

    stiffness: qd.f32  # m⁻²: of a full neighbourhood, or the least that any has
    margin: qd.f32  # of the support: how much farther than it neighbours are listed
    fewest: qd.i32  # iterations
    most: qd.i32
    tolerance: qd.f64  # mean error at which they may stop
    evenness: qd.f32  # C that shifts leave alone, and the mean error at which they stop
    undone: qd.f32  # share of an old compression that the step undoes
    recalled: qd.f32  # share of the last pressures that is a first guess
    excess: qd.f32  # C that no pressure can undo
    faint: qd.f32  # m/s²: pressures that accelerate less decide nothing
    kept: qd.f32  # the same of firm particles, and where the velocity projection solves for them
    beta: qd.f32  # of Jacobi iterations of the conformation constraint
    prototype: qd.template() = dataclasses.field(default=False, metadata=COMPILED_IN)
    corotated: qd.template() = dataclasses.field(default=True, metadata=COMPILED_IN)
    # Whether any material carries stress, a step ends with shifts, and pressures are unknowns of the
    # velocity projection.
    conforming: qd.template() = dataclasses.field(default=False, metadata=COMPILED_IN)
    shifting: qd.template() = dataclasses.field(default=False, metadata=COMPILED_IN)
    joint: qd.template() = dataclasses.field(default=False, metadata=COMPILED_IN)
    # Whether all pressures push where the step ends, as in the paper.
    late: qd.template() = dataclasses.field(default=False, metadata=COMPILED_IN)


@qd.func
def predict_places(
    n: qd.i32,
    options: Options,
    scale: Scale,
    near: ParticleArrays,
    walls: WallArrays,
    stencil: Stencil,
    unknowns: Unknowns,
):
    """y ← x** = x⁰ + Δt u**, outside the walls; no shift and no Δσ so far."""
    share_pushes(scale, near, walls)
    for i in range(n):
        if qd.static(options.conforming):
            unknowns.added_stress[i] = vec6(0.0)
        unknowns.shift[i] = vec3(0.0)
        settle(scale, near, walls, unknowns, i)
    move_bodies(scale, near, walls)


@qd.kernel(fastcache=True)
def press(
    n: qd.i32,
    options: Options,
    scale: Scale,
    materials: StressTable,
    friction: Floats,
    near: ParticleArrays,
    walls: WallArrays,
    stencil: Stencil,
    unknowns: Unknowns,
):
    """C⁰; p ← what is recalled of the last step's pressures; u* += Δt M⁻¹ f(p).

    Where stress damps what swings, they push at x⁰; else as `lateness` says, with y = x⁰ + Δt u*. That of
    firm fluids leads nowhere: stress and pressure balance each other, and each alone would move particles
    by spacings. Elastic solids have no such pressures.
    """
    measure_old_compression(
        n, options.shifting, options.undone, scale, near, walls, stencil, unknowns
    )
    if qd.static(options.joint):
        tolerance = qd.cast(options.tolerance, qd.f32)
        prepare_pressure_rows(
            n, tolerance, options.undone, options.excess, options.faint, options.stiffness,
            options.corotated, scale, materials, near, walls, stencil, unknowns,
        )  # fmt: skip
    for i in range(n):
        recall_pressure(options.recalled, options.kept, scale, near, walls, stencil, unknowns, i)
        held = row_share(scale, stencil, i)
        if materials.relaxation[near.material[i]] < 1.0:
            held = qd.max(held, stencil.firmness[i])
        unknowns.place[i] = near.position[i] + (1.0 - held) * scale.dt * unknowns.velocity[i]
    apply_pressure_change(
        n, options.shifting, True, options.late, scale, near, walls, stencil, unknowns
    )
    for i in range(n):
        loose = 1.0 - qd.max(row_share(scale, stencil, i), stencil.firmness[i])
        push(unknowns.place_change[i], loose, scale, near, walls, unknowns, i)
    rub(n, scale, near, friction, unknowns)
    press_bodies(scale.dt, near, walls)


@qd.kernel(fastcache=True)
def predict(
    n: qd.i32,
    options: Options,
    scale: Scale,
    near: ParticleArrays,
    walls: WallArrays,
    stencil: Stencil,
    unknowns: Unknowns,
    loop: LoopArrays,
):
    """y ← x**; S, constant over the iterations; the first Δp.

    One kernel for all of it: a launch costs as much as an iteration of a few hundred particles.
    """
    predict_places(n, options, scale, near, walls, stencil, unknowns)
    if qd.static(options.prototype):
        prepare_prototype_stiffness(
            n, options.stiffness, options.margin, scale, near, walls, unknowns, loop
        )
    else:
        prepare_stiffness(
            n, options.stiffness, options.margin, scale, near, walls, stencil, unknowns, loop
        )
    allow_old_compression(
        n, options.shifting, options.undone, scale, near, walls, stencil, unknowns
    )
    change_pressure(n, scale, near, walls, stencil, unknowns, loop.numbers)
    sum_tallies(n, unknowns, loop)


@qd.kernel(fastcache=True, graph=True)
def iterate(
    go: Flag,
    n: qd.i32,
    options: Options,
    scale: Scale,
    materials: StressTable,
    near: ParticleArrays,
    walls: WallArrays,
    stencil: Stencil,
    memory: Memory,
    unknowns: Unknowns,
    loop: LoopArrays,
):
    """Density and conformation in turn, one Jacobi iteration of each, until both may stop."""
    while qd.graph.do_while(go):
        apply_pressure_change(
            n, options.shifting, False, options.late, scale, near, walls, stencil, unknowns
        )
        for i in range(n):
            move(unknowns.place_change[i], scale, near, walls, unknowns, i)
        move_bodies(scale, near, walls)
        if qd.static(options.conforming):
            jacobi_from_positions(
                n, options, scale, materials, near, walls, stencil, memory, unknowns, loop
            )
            for i in range(n):
                force = stress_force(0.0, scale, near, walls, stencil, unknowns, i)
                change = scale.dt * scale.dt * near.inverse_mass[i] * force
                tell_linked_walls(scale, near, walls, unknowns, i)
                move(change, scale, near, walls, unknowns, i)
            move_bodies(scale, near, walls)
            total_blocks(n, loop.sums, loop.numbers, Tally.RESIDUAL)
        change_pressure(n, scale, near, walls, stencil, unknowns, loop.numbers)
        sum_tallies(n, unknowns, loop)
        stop_when_calm(go, options.tolerance, options.most, loop, options.fewest)


@qd.func
def stop_when_calm(go: Flag, tolerance: qd.f64, most: qd.i32, loop: LoopArrays, fewest: qd.i32 = 0):
    """Counts an iteration; ends the loop if enough of them have balanced pressures."""
    qd.loop_config(serialize=True)
    for _ in range(1):
        loop.used[0] = loop.used[0] + 1
        calm = loop.numbers[Tally.UNBALANCED] < tolerance
        if (loop.used[0] >= fewest and calm) or loop.used[0] >= most:
            go[None] = 0


@qd.func
def move(
    change: vec3,
    scale: Scale,
    near: ParticleArrays,
    walls: WallArrays,
    unknowns: Unknowns,
    i: qd.i32,
):
    """Δt u += change, and y with it, out of the walls; shifts end within a spacing (see `push`)."""
    push(change, 1.0, scale, near, walls, unknowns, i)
    reach = spacing_of(scale, near, i)
    shift = unknowns.shift[i]
    unknowns.shift[i] = shift * qd.min(1.0, reach / qd.max(shift.norm(), 1e-30))
    settle(scale, near, walls, unknowns, i)


@qd.func
def push(
    change: vec3,
    loose: qd.f32,
    scale: Scale,
    near: ParticleArrays,
    walls: WallArrays,
    unknowns: Unknowns,
    i: qd.i32,
):
    """Δt u += change, but half a spacing at most if a particle is `loose` (1).

    Farther than that its neighbours at x⁰ say nothing about a particle, and one whose neighbourhood
    makes no sense is not flung away. Of a firm one (0), stress takes most of the change back: that is no
    way that it goes, and to cut it would take momentum from syrup under pressure.
    """
    reach = 0.5 * spacing_of(scale, near, i) / qd.max(loose, 1e-6)
    taken = change * qd.min(1.0, reach / qd.max(change.norm(), 1e-30))
    take_back(taken - change, scale, near, walls, i)
    unknowns.velocity[i] = unknowns.velocity[i] + taken / scale.dt


@qd.func
def settle(scale: Scale, near: ParticleArrays, walls: WallArrays, unknowns: Unknowns, i: qd.i32):
    """y ← x⁰ + Δt u + shift, out of the walls."""
    if near.contact[i] >= 0:
        shift, u = push_out(
            near.contact[i], unknowns.shift[i], unknowns.velocity[i], scale, near, walls
        )
        unknowns.shift[i] = shift
        unknowns.velocity[i] = u
    moved = scale.dt * unknowns.velocity[i] + unknowns.shift[i]
    unknowns.place[i] = near.position[i] + moved
    if near.contact[i] >= 0:
        follow(near.contact[i], unknowns.place[i], walls)


@qd.func
def jacobi_from_positions(
    n: qd.i32,
    options: Options,
    scale: Scale,
    materials: StressTable,
    near: ParticleArrays,
    walls: WallArrays,
    stencil: Stencil,
    memory: Memory,
    unknowns: Unknowns,
    loop: LoopArrays,
):
    """Eq. 17: Δσ, which acts, from the constraint at Δt u; per block: r·z."""
    for i in range(n):
        moved = scale.dt * gradient(scale, near, walls, stencil, unknowns.velocity, i)
        strain = strain_step(moved, 1.0)
        if qd.static(options.corotated):
            deformation = moved + qd.Matrix.identity(qd.f32, 3)
            strain = strain_of_deformation(deformation, nearest_rotation(deformation))
        jacobi_update(strain, options.beta, scale, materials, near, stencil, memory, unknowns, i)
    sum_terms(n, unknowns.term, loop.sums)


@qd.func
def leave_out_least(n: qd.i32, pressure: Floats, least: Doubles):
    """p −= min p: what a fluid without a surface has in common pushes nothing, and would pile up."""
    qd.loop_config(serialize=qd.static(on_cpu()))
    for b in range(blocks(n)):
        smallest = pressure[block_begin(b)]
        for i in range(block_begin(b), block_end(b, n)):
            smallest = qd.min(smallest, pressure[i])
        least[b] = smallest
    qd.loop_config(serialize=True)
    for b in range(blocks(n)):
        least[0] = qd.min(least[0], least[b])
    for i in range(n):
        pressure[i] = pressure[i] - qd.max(qd.cast(least[0], qd.f32), 0.0)


@qd.kernel(fastcache=True)
def finish(
    n: qd.i32,
    scale: Scale,
    near: ParticleArrays,
    shifting: qd.template(),
    sealed: qd.i32,
    unknowns: Unknowns,
    remainder: Vec3s,
    sums: Doubles,
):
    """x⁰ ← x¹ = x⁰ + Δt u¹ + shift; what rounding leaves out is added with the next step.

    Velocities are no differences of positions, so that no position rounds them; and positions are sums
    of displacements, compensated (Kahan 1965), so that none is too short to count. Each difference has a
    loop of its own: seen together, fast mathematics would make nothing of them. p ← what was found,
    without what all of it has in common where fluid is `sealed`.
    """
    for i in range(n):
        found = unknowns.projected_pressure[i]
        if qd.static(shifting):
            found = unknowns.pressure_aside[i]
        unknowns.pressure[i] = found
    if sealed:
        leave_out_least(n, unknowns.pressure, sums)
    for i in range(n):
        moved = scale.dt * unknowns.velocity[i] + (unknowns.shift[i] + remainder[i])
        remainder[i] = moved
        unknowns.place[i] = near.position[i] + moved
    for i in range(n):
        unknowns.place_change[i] = unknowns.place[i] - near.position[i]
        near.position[i] = unknowns.place[i]
    for i in range(n):
        remainder[i] = remainder[i] - unknowns.place_change[i]
