# mypy: disable-error-code="valid-type,no-untyped-def,no-untyped-call,misc"
"""Kernels of the velocity projection: conjugate gradients, and the paper's Jacobi (section 5.2).

The system is A σ = b with A σ = a σ − E(M⁻¹ Δt f(σ)): symmetric in the product Σ V σ:τ and positive
semidefinite. Bends μ belong to the unknowns as three more components, and so do the pressures of
particles that are pressed (`pressure_rows`) as a tenth.
"""

import dataclasses

import quadrants as qd

from viscoil.constraints.conformation import rotation_strain, strain_step
from viscoil.constraints.symmetric import double_dot, identity
from viscoil.core.compute import COMPILED_IN, Flag, vec3, vec6, vec10
from viscoil.core.reductions import block_begin, block_end, blocks
from viscoil.neighbors.arrays import ParticleArrays
from viscoil.neighbors.resolution import volume_of
from viscoil.neighbors.scale import Scale
from viscoil.solvers.dcpbd.arrays import Memory, Stencil, Unknowns
from viscoil.solvers.dcpbd.elasticity import (
    bend_compliance,
    bend_constraint,
    bend_precondition,
    comply,
    constraint,
    has_gradient,
    precondition,
    resisted,
)
from viscoil.solvers.dcpbd.jacobi import jacobi_update
from viscoil.solvers.dcpbd.mirrors import mirrored_push, mirrored_squeeze
from viscoil.solvers.dcpbd.no_slip import link_force
from viscoil.solvers.dcpbd.operators import differences, set_traction, stress_force
from viscoil.solvers.dcpbd.separate_bodies import row_share
from viscoil.solvers.dcpbd.stress_table import StressTable
from viscoil.solvers.linear.conjugate_gradients import Limits, conjugate_gradient_step, sum_terms
from viscoil.solvers.linear.iterations import LoopArrays
from viscoil.walls.arrays import WallArrays
from viscoil.walls.body_loads import body_load, squeezed_by_body
from viscoil.walls.body_velocities import (
    add_body_terms,
    held_change,
    held_energy,
    keep_bodies,
    measure_response,
    move_all_together,
    respond_bodies,
)
from viscoil.walls.planes import hold


@dataclasses.dataclass
class System:
    """All that the velocity projection works on."""

    scale: Scale
    materials: StressTable
    near: ParticleArrays
    walls: WallArrays
    stencil: Stencil
    memory: Memory
    unknowns: Unknowns
    # Whether strain counts what rotation adds to it within a step (eqs. 14 to 16).
    corotated: qd.template() = dataclasses.field(default=True, metadata=COMPILED_IN)


@qd.func
def strain_under(s: System, i: qd.i32):
    """(strain, bend, row of pressure) of the step x⁰ + Δt u, with or without what rotation adds to it.

    The spin is that of u⁰. That of u* turns where walls and stress will hold the fluid, by up to
    (g Δt²/d)² of a strain: fluid at rest never came to an end with it.
    """
    rate, bend, squeeze = differences(
        s.scale, s.near, s.walls, s.stencil, s.unknowns.velocity, False, i
    )
    squeeze += s.stencil.wall_slope[i].dot(s.unknowns.velocity[i])
    squeeze += mirrored_squeeze(s.scale, s.near, s.walls, s.stencil, s.unknowns.velocity, i)
    squeeze += squeezed_by_body(s.near.contact[i], False, s.walls)
    strain = strain_step(rate, s.scale.dt)
    if qd.static(s.corotated):
        strain += rotation_strain(s.stencil.spin[i], s.scale.dt)
    row = 2.0 * s.scale.dt * squeeze + s.stencil.pressed_offset[i]
    row *= qd.sqrt(row_share(s.scale, s.stencil, i))
    return strain, s.scale.dt * bend, row


