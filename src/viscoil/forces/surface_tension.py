# mypy: disable-error-code="valid-type,no-untyped-def,no-untyped-call,misc"
"""Forces of surface tension and adhesion on the velocities that a step starts with.

They are explicit, so the step has to resolve capillary waves (`constraints.capillary.capillary_step`).
They are taken at x⁰, where the pressures that they cause push too: neither then has a torque about it.
Tension acts in opposite pairs and keeps momentum to round-off. Materials that meet have no tension
between them: a surface is where there is no fluid at all, and each particle brings its own κ to it.
"""

import dataclasses
from typing import Any, ClassVar

import quadrants as qd

from viscoil.colliders.arrays import distance_and_normal
from viscoil.constraints.capillary import (
    Capillarity,
    capillary_step,
    core_push,
    make_capillarity,
    pull_over_r,
    shortest_axis,
    surface_drag,
    surface_weight,
    wall_pull,
    wall_side,
)
from viscoil.constraints.symmetric import identity, square, times_vector
from viscoil.core.compute import Floats, Vec3s, Vec6s, scalars, vec3, vec6, vectors
from viscoil.forces.protocol import Force, StepView
from viscoil.materials.table import Materials, MaterialTable
from viscoil.neighbors.arrays import ParticleArrays
from viscoil.neighbors.bodies import apart
from viscoil.neighbors.period import separation
from viscoil.neighbors.scale import Scale
from viscoil.walls.arrays import WallArrays


@dataclasses.dataclass
class Surface:
    """What is known of each particle's share of a surface, within a step."""

    weight: Floats  # κ w, N/m²: how much of the surface it is
    stress: Vec6s  # κ w (I − β e e), N/m²
    velocity: Vec3s  # u* with tension, m/s


@qd.func
def wetted(materials: MaterialTable, walls: WallArrays, m: qd.i32, k: qd.i32) -> qd.f32:
    """W/κ, at most 1: how much wall k is like fluid to a surface of material m."""
    work = materials.adhesion[m] * walls.colliders.adhesion[k]
    return qd.min(work / qd.max(materials.surface_tension[m], 1e-30), 1.0)


@qd.kernel(fastcache=True)
def find_surface(
    n: qd.i32,
    scale: Scale,
    capillarity: Capillarity,
    materials: MaterialTable,
    near: ParticleArrays,
    walls: WallArrays,
    surface: Surface,
):
    """weight ← κ w and stress ← κ w (I − β e e), N/m². A wall that is wetted counts as near."""
    for i in range(n):
        xi = near.position[i]
        m = near.material[i]
        inward = vec3(0.0)
        moment = vec6(0.0)
        for k in range(near.pairs.start[i], near.pairs.start[i + 1]):
            j = near.pairs.neighbor[k]
            if apart(scale, near, i, j):
                continue
            x = separation(near.period, xi, near.position[j])
            pull = scale.volume * pull_over_r(capillarity, scale.support, x.norm())
            inward -= pull * x
            moment += pull * square(x)
        if near.contact[i] >= 0:
            for k in range(walls.count):
                at = distance_and_normal(walls.colliders, k, xi)
                side = wall_side(capillarity, scale.support, at[3])
                inward -= wetted(materials, walls, m, k) * side * vec3(at[0], at[1], at[2])
        length = inward.norm()
        kappa = materials.surface_tension[m]
        weight = kappa * surface_weight(capillarity, length)
        surface.weight[i] = weight
        e = shortest_axis(moment, inward / qd.max(length, 1e-30))
        surface.stress[i] = weight * (identity() - capillarity.across * square(e))


