# mypy: disable-error-code="valid-type,no-untyped-def,no-untyped-call,misc"
"""Loops over particles for the density constraint (position-based fluids).

The multiplier is a pressure: f_i = −Σ_j V_i V_j (p_i + p_j) ∇W_ij, images of j in walls included, and a
change of pressure moves particles by Δt² f/m. Its stiffness S_i = −dC_i/dp_i is taken once per step.
"""

import quadrants as qd

from viscoil.constraints.density import projected_pressure
from viscoil.core.compute import Doubles, vec3
from viscoil.core.reductions import total_blocks
from viscoil.neighbors.arrays import ParticleArrays
from viscoil.neighbors.bodies import apart
from viscoil.neighbors.period import separation
from viscoil.neighbors.resolution import (
    pair_size,
    pressure_ratio,
    size_of,
    volume_of,
)
from viscoil.neighbors.scale import Scale
from viscoil.neighbors.smoothing import value
from viscoil.solvers.dcpbd.arrays import Stencil, Unknowns
from viscoil.solvers.dcpbd.compression import compression_at, slope_between
from viscoil.solvers.dcpbd.lateness import set_lateness, way_of_push
from viscoil.solvers.dcpbd.mirrors import (
    along_normals,
    is_mirrored,
    mirrored_slopes,
    note_push,
)
from viscoil.solvers.dcpbd.separate_bodies import acting_share, stable_pressure
from viscoil.solvers.dcpbd.tallies import Tally
from viscoil.solvers.linear.conjugate_gradients import sum_terms
from viscoil.solvers.linear.iterations import LoopArrays
from viscoil.walls.arrays import WallArrays, is_driven
from viscoil.walls.body_positions import body_stiffness


@qd.func
def jacobi_length() -> qd.f32:
    """The length of a step of pressures, in units of 1/S.

    Derived: with momentum it must not exceed 1/λ_max of S⁻¹ dC/dp, which is 0.354 on a lattice of the
    usual support, two spacings, with the cubic spline, and 0.38 with Wendland's function. It is too
    long for wider supports, for which that bound is lower: 0.23 at 2.5 spacings.
    """
    return 0.35


@qd.func
def recall_pressure(
    thin: qd.f32,
    kept: qd.f32,
    scale: Scale,
    near: ParticleArrays,
    walls: WallArrays,
    stencil: Stencil,
    unknowns: Unknowns,
    i: qd.i32,
):
    """Δp ← p ← what is recalled of the last step's: the share `thin`, or `kept` of firm particles.

    Where the velocity projection solves for pressure it is `kept` too; in a nozzle there is none.
    """
    firm = qd.max(stencil.firmness[i], stencil.pressed[i])
    if qd.static(scale.parted):
        firm = qd.max(firm * (1.0 - stencil.loose[i]), stencil.touching[i])
    recalled = (thin + (kept - thin) * firm) * qd.max(unknowns.pressure[i], 0.0)
    if qd.static(scale.parted):
        if stencil.loose[i] > 0.0:
            stable = qd.min(recalled, stable_pressure(scale, near, i))
            recalled += stencil.loose[i] * (stable - recalled)
    if is_driven(near.contact[i], walls):
        recalled = 0.0
    unknowns.pressure[i] = recalled
    unknowns.pressure_aside[i] = recalled
    unknowns.pressure_change[i] = recalled
    set_lateness(scale, near, unknowns, i)


@qd.func
def allow_old_compression(
    n: qd.i32,
    shifting: qd.template(),
    undone: qd.f32,
    scale: Scale,
    near: ParticleArrays,
    walls: WallArrays,
    stencil: Stencil,
    unknowns: Unknowns,
):
    """How compressed neighbourhoods may be when forces have acted: what these do not undo of C⁰.

    What a step leaves of the density error, the next undoes as a velocity. If that is much shorter, it
    must undo no more than its share, or what was a thousandth of a spacing becomes metres per second.
    Between firm particles stress would resist it, and both would grow from step to step: a viscous cube
    swelled by a tenth within two seconds. If the step ends with shifts, it is left to these there, and so
    is what the step itself adds to it at x**, unless stress and pressure have been found together.
    """
    for i in range(n):
        old = qd.max(unknowns.old_compression[i], 0.0)
        allowance = (1.0 - undone) * old
        if qd.static(shifting):
            firm = _firmness_around(scale, near, stencil, i)
            left = old
            if firm > 0.0 and stencil.pressed[i] < 1.0:
                now = qd.max(compression_at(unknowns.place, scale, near, walls, stencil, i), 0.0)
                left += (1.0 - stencil.pressed[i]) * (now - left)
            allowance += firm * (left - allowance)
            if qd.static(scale.parted):
                allowance += stencil.touching[i] * (old - allowance)
            unknowns.firm_share[i] = firm
        unknowns.allowance[i] = allowance
        unknowns.projected_pressure[i] = unknowns.pressure[i]


