# mypy: disable-error-code="valid-type,no-untyped-def,no-untyped-call,misc"
"""Kernels of the pressures that act on velocities: no neighbourhood that is full gets fuller.

Barreiro 2017 names incompressibility on both levels as future work (section 7). The rate of the density
constraint is Ċ_i = 1/V_i Σ_j w_ij g_ij x_ij·(u_i − u_j), its multiplier a pressure with the forces
f_i = −Σ_j w_ij g_ij (p_i + p_j) x_ij: the same numbers both ways, so that forces are opposite and the
system is symmetric. What is asked for is Δt Ċ + min(C, 0) ≤ 0 with p ≥ 0 and complementarity, with
contacts inside: velocities are u = Π(u* + Δt M⁻¹ f(p)), where Π takes away what leads into walls, with
friction in proportion to all that a particle was pressed on with in this step. Π is the projection onto
what walls admit, so that this is a convex problem (but for friction), which Nesterov's method solves.

Where stress keeps the volume of two particles (`Stencil.firmness`), pressure leaves it to stress:
w_ij = 1 − firmness_i firmness_j. What is left of an old density error is no matter of velocities, but of
the shifts that come after (`positions`).
"""

import dataclasses

import quadrants as qd

from viscoil.constraints.density import projected_pressure
from viscoil.core.compute import Flag, vec3
from viscoil.neighbors.arrays import ParticleArrays
from viscoil.neighbors.period import separation
from viscoil.neighbors.resolution import (
    pair_size,
    size_of,
    support_of,
    value_share,
    volume_of,
)
from viscoil.neighbors.scale import Scale
from viscoil.neighbors.smoothing import value
from viscoil.solvers.dcpbd.arrays import Stencil, Unknowns
from viscoil.solvers.dcpbd.density import Tally, compression_at, jacobi_length, sum_tallies
from viscoil.solvers.dcpbd.operators import stress_force
from viscoil.solvers.dcpbd.short_waves import damp_short_waves
from viscoil.solvers.linear.iterations import LoopArrays
from viscoil.walls.arrays import WallArrays, is_driven, wall_density
from viscoil.walls.body_positions import body_stiffness, share_pushes
from viscoil.walls.body_velocities import move_all_together
from viscoil.walls.planes import hold_all
from viscoil.walls.pressures import find_slopes, press_bodies, wall_force, wall_rate


@dataclasses.dataclass
class PressureOptions:
    """How pressures are found."""

    stiffness: qd.f32  # m⁻²: the least that any neighbourhood has
    fewest: qd.i32  # iterations
    most: qd.i32
    tolerance: qd.f64  # 1/s: mean rate of compression at which they may stop
    damping: qd.f32  # of short waves (`short_waves`), the share that a step takes


@qd.func
def share_of_pressure(stencil: Stencil, i: qd.i32, j: qd.i32) -> qd.f32:
    """w_ij."""
    return 1.0 - stencil.firmness[i] * stencil.firmness[j]


@qd.func
def pressure_force(
    scale: Scale,
    near: ParticleArrays,
    walls: WallArrays,
    stencil: Stencil,
    unknowns: Unknowns,
    i: qd.i32,
) -> vec3:
    """f_i, N."""
    xi = near.position[i]
    own = unknowns.pressure[i]
    force = vec3(0.0)
    for k in range(near.pairs.start[i], stencil.weighted_end[i]):
        j = near.pairs.neighbor[k]
        x = separation(near.period, xi, near.position[j])
        weight = share_of_pressure(stencil, i, j) * stencil.weight[k]
        force -= weight * (own + unknowns.pressure[j]) * x
    return force + wall_force((1.0 - stencil.firmness[i]) * own, scale, near, walls, i)


@qd.func
def rate_of_compression(
    scale: Scale,
    near: ParticleArrays,
    walls: WallArrays,
    stencil: Stencil,
    unknowns: Unknowns,
    i: qd.i32,
) -> qd.f32:
    """Ċ_i, 1/s."""
    xi = near.position[i]
    ui = unknowns.velocity[i]
    total = 0.0
    for k in range(near.pairs.start[i], stencil.weighted_end[i]):
        j = near.pairs.neighbor[k]
        x = separation(near.period, xi, near.position[j])
        weight = share_of_pressure(stencil, i, j) * stencil.weight[k]
        total += weight * x.dot(ui - unknowns.velocity[j])
    total /= volume_of(scale, near, i)
    return total + (1.0 - stencil.firmness[i]) * wall_rate(ui, near, walls, i)


