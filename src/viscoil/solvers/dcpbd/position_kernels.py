# mypy: disable-error-code="valid-type,no-untyped-def,no-untyped-call,misc"
"""Kernels of the position projection and of the conformation update (sections 5.3 and 3.2)."""

import quadrants as qd

from viscoil.constraints.conformation import (
    convect,
    implicit_euler,
    strain_of_deformation,
    strain_step,
)
from viscoil.constraints.rotation import nearest_rotation
from viscoil.constraints.symmetric import congruence
from viscoil.core.compute import Doubles, Flag, Floats, Ints, vec3, vec6
from viscoil.core.reductions import total_blocks
from viscoil.materials.table import MaterialTable
from viscoil.neighbors.resolution import support_of, volume_of
from viscoil.neighbors.scale import Scale
from viscoil.solvers.dcpbd.density_kernels import (
    Tally,
    apply_pressure_change,
    change_pressure,
    judge,
    prepare_stiffness,
    recall_pressure,
    trusted,
)
from viscoil.solvers.dcpbd.operators import compliance, gradient, leak, stress_force
from viscoil.solvers.dcpbd.prototype_stiffness import prepare_prototype_stiffness
from viscoil.solvers.dcpbd.relaxation import jacobi_update, sum_terms
from viscoil.solvers.dcpbd.workspace import Fluid, Unknowns
from viscoil.walls.coupling import body_stiffness, move_bodies, take_back, weigh
from viscoil.walls.response import push_out
from viscoil.walls.walls import Contacts, Walls


@qd.kernel(fastcache=True)
def begin(
    n: qd.i32,
    kind: qd.template(),
    periodic: qd.template(),
    coupled: qd.template(),
    conforming: qd.template(),
    prototype: qd.template(),
    least: qd.f32,
    margin: qd.f32,
    scale: Scale,
    fluid: Fluid,
    walls: Walls,
    contacts: Contacts,
    wall_table: Floats,
    unknowns: Unknowns,
    sums: Doubles,
    progress: Doubles,
):
    """y ← x⁰ + Δt u, outside the walls; what is constant over the iterations; the first Δp.

    `least` is the least stiffness or, if it is that of a prototype, the stiffness of all.
    """
    if qd.static(coupled):
        weigh(scale, walls, contacts, fluid, wall_table)
    for i in range(n):
        if qd.static(conforming):
            unknowns.direction[i] = vec6(0.0)
        unknowns.shift[i] = vec3(0.0)
        recall_pressure(fluid, contacts, unknowns, i)
        y = fluid.position[i] + scale.dt * unknowns.velocity[i]
        settle(coupled, y, scale, fluid, walls, contacts, unknowns, i)
    if qd.static(coupled):
        move_bodies(scale, walls, contacts, fluid)
    if qd.static(prototype):
        prepare_prototype_stiffness(
            n, periodic, least, margin, scale, fluid, unknowns, sums, progress
        )
        if qd.static(coupled):
            for i in range(n):
                if fluid.wall[i] >= 0:
                    support = support_of(scale, fluid, i)
                    more = body_stiffness(unknowns.trial[i], support, walls, wall_table)
                    added = scale.dt * scale.dt * volume_of(scale, fluid, i) * more
                    unknowns.stiffness[i] = unknowns.stiffness[i] + added
    else:
        prepare_stiffness(
            n, kind, periodic, coupled, least, margin, scale, fluid, walls, wall_table, unknowns,
            sums, progress,
        )  # fmt: skip
    apply_pressure_change(
        n, kind, periodic, False, coupled, scale, fluid, walls, contacts, wall_table, unknowns
    )
    for i in range(n):
        y = unknowns.trial[i] + unknowns.change[i]
        settle(coupled, y, scale, fluid, walls, contacts, unknowns, i)
    if qd.static(coupled):
        move_bodies(scale, walls, contacts, fluid)
    change_pressure(
        n, kind, periodic, scale, fluid, walls, contacts, wall_table, unknowns, progress
    )
    judge(n, sums, unknowns, progress)