@qd.func
def _firmness_around(scale: Scale, near: ParticleArrays, stencil: Stencil, i: qd.i32) -> qd.f32:
    """f_i times the mean f_j of its neighbours: how much of C_i shifts can undo."""
    total = 1e-30
    firm = 0.0
    if stencil.firmness[i] > 0.0:
        for k in range(near.pairs.start[i], near.pairs.start[i + 1]):
            j = near.pairs.neighbor[k]
            x = separation(near.period, near.position[i], near.position[j])
            w = value(scale.kind, x.norm() / (pair_size(scale, near, i, j) * scale.support))
            total += w
            firm += w * stencil.firmness[j]
    if qd.static(scale.parted):
        firm *= 1.0 - stencil.loose[i]
    return stencil.firmness[i] * firm / total


@qd.func
def prepare_stiffness(
    n: qd.i32,
    least: qd.f32,
    margin: qd.f32,
    scale: Scale,
    near: ParticleArrays,
    walls: WallArrays,
    stencil: Stencil,
    unknowns: Unknowns,
    loop: LoopArrays,
):
    """S_i = Δt² V_i (|Σ_j V_j ∇W_ij|²/m_i + Σ_j V_j² |∇W_ij|²/m_j), at least `least`/m_i.

    The floor is scale-free: a share of the stiffness of a full neighbourhood (DYVERSO, eq. 3).
    What is kept is S_i over the length of a Jacobi step. Counts how many particles move so much
    against a neighbour that another one, beyond the margin of the pair list, may have come within
    reach unseen.
    """
    for i in range(n):
        xi = near.position[i]
        yi = unknowns.place[i]
        total = vec3(0.0)
        squares = 0.0
        approach = 0.0
        mirrored = is_mirrored(scale, near, walls, i)
        for k in range(near.pairs.start[i], near.pairs.start[i + 1]):
            j = near.pairs.neighbor[k]
            x = separation(near.period, yi, unknowns.place[j])
            before = separation(near.period, xi, near.position[j])
            size = pair_size(scale, near, i, j)
            approach = qd.max(approach, (before.norm() - x.norm()) / size)
            slope = slope_between(x, scale, near, i, j)
            pushed, pushed_back = vec3(0.0), vec3(0.0)
            if mirrored and is_mirrored(scale, near, walls, j):
                steep, lengths = mirrored_slopes(x.norm(), scale, near, walls, i, j)
                slope += steep
                pushed = along_normals(lengths, near, walls, i)
                _steep, lengths = mirrored_slopes(x.norm(), scale, near, walls, j, i)
                pushed_back = along_normals(lengths, near, walls, j)
            unit = scale.volume * scale.gradient_scale * acting_share(scale, near, stencil, i, j)
            arm, back = unit * (slope * x + pushed), unit * (slope * x - pushed_back)
            total += arm
            squares += back.dot(back) * near.inverse_mass[j]
        if mirrored:
            _steep, lengths = mirrored_slopes(0.0, scale, near, walls, i, i)
            unit = 2.0 * scale.volume * scale.gradient_scale
            total += unit * along_normals(lengths, near, walls, i)
        stiffness = total.dot(total) * near.inverse_mass[i] + squares
        size = size_of(scale, near, i)
        stiffness = qd.max(stiffness, least / (size * size) * near.inverse_mass[i])
        volume = volume_of(scale, near, i)
        stiffness = scale.dt * scale.dt * volume * stiffness / jacobi_length()
        unknowns.stiffness[i] = stiffness + body_stiffness(yi, scale, near, walls, i)
        unknowns.term[i] = qd.cast(approach > margin * scale.support, qd.f32)
    sum_terms(n, unknowns.term, loop.sums)
    total_blocks(n, loop.sums, loop.numbers, Tally.OUTRAN)


@qd.func
def change_pressure(
    n: qd.i32,
    scale: Scale,
    near: ParticleArrays,
    walls: WallArrays,
    stencil: Stencil,
    unknowns: Unknowns,
    numbers: Doubles,
):
    """Δp from C at y: a projected Jacobi step and, with momentum, what Nesterov adds to it.

    In `tally`: the compression, the error of complementarity (C where it may grow or press)
    and the product that tells whether momentum has carried too far.
    """
    for i in range(n):
        momentum = qd.cast(numbers[Tally.MOMENTUM], qd.f32)
        excess = qd.cast(numbers[Tally.EXCESS], qd.f32)
        compression = compression_at(unknowns.place, scale, near, walls, stencil, i)
        unknowns.compression[i] = compression
        stiffness = unknowns.stiffness[i]
        applied = unknowns.pressure[i]
        before = unknowns.projected_pressure[i]
        owed = compression - unknowns.allowance[i] - excess
        projected = projected_pressure(applied, owed, stiffness)
        extrapolated = projected + momentum * (projected - before)
        unbalanced = qd.abs(projected - applied) * stiffness
        overshoot = (applied - projected) * (projected - before) * stiffness
        if is_driven(near.contact[i], walls):
            # what a nozzle presses together is not for the solver to undo
            projected = 0.0
            extrapolated = 0.0
            unbalanced = 0.0
            overshoot = 0.0
            compression = 0.0
        unknowns.projected_pressure[i] = projected
        unknowns.pressure_change[i] = extrapolated - applied
        unknowns.pressure[i] = extrapolated
        set_lateness(scale, near, unknowns, i)
        unknowns.tally[i] = vec3(qd.max(compression, 0.0), unbalanced, overshoot)


