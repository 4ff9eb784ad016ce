"""Doubly constrained position-based dynamics (Barreiro et al. 2017, Algorithm 2).

Where it deviates from the paper, and why. In the velocity projection:
- Gradients carry a first-order correction, so that rotation survives it too. Where neighbours are few or
  lie in a plane there is none, and no stress (`operators.invert_moment`); pairs of less than half a
  percent of a near one's weight are left out (`operators.least_weight`).
- It is solved by preconditioned conjugate gradients (Jacobi is an option), and in fluids together with
  the pressures that keep full neighbourhoods from getting fuller (`pressure_rows`).
- Contacts are part of every iteration: walls are planes for a step (`walls.planes`), reactions push and
  do not pull, and friction is in proportion to the whole load of a step.
- To fluid that rests on a sticky wall, the wall's surface is one more neighbour (`no_slip`). Bodies that
  fluid moves are part of the solve: it clings to them and presses on them (`walls.body_loads`).
- Bends, three more multipliers per particle, resist what such gradients cannot see (`operators`).
- Particles that no wall expected are kept from reaching one (`Walls.bound_others`): forces and stresses
  may throw them farther than the search for contacts looked.

In the position projection:
- It keeps gradients and directions of the start of the step and measures strain in the rotated frame.
  Its corrections have no torque about x⁰, which is what keeps angular momentum (as in SHAKE).
- Between particles of materials that keep their volume by stress, what is left of an old density error
  is undone by shifts: they move particles and not the fluid (`shifts`).
- Walls mirror particles (`walls.mirrors`), and images push as particles do: a share of the density behind
  walls would hold fluid at rest less well beside them than elsewhere.
- The shear stress that an arrangement of particles has under pressure is relieved (`relief`).
- Pressures push along the ways between particles at x⁰, as far as that is stable (`lateness`): where the
  step ends they would make it backward Euler, in which waves die.
- Density iterations have Nesterov's momentum, and start from half of the last step's pressures, from all
  of those of firm particles and of pressures that the velocity projection solves for
  (`position_projection.RECALLED_SHARE`). They act as forces before it, so that stress answers to what
  they leave over.
- What longer steps have left of a density error, shorter ones undo as slowly as these would have
  (`position_projection.StepMemory`), and the tolerance of short steps is a rate.
- Fluid that has no surface is full at the mean density that it has, if that is more than it should be
  and no pressure undoes it (`position_projection.SealedFluid`).
- No iteration moves a particle by more than half a spacing, and no step shifts one by more than a whole
  (`positions.move`): beyond that its neighbours at x⁰ are not those that it meets.
- Velocities are no differences of positions, and positions are compensated sums (`positions.finish`):
  else rounding would take away what short steps do.
- Stress that it adds is not kept for the next step (`conformation_update`): where density and
  conformation ask for what cannot be had together, it would pile up.
- Velocities that differ from particle to particle are damped in thin fluids (`short_waves`).

In materials, multipliers and memory:
- Multipliers are stresses in Pa. They carry over from the velocity to the position projection, so a
  compliant material does not answer twice, and from step to step as a warm start.
- β/n of Jacobi iterations stands on multipliers, which keeps momentum, with n at least 25
  (`jacobi.relaxation_factor`).
- Every compliance has a floor of 1e-5 of the system's diagonal (`elasticity.least_compliance`), so that
  the system is definite.
- Viscous materials resist a change of volume 50 times as much as one of shape, so that threads that
  are pulled thin instead of tearing (`coefficients`).
- Where a fluid without elastic memory is not pressed, it remembers its pressure as a strain of its
  volume, so that it does not sink into itself (`conformation_update.squeezed`).
- A material without compliance undoes a fifth of a remembered strain in a step (`elasticity.recovery`)
  and forgets a tenth of it (`elasticity.leak`): it would be nothing but errors of iterations.
- Q is updated at the end of the step, with the deformation that it really ended with, and convected
  (`constraints.conformation.convect`; eq. 6 as printed is an option).
"""