@qd.kernel(fastcache=True)
def add_tension(
    n: qd.i32,
    scale: Scale,
    capillarity: Capillarity,
    materials: MaterialTable,
    near: ParticleArrays,
    walls: WallArrays,
    velocity: Vec3s,
    surface: Surface,
):
    """u* += Δt f/m of the stress in the surface and of the push between close particles.

    Where a surface ends at a wall, the wall holds its end, but lets it slide along.
    """
    for i in range(n):
        xi = near.position[i]
        m = near.material[i]
        stress = surface.stress[i]
        kappa = materials.surface_tension[m]
        force = vec3(0.0)
        push = vec3(0.0)
        for k in range(near.pairs.start[i], near.pairs.start[i + 1]):
            j = near.pairs.neighbor[k]
            if apart(scale, near, i, j):
                continue
            x = separation(near.period, xi, near.position[j])
            r = x.norm()
            both_stresses = stress + surface.stress[j]
            pull = pull_over_r(capillarity, scale.support, r)
            force -= pull * times_vector(both_stresses, x)
            both = 0.5 * (kappa + materials.surface_tension[near.material[j]])
            push += both * core_push(capillarity, x, r)
            if surface.weight[i] + surface.weight[j] > 0.0:
                mass = 2.0 / (near.inverse_mass[i] + near.inverse_mass[j])
                approach = (velocity[i] - velocity[j]).dot(x)
                push -= surface_drag(capillarity, scale.support, both, mass, r) * approach * x
        force *= scale.volume * scale.volume
        if near.contact[i] >= 0 and surface.weight[i] > 0.0:
            for k in range(walls.count):
                at = distance_and_normal(walls.colliders, k, xi)
                out = vec3(at[0], at[1], at[2])
                side = 2.0 * scale.volume * wall_side(capillarity, scale.support, at[3])
                side *= wetted(materials, walls, m, k)
                force -= side * out.dot(times_vector(stress, out)) * out
        force *= capillarity.strength
        surface.velocity[i] = velocity[i] + scale.dt * near.inverse_mass[i] * (force + push)
    for i in range(n):
        velocity[i] = surface.velocity[i]


@qd.kernel(fastcache=True)
def add_adhesion(
    count: qd.i32,
    scale: Scale,
    capillarity: Capillarity,
    materials: MaterialTable,
    near: ParticleArrays,
    walls: WallArrays,
    velocity: Vec3s,
):
    """u* += Δt f/m of walls that pull: what W exceeds κ by (up to there they take away surface)."""
    for c in range(count):
        i = walls.contacts.particle[c]
        m = near.material[i]
        force = vec3(0.0)
        for k in range(walls.count):
            at = distance_and_normal(walls.colliders, k, near.position[i])
            pull = wall_pull(capillarity, scale.spacing, scale.support, at[3])
            work = materials.adhesion[m] * walls.colliders.adhesion[k]
            work = qd.max(work - materials.surface_tension[m], 0.0)
            force -= work * pull * vec3(at[0], at[1], at[2])
        velocity[i] = velocity[i] + scale.dt * near.inverse_mass[i] * force


class SurfaceTension(Force):
    """Adds both to a step, and nothing where no material asks for them."""

    name: ClassVar[str] = "surface tension"

    def __init__(self, spacing: float, support: float) -> None:
        self._spacing = spacing
        self.capillarity = make_capillarity(spacing, support)
        self._surface: Surface | None = None

    def act(self, step: StepView, velocity: Any) -> None:
        """u* += Δt f/m."""
        table, walls = step.materials.table, step.walls
        if step.materials.largest("surface_tension") > 0.0:
            surface = self.surface(step.capacity)
            find_surface(
                step.n, step.scale, self.capillarity, table, step.near, walls.arrays, surface
            )
            add_tension(
                step.n, step.scale, self.capillarity, table, step.near, walls.arrays, velocity,
                surface,
            )  # fmt: skip
        if walls.count and step.materials.largest("adhesion") > 0.0:
            add_adhesion(
                walls.count, step.scale, self.capillarity, table, step.near, walls.arrays, velocity
            )

    def longest_step(self, materials: Materials) -> float:
        """That resolves the capillary waves of all materials, s."""
        return min(
            capillary_step(m.density, self._spacing, max(m.surface_tension, m.adhesion))
            for m in materials.materials
        )

    def surface(self, count: int) -> Surface:
        """With room for `count` particles; the same object while it is large enough."""
        if self._surface is None or self._surface.weight.shape[0] < count:
            self._surface = None  # frees it before the longer one is made
            self._surface = Surface(scalars(qd.f32, count), vectors(6, count), vectors(3, count))
        return self._surface