@qd.func
def _rigidity(firmness: qd.f32) -> qd.f32:
    """D/(D + a), from the firmness D/(D + a/10)."""
    return firmness / (10.0 - 9.0 * firmness)


@qd.func
def apply_pressure_change(
    n: qd.i32,
    shifting: qd.template(),
    recalled: qd.template(),
    late: qd.template(),
    scale: Scale,
    near: ParticleArrays,
    walls: WallArrays,
    stencil: Stencil,
    unknowns: Unknowns,
):
    """place_change ← Δt² f/m of the pressures Δp, which are `recalled` or found in an iteration.

    They push along the ways of `lateness`, or at y if all are `late`; images are where y is.

    If the step ends with shifts, firm particles push each other along the lines of x⁰, about which stress
    has no torque either: a spinning body keeps its spin. And what is found between two of them that are
    not pressed is left to shifts: stress would resist it.
    """
    for i in range(n):
        push, from_walls = vec3(0.0), vec3(0.0)
        for k in range(near.pairs.start[i], near.pairs.start[i + 1]):
            j = near.pairs.neighbor[k]
            x = way_of_push(late, scale, near, unknowns, i, j)
            strength = _strength(shifting, recalled, scale, near, stencil, unknowns, i, j)
            slope = slope_between(x, scale, near, i, j)
            push -= strength * slope * _line(shifting, x, scale, near, stencil, i, j)
        if is_mirrored(scale, near, walls, i):
            _steep, lengths = mirrored_slopes(0.0, scale, near, walls, i, i)
            strength = _strength(shifting, recalled, scale, near, stencil, unknowns, i, i)
            from_walls -= strength * lengths
            for k in range(near.pairs.start[i], near.pairs.start[i + 1]):
                j = near.pairs.neighbor[k]
                if is_mirrored(scale, near, walls, j):
                    x = way_of_push(late, scale, near, unknowns, i, j)
                    strength = _strength(shifting, recalled, scale, near, stencil, unknowns, i, j)
                    slope, lengths = mirrored_slopes(x.norm(), scale, near, walls, i, j)
                    push -= strength * slope * _line(shifting, x, scale, near, stencil, i, j)
                    from_walls -= strength * lengths
        unit = scale.volume * scale.gradient_scale
        push *= unit
        if near.contact[i] >= 0:
            push += note_push(unit * from_walls, scale, near, walls, i)
        factor = scale.dt * scale.dt * volume_of(scale, near, i) * near.inverse_mass[i]
        unknowns.place_change[i] = factor * push


@qd.func
def _line(
    shifting: qd.template(),
    x: vec3,
    scale: Scale,
    near: ParticleArrays,
    stencil: Stencil,
    i: qd.i32,
    j: qd.i32,
) -> vec3:
    """The way x between a pair, turned to that of x⁰ as far as both are rigid."""
    line = x
    if qd.static(shifting):
        firm = _rigidity(stencil.firmness[i]) * _rigidity(stencil.firmness[j])
        if firm > 0.0 and not apart(scale, near, i, j):
            old = separation(near.period, near.position[i], near.position[j])
            line += firm * (old * (x.norm() / qd.max(old.norm(), 1e-30)) - x)
    return line


@qd.func
def _strength(
    shifting: qd.template(),
    recalled: qd.template(),
    scale: Scale,
    near: ParticleArrays,
    stencil: Stencil,
    unknowns: Unknowns,
    i: qd.i32,
    j: qd.i32,
) -> qd.f32:
    """Δp_i + Δp_j of a pair, as far as they act."""
    own = acting_share(scale, near, stencil, i, j) * unknowns.pressure_change[i]
    other = pressure_ratio(scale, near, i, j) * unknowns.pressure_change[j]
    other *= acting_share(scale, near, stencil, j, i)
    acting = 1.0
    if qd.static(shifting and not recalled):
        alone = (1.0 - stencil.pressed[i]) * (1.0 - stencil.pressed[j])
        if not apart(scale, near, i, j):
            acting -= alone * stencil.firmness[i] * stencil.firmness[j]
    return acting * (own + other)