import math
from collections.abc import Iterable, Mapping
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from viscoil.core.compute import view
from viscoil.core.figures import Figure
from viscoil.core.timing import PhaseClock
from viscoil.neighbors.pairs import Neighbors
from viscoil.particles.store import ChannelKind
from viscoil.scene import DcpbdSettings, Material, Scene, SolverSettings
from viscoil.solvers.dcpbd import conformation_update, operators
from viscoil.solvers.dcpbd.arrays import CONTACT, PRESSURE, STRESS
from viscoil.solvers.dcpbd.context import ContextMaker, StepContext
from viscoil.solvers.dcpbd.position_projection import (
    MARGIN,
    DensityError,
    PositionProjection,
    ends_with_shifts,
    joins_pressures,
)
from viscoil.solvers.dcpbd.relief import MOST_UNEVEN, relieve
from viscoil.solvers.dcpbd.short_waves import damp_short_waves, damped_share
from viscoil.solvers.dcpbd.velocity_projection import Convergence, VelocityProjection
from viscoil.solvers.protocol import Solver, State

# At the peak of a step, per particle: `make bench` measured 682, and 333 for water, before `relief` added
# 48 to both. The rest is room for six to nine more pairs a particle (8 bytes each, 4 for water) than the
# 31 of the blocks that were measured, or for contacts with walls.
BYTES_UNDER_STRESS = 780.0
BYTES_WITHOUT_STRESS = 420.0
# Of what is stable, 0.42 (`pressure_stiffness`), about half: a stack of cubes fell over with twice it.
STIFFEST_CONTACT = 0.21
SHORTEST_FOR_CONTACT = 5e-4  # s: an impact must not stop the clock
POSITION_KERNELS = (
    "positions.iterate", "positions.predict", "operators.prepare_stencil", "positions.finish",
    "positions.press", "relief.relieve", "short_waves.damp_short_waves",
)  # fmt: skip
STRESS_KERNELS = (
    "conformation_update.update_conformation", "velocity_system.start_conjugate_gradients",
    "velocity_system.right_side", "velocity_system.conjugate_gradients",
    "velocity_system.respond_to_direction", "acting_stress.let_stress_act",
    "acting_stress.velocities_under_stress",
    "acting_stress.scale_stress", "acting_stress.free_velocities",
    "acting_stress.keep_free_velocities", "reductions.sum_doubles",
    "shifts.begin_shifts",
)  # fmt: skip


