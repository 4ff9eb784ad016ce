# mypy: disable-error-code="valid-type,no-untyped-def,no-untyped-call,misc"
"""Where pressures push: as far as they can at x⁰, where the step starts, or else where it ends.

A pressure has to keep neighbourhoods from being compressed at y = x¹, and pushes along the ways between
particles. Taken at y, as in position-based fluids, these make a step backward Euler: it takes ω² Δt/2 of
the amplitude of a wave per second, a quarter of its energy in a period at 1/120 s. Taken at x⁰, as in
SHAKE (Ryckaert et al. 1977), they take nothing, and have no torque. So pairs push along

    x_ij = (1 − θ) x⁰_ij + θ y_ij.

θ is what it has to be for two reasons:
- Pressure is a spring between particles (`constraints.density.pressure_stiffness`). What acts at x⁰ of
  it is explicit, and stable up to Δt² k/ρ = 4. So no more than half of that does: (1 − θ) Δt² k/ρ ≤ 2.
- What a pair that moves by much of its distance is at x⁰ has little to do with what it meets at y: θ
  rises from 0 to 1 where it moves by a tenth to a quarter of a spacing. That is a choice.

The share 1 − θ of an arrangement's springs is undamped. What trembles in them is damped by `short_waves`.
"""

import quadrants as qd

from viscoil.constraints.density import pressure_stiffness
from viscoil.core.compute import vec3
from viscoil.neighbors.arrays import ParticleArrays
from viscoil.neighbors.bodies import apart
from viscoil.neighbors.period import separation
from viscoil.neighbors.resolution import pair_size, spacing_of, volume_of
from viscoil.neighbors.scale import Scale
from viscoil.solvers.dcpbd.arrays import Unknowns
from viscoil.solvers.dcpbd.separate_bodies import ramp


@qd.func
def set_lateness(scale: Scale, near: ParticleArrays, unknowns: Unknowns, i: qd.i32):
    """θ of particle i under its pressure."""
    way = scale.dt / spacing_of(scale, near, i)
    specific = near.inverse_mass[i] * volume_of(scale, near, i)
    stiffness = pressure_stiffness() * way * way * specific * unknowns.pressure[i]
    unknowns.lateness[i] = 1.0 - 2.0 / qd.max(stiffness, 2.0)


@qd.func
def way_of_push(
    late: qd.template(),
    scale: Scale,
    near: ParticleArrays,
    unknowns: Unknowns,
    i: qd.i32,
    j: qd.i32,
) -> vec3:
    """x_ij; that at y if all are `late`, and of separate bodies, which meet and part."""
    way = separation(near.period, unknowns.place[i], unknowns.place[j])
    if qd.static(not late):
        if not apart(scale, near, i, j):
            old = separation(near.period, near.position[i], near.position[j])
            moved = way - old
            share = moved.norm() / (pair_size(scale, near, i, j) * scale.spacing)
            theta = qd.max(unknowns.lateness[i], unknowns.lateness[j])
            way = old + qd.max(theta, ramp(share, 0.1, 0.25)) * moved
    return way
