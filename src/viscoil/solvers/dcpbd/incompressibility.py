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
from viscoil.core.compute import Flag, Vec3s, vec3
from viscoil.neighbors.arrays import ParticleArrays
from viscoil.neighbors.period import separation
from viscoil.neighbors.resolution import (
    pair_size,
    pressure_ratio,
    size_of,
    slope_share,
    value_share,
    volume_of,
)
from viscoil.neighbors.scale import Scale
from viscoil.neighbors.smoothing import slope_over_q, value
from viscoil.solvers.dcpbd.arrays import Stencil, Unknowns
from viscoil.solvers.dcpbd.density import Tally, compression_at, jacobi_length, sum_tallies
from viscoil.solvers.dcpbd.operators import stress_force
from viscoil.solvers.dcpbd.short_waves import damp_short_waves
from viscoil.solvers.linear.iterations import LoopArrays
from viscoil.walls.arrays import WallArrays, is_driven
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
def owed_rate(compression: qd.f32, dt: qd.f32) -> qd.f32:
    """C/Δt of a neighbourhood that is not full, which may close within a step, and 120 C of one too full.

    What was a little too full before, by two thousandths at most, is undone at a rate, whatever the step:
    in 1/120 s. At usual steps that is all of it, so that fluid at rest settles where pressure and
    compression balance, as on stiff springs; a step that is much shorter takes little of it, and does not
    turn what longer ones left behind into speed. What is more than that is left to shifts.
    """
    excess = qd.max(qd.min(compression, 0.002), 0.0)
    return qd.min(compression, 0.0) / dt + excess * qd.min(120.0, 1.0 / dt)


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
    """f_i of the changes Δp of pressure at the places y, N."""
    yi = unknowns.place[i]
    own = unknowns.pressure_change[i]
    force = vec3(0.0)
    for k in range(near.pairs.start[i], near.pairs.start[i + 1]):
        j = near.pairs.neighbor[k]
        x = separation(near.period, yi, unknowns.place[j])
        size = pair_size(scale, near, i, j)
        slope = slope_over_q(scale.kind, x.norm() / (size * scale.support))
        slope *= share_of_pressure(stencil, i, j) * slope_share(scale, near, i, j)
        other = pressure_ratio(scale, near, i, j) * unknowns.pressure_change[j]
        force -= (own + other) * slope * x
    force *= scale.volume * scale.gradient_scale * volume_of(scale, near, i)
    return force + wall_force((1.0 - stencil.firmness[i]) * own, scale, near, walls, i)


@qd.func
def filling(
    scale: Scale, near: ParticleArrays, stencil: Stencil, place: Vec3s, i: qd.i32
) -> qd.f32:
    """Σ_j w_ij V W_ij with particles at their `place`."""
    yi = place[i]
    total = 0.0
    for k in range(near.pairs.start[i], near.pairs.start[i + 1]):
        j = near.pairs.neighbor[k]
        size = pair_size(scale, near, i, j)
        r = separation(near.period, yi, place[j]).norm()
        w = value(scale.kind, r / (size * scale.support)) * value_share(scale, near, i, j)
        total += share_of_pressure(stencil, i, j) * w
    return scale.volume * scale.value_scale * total


@qd.func
def rate_of_compression(
    scale: Scale,
    near: ParticleArrays,
    walls: WallArrays,
    stencil: Stencil,
    unknowns: Unknowns,
    i: qd.i32,
) -> qd.f32:
    """How much fuller a step makes the neighbourhood of i, over its length, 1/s."""
    grown = filling(scale, near, stencil, unknowns.place, i) - unknowns.filling[i]
    of_walls = wall_rate(unknowns.velocity[i], near, walls, i)
    return grown / scale.dt + (1.0 - stencil.firmness[i]) * of_walls


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
        unknowns.filling[i] = filling(scale, near, stencil, near.position, i)
        unknowns.compression[i] = compression_at(near.position, scale, near, walls, i)
        unknowns.stiffness[i] = _stiffness(options, scale, near, walls, stencil, i)
        kept = 0.55 * qd.max(unknowns.pressure[i], 0.0)
        if is_driven(near.contact[i], walls):
            kept = 0.0
        unknowns.pressure[i] = kept
        unknowns.projected_pressure[i] = kept
        unknowns.pressure_change[i] = kept
    damp_short_waves(n, options.damping, scale, near, stencil, unknowns)
    for i in range(n):
        unknowns.velocity_change[i] = vec3(0.0)
        if qd.static(stressed):
            force = stress_force(near, stencil, unknowns, i)
            unknowns.velocity_change[i] = scale.dt * near.inverse_mass[i] * force
        moved = scale.dt * (unknowns.free_velocity[i] + unknowns.velocity_change[i])
        unknowns.place[i] = near.position[i] + moved


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
    volume = volume_of(scale, near, i)
    for k in range(near.pairs.start[i], near.pairs.start[i + 1]):
        j = near.pairs.neighbor[k]
        x = separation(near.period, xi, near.position[j])
        size = pair_size(scale, near, i, j)
        slope = slope_over_q(scale.kind, x.norm() / (size * scale.support))
        slope *= share_of_pressure(stencil, i, j) * slope_share(scale, near, i, j)
        arm = scale.volume * scale.gradient_scale * volume * slope * x
        total += arm
        squares += arm.dot(arm) * near.inverse_mass[j]
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
    """u ← Π(u* + w + Δt M⁻¹ f(p)), bodies with it; w is what the stresses of the last step do.

    Each change of pressure acts where particles are by then, y, so that what pressure does to the
    arrangement of particles is part of the solve: taken at x⁰, it would shake water under weight.
    """
    for i in range(n):
        force = pressure_force(scale, near, walls, stencil, unknowns, i)
        free = unknowns.free_velocity[i] + scale.dt * near.inverse_mass[i] * force
        unknowns.free_velocity[i] = free
        unknowns.velocity[i] = free + unknowns.velocity_change[i]
    press_bodies(scale, near, walls, unknowns.pressure, stencil.firmness)
    hold_all(scale, near, walls, unknowns.velocity)
    move_all_together(scale.dt, 1, near, walls, unknowns.velocity)
    for i in range(n):
        unknowns.place[i] = near.position[i] + scale.dt * unknowns.velocity[i]


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
        rate += owed_rate(unknowns.compression[i], scale.dt)
        stiffness = unknowns.stiffness[i]
        applied = unknowns.pressure[i]
        before = unknowns.projected_pressure[i]
        projected = projected_pressure(applied, rate, stiffness)
        if is_driven(near.contact[i], walls):
            projected = 0.0
        unbalanced = qd.abs(projected - applied) * stiffness
        overshoot = (applied - projected) * (projected - before) * stiffness
        unknowns.projected_pressure[i] = projected
        extrapolated = projected + momentum * (projected - before)
        unknowns.pressure_change[i] = extrapolated - applied
        unknowns.pressure[i] = extrapolated
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
    """u ← Π(u* + Δt M⁻¹ f(p)) with the p that are projected; `free_velocity` is that without walls."""
    for i in range(n):
        applied = unknowns.pressure[i] - unknowns.pressure_change[i]
        unknowns.pressure_change[i] = unknowns.projected_pressure[i] - applied
        unknowns.pressure[i] = unknowns.projected_pressure[i]
    let_pressure_act(n, scale, near, walls, stencil, unknowns)