@qd.kernel(fastcache=True, graph=True)
def iterate(
    go: Flag,
    n: qd.i32,
    kind: qd.template(),
    periodic: qd.template(),
    shifting: qd.template(),
    conforming: qd.template(),
    corotated: qd.template(),
    coupled: qd.template(),
    fewest: qd.i32,
    most: qd.i32,
    tolerance: qd.f64,
    beta: qd.f32,
    scale: Scale,
    materials: MaterialTable,
    fluid: Fluid,
    walls: Walls,
    contacts: Contacts,
    wall_table: Floats,
    unknowns: Unknowns,
    sums: Doubles,
    used: Ints,
    progress: Doubles,
):
    """Density and conformation in turn, one Jacobi iteration of each, until both may stop."""
    while qd.graph.do_while(go):
        apply_pressure_change(
            n,
            kind,
            periodic,
            shifting,
            coupled,
            scale,
            fluid,
            walls,
            contacts,
            wall_table,
            unknowns,
        )
        for i in range(n):
            y = unknowns.trial[i] + unknowns.change[i]
            settle(coupled, y, scale, fluid, walls, contacts, unknowns, i)
            unknowns.change[i] = displacement(fluid, unknowns, i)
        if qd.static(coupled):
            move_bodies(scale, walls, contacts, fluid)
        if qd.static(conforming):
            jacobi_from_positions(
                n, periodic, corotated, beta, scale, materials, fluid, unknowns, sums
            )
            for i in range(n):
                force = stress_force(periodic, fluid, unknowns, i)
                y = unknowns.trial[i] + scale.dt * scale.dt * fluid.inverse_mass[i] * force
                settle(coupled, y, scale, fluid, walls, contacts, unknowns, i)
            if qd.static(coupled):
                move_bodies(scale, walls, contacts, fluid)
            total_blocks(n, sums, progress, Tally.RESIDUAL)
        change_pressure(
            n, kind, periodic, scale, fluid, walls, contacts, wall_table, unknowns, progress
        )
        judge(n, sums, unknowns, progress)
        qd.loop_config(serialize=True)
        for _ in range(1):
            used[0] = used[0] + 1
            calm = used[0] >= fewest and progress[Tally.UNBALANCED] < tolerance
            if calm or used[0] >= most:
                go[None] = 0


@qd.func
def settle(
    coupled: qd.template(),
    y: vec3,
    scale: Scale,
    fluid: Fluid,
    walls: Walls,
    contacts: Contacts,
    unknowns: Unknowns,
    i: qd.i32,
):
    """Moves particle i to y, or as far towards it as makes sense, and out of the walls."""
    to = trusted(y, scale, fluid, unknowns, i)
    if qd.static(coupled):
        if fluid.wall[i] >= 0:
            take_back((to - y) / fluid.inverse_mass[i], i, scale, fluid, walls, contacts)
    if fluid.wall[i] >= 0:
        to = push_out(coupled, fluid.wall[i], to, scale, walls, contacts, fluid, unknowns.shift)
    unknowns.trial[i] = to


@qd.func
def displacement(fluid: Fluid, unknowns: Unknowns, i: qd.i32) -> vec3:
    """y − x⁰ without shifts."""
    return unknowns.trial[i] - unknowns.shift[i] - fluid.position[i]


@qd.func
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
    """Eq. 17: Δσ, loaded, from the constraint at the displacements in `change`; per block: r·z."""
    for i in range(n):
        moved = gradient(periodic, scale, fluid, unknowns.change, i)
        strain = strain_step(moved, 1.0)
        if qd.static(corotated):
            deformation = moved + qd.Matrix.identity(qd.f32, 3)
            strain = strain_of_deformation(deformation, nearest_rotation(deformation))
        jacobi_update(strain, beta, scale, materials, fluid, unknowns, i)
    sum_terms(n, unknowns, sums)


@qd.kernel(fastcache=True)
def displacements(n: qd.i32, fluid: Fluid, unknowns: Unknowns):
    """change ← y − x⁰ without shifts."""
    for i in range(n):
        unknowns.change[i] = displacement(fluid, unknowns, i)


@qd.func
def squeezed(stress: vec6, materials: MaterialTable, fluid: Fluid, i: qd.i32) -> qd.f32:
    """θ of a fluid without elastic memory: what its pressure stands for, and nothing under tension.

    Without it pressure would cost a flow: syrup at rest would sink into itself, at the rate at which
    its stiffness against changes of volume gives way, and shifts would bring it back up elsewhere.
    Taken from the stress, it does not add up what iterations leave undone.
    """
    mean = (stress[0] + stress[1] + stress[2]) / 3.0
    strain = 0.998 * compliance(materials, fluid, i)[2] * qd.min(mean, 0.0)
    return strain / materials.pressure_memory[fluid.material[i]]


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
        if relaxation == 0.0:
            fluid.dilation[i] = squeezed(kept, materials, fluid, i)
        turn = nearest_rotation(deformation)
        unknowns.stress[i] = congruence(turn, kept)
        # c⁰ + e, taken from the bend that it causes: what the iterations left undone is not remembered
        curvature = (1.0 - materials.memory[m]) * fluid.curvature[i]
        curvature += compliance(materials, fluid, i)[1] * unknowns.bend[i]
        fluid.curvature[i] = relaxation * (turn @ curvature)
        unknowns.bend[i] = turn @ unknowns.bend[i]
