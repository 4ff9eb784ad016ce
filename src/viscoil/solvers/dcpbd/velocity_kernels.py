# mypy: disable-error-code="valid-type,no-untyped-def,no-untyped-call,misc"
"""Kernels of the velocity projection: conjugate gradients, and the paper's Jacobi (section 5.2).

The system is A σ = b with A σ = a σ − E(M⁻¹ Δt f(σ)): symmetric in the product Σ V σ:τ and positive
semidefinite. Bends μ belong to the unknowns as three more components.
"""

import quadrants as qd

from viscoil.constraints.conformation import rotation_strain, strain_step
from viscoil.constraints.symmetric import double_dot
from viscoil.core.compute import Doubles, Flag, Ints, vec3, vec6
from viscoil.core.reductions import block_begin, block_end, blocks, sum_blocks
from viscoil.materials.table import MaterialTable
from viscoil.neighbors.resolution import volume_of
from viscoil.neighbors.scale import Scale
from viscoil.solvers.dcpbd.operators import (
    bend_compliance,
    bend_constraint,
    bend_precondition,
    comply,
    constraint,
    differences,
    gradient,
    load,
    precondition,
    stress_force,
)
from viscoil.solvers.dcpbd.relaxation import jacobi_update, residual_term, sum_terms
from viscoil.solvers.dcpbd.workspace import Fluid, Unknowns
from viscoil.walls.coupling import add_body_terms, advance_bodies, respond_bodies
from viscoil.walls.walls import Contacts, Walls, free_part


@qd.kernel(fastcache=True)
def load_stress(n: qd.i32, scale: Scale, fluid: Fluid, unknowns: Unknowns):
    """Loads σ and μ; none where no gradient can be taken."""
    for i in range(n):
        if double_dot(fluid.correction[i], fluid.correction[i]) == 0.0:
            unknowns.stress[i] = vec6(0.0)
            unknowns.bend[i] = vec3(0.0)
        load(unknowns.stress[i], unknowns.bend[i], scale, fluid, unknowns, i)


@qd.kernel(fastcache=True)
def load_direction(n: qd.i32, scale: Scale, fluid: Fluid, unknowns: Unknowns):
    """Loads p."""
    for i in range(n):
        load(unknowns.direction[i], unknowns.bend_direction[i], scale, fluid, unknowns, i)


@qd.kernel(fastcache=True)
def velocities_under_stress(
    n: qd.i32, periodic: qd.template(), scale: Scale, fluid: Fluid, unknowns: Unknowns
):
    """u ← u* + Δt f/m, as if no wall were there."""
    for i in range(n):
        force = stress_force(periodic, fluid, unknowns, i)
        unknowns.velocity[i] = unknowns.trial[i] + scale.dt * fluid.inverse_mass[i] * force


@qd.kernel(fastcache=True)
def free_velocities(n: qd.i32, fluid: Fluid, contacts: Contacts, unknowns: Unknowns):
    """u ← u* as far as contacts leave it free; what they hold keeps the velocity that they give."""
    for i in range(n):
        held = unknowns.velocity[i]
        free = free_part(fluid.wall[i], contacts, unknowns.trial[i] - held)
        unknowns.velocity[i] = held + free


