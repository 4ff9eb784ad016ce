# mypy: disable-error-code="valid-type,no-untyped-def,no-untyped-call,misc"
"""Kernels that let stresses act as they are: how a velocity projection starts, and what Jacobi adds."""

import quadrants as qd

from viscoil.core.compute import vec3, vec6
from viscoil.neighbors.arrays import ParticleArrays
from viscoil.neighbors.scale import Scale
from viscoil.solvers.dcpbd.arrays import Stencil, Unknowns
from viscoil.solvers.dcpbd.elasticity import has_gradient, resisted
from viscoil.solvers.dcpbd.no_slip import link_force
from viscoil.solvers.dcpbd.operators import set_traction, stress_force
from viscoil.walls.arrays import WallArrays, free_part
from viscoil.walls.body_loads import body_load
from viscoil.walls.body_velocities import free_bodies


@qd.kernel(fastcache=True)
def keep_free_velocities(n: qd.i32, unknowns: Unknowns):
    """free_velocity ← u*, before u becomes anything else."""
    for i in range(n):
        unknowns.free_velocity[i] = unknowns.velocity[i]


@qd.kernel(fastcache=True)
def let_stress_act(
    n: qd.i32, scale: Scale, near: ParticleArrays, stencil: Stencil, unknowns: Unknowns
):
    """σ and μ act; none where no gradient can be taken. Recalled pressures have acted before."""
    for i in range(n):
        if not has_gradient(stencil, i):
            unknowns.stress[i] = vec6(0.0)
            unknowns.bend[i] = vec3(0.0)
        unknowns.stress[i] = resisted(unknowns.stress[i], stencil, i)
        set_traction(unknowns.stress[i], unknowns.bend[i], 0.0, scale, near, stencil, unknowns, i)


@qd.kernel(fastcache=True)
def velocities_under_stress(
    n: qd.i32,
    scale: Scale,
    near: ParticleArrays,
    walls: WallArrays,
    stencil: Stencil,
    unknowns: Unknowns,
):
    """u ← u* + Δt f/m, as if no wall were in the way."""
    for i in range(n):
        force = stress_force(0.0, scale, near, walls, stencil, unknowns, i)
        unknowns.velocity[i] = unknowns.free_velocity[i] + scale.dt * near.inverse_mass[i] * force
        put_load_on_body(scale, near, walls, unknowns, i)


@qd.kernel(fastcache=True)
def free_velocities(
    n: qd.i32, dt: qd.f32, near: ParticleArrays, walls: WallArrays, unknowns: Unknowns
):
    """u ← u* as far as contacts leave it free; what they hold keeps the velocity that they give.

    Bodies get theirs without what stress did to them.
    """
    for i in range(n):
        held = unknowns.velocity[i]
        free = free_part(near.contact[i], walls, unknowns.free_velocity[i] - held)
        unknowns.velocity[i] = held + free
    free_bodies(dt, near, walls, unknowns.velocity)


@qd.func
def put_load_on_body(
    scale: Scale, near: ParticleArrays, walls: WallArrays, unknowns: Unknowns, i: qd.i32
):
    """The body beside particle i gets back what its links give under the stress that acts."""
    if qd.static(walls.coupled):
        c = near.contact[i]
        if c >= 0:
            if walls.contacts.body[c] >= 0:
                pulled = scale.dt * link_force(0.0, near, walls, unknowns, i)
                load, twist = body_load(c, pulled, 0.0, walls)
                walls.contacts.load[c] = load
                walls.contacts.load_twist[c] = twist


@qd.kernel(fastcache=True)
def scale_stress(n: qd.i32, factor: qd.f32, unknowns: Unknowns):
    """σ, μ ← factor σ, factor μ."""
    for i in range(n):
        unknowns.stress[i] = unknowns.stress[i] * factor
        unknowns.bend[i] = unknowns.bend[i] * factor


@qd.kernel(fastcache=True)
def add_velocity_change(
    n: qd.i32,
    scale: Scale,
    near: ParticleArrays,
    walls: WallArrays,
    stencil: Stencil,
    unknowns: Unknowns,
):
    """Eq. 12: u += Δt f/m."""
    for i in range(n):
        force = stress_force(0.0, scale, near, walls, stencil, unknowns, i)
        unknowns.velocity[i] = unknowns.velocity[i] + scale.dt * near.inverse_mass[i] * force
        put_load_on_body(scale, near, walls, unknowns, i)
