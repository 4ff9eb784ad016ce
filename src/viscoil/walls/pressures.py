# mypy: disable-error-code="valid-type,no-untyped-def,no-untyped-call,misc"
"""What walls do to the rate of density, and pressures to walls.

γ is the share of a particle's smoothing function behind walls (`arrays.wall_density`): it grows at the
rate Σ_k ∇γ_k·(u − u_k), and a pressure p pushes the particle with −V p ∇γ and the walls with the opposite.
Gradients are those of the start of the step.
"""

import quadrants as qd

from viscoil.bodies.arrays import arm, body_velocity, double3, is_dynamic
from viscoil.colliders.arrays import distance_and_normal, surface_velocity
from viscoil.constraints.density import wall_share
from viscoil.core.compute import Floats, on_cpu, vec3
from viscoil.neighbors.arrays import ParticleArrays
from viscoil.neighbors.resolution import support_of, volume_of
from viscoil.neighbors.scale import Scale
from viscoil.walls.arrays import WallArrays, is_known, least_outside


@qd.func
def share_outside(x: vec3, support: qd.f32, walls: WallArrays) -> qd.f32:
    """Π_k (1 − γ_k): what all walls leave of the smoothing function at x."""
    outside = 1.0
    for k in range(walls.count):
        at = distance_and_normal(walls.colliders, k, x)
        if is_known(at):
            hidden = wall_share(at[3], support, walls.density)[0]
            outside *= qd.max(1.0 - hidden, least_outside())
    return outside


@qd.func
def slope_of(k: qd.i32, x: vec3, outside: qd.f32, support: qd.f32, walls: WallArrays) -> vec3:
    """∇γ_k at x, 1/m: the part of collider k."""
    slope = vec3(0.0)
    at = distance_and_normal(walls.colliders, k, x)
    share = wall_share(at[3], support, walls.density)
    if share[0] > 0.0 and is_known(at):
        left = qd.max(1.0 - share[0], least_outside())
        slope = outside * share[1] / left * vec3(at[0], at[1], at[2])
    return slope


@qd.func
def find_slopes(scale: Scale, near: ParticleArrays, walls: WallArrays):
    """∇γ of all contacts, and how the motion of walls closes in on them."""
    for c in range(walls.contacts.count):
        i = walls.contacts.particle[c]
        x = near.position[i]
        support = support_of(scale, near, i)
        outside = share_outside(x, support, walls)
        total = vec3(0.0)
        closing = 0.0
        for k in range(walls.count):
            slope = slope_of(k, x, outside, support, walls)
            total += slope
            dynamic = False
            if qd.static(walls.coupled):
                slot = walls.bodies.slot[k]
                dynamic = is_dynamic(walls.bodies, slot)
                if slot >= 0:
                    walls.contacts.body_slope[c * walls.body_count + slot] = slope
            if not dynamic:
                closing += slope.dot(surface_velocity(walls.colliders, k, x))
        walls.contacts.slope[c] = total
        walls.contacts.closing[c] = closing


@qd.func
def wall_rate(u: vec3, near: ParticleArrays, walls: WallArrays, i: qd.i32) -> qd.f32:
    """The rate at which γ of particle i grows if it moves with u, 1/s."""
    rate = 0.0
    c = near.contact[i]
    if c >= 0:
        rate = walls.contacts.slope[c].dot(u) - walls.contacts.closing[c]
        if qd.static(walls.coupled):
            for b in range(walls.body_count):
                if is_dynamic(walls.bodies, b):
                    slope = walls.contacts.body_slope[c * walls.body_count + b]
                    rate -= slope.dot(body_velocity(walls.bodies, b, near.position[i]))
    return rate


@qd.func
def wall_force(
    pressure: qd.f32, scale: Scale, near: ParticleArrays, walls: WallArrays, i: qd.i32
) -> vec3:
    """−V p ∇γ on particle i, N."""
    force = vec3(0.0)
    c = near.contact[i]
    if c >= 0:
        force = -volume_of(scale, near, i) * pressure * walls.contacts.slope[c]
    return force


@qd.func
def press_bodies(
    scale: Scale, near: ParticleArrays, walls: WallArrays, pressure: Floats, firmness: Floats
):
    """pressed ← the impulses Δt V p ∇γ of all pressures near a body, for each that is tracked.

    One thread a body, so that sums have the same bits for any number of threads.
    """
    if qd.static(walls.coupled):
        qd.loop_config(serialize=qd.static(on_cpu()))
        for b in range(walls.body_count):
            total = double3(0.0)
            twist = double3(0.0)
            for c in range(walls.contacts.count):
                i = walls.contacts.particle[c]
                p = (1.0 - firmness[i]) * pressure[i]
                if p > 0.0:
                    slope = walls.contacts.body_slope[c * walls.body_count + b]
                    impulse = scale.dt * volume_of(scale, near, i) * p * slope
                    given = qd.cast(impulse, qd.f64)
                    total += given
                    twist += arm(walls.bodies, b, near.position[i]).cross(given)
            walls.bodies.pressed[b] = total
            walls.bodies.pressed_twist[b] = twist
