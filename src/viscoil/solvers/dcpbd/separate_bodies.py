# mypy: disable-error-code="valid-type,no-untyped-def,no-untyped-call,misc"
"""Separate bodies collide, rub and part: what holds between particles of two of them.

No stress, no strain and no bend goes across (`operators`), so nothing pulls. To a firm particle that is
beside another body (`beside_another`), that body is a wall: what it adds to the density may be as much as
at a spacing's distance, and no more (`compression`). Its pressure then acts across alone
(`acting_share`); it is a row of the velocity projection while bodies touch (`pressure_rows`), and never
pulls. A particle that is not firm has one pressure for all that is around it, as everywhere.

They rub by Coulomb's law (`rub`). These forces are opposite, but not in line: a turning pair loses a
little of its spin to the spacing between them.
"""

import quadrants as qd

from viscoil.constraints.density import pressure_stiffness
from viscoil.core.compute import Floats, vec3
from viscoil.neighbors.arrays import ParticleArrays
from viscoil.neighbors.bodies import apart
from viscoil.neighbors.period import separation
from viscoil.neighbors.resolution import (
    pair_size,
    spacing_of,
    value_share,
    volume_of,
    weight_share,
)
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
def beside_another(scale: Scale, near: ParticleArrays, stencil: Stencil, i: qd.i32) -> qd.f32:
    """From 0 to 1: whether another body is near, and stress keeps the volume of its own.

    From a twentieth to a fifth of what it adds at a spacing: at 1.7 spacings, so that bodies that come
    closer by a spacing in a step are seen before they are in each other. What is less firm has its
    pressure to keep its volume, and to that all particles are alike: water between cubes of gel was
    thrown out of the tank otherwise. The firmness that it takes was tried and is not derived.
    """
    near_by = ramp(density_of_others(scale, near, i) / scale.beside, 0.05, 0.2)
    return near_by * ramp(stencil.firmness[i], 0.3, 0.8)


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
        if not apart(scale, near, i, j):
            share = 1.0 - stencil.loose[i]
    return share


@qd.func
def stable_pressure(scale: Scale, near: ParticleArrays, i: qd.i32) -> qd.f32:
    """Pa: what may act at x⁰ between bodies (see `pressure_stiffness`)."""
    way = spacing_of(scale, near, i) / scale.dt
    specific = _lightest(scale, near, i) * volume_of(scale, near, i)
    return 4.0 / pressure_stiffness() * way * way / specific


@qd.func
def _lightest(scale: Scale, near: ParticleArrays, i: qd.i32) -> qd.f32:
    """1/kg: of i and the particles of other bodies beside it, that of the lightest: it answers most."""
    found = near.inverse_mass[i]
    for k in range(near.pairs.start[i], near.pairs.start[i + 1]):
        j = near.pairs.neighbor[k]
        if apart(scale, near, i, j):
            found = qd.max(found, near.inverse_mass[j])
    return found


@qd.func
def rub(n: qd.i32, scale: Scale, near: ParticleArrays, friction: Floats, unknowns: Unknowns):
    """u += what friction between bodies does under the pressures that were recalled, at x⁰.

    A traction τ_i grows with the way that a particle slides along another body, up to μ p_i: a spring
    that gives way, so that what rests does not creep. Pairs get w_ij (τ_i − τ_j), where pressures give
    w_ij (p_i + p_j). The shares of the sliding that a step answers by spring and damper are choices.
    """
    damper = 0.2
    if qd.static(scale.parted):
        for i in range(n):
            sliding, weight = _sliding(scale, near, unknowns, i)
            inverse_mass = _lightest(scale, near, i)
            unit = 1.0 / qd.max(scale.dt * inverse_mass * weight, 1e-30)
            most = friction[near.material[i]] * unknowns.pressure[i]
            if weight == 0.0:
                most = 0.0
            way = scale.dt / spacing_of(scale, near, i)
            pressed = way * way * unknowns.pressure[i] * inverse_mass
            spring = qd.min(qd.max(pressed * volume_of(scale, near, i), 0.05), 0.4)
            kept = unknowns.rubbing[i] + spring * unit * sliding
            unknowns.rubbing[i] = _at_most(most, kept)
            unknowns.place_change[i] = _at_most(most, kept + damper * unit * sliding)
        for i in range(n):
            force = vec3(0.0)
            for k in range(near.pairs.start[i], near.pairs.start[i + 1]):
                j = near.pairs.neighbor[k]
                if apart(scale, near, i, j):
                    w = _contact_weight(scale, near, i, j)
                    force += w * (unknowns.place_change[i] - unknowns.place_change[j])
            change = scale.dt * near.inverse_mass[i] * force
            unknowns.velocity[i] = unknowns.velocity[i] + change


@qd.func
def _sliding(scale: Scale, near: ParticleArrays, unknowns: Unknowns, i: qd.i32):
    """(mean velocity of other bodies along i, m/s, Σ_j w_ij, m²)."""
    total = vec3(0.0)
    weight = 0.0
    for k in range(near.pairs.start[i], near.pairs.start[i + 1]):
        j = near.pairs.neighbor[k]
        if apart(scale, near, i, j):
            x = separation(near.period, near.position[i], near.position[j])
            normal = x / qd.max(x.norm(), 1e-30)
            along = unknowns.velocity[j] - unknowns.velocity[i]
            w = _contact_weight(scale, near, i, j)
            total += w * (along - along.dot(normal) * normal)
            weight += w
    return total / qd.max(weight, 1e-30), weight


@qd.func
def _contact_weight(scale: Scale, near: ParticleArrays, i: qd.i32, j: qd.i32) -> qd.f32:
    """w_ij = V_i V_j |∇W_ij|, m²: the force between i and j under pressures of 1 Pa together."""
    r = separation(near.period, near.position[i], near.position[j]).norm()
    slope = slope_over_q(scale.kind, r / (pair_size(scale, near, i, j) * scale.support))
    unit = scale.volume * scale.volume * scale.gradient_scale * weight_share(scale, near, i, j)
    return unit * qd.abs(slope) * r


@qd.func
def _at_most(length: qd.f32, v: vec3) -> vec3:
    return v * qd.min(1.0, length / qd.max(v.norm(), 1e-30))
