# mypy: disable-error-code="valid-type,no-untyped-def,no-untyped-call,misc"
"""What calms thin fluids: velocities that differ from particle to particle are damped.

Pressures stop what compresses, and nothing else: a fluid without viscosity would keep the motion of its
particles against each other, which is no motion of the fluid, for seconds. With the smoothed difference
to the neighbours, s_i = Σ_j V W_ij (u_j − u_i), velocities become u_i − c Σ_j V W_ij (s_j − s_i): a
fourth derivative. It takes c λ² of a wave of which smoothing takes λ: a seventh of c at a wavelength of
three spacings, 2e-4 of it at 20. What i gains is what j loses. Only full neighbourhoods take part: at a
surface, differences are one-sided also where the flow is smooth. Where stress resists short waves
itself, it is left to stress.

c is in proportion to the step. Particles under weight that have fallen out of line rattle in the time of
a fall through a spacing, √(d/g); damping takes a tenth of that, or three steps if that is longer. Without
gravity there is none. The tenth was tried on water at rest, and is not derived.

When it is bad: the forces are not central. A spinning body keeps its spin only as far as neighbourhoods
are even.
"""

import math

import quadrants as qd

from viscoil.core.compute import vec3
from viscoil.neighbors.arrays import ParticleArrays
from viscoil.neighbors.bodies import apart
from viscoil.neighbors.period import separation
from viscoil.neighbors.resolution import pair_size
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
    """V W_ij of a pair of full neighbourhoods, in proportion to the other's mass; 0 of others.

    The same for both of a pair but for that: what one gains, in N s, the other loses.
    """
    weight = 0.0
    least = -0.05  # of C: a neighbourhood on a lattice has 0, one at a surface −0.3
    full = unknowns.compression[i] > least and unknowns.compression[j] > least
    if full and not apart(scale, near, i, j):
        x = separation(near.period, near.position[i], near.position[j])
        w = value(scale.kind, x.norm() / (pair_size(scale, near, i, j) * scale.support))
        w *= scale.volume * scale.value_scale
        heavier = 2.0 * near.inverse_mass[i] / (near.inverse_mass[i] + near.inverse_mass[j])
        weight = (1.0 - stencil.firmness[i] * stencil.firmness[j]) * heavier * w
    return weight


@qd.func
def _difference(
    field: qd.template(),
    scale: Scale,
    near: ParticleArrays,
    stencil: Stencil,
    unknowns: Unknowns,
    i: qd.i32,
) -> vec3:
    """Σ_j V W_ij (field_j − field_i)."""
    own = field[i]
    total = vec3(0.0)
    for k in range(near.pairs.start[i], near.pairs.start[i + 1]):
        j = near.pairs.neighbor[k]
        total += _weight(scale, near, stencil, unknowns, i, j) * (field[j] - own)
    return total


@qd.kernel(fastcache=True)
def damp_short_waves(
    n: qd.i32,
    share: qd.f32,
    scale: Scale,
    near: ParticleArrays,
    stencil: Stencil,
    unknowns: Unknowns,
):
    """u ← u − c Σ_j V W_ij (s_j − s_i), with c = `share` and C as the position projection left it."""
    for i in range(n):
        s = _difference(unknowns.velocity, scale, near, stencil, unknowns, i)
        unknowns.difference[i] = s
    for i in range(n):
        change = _difference(unknowns.difference, scale, near, stencil, unknowns, i)
        unknowns.velocity[i] = unknowns.velocity[i] - share * change