@qd.func
def compression_ahead(
    scale: Scale, near: ParticleArrays, walls: WallArrays, unknowns: Unknowns, i: qd.i32
) -> qd.f32:
    """C_i at x⁰ + Δt u."""
    yi = near.position[i] + scale.dt * unknowns.velocity[i]
    total = value(scale.kind, 0.0)
    for k in range(near.pairs.start[i], near.pairs.start[i + 1]):
        j = near.pairs.neighbor[k]
        yj = near.position[j] + scale.dt * unknowns.velocity[j]
        size = pair_size(scale, near, i, j)
        w = value(scale.kind, separation(near.period, yi, yj).norm() / (size * scale.support))
        total += value_share(scale, near, i, j) * w
    compression = scale.volume * scale.value_scale * total - 1.0
    if near.contact[i] >= 0:
        compression += wall_density(yi, support_of(scale, near, i), walls)[3]
    return compression


@qd.kernel(fastcache=True)
def look_ahead(
    n: qd.i32,
    scale: Scale,
    near: ParticleArrays,
    walls: WallArrays,
    stencil: Stencil,
    unknowns: Unknowns,
):
    """bending ← what a step with the pressures so far compresses beyond Δt Ċ, at most a tenth.

    Ċ is taken at x⁰, and particles that move against each other for a step come closer than that
    says, by the square of the way. If shifts had to undo it, they would lift what then falls again:
    fluid at rest would tremble for ever.
    """
    for i in range(n):
        unknowns.pressure[i] = unknowns.projected_pressure[i]
    let_pressure_act(n, scale, near, walls, stencil, unknowns)
    for i in range(n):
        linear = scale.dt * rate_of_compression(scale, near, walls, stencil, unknowns, i)
        whole = compression_ahead(scale, near, walls, unknowns, i) - unknowns.compression[i]
        share = 1.0 - stencil.firmness[i] * stencil.firmness[i]
        unknowns.bending[i] = qd.max(qd.min(share * whole - linear, 0.1), 0.0)


@qd.kernel(fastcache=True)
def begin_pressures(
    n: qd.i32,
    options: PressureOptions,
    stressed: qd.template(),
    scale: Scale,
    near: ParticleArrays,
    walls: WallArrays,
    stencil: Stencil,
    unknowns: Unknowns,
):
    """The free velocities, what stresses of the last step add to them (`let_stress_act`), C at x⁰, −dĊ/dp
    over the length of a Jacobi step, and the first guess of p.
    """
    share_pushes(scale, near, walls)
    find_slopes(scale, near, walls)
    for i in range(n):
        unknowns.bending[i] = 0.0
        unknowns.compression[i] = compression_at(near.position, scale, near, walls, i)
        unknowns.stiffness[i] = _stiffness(options, scale, near, walls, stencil, i)
        kept = qd.max(unknowns.pressure[i], 0.0)
        if is_driven(near.contact[i], walls):
            kept = 0.0
        unknowns.pressure[i] = kept
        unknowns.projected_pressure[i] = kept
    damp_short_waves(n, options.damping, scale, near, stencil, unknowns)
    for i in range(n):
        unknowns.velocity_change[i] = vec3(0.0)
        if qd.static(stressed):
            force = stress_force(near, stencil, unknowns, i)
            unknowns.velocity_change[i] = scale.dt * near.inverse_mass[i] * force


@qd.func
def _stiffness(
    options: PressureOptions,
    scale: Scale,
    near: ParticleArrays,
    walls: WallArrays,
    stencil: Stencil,
    i: qd.i32,
) -> qd.f32:
    xi = near.position[i]
    total = vec3(0.0)
    squares = 0.0
    for k in range(near.pairs.start[i], stencil.weighted_end[i]):
        j = near.pairs.neighbor[k]
        x = separation(near.period, xi, near.position[j])
        arm = share_of_pressure(stencil, i, j) * stencil.weight[k] * x
        total += arm
        squares += arm.dot(arm) * near.inverse_mass[j]
    volume = volume_of(scale, near, i)
    size = size_of(scale, near, i)
    total -= wall_force((1.0 - stencil.firmness[i]), scale, near, walls, i)
    stiffness = (total.dot(total) * near.inverse_mass[i] + squares) / volume
    least = options.stiffness / (size * size) * near.inverse_mass[i] * volume
    bodies = body_stiffness(xi, scale, near, walls, i) / scale.dt
    return scale.dt * qd.max(stiffness, least) / jacobi_length() + bodies


