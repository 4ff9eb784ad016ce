# mypy: disable-error-code="valid-type,no-untyped-def,no-untyped-call,misc"
"""Forces of surface tension and adhesion on the velocities that a step starts with.

They are explicit, so the step has to resolve capillary waves (`constraints.capillary.capillary_step`).
Tension acts in opposite pairs and keeps momentum to round-off. Materials that meet have no tension
between them: a surface is where there is no fluid at all, and each particle brings its own κ to it.
"""

import quadrants as qd

from viscoil.colliders.arrays import distance_and_normal
from viscoil.constraints.capillary import (
    Capillarity,
    core_push,
    make_capillarity,
    pull_over_r,
    shortest_axis,
    surface_drag,
    surface_weight,
    wall_pull,
    wall_side,
)
from viscoil.constraints.symmetric import identity, times_vector
from viscoil.core.compute import vec3, vec6
from viscoil.materials.table import MaterialTable
from viscoil.neighbors.pairs import separation
from viscoil.neighbors.scale import Scale
from viscoil.solvers.dcpbd.projections import StepContext
from viscoil.solvers.dcpbd.workspace import Fluid, Unknowns
from viscoil.walls.walls import Contacts, Walls


@qd.func
def ahead(scale: Scale, fluid: Fluid, unknowns: Unknowns, i: qd.i32) -> vec3:
    """x⁰ + Δt u*, where the forces are taken, as pressure does.

    Tension and the pressure that it causes then have opposite torques about x⁰. With tension taken
    at x⁰, a drop that turns would turn faster and faster.
    """
    return fluid.position[i] + scale.dt * unknowns.trial[i]


@qd.func
def wetted(materials: MaterialTable, walls: Walls, m: qd.i32, k: qd.i32) -> qd.f32:
    """W/κ, at most 1: how much wall k is like fluid to a surface of material m."""
    work = materials.adhesion[m] * walls.colliders.adhesion[k]
    return qd.min(work / qd.max(materials.surface_tension[m], 1e-30), 1.0)


@qd.kernel(fastcache=True)
def find_surface(
    n: qd.i32,
    periodic: qd.template(),
    scale: Scale,
    capillarity: Capillarity,
    materials: MaterialTable,
    fluid: Fluid,
    walls: Walls,
    unknowns: Unknowns,
):
    """term ← κ w and residual ← κ w (I − β e e), N/m². A wall that is wetted counts as fluid."""
    for i in range(n):
        xi = ahead(scale, fluid, unknowns, i)
        m = fluid.material[i]
        inward = vec3(0.0)
        moment = vec6(0.0)
        for k in range(fluid.pairs.start[i], fluid.pairs.start[i + 1]):
            j = fluid.pairs.neighbor[k]
            x = separation(periodic, fluid.period, xi, ahead(scale, fluid, unknowns, j))
            pull = scale.volume * pull_over_r(capillarity, scale.support, x.norm())
            inward -= pull * x
            moment += pull * vec6(
                x[0] * x[0], x[1] * x[1], x[2] * x[2], x[0] * x[1], x[0] * x[2], x[1] * x[2]
            )
        if fluid.wall[i] >= 0:
            for k in range(walls.count):
                at = distance_and_normal(walls.colliders, k, xi)
                side = wall_side(capillarity, scale.support, at[3])
                inward -= wetted(materials, walls, m, k) * side * vec3(at[0], at[1], at[2])
        length = inward.norm()
        kappa = materials.surface_tension[m]
        weight = kappa * surface_weight(capillarity, length)
        unknowns.term[i] = weight
        e = shortest_axis(moment, inward / qd.max(length, 1e-30))
        across = capillarity.across * vec6(
            e[0] * e[0], e[1] * e[1], e[2] * e[2], e[0] * e[1], e[0] * e[2], e[1] * e[2]
        )
        unknowns.residual[i] = weight * (identity() - across)