@qd.func
def strain_under(
    corotated: qd.template(),
    periodic: qd.template(),
    scale: Scale,
    fluid: Fluid,
    unknowns: Unknowns,
    i: qd.i32,
):
    """(strain, bend) of the step x⁰ + Δt u, with or without what rotation adds to it.

    The spin is that of u*, which is smooth: u may be torn between walls and stress.
    """
    rate, bend = differences(periodic, scale, fluid, unknowns.velocity, i)
    strain = strain_step(rate, scale.dt)
    if qd.static(corotated):
        free = gradient(periodic, scale, fluid, unknowns.trial, i)
        strain += rotation_strain(free, scale.dt)
    return strain, scale.dt * bend


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
    """Per block: b·z(b) and b·σ, with b the constraints at u without any stress; loads p ← σ."""
    for i in range(n):
        strain, bend_strain = strain_under(corotated, periodic, scale, fluid, unknowns, i)
        unknowns.residual[i] = constraint(strain, vec6(0.0), materials, fluid, i)
        unknowns.bend_residual[i] = bend_constraint(bend_strain, vec3(0.0), materials, fluid, i)
        unknowns.direction[i] = unknowns.stress[i]
        unknowns.bend_direction[i] = unknowns.bend[i]
        load(unknowns.stress[i], unknowns.bend[i], scale, fluid, unknowns, i)
    for block in range(blocks(n)):
        size = qd.f64(0.0)
        along = qd.f64(0.0)
        for i in range(block_begin(block), block_end(block, n)):
            volume = volume_of(scale, fluid, i)
            b = unknowns.residual[i]
            size += volume * double_dot(b, precondition(b, materials, fluid, i))
            e = unknowns.bend_residual[i]
            size += volume * e.dot(bend_precondition(e, materials, fluid, i))
            along += volume * double_dot(b, unknowns.stress[i])
            along += volume * e.dot(unknowns.bend[i])
        sums[2 * block] = size
        sums[2 * block + 1] = along


@qd.kernel(fastcache=True)
def scale_stress(n: qd.i32, factor: qd.f32, unknowns: Unknowns):
    for i in range(n):
        unknowns.stress[i] = unknowns.stress[i] * factor
        unknowns.bend[i] = unknowns.bend[i] * factor


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
    """r ← constraints at u, p ← z = r/(D + a), loaded; per block: r·z."""
    for i in range(n):
        strain, bend_strain = strain_under(corotated, periodic, scale, fluid, unknowns, i)
        r = constraint(strain, unknowns.stress[i], materials, fluid, i)
        e = bend_constraint(bend_strain, unknowns.bend[i], materials, fluid, i)
        unknowns.residual[i] = r
        unknowns.bend_residual[i] = e
        unknowns.direction[i] = precondition(r, materials, fluid, i)
        unknowns.bend_direction[i] = bend_precondition(e, materials, fluid, i)
        load(unknowns.direction[i], unknowns.bend_direction[i], scale, fluid, unknowns, i)
        unknowns.term[i] = residual_term(r, e, scale, materials, fluid, i)
    sum_terms(n, unknowns, sums)


@qd.func
def respond(
    n: qd.i32,
    periodic: qd.template(),
    coupled: qd.template(),
    scale: Scale,
    materials: MaterialTable,
    fluid: Fluid,
    walls: Walls,
    contacts: Contacts,
    unknowns: Unknowns,
    sums: Doubles,
):
    """w ← velocity change under p; per block: p·A p = Σ V a p:p + 2 Σ m |w|²."""
    for i in range(n):
        force = stress_force(periodic, fluid, unknowns, i)
        w = scale.dt * fluid.inverse_mass[i] * force
        if qd.static(not coupled):
            w = free_part(fluid.wall[i], contacts, w)
        unknowns.change[i] = w
        p = unknowns.direction[i]
        q = unknowns.bend_direction[i]
        work = double_dot(p, comply(p, materials, fluid, i))
        work += bend_compliance(materials, fluid, i) * q.dot(q)
        volume = volume_of(scale, fluid, i)
        if qd.static(not coupled):
            unknowns.term[i] = 2.0 * w.dot(w) / fluid.inverse_mass[i] + volume * work
        else:
            unknowns.term[i] = volume * work
    if qd.static(coupled):
        respond_bodies(walls, contacts, fluid, unknowns)
        for i in range(n):
            w = unknowns.change[i]
            unknowns.term[i] = unknowns.term[i] + 2.0 * w.dot(w) / fluid.inverse_mass[i]
    sum_terms(n, unknowns, sums)
    if qd.static(coupled):
        add_body_terms(walls, sums)