@qd.func
def let_pressure_act(
    n: qd.i32,
    scale: Scale,
    near: ParticleArrays,
    walls: WallArrays,
    stencil: Stencil,
    unknowns: Unknowns,
):
    """u ← Π(u* + w + Δt M⁻¹ f(p)), bodies with it; w is what the stresses of the last step do."""
    for i in range(n):
        force = pressure_force(scale, near, walls, stencil, unknowns, i)
        change = unknowns.velocity_change[i] + scale.dt * near.inverse_mass[i] * force
        unknowns.velocity[i] = unknowns.free_velocity[i] + change
    press_bodies(scale, near, walls, unknowns.pressure, stencil.firmness)
    hold_all(scale, near, walls, unknowns.velocity)
    move_all_together(scale.dt, 1, near, walls, unknowns.velocity)


@qd.func
def change_pressures(
    n: qd.i32,
    scale: Scale,
    near: ParticleArrays,
    walls: WallArrays,
    stencil: Stencil,
    unknowns: Unknowns,
    loop: LoopArrays,
):
    """p from Ċ at u: a projected Jacobi step and, with momentum, what Nesterov adds to it."""
    for i in range(n):
        momentum = qd.cast(loop.numbers[Tally.MOMENTUM], qd.f32)
        rate = rate_of_compression(scale, near, walls, stencil, unknowns, i)
        rate += (qd.min(unknowns.compression[i], 0.0) + unknowns.bending[i]) / scale.dt
        stiffness = unknowns.stiffness[i]
        applied = unknowns.pressure[i]
        before = unknowns.projected_pressure[i]
        projected = projected_pressure(applied, rate, stiffness)
        if is_driven(near.contact[i], walls):
            projected = 0.0
        unbalanced = qd.abs(projected - applied) * stiffness
        overshoot = (applied - projected) * (projected - before) * stiffness
        unknowns.projected_pressure[i] = projected
        unknowns.pressure[i] = projected + momentum * (projected - before)
        unknowns.tally[i] = vec3(qd.max(rate, 0.0), unbalanced, overshoot)


@qd.kernel(fastcache=True, graph=True)
def find_pressures(
    go: Flag,
    n: qd.i32,
    options: PressureOptions,
    scale: Scale,
    near: ParticleArrays,
    walls: WallArrays,
    stencil: Stencil,
    unknowns: Unknowns,
    loop: LoopArrays,
):
    """Iterates until the mean error of the complementarity is below the tolerance."""
    while qd.graph.do_while(go):
        let_pressure_act(n, scale, near, walls, stencil, unknowns)
        change_pressures(n, scale, near, walls, stencil, unknowns, loop)
        sum_tallies(n, unknowns, loop)
        qd.loop_config(serialize=True)
        for _ in range(1):
            loop.used[0] = loop.used[0] + 1
            calm = loop.numbers[Tally.UNBALANCED] < options.tolerance
            if (loop.used[0] >= options.fewest and calm) or loop.used[0] >= options.most:
                go[None] = 0


@qd.kernel(fastcache=True)
def finish_pressures(
    n: qd.i32,
    scale: Scale,
    near: ParticleArrays,
    walls: WallArrays,
    stencil: Stencil,
    unknowns: Unknowns,
):
    """u ← Π(u* + Δt M⁻¹ f(p)) with the p that are projected; free_velocity ← that without walls."""
    for i in range(n):
        unknowns.pressure[i] = unknowns.projected_pressure[i]
    let_pressure_act(n, scale, near, walls, stencil, unknowns)
    for i in range(n):
        force = pressure_force(scale, near, walls, stencil, unknowns, i)
        change = scale.dt * near.inverse_mass[i] * force
        unknowns.free_velocity[i] = unknowns.free_velocity[i] + change
