# mypy: disable-error-code="valid-type,no-untyped-def,no-untyped-call,misc"
"""Shifts: what moves particles and not the fluid.

A firm material keeps its volume in the velocity projection; to it, density is a matter of how evenly its
particles lie. Of what is left of C once forces have acted, the share that is firm is undone by pressures
that have no velocity and no strain, and are forgotten. Half of the tolerance is left alone: shifts that
undo in every step what a flow brings about would do work on it.
"""

import quadrants as qd

from viscoil.core.compute import Flag, vec3
from viscoil.neighbors.arrays import ParticleArrays
from viscoil.neighbors.bodies import apart
from viscoil.neighbors.period import separation
from viscoil.neighbors.resolution import pressure_ratio, volume_of
from viscoil.neighbors.scale import Scale
from viscoil.solvers.dcpbd.arrays import Stencil, Unknowns
from viscoil.solvers.dcpbd.compression import slope_between
from viscoil.solvers.dcpbd.density import change_pressure
from viscoil.solvers.dcpbd.mirrors import along_normals, is_mirrored, mirrored_slopes
from viscoil.solvers.dcpbd.positions import Options, move, stop_when_calm
from viscoil.solvers.dcpbd.tallies import sum_tallies
from viscoil.solvers.linear.iterations import LoopArrays
from viscoil.walls.arrays import WallArrays


@qd.kernel(fastcache=True)
def begin_shifts(
    n: qd.i32,
    options: Options,
    scale: Scale,
    near: ParticleArrays,
    walls: WallArrays,
    stencil: Stencil,
    unknowns: Unknowns,
    loop: LoopArrays,
):
    """Sets aside the pressures that were found; the first Δp of shifts, for which they start at 0."""
    for i in range(n):
        found = unknowns.projected_pressure[i]
        # what rises between firm particles where stress does not know of it is no force of theirs
        unknown = stencil.firmness[i] * (1.0 - stencil.pressed[i])
        if qd.static(scale.parted):
            unknown *= 1.0 - stencil.loose[i]
        found -= unknown * qd.max(found - unknowns.pressure_aside[i], 0.0)
        unknowns.pressure_aside[i] = found
        unknowns.pressure[i] = 0.0
        unknowns.projected_pressure[i] = 0.0
        left = (1.0 - unknowns.firm_share[i]) * unknowns.compression[i]
        unknowns.allowance[i] = qd.max(options.evenness, left)
    change_pressure(n, scale, near, walls, stencil, unknowns, loop.numbers)
    sum_tallies(n, unknowns, loop)


@qd.kernel(fastcache=True, graph=True)
def iterate_shifts(
    go: Flag,
    n: qd.i32,
    options: Options,
    scale: Scale,
    near: ParticleArrays,
    walls: WallArrays,
    stencil: Stencil,
    unknowns: Unknowns,
    loop: LoopArrays,
):
    """Jacobi iterations until the density is as even as it should be."""
    while qd.graph.do_while(go):
        _shift(n, scale, near, walls, stencil, unknowns)
        for i in range(n):
            move(vec3(0.0), scale, near, walls, unknowns, i)
        change_pressure(n, scale, near, walls, stencil, unknowns, loop.numbers)
        sum_tallies(n, unknowns, loop)
        stop_when_calm(go, options.evenness, options.most, loop)


@qd.func
def _shift(
    n: qd.i32,
    scale: Scale,
    near: ParticleArrays,
    walls: WallArrays,
    stencil: Stencil,
    unknowns: Unknowns,
):
    """shift += Δt² f/m of the pressures Δp between particles that carry stress, and of walls on them."""
    for i in range(n):
        if stencil.firmness[i] == 0.0:
            continue
        yi = unknowns.place[i]
        own = unknowns.pressure_change[i]
        mirrored = is_mirrored(scale, near, walls, i)
        push, from_walls = vec3(0.0), vec3(0.0)
        for k in range(near.pairs.start[i], near.pairs.start[i + 1]):
            j = near.pairs.neighbor[k]
            x = separation(near.period, yi, unknowns.place[j])
            other = pressure_ratio(scale, near, i, j) * unknowns.pressure_change[j]
            if stencil.firmness[j] > 0.0 and not apart(scale, near, i, j):
                slope = slope_between(x, scale, near, i, j)
                if mirrored and is_mirrored(scale, near, walls, j):
                    steep, lengths = mirrored_slopes(x.norm(), scale, near, walls, i, j)
                    slope += steep
                    from_walls -= (own + other) * lengths
                push -= (own + other) * slope * x
        if mirrored:
            _steep, lengths = mirrored_slopes(0.0, scale, near, walls, i, i)
            push += along_normals(from_walls - 2.0 * own * lengths, near, walls, i)
        push *= scale.volume * scale.gradient_scale
        factor = scale.dt * scale.dt * volume_of(scale, near, i) * near.inverse_mass[i]
        unknowns.shift[i] = unknowns.shift[i] + factor * push
