# mypy: disable-error-code="valid-type,no-untyped-def,no-untyped-call,misc"
"""What keeps thin fluids from trembling: velocities that differ from particle to particle are damped.

Pressures stop what compresses, and nothing else; a fluid without viscosity would keep all motion of its
particles against each other for ever, as heat. With s_i = Σ_j V W_ij (u_j − u_i), the smoothed difference
to the neighbours, velocities become u_i − c Σ_j V W_ij (s_j − s_i): a fourth derivative. It takes c λ² of a
wave of which smoothing takes λ: half of c at a wavelength of three spacings, 1e-4 of it at 20. What i
gains is what j loses. Only full neighbourhoods take part: at a surface, differences are one-sided also
where the flow is smooth. Where stress resists short waves itself, it is left to stress.

c is in proportion to the step: particles that have fallen out of line, and rattle, do so in the time of a
fall through a spacing, √(d/g); a tenth of that is what damping takes, or three steps if that is longer.
Without gravity there is none.
"""

import math

import quadrants as qd

from viscoil.core.compute import vec3
from viscoil.neighbors.arrays import ParticleArrays
from viscoil.neighbors.period import separation
from viscoil.neighbors.resolution import pair_size, value_share
from viscoil.neighbors.scale import Scale
from viscoil.neighbors.smoothing import value
from viscoil.solvers.dcpbd.arrays import Stencil, Unknowns

LARGEST_SHARE = 0.3  # of a short wave that a step may take
PER_FALL = 10.0  # how much faster than a fall through a spacing it goes


def damped_share(dt: float, gravity: float, spacing: float) -> float:
    """c of a step (s), with gravity in m/s² and the spacing in m."""
    return min(LARGEST_SHARE, PER_FALL * dt * math.sqrt(gravity / spacing))


@qd.func
def _weight(
    scale: Scale, near: ParticleArrays, stencil: Stencil, unknowns: Unknowns, i: qd.i32, j: qd.i32
) -> qd.f32:
    """V W_ij of a pair of full neighbourhoods, in proportion to the other's mass; 0 of others."""
    weight = 0.0
    least = -0.05  # of C: a neighbourhood on a lattice has 0, one at a surface −0.3
    if unknowns.compression[i] > least and unknowns.compression[j] > least:
        x = separation(near.period, near.position[i], near.position[j])
        w = value(scale.kind, x.norm() / (pair_size(scale, near, i, j) * scale.support))
        w *= scale.volume * scale.value_scale * value_share(scale, near, i, j)
        heavier = 2.0 * near.inverse_mass[i] / (near.inverse_mass[i] + near.inverse_mass[j])
        weight = (1.0 - stencil.firmness[i] * stencil.firmness[j]) * heavier * w
    return weight


@qd.func
def damp_short_waves(
    n: qd.i32,
    share: qd.f32,
    scale: Scale,
    near: ParticleArrays,
    stencil: Stencil,
    unknowns: Unknowns,
):
    """u* ← u* − c Σ_j V W_ij (s_j − s_i); needs C at x⁰."""
    for i in range(n):
        own = unknowns.velocity[i]
        difference = vec3(0.0)
        for k in range(near.pairs.start[i], stencil.weighted_end[i]):
            j = near.pairs.neighbor[k]
            weight = _weight(scale, near, stencil, unknowns, i, j)
            difference += weight * (unknowns.velocity[j] - own)
        unknowns.velocity_change[i] = difference
    for i in range(n):
        own = unknowns.velocity_change[i]
        change = vec3(0.0)
        for k in range(near.pairs.start[i], stencil.weighted_end[i]):
            j = near.pairs.neighbor[k]
            weight = _weight(scale, near, stencil, unknowns, i, j)
            change += weight * (unknowns.velocity_change[j] - own)
        unknowns.free_velocity[i] = unknowns.velocity[i] - share * change