class DCPBD(Solver):
    """The solver: `step` is Algorithm 2 of the paper."""

    settings_model: ClassVar[type[SolverSettings]] = DcpbdSettings
    figures: ClassVar[tuple[Figure, ...]] = (
        Figure(
            "density_error_mean", "mean", panel="density-error", axis="compression, relative",
            logarithmic=True, progress="density error {:.1e}",
        ),
        Figure(
            "density_error_max", "largest", panel="density-error", logarithmic=True, doubtful=0.2
        ),
        Figure(
            "velocity_iterations", "velocity", panel="iterations", axis="iterations of a step",
            whole=True,
        ),
        Figure("position_iterations", "position", panel="iterations"),
        Figure("outran_neighbors", "particles that outran their pairs"),
        Figure(
            "conformation_residual", "residual of the velocity projection", panel="residual",
            axis="relative residual", logarithmic=True, aim=0.01,
            remedy="give more solver.max_velocity_iterations, or take shorter steps",
        ),
    )  # fmt: skip
    advice: ClassVar[str] = "more solver.max_velocity_iterations"

    def __init__(
        self, settings: DcpbdSettings, spacing: float, neighbors: Neighbors, clock: PhaseClock
    ) -> None:
        super().__init__(settings, spacing, neighbors, clock)
        self._context = ContextMaker(settings.corotation)
        self._project_velocities = VelocityProjection(settings)
        self._project_positions = PositionProjection(settings, self.smoothing, self.scale)

    @classmethod
    def channels(
        cls, materials: Iterable[Material], wanted: Iterable[str] = ()
    ) -> Mapping[str, ChannelKind]:
        """A pressure, and where a material carries stress, or an output wants to see it, stresses."""
        stress = any(m.carries_stress for m in materials) or bool({*wanted} & STRESS.keys())
        return {**PRESSURE, **(STRESS if stress else {})}

    @classmethod
    def bytes_per_particle(cls, materials: Iterable[Material], wanted: Iterable[str] = ()) -> float:
        """At the peak of a step, as measured."""
        stress = "stress" in cls.channels(materials, wanted)
        return BYTES_UNDER_STRESS if stress else BYTES_WITHOUT_STRESS

    @classmethod
    def kernels(cls, scene: Scene) -> tuple[tuple[str, ...], dict[str, Any]]:
        """All of a step, and what the settings compile into them."""
        settings = scene.solver
        assert isinstance(settings, DcpbdSettings)
        stress = any(m.carries_stress for m in scene.materials.values())
        values = {
            "corrected": settings.gradients == "corrected",
            "active": stress,
            "conforming": stress,
            "joint": stress and joins_pressures(settings),
            "shifting": stress and ends_with_shifts(settings),
            "corotated": settings.corotation,
            "prototype": settings.stiffness == "prototype",
            "implicit": settings.conformation_update == "implicit",
            "late": settings.projection != "doubly",
        }
        dynamic = any(spec.shape != "plane" and spec.dynamic for spec in scene.colliders)
        tracked = dynamic or (scene.simulation.report_forces and bool(scene.colliders))
        told = ("pressure_rows.tell_walls",) if stress and tracked else ()
        return (*POSITION_KERNELS, *(STRESS_KERNELS if stress else ()), *told), values

    def step(self, state: State, dt: float) -> Mapping[str, float]:
        """Algorithm 2 of the paper in its order, then Q; x¹ and u¹ are what it calls x and u."""
        c = self._begin(state, dt)
        if c is None:
            return _report(Convergence(), Convergence(), DensityError())
        with self.clock("prepare"):
            # J at x⁰ (eq. 13), and the particles that walls may touch
            self._prepare(c)
        # u* = u⁰ + Δt M⁻¹ f(x⁰)
        state.forces.act(c.view, c.unknowns.velocity)
        with self.clock("position projection"):
            # u* without what resists shear in the arrangement of particles
            self._relieve(c)
            # and with what is recalled of the last step's pressures
            self._project_positions.press(c)
        # the planes that walls are to x⁰ + Δt u*
        self._choose_planes(c)
        with self.clock("velocity projection"):
            # u** = u* + M⁻¹ Jᵀ σ with C(u**) = a σ (eqs. 7 to 13)
            velocity = self._project_velocities(c)
            self._project_positions.steps.unsolved = velocity.unsolved
            # u** of particles that no wall expects: not as far as a wall
            self._bound_velocities(c)
        with self.clock("position projection"):
            # x** = x* + Δt (u** − u*) = x⁰ + Δt u**
            self._project_positions.predict(c)
            # x¹ = x** projected to C(x¹) ≤ 0 and C̃(x¹) = a σ (eqs. 14 to 18)
            position, error = self._project_positions(c)
        with self.clock("conformation"):
            # Q¹ from Q⁰ and ∇(x¹ − x⁰) (eq. 6)
            self._update_conformation(c)
            # x¹ = x⁰ + Δt u¹ and shifts
            self._project_positions.finish(c)
            # u¹ without what trembles
            self._damp_short_waves(c)
        state.forces.finish(c.view, c.unknowns.velocity)
        return _report(velocity, position, error)

    def longest_step(self, state: State) -> float:
        """Where separate bodies press on each other, p Δt²/(ρ d²) stays below `STIFFEST_CONTACT`."""
        n = state.particles.count
        if n == 0 or "body" not in state.particles:
            return math.inf
        body, pressure = (view(state.particles.array(name), n) for name in ("body", "pressure"))
        largest = float(pressure[body > 0].max(initial=0.0))
        lightest = min(m.density for m in state.materials.materials)
        if largest <= 0.0:
            return math.inf
        stable = float(self.scale.spacing) * math.sqrt(STIFFEST_CONTACT * lightest / largest)
        return max(stable, SHORTEST_FOR_CONTACT)

    def save(self) -> Mapping[str, npt.NDArray[np.generic]]:
        """How long the last steps were, how well solved, and how overfull sealed fluid is."""
        excess = self._project_positions.sealed.excess
        return {"steps": self._project_positions.steps.save(), "excess": np.array([excess])}

    def load(self, arrays: Mapping[str, npt.NDArray[np.generic]]) -> None:
        """Takes that back; checkpoints of earlier versions do not hold it."""
        rest = dict(arrays)
        if "steps" in rest:
            self._project_positions.steps.load(rest.pop("steps"))
        if "excess" in rest:
            self._project_positions.sealed.excess = float(rest.pop("excess")[0])
        super().load(rest)

    def _begin(self, state: State, dt: float) -> StepContext | None:
        """Materials, channels and neighbours of the step; None if no particle is left."""
        state.materials.update()
        state.particles.require(self.channels(state.materials.materials))
        if "body" in state.particles:
            state.particles.require(CONTACT)
        self.find_neighbors(state, MARGIN)
        if state.particles.count == 0:  # all of them were dead, or none were born
            self._context.workspace.follow(state.particles)
            return None
        c = self._context(self.view(state, dt))
        state.forces.begin(c.view)
        return c

    def _prepare(self, c: StepContext) -> None:
        view = c.view
        friction = view.materials.table.wall_friction
        view.walls.find(c.n, view.scale, view.near, c.unknowns.velocity, friction)
        operators.prepare_stencil(
            c.n, c.carries_stress, self.settings.gradients == "corrected", view.scale,
            c.materials, view.near, view.walls.arrays, c.unknowns.velocity, c.stencil,
        )  # fmt: skip

    def _relieve(self, c: StepContext) -> None:
        if self.settings.projection == "doubly":
            relieve(
                c.n, MOST_UNEVEN, c.view.scale, c.materials, c.view.materials.table.surface_tension,
                c.view.near, c.view.walls.arrays, c.stencil, c.unknowns,
            )  # fmt: skip

    def _choose_planes(self, c: StepContext) -> None:
        c.view.walls.choose_planes(c.view.scale, c.view.near, c.unknowns.velocity)

    def _bound_velocities(self, c: StepContext) -> None:
        c.view.walls.bound_others(c.n, c.view.scale, c.view.near, c.unknowns.velocity)

    def _update_conformation(self, c: StepContext) -> None:
        if c.carries_stress:
            conformation_update.update_conformation(
                c.n, self.settings.conformation_update == "implicit", c.view.scale,
                c.materials, c.view.near, c.view.walls.arrays, c.stencil, c.memory, c.unknowns,
            )  # fmt: skip

    def _damp_short_waves(self, c: StepContext) -> None:
        scale = c.view.scale
        share = damped_share(scale.dt, math.hypot(*c.view.gravity), scale.spacing)
        if share > 0.0 and self.settings.projection == "doubly":
            damp_short_waves(c.n, share, scale, c.view.near, c.stencil, c.unknowns)


def _report(velocity: Convergence, position: Convergence, error: DensityError) -> dict[str, float]:
    return {
        "velocity_iterations": velocity.iterations,
        "position_iterations": position.iterations,
        "density_error_mean": error.mean,
        "density_error_max": error.largest,
        "outran_neighbors": error.outran,
        "conformation_residual": velocity.residual,
    }