@qd.kernel(fastcache=True)
def right_side(n: qd.i32, least: qd.f32, s: System, loop: LoopArrays):
    """Per block: b·z(b), b·σ and f·z(f), with b the constraints at u without any stress; p ← σ acts.

    f is a strain of `least` of every particle.
    """
    for i in range(n):
        strain, bend_strain, row = strain_under(s, i)
        s.unknowns.residual[i] = constraint(
            strain, vec6(0.0), s.materials, s.near, s.stencil, s.memory, i
        )
        s.unknowns.bend_residual[i] = bend_constraint(
            bend_strain, vec3(0.0), s.materials, s.near, s.stencil, s.memory, i
        )
        s.unknowns.pressure_residual[i] = row
        s.unknowns.pressure_direction[i] = 0.0
        s.unknowns.direction[i] = s.unknowns.stress[i]
        s.unknowns.bend_direction[i] = s.unknowns.bend[i]
        set_traction(
            s.unknowns.stress[i], s.unknowns.bend[i], 0.0, s.scale, s.near, s.stencil, s.unknowns, i
        )
    for block in range(blocks(n)):
        size = qd.f64(0.0)
        along = qd.f64(0.0)
        tolerated = qd.f64(0.0)
        for i in range(block_begin(block), block_end(block, n)):
            volume = volume_of(s.scale, s.near, i)
            b = s.unknowns.residual[i]
            size += volume * double_dot(b, precondition(b, s.materials, s.near, s.stencil, i))
            e = s.unknowns.bend_residual[i]
            floor = precondition(least * identity(), s.materials, s.near, s.stencil, i)
            if has_gradient(s.stencil, i):
                tolerated += volume * least * (floor[0] + floor[1] + floor[2])
            size += volume * e.dot(bend_precondition(e, s.materials, s.near, s.stencil, i))
            row = s.unknowns.pressure_residual[i]
            size += volume * row * pressure_part(preconditioned(s, i))
            along += volume * double_dot(b, s.unknowns.stress[i])
            along += volume * e.dot(s.unknowns.bend[i])
        loop.sums[3 * block] = size
        loop.sums[3 * block + 1] = along
        loop.sums[3 * block + 2] = tolerated


@qd.func
def preconditioned(s: System, i: qd.i32) -> vec10:
    """z = r/(D + a) of the stress, six numbers, of the bend, three, and of the pressure."""
    z = precondition(s.unknowns.residual[i], s.materials, s.near, s.stencil, i)
    y = bend_precondition(s.unknowns.bend_residual[i], s.materials, s.near, s.stencil, i)
    diagonal = row_share(s.scale, s.stencil, i) * s.stencil.pressed_diagonal[i]
    diagonal += s.stencil.pressed_compliance[i] + 1e-30
    p = s.unknowns.pressure_residual[i] / diagonal
    return vec10(z[0], z[1], z[2], z[3], z[4], z[5], y[0], y[1], y[2], p)


@qd.func
def stress_part(z: vec10) -> vec6:
    return vec6(z[0], z[1], z[2], z[3], z[4], z[5])


@qd.func
def bend_part(z: vec10) -> vec3:
    return vec3(z[6], z[7], z[8])


@qd.func
def pressure_part(z: vec10) -> qd.f32:
    return z[9]


@qd.func
def residual_product(s: System, z: vec10, i: qd.i32) -> qd.f32:
    """What a particle adds to r·z."""
    product = double_dot(s.unknowns.residual[i], stress_part(z))
    product += s.unknowns.bend_residual[i].dot(bend_part(z))
    product += s.unknowns.pressure_residual[i] * pressure_part(z)
    return volume_of(s.scale, s.near, i) * product


@qd.func
def let_act(s: System, i: qd.i32):
    """p acts as stress, bend and pressure."""
    p, q = s.unknowns.direction[i], s.unknowns.bend_direction[i]
    rise = s.unknowns.pressure_direction[i]
    set_traction(p, q, rise, s.scale, s.near, s.stencil, s.unknowns, i)


@qd.kernel(fastcache=True)
def start_conjugate_gradients(n: qd.i32, s: System, loop: LoopArrays):
    """r ← constraints at u, p ← z = r/(D + a), which acts; r·z, also per block.

    What a particle adds to r·p, which is r·z here, lies where nothing needs C yet.
    """
    for i in range(n):
        strain, bend_strain, row = strain_under(s, i)
        r = constraint(strain, s.unknowns.stress[i], s.materials, s.near, s.stencil, s.memory, i)
        e = bend_constraint(
            bend_strain, s.unknowns.bend[i], s.materials, s.near, s.stencil, s.memory, i
        )
        s.unknowns.residual[i] = r
        s.unknowns.bend_residual[i] = e
        s.unknowns.pressure_residual[i] = row
        z = preconditioned(s, i)
        s.unknowns.direction[i] = stress_part(z)
        s.unknowns.bend_direction[i] = bend_part(z)
        s.unknowns.pressure_direction[i] = pressure_part(z)
        let_act(s, i)
        s.unknowns.compression[i] = residual_product(s, z, i)
    sum_terms(n, s.unknowns.compression, loop.sums)


