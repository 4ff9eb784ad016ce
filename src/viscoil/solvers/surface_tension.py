# mypy: disable-error-code="valid-type,no-untyped-def,no-untyped-call,misc"
"""Forces of surface tension and adhesion on the velocities that a step starts with.

They are explicit, so the step has to resolve capillary waves (`constraints.capillary.capillary_step`).
Tension acts in opposite pairs and keeps momentum to round-off. Materials that meet have no tension
between them: a surface is where there is no fluid at all, and each particle brings its own κ to it.
"""

import quadrants as qd

from viscoil.colliders.arrays import distance_and_normal
from viscoil.compute import vec3
from viscoil.constraints.capillary import (
    Capillarity,
    core_push,
    make_capillarity,
    pull_over_r,
    surface_drag,
    surface_weight,
    wall_pull,
)
from viscoil.neighbors import separation
from viscoil.solvers.contact import Contacts, Walls
from viscoil.solvers.projections import StepContext
from viscoil.solvers.tables import MaterialTable, Scale
from viscoil.solvers.workspace import Fluid, Unknowns


@qd.kernel(fastcache=True)
def find_surface(
    n: qd.i32,
    periodic: qd.template(),
    scale: Scale,
    capillarity: Capillarity,
    materials: MaterialTable,
    fluid: Fluid,
    unknowns: Unknowns,
):
    """change ← n̂, and term ← κ w, N/m²."""
    for i in range(n):
        xi = fluid.position[i]
        inward = vec3(0.0)
        for k in range(fluid.pairs.start[i], fluid.pairs.start[i + 1]):
            x = separation(periodic, fluid.period, xi, fluid.position[fluid.pairs.neighbor[k]])
            inward -= pull_over_r(capillarity, scale.support, x.norm()) * x
        inward *= scale.volume
        length = inward.norm()
        kappa = materials.surface_tension[fluid.material[i]]
        unknowns.change[i] = inward / qd.max(length, 1e-30)
        unknowns.term[i] = kappa * surface_weight(capillarity, length)


@qd.kernel(fastcache=True)
def add_tension(
    n: qd.i32,
    periodic: qd.template(),
    scale: Scale,
    capillarity: Capillarity,
    materials: MaterialTable,
    fluid: Fluid,
    unknowns: Unknowns,
):
    """u* += Δt f/m of the stress in the surface and of the push between close particles."""
    for i in range(n):
        xi = fluid.position[i]
        own, normal = unknowns.term[i], unknowns.change[i]
        kappa = materials.surface_tension[fluid.material[i]]
        force = vec3(0.0)
        push = vec3(0.0)
        for k in range(fluid.pairs.start[i], fluid.pairs.start[i + 1]):
            j = fluid.pairs.neighbor[k]
            x = separation(periodic, fluid.period, xi, fluid.position[j])
            r = x.norm()
            other, across = unknowns.term[j], unknowns.change[j]
            stress = (own + other) * x
            stress -= capillarity.across * (own * normal.dot(x)) * normal
            stress -= capillarity.across * (other * across.dot(x)) * across
            force -= pull_over_r(capillarity, scale.support, r) * stress
            both = 0.5 * (kappa + materials.surface_tension[fluid.material[j]])
            push += both * core_push(capillarity, x, r)
            if own + other > 0.0:
                mass = 2.0 / (fluid.inverse_mass[i] + fluid.inverse_mass[j])
                approach = (unknowns.trial[i] - unknowns.trial[j]).dot(x)
                push -= surface_drag(capillarity, scale.support, both, mass, r) * approach * x
        force *= capillarity.strength * scale.volume * scale.volume
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
    """u* += Δt f/m of the walls within reach."""
    for c in range(count):
        i = contacts.particle[c]
        force = vec3(0.0)
        for k in range(walls.count):
            at = distance_and_normal(walls.colliders, k, fluid.position[i])
            pull = wall_pull(capillarity, scale.spacing, scale.support, at[3])
            force -= walls.colliders.adhesion[k] * pull * vec3(at[0], at[1], at[2])
        force *= materials.adhesion[fluid.material[i]]
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
            find_surface(
                c.n, c.periodic, c.scale, self.capillarity, table, c.fluid, c.unknowns
            )  # fmt: skip
            add_tension(
                c.n, c.periodic, c.scale, self.capillarity, table, c.fluid, c.unknowns
            )  # fmt: skip
        if c.boundary.count and c.materials.largest("adhesion") > 0.0:
            add_adhesion(
                c.boundary.count, c.scale, self.capillarity, c.boundary.walls, c.boundary.contacts,
                table, c.fluid, c.unknowns,
            )  # fmt: skip
