# mypy: disable-error-code="valid-type,no-untyped-def,no-untyped-call,misc"
"""The compression C of a neighbourhood: what the density constraint keeps from being positive."""

import quadrants as qd

from viscoil.core.compute import Vec3s, vec3
from viscoil.neighbors.arrays import ParticleArrays
from viscoil.neighbors.bodies import apart
from viscoil.neighbors.period import separation
from viscoil.neighbors.resolution import pair_size, slope_share, value_share
from viscoil.neighbors.scale import Scale
from viscoil.neighbors.smoothing import slope_over_q, value
from viscoil.solvers.dcpbd.arrays import Stencil, Unknowns
from viscoil.solvers.dcpbd.mirrors import mirrored_density
from viscoil.walls.arrays import WallArrays


@qd.func
def measure_old_compression(
    n: qd.i32,
    asked: qd.template(),
    undone: qd.f32,
    scale: Scale,
    near: ParticleArrays,
    walls: WallArrays,
    stencil: Stencil,
    unknowns: Unknowns,
):
    """C⁰, at x⁰, if it is `asked` for or if the step does not undo all of it."""
    for i in range(n):
        compression = 0.0
        if qd.static(asked) or undone < 1.0:
            compression = compression_at(near.position, scale, near, walls, stencil, i)
        unknowns.old_compression[i] = compression


@qd.func
def slope_between(x: vec3, scale: Scale, near: ParticleArrays, i: qd.i32, j: qd.i32) -> qd.f32:
    """What makes ∇W of the pair from the way x between them, in units of `scale.gradient_scale`.

    Without images (`mirrors.mirrored_slope`).
    """
    slope = slope_over_q(scale.kind, x.norm() / (pair_size(scale, near, i, j) * scale.support))
    return slope * slope_share(scale, near, i, j)


@qd.func
def compression_at(
    place: Vec3s,
    scale: Scale,
    near: ParticleArrays,
    walls: WallArrays,
    stencil: Stencil,
    i: qd.i32,
) -> qd.f32:
    """C_i = Σ_j V_j W_ij − 1 with particles at their `place`, and images where they follow them to.

    Of a firm particle beside another separate body, what that adds counts by itself, beyond what it adds
    at a spacing: on whom pressures act (`acting_share`) and what they are for is then the same.
    """
    yi = place[i]
    own = scale.own
    others = 0.0
    for k in range(near.pairs.start[i], near.pairs.start[i + 1]):
        j = near.pairs.neighbor[k]
        x = separation(near.period, yi, place[j])
        size = pair_size(scale, near, i, j)
        w = value(scale.kind, x.norm() / (size * scale.support))
        w *= value_share(scale, near, i, j)
        if apart(scale, near, i, j):
            others += w
        else:
            own += w
    unit = scale.volume * scale.value_scale
    own += mirrored_density(place, scale, near, walls, i)
    crowding = unit * (own + others) - 1.0
    if qd.static(scale.parted):
        crowding += stencil.loose[i] * (unit * others - scale.beside - crowding)
    return crowding
