# mypy: disable-error-code="valid-type,no-untyped-def,no-untyped-call,misc"
"""Separate bodies collide, rub and part: what holds between particles of two of them.

No stress, no strain and no bend goes across (`operators`), so nothing pulls. The density counts all
particles: two bodies fill space up to a spacing between their outer layers, and pressure, which never
pulls, keeps them from coming closer. Within a firm body density is a matter of shifts; where another body
is near it is one of forces (`beside_another`), and these are recalled like those of a fluid at rest.

They rub by Coulomb's law: a pair that the pressures push apart with the impulse J takes up to μ J of its
motion along each other. The impulses are opposite, but not in line: a turning pair loses a little of its
spin to the spacing between them.
"""

import quadrants as qd

from viscoil.core.compute import Floats, vec3
from viscoil.neighbors.arrays import ParticleArrays
from viscoil.neighbors.bodies import apart
from viscoil.neighbors.period import separation
from viscoil.neighbors.resolution import pair_size, value_share, volume_of
from viscoil.neighbors.scale import Scale
from viscoil.neighbors.smoothing import slope_over_q, value
from viscoil.solvers.dcpbd.arrays import Stencil, Unknowns


@qd.func
def density_of_others(scale: Scale, near: ParticleArrays, i: qd.i32) -> qd.f32:
    """Σ_j V_j W_ij over particles of other separate bodies, at x⁰."""
    total = 0.0
    if qd.static(scale.parted):
        for k in range(near.pairs.start[i], near.pairs.start[i + 1]):
            j = near.pairs.neighbor[k]
            if apart(scale, near, i, j):
                x = separation(near.period, near.position[i], near.position[j])
                size = pair_size(scale, near, i, j)
                w = value(scale.kind, x.norm() / (size * scale.support))
                total += value_share(scale, near, i, j) * w
    return scale.volume * scale.value_scale * total


@qd.func
def beside_another(scale: Scale, near: ParticleArrays, i: qd.i32) -> qd.f32:
    """From 0 to 1: whether another body is near, from a quarter to a half of what it adds at a spacing."""
    return ramp(density_of_others(scale, near, i) / scale.beside, 0.25, 0.5)


@qd.func
def ramp(x: qd.f32, low: qd.f32, high: qd.f32) -> qd.f32:
    """From 0 at `low` to 1 at `high`, with no kink."""
    s = qd.min(qd.max((x - low) / (high - low), 0.0), 1.0)
    return s * s * (3.0 - 2.0 * s)


@qd.func
def touches(scale: Scale, stencil: Stencil, i: qd.i32):
    """Whether the row of i in the velocity projection is about another body."""
    found = False
    if qd.static(scale.parted):
        found = stencil.touching[i] > 0.0
    return found


@qd.func
def row_share(scale: Scale, stencil: Stencil, i: qd.i32) -> qd.f32:
    """w of the row of i, whichever it is about."""
    share = stencil.pressed[i]
    if qd.static(scale.parted):
        share += stencil.touching[i]
    return share


@qd.func
def acting_share(
    scale: Scale, near: ParticleArrays, stencil: Stencil, i: qd.i32, j: qd.i32
) -> qd.f32:
    """The share of p_i that acts between i and j: beside another body it is what keeps that away."""
    share = 1.0
    if qd.static(scale.parted):
        share = 1.0 - stencil.loose[i]
        if apart(scale, near, i, j):
            share = stencil.loose[i]
    return share


@qd.func
def rub(n: qd.i32, scale: Scale, near: ParticleArrays, friction: Floats, unknowns: Unknowns):
    """u += what friction between bodies does under the pressures that were recalled, at x⁰."""
    if qd.static(scale.parted):
        for i in range(n):
            unknowns.place_change[i] = _friction(scale, near, friction, unknowns, i)
        for i in range(n):
            unknowns.velocity[i] = unknowns.velocity[i] + unknowns.place_change[i]


@qd.func
def _friction(
    scale: Scale, near: ParticleArrays, friction: Floats, unknowns: Unknowns, i: qd.i32
) -> vec3:
    """The change of u_i: for each pair, a tenth of its sliding, and no more than Coulomb's law allows.

    A particle at a face has about ten pairs across it: together they stop it.
    """
    taken = 0.1
    change = vec3(0.0)
    own = near.inverse_mass[i]
    for k in range(near.pairs.start[i], near.pairs.start[i + 1]):
        j = near.pairs.neighbor[k]
        if apart(scale, near, i, j):
            x = separation(near.period, near.position[i], near.position[j])
            normal = x / qd.max(x.norm(), 1e-30)
            sliding = unknowns.velocity[j] - unknowns.velocity[i]
            sliding -= sliding.dot(normal) * normal
            size = pair_size(scale, near, i, j)
            slope = scale.gradient_scale * slope_over_q(
                scale.kind, x.norm() / (size * scale.support)
            )
            both = unknowns.pressure[i] + unknowns.pressure[j]
            volumes = volume_of(scale, near, i) * volume_of(scale, near, j)
            impulse = scale.dt * volumes * both * qd.abs(slope) * x.norm()
            mu = qd.sqrt(friction[near.material[i]] * friction[near.material[j]])
            wanted = taken / (own + near.inverse_mass[j]) * sliding
            held = qd.min(1.0, mu * impulse / qd.max(wanted.norm(), 1e-30))
            change += own * held * wanted
    return change
