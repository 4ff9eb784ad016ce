"""The velocity projection of DC-PBD (Barreiro 2017, section 5.2): one linear system in the stresses."""

from dataclasses import dataclass

from viscoil.scene import DcpbdSettings
from viscoil.solvers.dcpbd import acting_stress, pressure_rows, velocity_system
from viscoil.solvers.dcpbd.context import StepContext
from viscoil.solvers.dcpbd.tolerances import tolerated_strain
from viscoil.solvers.linear.conjugate_gradients import Limits
from viscoil.solvers.linear.iterations import Loop

# Where a body hardly moves, iterations go on to the tolerance of this share of a tolerated strain. Rates
# that are left, r = tolerance · share · 0.05 √(g/d), may add up over a body of N layers to N d r/2: with
# ten layers to 5e-5 √(g d), 0.02 mm/s at a spacing of 2 cm. With all of it fluids at rest crept at 0.2;
# with half of this they need half as many iterations more, and are no calmer.
STILLNESS = 0.2


@dataclass(frozen=True)
class Convergence:
    """How far a loop of iterations got."""

    iterations: int = 0
    residual: float = 0.0  # relative, of the conformation system
    unsolved: float = 0.0  # what it exceeds the tolerance by


class VelocityProjection:
    """Projects u* to the conformation constraints."""

    def __init__(self, settings: DcpbdSettings) -> None:
        self.settings = settings
        self._loop = Loop()
        self._limits = Limits(
            enough=0.0,
            tolerable=0.0,
            usual=settings.velocity_iterations,
            most=settings.max_velocity_iterations,
        )

    def __call__(self, c: StepContext) -> Convergence:
        """u ← u** and σ from u*.

        Contact is part of every iteration (`velocity_system.advance_rest`).
        """
        if self.settings.projection != "doubly" or not c.carries_stress:
            return self._contacts_alone(c)
        acting_stress.keep_free_velocities(c.n, c.unknowns)
        self._loop.reserve(c.n)
        size, tolerated = self._warm_start(c)
        self._let_stress_act(c)
        residual = self._start(c)
        used, residual = self._iterate(c, residual, size, tolerated)
        if c.view.walls.arrays.coupled:
            pressure_rows.tell_walls(
                c.n, c.view.scale, c.view.near, c.view.walls.arrays, c.stencil, c.unknowns
            )
        reference = size + tolerated
        relative = (residual / reference) ** 0.5 if reference > 0.0 else 0.0
        unsolved = max(relative - self.settings.velocity_tolerance, 0.0)
        return Convergence(used, relative, unsolved)

    def _contacts_alone(self, c: StepContext) -> Convergence:
        """u** ← u* outside of walls."""
        if c.carries_stress:
            acting_stress.scale_stress(c.n, 0.0, c.unknowns)
        c.view.walls.constrain_velocities(c.view.scale, c.view.near, c.unknowns.velocity)
        return Convergence()

    def _warm_start(self, c: StepContext) -> tuple[float, float]:
        """Scales the stresses of the last step to fit this one; returns b·z(b) and f·z(f) (`right_side`).

        Of all s σ the one with s = σ·b / σ·Aσ is nearest to the solution in the energy norm: it
        keeps the stresses of a body at rest and drops those of an impact. Contacts are those under
        these stresses: fluid at rest is pressed against side walls by nothing else, and without them
        its stresses seem to drive it apart.
        """
        self._let_stress_act(c)
        acting_stress.free_velocities(
            c.n, c.view.scale.dt, c.view.near, c.view.walls.arrays, c.unknowns
        )
        velocity_system.right_side(c.n, tolerated_strain(c.view), c.system, self._loop.arrays)
        size, along, tolerated = self._loop.totals(c.n, 3)
        self._loop.start({})
        velocity_system.respond_to_direction(c.n, c.system, self._loop.arrays)
        curvature = self._loop.total(c.n) + self._loop.number(4)
        factor = along / curvature if curvature > 0.0 else 0.0
        acting_stress.scale_stress(c.n, min(max(factor, 0.0), 1.0), c.unknowns)
        return size, tolerated

    def _let_stress_act(self, c: StepContext) -> None:
        """u ← Π(u* + M⁻¹Jᵀσ)."""
        scale, near, walls = c.view.scale, c.view.near, c.view.walls.arrays
        acting_stress.let_stress_act(c.n, scale, near, c.stencil, c.unknowns)
        acting_stress.velocities_under_stress(c.n, scale, near, walls, c.stencil, c.unknowns)
        c.view.walls.constrain_velocities(scale, near, c.unknowns.velocity, in_solve=True)

    def _start(self, c: StepContext) -> float:
        velocity_system.start_conjugate_gradients(c.n, c.system, self._loop.arrays)
        return self._loop.total(c.n)

    def _iterate(
        self, c: StepContext, residual: float, size: float, tolerated: float
    ) -> tuple[int, float]:
        """Iterations and what they leave of r·z, for a right side of this size and what is tolerated."""
        wanted, limits = self.settings, self._limits
        if wanted.velocity_solver == "jacobi":
            return self._jacobi(c, wanted.velocity_iterations)
        limits.enough = wanted.velocity_tolerance**2 * (size + STILLNESS**2 * tolerated)
        limits.tolerable = wanted.max_velocity_residual**2 * (size + tolerated)
        return self._conjugate_gradients(c, residual, limits)

    def _conjugate_gradients(self, c: StepContext, rz: float, limits: Limits) -> tuple[int, float]:
        if limits.most == 0 or rz <= limits.enough:
            return 0, rz
        self._loop.start({0: rz})
        velocity_system.conjugate_gradients(self._loop.go, c.n, limits, c.system, self._loop.arrays)
        return self._loop.iterations, self._loop.number(0)

    def _jacobi(self, c: StepContext, budget: int) -> tuple[int, float]:
        rz = 0.0
        scale, near = c.view.scale, c.view.near
        for _ in range(budget):
            velocity_system.jacobi_from_velocities(
                c.n, self.settings.jacobi_relaxation, c.system, self._loop.arrays
            )
            rz = self._loop.total(c.n)
            acting_stress.add_velocity_change(
                c.n, scale, near, c.view.walls.arrays, c.stencil, c.unknowns
            )
            c.view.walls.constrain_velocities(
                scale, near, c.unknowns.velocity, in_solve=True, anew=False
            )
        return budget, rz