@qd.func
def _load_body(acting: qd.f32, s: System, i: qd.i32):
    """What p of particle i, with the pressure √w p that is `acting`, puts on the body beside it."""
    if qd.static(s.walls.coupled):
        c = s.near.contact[i]
        load, twist = vec3(0.0), vec3(0.0)
        if s.walls.contacts.body[c] >= 0:
            pulled = s.scale.dt * link_force(acting, s.near, s.walls, s.unknowns, i)
            pressed = s.scale.dt * volume_of(s.scale, s.near, i) * acting
            load, twist = body_load(c, pulled, pressed, s.walls)
        s.walls.contacts.load_change[c] = load
        s.walls.contacts.load_twist_change[c] = twist


@qd.func
def apply_operator(n: qd.i32, s: System, loop: LoopArrays):
    """w ← velocity change under p; the terms of p·A p = Σ V a p:p + 2 Σ m |w|², those of bodies apart."""
    for i in range(n):
        volume = volume_of(s.scale, s.near, i)
        rise = s.unknowns.pressure_direction[i]
        acting = qd.sqrt(s.stencil.pressed[i]) * rise
        force = stress_force(acting, s.scale, s.near, s.walls, s.stencil, s.unknowns, i)
        force -= volume * acting * s.stencil.wall_slope[i]
        force += mirrored_push(
            s.scale, s.near, s.walls, s.stencil, s.unknowns.pressure_direction, i
        )
        w = s.scale.dt * s.near.inverse_mass[i] * force
        if s.near.contact[i] >= 0:
            s.walls.contacts.wanted_change[s.near.contact[i]] = w
            _load_body(acting, s, i)
        w = held_change(w, s.near, s.walls, i)
        s.unknowns.velocity_change[i] = w
        p = s.unknowns.direction[i]
        q = s.unknowns.bend_direction[i]
        work = double_dot(p, comply(p, s.materials, s.near, s.stencil, i))
        work += bend_compliance(s.materials, s.near, s.stencil, i) * q.dot(q)
        work += s.stencil.pressed_compliance[i] * rise * rise
        s.unknowns.term[i] = held_energy(w, s.near, s.walls, i) + volume * work
    respond_bodies(n, s.near, s.walls, s.unknowns.velocity_change, s.unknowns.term)
    add_body_terms(s.walls, loop.numbers)


@qd.func
def advance_rest(n: qd.i32, s: System, loop: LoopArrays):
    """w of particles at walls, and bodies: what contacts make of the whole load that u now bears."""
    for c in range(s.walls.contacts.count):
        length = qd.cast(loop.numbers[3], qd.f32)
        _bear_more(length, s, c)
        if qd.static(not s.walls.coupled):
            _measure_change(length, s, c)
    if qd.static(s.walls.coupled):
        keep_bodies(s.walls)
        move_all_together(s.scale.dt, 1, s.near, s.walls, s.unknowns.velocity)
        measure_response(loop.numbers, s.walls)
        for c in range(s.walls.contacts.count):
            _measure_change(qd.cast(loop.numbers[3], qd.f32), s, c)


@qd.func
def _bear_more(length: qd.f32, s: System, c: qd.i32):
    """u ← what contact c makes of the load that it bears after a step of this length."""
    i = s.walls.contacts.particle[c]
    s.walls.contacts.before[c] = s.unknowns.velocity[i]
    change = length * s.walls.contacts.wanted_change[c]
    s.unknowns.velocity[i] = s.walls.contacts.wanted[c] + change
    hold(1, c, s.scale, s.near, s.walls, s.unknowns.velocity)
    if qd.static(s.walls.coupled):
        load = length * s.walls.contacts.load_change[c]
        twist = length * s.walls.contacts.load_twist_change[c]
        s.walls.contacts.load[c] = s.walls.contacts.load[c] + load
        s.walls.contacts.load_twist[c] = s.walls.contacts.load_twist[c] + twist


@qd.func
def _measure_change(length: qd.f32, s: System, c: qd.i32):
    """w ← the change that has come of it, over the length; u as it was."""
    i = s.walls.contacts.particle[c]
    before = s.walls.contacts.before[c]
    change = s.unknowns.velocity[i] - before
    s.unknowns.velocity[i] = before
    s.unknowns.velocity_change[i] = vec3(0.0)
    if qd.abs(length) > 1e-30:
        s.unknowns.velocity_change[i] = change / length