@qd.kernel(fastcache=True)
def response(
    n: qd.i32,
    periodic: qd.template(),
    coupled: qd.template(),
    scale: Scale,
    materials: MaterialTable,
    fluid: Fluid,
    walls: Walls,
    contacts: Contacts,
    unknowns: Unknowns,
    sums: Doubles,
):
    """w and p·A p of the direction p."""
    respond(n, periodic, coupled, scale, materials, fluid, walls, contacts, unknowns, sums)


@qd.kernel(fastcache=True, graph=True)
def conjugate_gradients(
    go: Flag,
    n: qd.i32,
    periodic: qd.template(),
    coupled: qd.template(),
    budget: qd.i32,
    enough: qd.f64,
    scale: Scale,
    materials: MaterialTable,
    fluid: Fluid,
    walls: Walls,
    contacts: Contacts,
    unknowns: Unknowns,
    sums: Doubles,
    used: Ints,
    rz: Doubles,
):
    """Iterates until r·z ≤ `enough` or the budget is used up; counts in `used`, goes on from `rz`.

    length ← r·z / p·A p; σ += length p; u += length w; r −= length A p; p ← z + (r·z)'/(r·z) p.
    """
    while qd.graph.do_while(go):
        respond(n, periodic, coupled, scale, materials, fluid, walls, contacts, unknowns, sums)
        sum_blocks(n, rz, sums)
        if qd.static(coupled):
            advance_bodies(scale.dt, walls, sums)
        for i in range(n):
            length = 1.0 / qd.cast(sums[1], qd.f32)
            p = unknowns.direction[i]
            q = unknowns.bend_direction[i]
            rate, bend = differences(periodic, scale, fluid, unknowns.change, i)
            strain = length * strain_step(rate, scale.dt)
            unknowns.stress[i] = unknowns.stress[i] + length * p
            unknowns.bend[i] = unknowns.bend[i] + length * q
            unknowns.velocity[i] = unknowns.velocity[i] + length * unknowns.change[i]
            r = unknowns.residual[i]
            e = unknowns.bend_residual[i]
            if double_dot(fluid.correction[i], fluid.correction[i]) > 0.0:
                r += strain - length * comply(p, materials, fluid, i)
                e += length * (bend * scale.dt - bend_compliance(materials, fluid, i) * q)
                unknowns.residual[i] = r
                unknowns.bend_residual[i] = e
            unknowns.term[i] = residual_term(r, e, scale, materials, fluid, i)
        sum_terms(n, unknowns, sums)
        sum_blocks(n, rz, sums)
        for i in range(n):
            keep = qd.cast(sums[1], qd.f32)
            p = precondition(unknowns.residual[i], materials, fluid, i)
            q = bend_precondition(unknowns.bend_residual[i], materials, fluid, i)
            unknowns.direction[i] = p + keep * unknowns.direction[i]
            unknowns.bend_direction[i] = q + keep * unknowns.bend_direction[i]
            load(unknowns.direction[i], unknowns.bend_direction[i], scale, fluid, unknowns, i)
        qd.loop_config(serialize=True)
        for _ in range(1):
            rz[0] = sums[0]
            used[0] = used[0] + 1
            if used[0] >= budget or sums[0] <= enough:
                go[None] = 0


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
        strain, _bend = strain_under(corotated, periodic, scale, fluid, unknowns, i)
        jacobi_update(strain, beta, scale, materials, fluid, unknowns, i)
    sum_terms(n, unknowns, sums)


@qd.kernel(fastcache=True)
def add_velocity_change(
    n: qd.i32, periodic: qd.template(), scale: Scale, fluid: Fluid, unknowns: Unknowns
):
    """Eq. 12: u += Δt f/m."""
    for i in range(n):
        force = stress_force(periodic, fluid, unknowns, i)
        unknowns.velocity[i] = unknowns.velocity[i] + scale.dt * fluid.inverse_mass[i] * force