@qd.kernel(fastcache=True)
def add_tension(
    n: qd.i32,
    periodic: qd.template(),
    scale: Scale,
    capillarity: Capillarity,
    materials: MaterialTable,
    fluid: Fluid,
    walls: Walls,
    unknowns: Unknowns,
):
    """u* += Δt f/m of the stress in the surface and of the push between close particles.

    Where a surface ends at a wall, the wall holds its end, but lets it slide along.
    """
    for i in range(n):
        xi = ahead(scale, fluid, unknowns, i)
        m = fluid.material[i]
        stress = unknowns.residual[i]
        kappa = materials.surface_tension[m]
        force = vec3(0.0)
        push = vec3(0.0)
        for k in range(fluid.pairs.start[i], fluid.pairs.start[i + 1]):
            j = fluid.pairs.neighbor[k]
            x = separation(periodic, fluid.period, xi, ahead(scale, fluid, unknowns, j))
            r = x.norm()
            both_stresses = stress + unknowns.residual[j]
            pull = pull_over_r(capillarity, scale.support, r)
            force -= pull * times_vector(both_stresses, x)
            both = 0.5 * (kappa + materials.surface_tension[fluid.material[j]])
            push += both * core_push(capillarity, x, r)
            if unknowns.term[i] + unknowns.term[j] > 0.0:
                mass = 2.0 / (fluid.inverse_mass[i] + fluid.inverse_mass[j])
                approach = (unknowns.trial[i] - unknowns.trial[j]).dot(x)
                push -= surface_drag(capillarity, scale.support, both, mass, r) * approach * x
        force *= scale.volume * scale.volume
        if fluid.wall[i] >= 0 and unknowns.term[i] > 0.0:
            for k in range(walls.count):
                at = distance_and_normal(walls.colliders, k, xi)
                out = vec3(at[0], at[1], at[2])
                side = 2.0 * scale.volume * wall_side(capillarity, scale.support, at[3])
                side *= wetted(materials, walls, m, k)
                force -= side * out.dot(times_vector(stress, out)) * out
        force *= capillarity.strength
        free = unknowns.velocity[i] + scale.dt * fluid.inverse_mass[i] * (force + push)
        unknowns.velocity[i] = free
    for i in range(n):
        unknowns.trial[i] = unknowns.velocity[i]


@qd.kernel(fastcache=True)
def add_adhesion(
    count: qd.i32,
    scale: Scale,
    capillarity: Capillarity,
    walls: Walls,
    contacts: Contacts,
    materials: MaterialTable,
    fluid: Fluid,
    unknowns: Unknowns,
):
    """u* += Δt f/m of walls that pull: what W exceeds κ by (up to there they take away surface)."""
    for c in range(count):
        i = contacts.particle[c]
        m = fluid.material[i]
        force = vec3(0.0)
        for k in range(walls.count):
            at = distance_and_normal(walls.colliders, k, fluid.position[i])
            pull = wall_pull(capillarity, scale.spacing, scale.support, at[3])
            work = materials.adhesion[m] * walls.colliders.adhesion[k]
            work = qd.max(work - materials.surface_tension[m], 0.0)
            force -= work * pull * vec3(at[0], at[1], at[2])
        free = unknowns.velocity[i] + scale.dt * fluid.inverse_mass[i] * force
        unknowns.velocity[i] = free
        unknowns.trial[i] = free


class SurfaceTension:
    """Adds both to a step, and nothing where no material asks for them."""

    def __init__(self, spacing: float, support: float) -> None:
        self.capillarity = make_capillarity(spacing, support)

    def __call__(self, c: StepContext) -> None:
        table = c.materials.table
        if c.materials.largest("surface_tension") > 0.0:
            for kernel in (find_surface, add_tension):
                kernel(
                    c.n, c.periodic, c.scale, self.capillarity, table, c.fluid, c.boundary.walls,
                    c.unknowns,
                )  # fmt: skip
        if c.boundary.count and c.materials.largest("adhesion") > 0.0:
            add_adhesion(
                c.boundary.count, c.scale, self.capillarity, c.boundary.walls, c.boundary.contacts,
                table, c.fluid, c.unknowns,
            )  # fmt: skip