@qd.func
def residual_along(s: System, i: qd.i32) -> qd.f32:
    """What a particle adds to r·p."""
    product = double_dot(s.unknowns.residual[i], s.unknowns.direction[i])
    product += s.unknowns.bend_residual[i].dot(s.unknowns.bend_direction[i])
    product += s.unknowns.pressure_residual[i] * s.unknowns.pressure_direction[i]
    return volume_of(s.scale, s.near, i) * product


@qd.func
def advance(s: System, length: qd.f32, i: qd.i32):
    """σ += length p; u += length w; r −= length A p."""
    p = s.unknowns.direction[i]
    q = s.unknowns.bend_direction[i]
    rise = s.unknowns.pressure_direction[i]
    rate, bend, squeeze = differences(
        s.scale, s.near, s.walls, s.stencil, s.unknowns.velocity_change, True, i
    )
    squeeze += s.stencil.wall_slope[i].dot(s.unknowns.velocity_change[i])
    squeeze += mirrored_squeeze(s.scale, s.near, s.walls, s.stencil, s.unknowns.velocity_change, i)
    squeeze += squeezed_by_body(s.near.contact[i], True, s.walls)
    strain = resisted(length * strain_step(rate, s.scale.dt), s.stencil, i)
    root = qd.sqrt(row_share(s.scale, s.stencil, i))
    s.unknowns.pressure[i] = s.unknowns.pressure[i] + length * root * rise
    s.unknowns.stress[i] = s.unknowns.stress[i] + length * p
    s.unknowns.bend[i] = s.unknowns.bend[i] + length * q
    s.unknowns.velocity[i] = s.unknowns.velocity[i] + length * s.unknowns.velocity_change[i]
    if has_gradient(s.stencil, i):
        r = s.unknowns.residual[i]
        e = s.unknowns.bend_residual[i]
        r += strain - length * comply(p, s.materials, s.near, s.stencil, i)
        e += length * (bend * s.scale.dt - bend_compliance(s.materials, s.near, s.stencil, i) * q)
        s.unknowns.residual[i] = r
        s.unknowns.bend_residual[i] = e
        cost = s.stencil.pressed_compliance[i] * rise
        gain = length * (2.0 * s.scale.dt * root * squeeze - cost)
        s.unknowns.pressure_residual[i] = s.unknowns.pressure_residual[i] + gain


@qd.func
def turn(s: System, z: vec10, keep: qd.f32, i: qd.i32):
    """p ← z + keep p, which acts."""
    s.unknowns.direction[i] = stress_part(z) + keep * s.unknowns.direction[i]
    s.unknowns.bend_direction[i] = bend_part(z) + keep * s.unknowns.bend_direction[i]
    rise = pressure_part(z) + keep * s.unknowns.pressure_direction[i]
    s.unknowns.pressure_direction[i] = rise
    let_act(s, i)


@qd.kernel(fastcache=True)
def respond_to_direction(n: qd.i32, s: System, loop: LoopArrays):
    """w of the direction p; per block: p·A p, and what bodies add to it in number 4."""
    apply_operator(n, s, loop)
    sum_terms(n, s.unknowns.term, loop.sums)


_step = conjugate_gradient_step(System)


@qd.kernel(fastcache=True, graph=True)
def conjugate_gradients(go: Flag, n: qd.i32, limits: Limits, s: System, loop: LoopArrays):
    """Iterates until r·z is within the `limits`; goes on from r·z in number 0."""
    while qd.graph.do_while(go):
        _step(
            apply_operator, advance_rest, advance, preconditioned, residual_product, residual_along,
            turn, go, n, limits, s, s.unknowns.term, s.unknowns.compression, loop,
        )  # fmt: skip


@qd.kernel(fastcache=True)
def jacobi_from_velocities(n: qd.i32, beta: qd.f32, s: System, loop: LoopArrays):
    """Eq. 11: Δσ from the constraint at the velocities u; per block: r·z."""
    for i in range(n):
        strain, _bend, _row = strain_under(s, i)
        jacobi_update(
            strain, beta, s.scale, s.materials, s.near, s.stencil, s.memory, s.unknowns, i
        )
    sum_terms(n, s.unknowns.term, loop.sums)
