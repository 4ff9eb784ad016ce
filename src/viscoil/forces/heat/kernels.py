# mypy: disable-error-code="valid-type,no-untyped-def,no-untyped-call,misc"
"""Loops over particles for heat: gathered, and with pairwise opposite flows."""

import dataclasses

import quadrants as qd

from viscoil.colliders.arrays import distance_and_normal
from viscoil.constraints.density import wall_share
from viscoil.core.compute import Doubles, Floats, Ints
from viscoil.core.reductions import block_begin, block_end, blocks
from viscoil.forces.heat.laws import pair_conductivity, softness, transferred
from viscoil.materials.table import MaterialTable
from viscoil.neighbors.arrays import ParticleArrays
from viscoil.neighbors.period import separation
from viscoil.neighbors.scale import Scale
from viscoil.neighbors.smoothing import slope_over_q
from viscoil.walls.arrays import WallArrays, is_known


@dataclasses.dataclass
class HeatTable:
    """One entry per material, and the knots of all curves one after the other."""

    conductivity: Floats  # κ, W/(m K)
    capacity: Floats  # C of a particle, J/K
    curve_start: Ints  # (materials + 1) first knot
    knots: Floats  # K
    log_stiffening: Floats  # at the knots


@dataclasses.dataclass
class Surroundings:
    """What heat flows to and from, besides other particles."""

    air: qd.f32  # K
    cooling: qd.f32  # W/(m² K)
    area: qd.f32  # m²: of a particle in a flat surface
    flat: qd.f32  # share of the smoothing function that such a particle lacks
    wall_temperature: Floats  # (primitives) K
    wall_transfer: Floats  # (primitives) W/(m² K); 0: adiabatic


@qd.func
def conductance(
    unit: qd.f32,
    scale: Scale,
    table: HeatTable,
    near: ParticleArrays,
    i: qd.i32,
    j: qd.i32,
) -> qd.f32:
    """Λ_ij, W/K, the same for both: unit · 4 κ_i κ_j/(κ_i + κ_j) · −w'(q)/q."""
    x = separation(near.period, near.position[i], near.position[j])
    k = pair_conductivity(
        table.conductivity[near.material[i]], table.conductivity[near.material[j]]
    )
    return -unit * k * slope_over_q(scale.kind, x.norm() / scale.support)


@qd.kernel(fastcache=True)
def rates(
    n: qd.i32,
    unit: qd.f32,
    scale: Scale,
    table: HeatTable,
    near: ParticleArrays,
    rate: Floats,
    largest: Doubles,
):
    """Per block: the largest Σ_j Λ_ij/C_i, 1/s."""
    for i in range(n):
        total = 0.0
        for k in range(near.pairs.start[i], near.pairs.start[i + 1]):
            j = near.pairs.neighbor[k]
            total += conductance(unit, scale, table, near, i, j)
        rate[i] = total / table.capacity[near.material[i]]
    for b in range(blocks(n)):
        most = 0.0
        for i in range(block_begin(b), block_end(b, n)):
            most = qd.max(most, rate[i])
        largest[b] = most


@qd.kernel(fastcache=True)
def stage(
    n: qd.i32,
    unit: qd.f32,
    mu: qd.f32,
    nu: qd.f32,
    step: qd.f32,
    scale: Scale,
    table: HeatTable,
    near: ParticleArrays,
    temperature: Floats,
    before: Floats,
    change: Floats,
    after: Floats,
):
    """after ← μ change + ν before + step/C Σ_j Λ_ij ((T + change)_j − (T + change)_i).

    Changes and not temperatures are kept, so that rounding is that of the changes.
    """
    for i in range(n):
        own = temperature[i]
        own_change = change[i]
        power = 0.0
        for k in range(near.pairs.start[i], near.pairs.start[i + 1]):
            j = near.pairs.neighbor[k]
            apart = (temperature[j] - own) + (change[j] - own_change)
            power += conductance(unit, scale, table, near, i, j) * apart
        heated = step * power / table.capacity[near.material[i]]
        after[i] = mu * own_change + nu * before[i] + heated


@qd.kernel(fastcache=True)
def add_changes(n: qd.i32, change: Floats, temperature: Floats):
    for i in range(n):
        temperature[i] = temperature[i] + change[i]


@qd.kernel(fastcache=True)
def transfer_to_surroundings(
    n: qd.i32,
    scale: Scale,
    table: HeatTable,
    around: Surroundings,
    near: ParticleArrays,
    walls: WallArrays,
    exposure: Floats,
    temperature: Floats,
):
    """Heat to and from the air by the exposed area, and walls by what they hide of the particle."""
    for i in range(n):
        unit = scale.dt * around.area / table.capacity[near.material[i]]
        damping = 0.0
        target = 0.0
        if around.cooling > 0.0:
            damping += unit * around.cooling * exposure[i]
            target += unit * around.cooling * exposure[i] * around.air
        if near.contact[i] >= 0:
            for k in range(walls.count):
                if around.wall_transfer[k] > 0.0:
                    at = distance_and_normal(walls.colliders, k, near.position[i])
                    hidden = 0.0
                    if is_known(at):
                        hidden = wall_share(at[3], scale.support, walls.density)[0] / around.flat
                    damping += unit * around.wall_transfer[k] * hidden
                    target += unit * around.wall_transfer[k] * hidden * around.wall_temperature[k]
        temperature[i] = temperature[i] + transferred(temperature[i], damping, target)


@qd.kernel(fastcache=True)
def soften(
    n: qd.i32, table: HeatTable, materials: MaterialTable, temperature: Floats, near: ParticleArrays
):
    """softness ← what the temperature makes of the compliance; 1 where a material carries no stress."""
    for i in range(n):
        m = near.material[i]
        factor = 1.0
        if materials.active[m] == 1:
            factor = softness(
                temperature[i], m, table.curve_start, table.knots, table.log_stiffening
            )
        near.softness[i] = factor
