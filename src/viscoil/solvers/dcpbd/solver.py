# mypy: disable-error-code="valid-type,no-untyped-def,no-untyped-call,misc"
"""Doubly constrained position-based dynamics (Barreiro et al. 2017, Algorithm 2).

Where it deviates from the paper, and why:
- Gradients carry a first-order correction, so that rotation survives the velocity projection too.
- The velocity projection is solved by preconditioned conjugate gradients (Jacobi is an option).
- Bends, three more multipliers per particle, resist what such gradients cannot see (`operators`).
- Between particles of materials that keep their volume by stress, density corrections are shifts:
  they move particles and not the fluid (`density_kernels.apply_pressure_change`).
- Multipliers are stresses in Pa. They carry over from the velocity to the position projection, so a
  compliant material does not answer twice, and from step to step as a warm start.
- The position projection keeps gradients and directions of the start of the step and measures strain
  in the rotated frame. Its corrections have no torque about x⁰, which is what keeps angular momentum
  when velocities are taken as (x − x⁰)/Δt (as in SHAKE).
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import quadrants as qd

from viscoil.core.timing import PhaseClock
from viscoil.forces.surface_tension import SurfaceTension
from viscoil.forces.xsph import smooth_velocities
from viscoil.materials.table import Materials
from viscoil.neighbors.pairs import Neighbors
from viscoil.neighbors.scale import make_scale
from viscoil.neighbors.smoothing import Smoothing
from viscoil.particles.store import Particles
from viscoil.scene import SolverSettings
from viscoil.solvers.dcpbd import operators, position_kernels, velocity_kernels
from viscoil.solvers.dcpbd.projections import (
    MARGIN,
    Convergence,
    DensityError,
    PositionProjection,
    StepContext,
    VelocityProjection,
    constrain,
)
from viscoil.solvers.dcpbd.workspace import Fluid, Unknowns, Workspace
from viscoil.walls import coupling
from viscoil.walls.boundary import Boundary

if TYPE_CHECKING:
    from viscoil.forces.fields.force_fields import ForceFields
    from viscoil.forces.heat.heat import Heat


@dataclass(frozen=True)
class StepReport:
    velocity: Convergence
    position: Convergence
    density: DensityError


@qd.kernel(fastcache=True)
def _accelerate(n: qd.i32, dt: qd.f32, gx: qd.f32, gy: qd.f32, gz: qd.f32, unknowns: Unknowns):
    """u* ← u⁰ + Δt g, in both arrays."""
    for i in range(n):
        free = unknowns.velocity[i] + dt * qd.Vector([gx, gy, gz])
        unknowns.velocity[i] = free
        unknowns.trial[i] = free


@qd.kernel(fastcache=True)
def _finish(n: qd.i32, dt: qd.f32, fluid: Fluid, unknowns: Unknowns):
    """u ← (x − x⁰)/Δt without shifts, x⁰ ← x."""
    for i in range(n):
        unknowns.velocity[i] = position_kernels.displacement(fluid, unknowns, i) / dt
        fluid.position[i] = unknowns.trial[i]


class DCPBD:
    """The solver: `step` advances particles by one time step."""

    def __init__(
        self, settings: SolverSettings, spacing: float, neighbors: Neighbors, clock: PhaseClock
    ) -> None:
        self.settings = settings
        self.kind = Smoothing[settings.smoothing.upper()]
        mixed = neighbors.sizes != (1.0,)
        self.scale = make_scale(spacing, settings.support, self.kind, mixed)
        self.neighbors = neighbors
        self.clock = clock
        self._workspace = Workspace()
        self._add_surface_tension = SurfaceTension(spacing, settings.support)
        self._project_velocities = VelocityProjection(settings)
        self._project_positions = PositionProjection(settings, self.kind, self.scale)

    def step(
        self,
        particles: Particles,
        materials: Materials,
        boundary: Boundary,
        gravity: tuple[float, float, float],
        dt: float,
        fields: "ForceFields | None" = None,
        heat: "Heat | None" = None,
    ) -> StepReport:
        """Algorithm 2; `fields` act on velocities together with gravity, `heat` softens materials."""
        self.scale.dt = dt
        materials.update(dt)
        if materials.any_active or materials.largest("surface_tension") > 0.0:
            particles.add_stress()
        with self.clock("neighbors"):
            self.neighbors.update(particles, (1.0 + MARGIN) * self.scale.support)
        if particles.count == 0:  # all of them were dead, or none were born
            self._workspace.follow(particles)
            return StepReport(Convergence(), Convergence(), DensityError(0.0, 0.0))
        c = self._context(particles, materials, boundary)
        if heat is not None:
            heat.soften(c, particles)
        with self.clock("prepare"):
            self._prepare(c)
        if heat is not None:
            with self.clock("heat"):
                heat.flow(c, particles)
        if fields is None:
            _accelerate(c.n, dt, *gravity, c.unknowns)
        else:
            fields.act(c, gravity, dt)
        self._add_surface_tension(c)
        with self.clock("velocity projection"):
            velocity = self._velocities(c)
            c.boundary.rein_in(c.n, c.scale, c.fluid, c.unknowns.velocity)
        with self.clock("position projection"):
            position, error = self._project_positions(c, materials.any_active)
        with self.clock("conformation"):
            self._finish(c)
        smooth_velocities(c, int(self.kind))
        return StepReport(velocity, position, error)

    def _context(
        self, particles: Particles, materials: Materials, boundary: Boundary
    ) -> StepContext:
        fluid = self._workspace.fluid(particles, self.neighbors.pairs, self.neighbors.period)
        unknowns = self._workspace.unknowns(particles)
        return StepContext(
            particles.count, self.neighbors.is_periodic, self.scale, materials, fluid, unknowns,
            boundary, self.kind,
        )  # fmt: skip

    def _prepare(self, c: StepContext) -> None:
        corrected = self.settings.gradients == "corrected"
        operators.prepare(
            c.n, int(self.kind), c.periodic, corrected, c.materials.any_active, c.scale,
            c.materials.table, c.fluid,
        )  # fmt: skip
        friction = c.materials.table.wall_friction
        c.boundary.find(c.n, c.periodic, c.scale, c.fluid, c.unknowns.velocity, friction)
        if c.boundary.coupled:
            coupling.place_bodies(c.scale.dt, c.boundary.walls)

    def _velocities(self, c: StepContext) -> Convergence:
        if self.settings.projection == "doubly" and c.materials.any_active:
            return self._project_velocities(c)
        if c.materials.any_active:
            velocity_kernels.scale_stress(c.n, 0.0, c.unknowns)
        constrain(c, through_stress=False)
        return Convergence()

    def _finish(self, c: StepContext) -> None:
        if c.materials.any_active:
            position_kernels.displacements(c.n, c.fluid, c.unknowns)
            position_kernels.update_conformation(
                c.n, c.periodic, self.settings.conformation_update == "implicit", c.scale,
                c.materials.table, c.fluid, c.unknowns,
            )  # fmt: skip
        _finish(c.n, c.scale.dt, c.fluid, c.unknowns)
