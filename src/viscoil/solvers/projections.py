"""The two projections of DC-PBD, as loops of kernels (Barreiro 2017, sections 5.2 and 5.3)."""

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import quadrants as qd

from viscoil.compute import scalars, view, write
from viscoil.constraints.density import smoothing_slope, wall_table
from viscoil.reductions import block_count, sum_doubles
from viscoil.scene import SolverSettings
from viscoil.smoothing import Smoothing
from viscoil.solvers import density_kernels as density
from viscoil.solvers import position_kernels, velocity_kernels
from viscoil.solvers.contact import Boundary
from viscoil.solvers.tables import Materials, Scale
from viscoil.solvers.workspace import Fluid, Unknowns

FIRST_SHARE = 0.6  # of the iterations, before contacts are chosen a second time
MARGIN = 0.02  # of the support: how much farther than it neighbours are listed


@dataclass
class StepContext:
    """Everything that the projections of one step share."""

    n: int
    periodic: bool
    scale: Scale
    materials: Materials
    fluid: Fluid
    unknowns: Unknowns
    boundary: Boundary


@dataclass(frozen=True)
class Convergence:
    iterations: int = 0
    residual: float = 0.0  # relative, of the conformation system


class BlockSums:
    """Scratch for sums that do not depend on the number of threads."""

    def __init__(self) -> None:
        self.array: Any = scalars(qd.f64, 1)

    def reserve(self, n: int) -> Any:
        if self.array.shape[0] < 4 * block_count(n):
            self.array = scalars(qd.f64, 4 * block_count(n) + 16)
        return self.array

    def total(self, n: int) -> float:
        return float(sum_doubles(block_count(n), self.array))

    def totals(self, n: int) -> tuple[float, float]:
        """Of two sums that lie interleaved."""
        pairs = view(self.array, 2 * block_count(n)).reshape(-1, 2)
        return float(pairs[:, 0].sum()), float(pairs[:, 1].sum())


class VelocityProjection:
    """Projects u* to the conformation constraints: one linear system in the stresses."""

    def __init__(self, settings: SolverSettings) -> None:
        self.settings = settings
        self._sums = BlockSums()

    def __call__(self, c: StepContext) -> Convergence:
        """u ← u** and σ; `velocity` and `trial` both hold u*.

        When most iterations are done contacts are chosen again; if one of them opened or closed,
        the rest is spent on the system with the new ones.
        """
        self._sums.reserve(c.n)
        budget = self.settings.velocity_iterations
        right_side = self._warm_start(c)
        self._choose_contacts(c)
        residual = self._start(c)
        share = FIRST_SHARE if c.boundary.count else 1.0
        used, residual = self._iterate(c, round(share * budget), residual, right_side)
        if c.boundary.count and used < budget:
            if self._choose_contacts(c):
                residual = self._start(c)
            else:
                velocity_kernels.load_direction(c.n, c.scale, c.fluid, c.unknowns)
            more, residual = self._iterate(c, budget - used, residual, right_side)
            used += more
        relative = (residual / right_side) ** 0.5 if right_side > 0.0 else 0.0
        return Convergence(used, relative)

    def _warm_start(self, c: StepContext) -> float:
        """Scales the stresses of the last step to fit this one; returns b·b of the right side.

        Of all s σ the one with s = σ·b / σ·Aσ is nearest to the solution in the energy norm: it
        keeps the stresses of a body at rest and drops those of an impact.
        """
        c.boundary.constrain_velocities(c.scale, c.fluid.position, c.unknowns.velocity, True)
        velocity_kernels.right_side(
            c.n, c.periodic, self.settings.corotation, c.scale, c.materials.table, c.fluid,
            c.unknowns, self._sums.array,
        )  # fmt: skip
        size, along = self._sums.totals(c.n)
        velocity_kernels.response(
            c.n, c.periodic, c.scale, c.materials.table, c.fluid, c.boundary.contacts, c.unknowns,
            self._sums.array,
        )  # fmt: skip
        curvature = self._sums.total(c.n)
        factor = along / curvature if curvature > 0.0 else 0.0
        velocity_kernels.scale_stress(c.n, min(max(factor, 0.0), 1.0), c.unknowns)
        return size

    def _choose_contacts(self, c: StepContext) -> bool:
        """u ← u* + M⁻¹Jᵀσ, then walls hold whom they meet; whether that changed."""
        velocity_kernels.load_stress(c.n, c.scale, c.fluid, c.unknowns)
        velocity_kernels.velocities_under_stress(c.n, c.periodic, c.scale, c.fluid, c.unknowns)
        return c.boundary.constrain_velocities(c.scale, c.fluid.position, c.unknowns.velocity, True)

    def _start(self, c: StepContext) -> float:
        velocity_kernels.start_conjugate_gradients(
            c.n, c.periodic, self.settings.corotation, c.scale, c.materials.table, c.fluid,
            c.unknowns, self._sums.array,
        )  # fmt: skip
        return self._sums.total(c.n)

    def _iterate(
        self, c: StepContext, budget: int, residual: float, reference: float
    ) -> tuple[int, float]:
        if self.settings.velocity_solver == "jacobi":
            return self._jacobi(c, budget)
        return self._conjugate_gradients(c, budget, residual, reference)

    def _conjugate_gradients(
        self, c: StepContext, budget: int, rz: float, reference: float
    ) -> tuple[int, float]:
        enough = self.settings.velocity_tolerance**2 * reference
        for k in range(budget):
            if rz <= enough or rz == 0.0:
                return k, rz
            rz = velocity_kernels.conjugate_gradient_iteration(
                c.n, c.periodic, rz, c.scale, c.materials.table, c.fluid, c.boundary.contacts,
                c.unknowns, self._sums.array,
            )  # fmt: skip
        return budget, rz

    def _jacobi(self, c: StepContext, budget: int) -> tuple[int, float]:
        rz = 0.0
        for _ in range(budget):
            velocity_kernels.jacobi_from_velocities(
                c.n, c.periodic, self.settings.corotation, self.settings.jacobi_relaxation,
                c.scale, c.materials.table, c.fluid, c.unknowns, self._sums.array,
            )  # fmt: skip
            rz = self._sums.total(c.n)
            velocity_kernels.add_velocity_change(c.n, c.periodic, c.scale, c.fluid, c.unknowns)
            c.boundary.constrain_velocities(c.scale, c.fluid.position, c.unknowns.velocity, True)
        return budget, rz


@dataclass(frozen=True)
class DensityError:
    mean: float  # of the compression max(C, 0)
    largest: float
    outran: int = (
        0  # particles that moved farther against a neighbour than the pair list allows for
    )
    unbalanced: float = 0.0  # mean error of C ≤ 0, p ≥ 0, p C = 0: also pressure that pulls apart


class Momentum:
    """Nesterov's weights, started again when they carried too far (O'Donoghue and Candès 2015)."""

    def __init__(self) -> None:
        self._t = 1.0

    def next(self, overshoot: float) -> float:
        if overshoot > 0.0:
            self._t = 1.0
        before, self._t = self._t, 0.5 * (1.0 + math.sqrt(1.0 + 4.0 * self._t**2))
        return (before - 1.0) / self._t


class PositionProjection:
    """Projects y to density and conformation constraints, one Jacobi iteration of each in turn."""

    def __init__(self, settings: SolverSettings, kind: Smoothing, scale: Scale) -> None:
        self.settings = settings
        self.kind = int(kind)
        self._sums = BlockSums()
        self._wall_table = scalars(qd.f32, 129)
        write(self._wall_table, wall_table(kind, settings.support))
        self._shifting = False
        self._least_stiffness = 0.1 * _lattice_stiffness(kind, settings.support, scale)

    def __call__(self, c: StepContext, conform: bool) -> tuple[Convergence, DensityError]:
        """y ← projected positions, going on from the pressures and stresses already applied."""
        self._sums.reserve(c.n)
        position_kernels.clear_sums(c.n, c.unknowns)
        self._shifting = conform and self.settings.projection == "doubly"
        self._push_out(c)
        outran = self._prepare_stiffness(c)
        momentum = Momentum()
        overshoot = 0.0
        iterations, residual = 0, 0.0
        while True:
            error, overshoot = self._change_pressure(c, momentum.next(overshoot))
            if self._done(iterations, error):
                density.settle_pressures(c.n, c.unknowns)
                return Convergence(iterations, residual), replace(error, outran=outran)
            self._correct_density(c)
            if conform:
                residual = self._correct_conformation(c)
            iterations += 1

    def _done(self, iterations: int, error: DensityError) -> bool:
        s = self.settings
        if iterations >= s.max_position_iterations:
            return True
        return iterations >= s.position_iterations and error.unbalanced < s.density_tolerance

    def _prepare_stiffness(self, c: StepContext) -> int:
        """Once per step; returns how many particles outran the margin of the pair list."""
        density.prepare_stiffness(
            c.n, self.kind, c.periodic, self._least_stiffness, MARGIN, c.boundary.collider_count,
            c.scale, c.fluid, c.boundary.colliders, self._wall_table, c.unknowns, self._sums.array,
        )  # fmt: skip
        return round(self._sums.total(c.n))

    def _change_pressure(self, c: StepContext, momentum: float) -> tuple[DensityError, float]:
        density.change_pressure(
            c.n, self.kind, c.periodic, momentum, c.boundary.collider_count, c.scale, c.fluid,
            c.boundary.contacts, c.boundary.colliders, self._wall_table, c.unknowns,
            self._sums.array,
        )  # fmt: skip
        blocks = view(self._sums.array, 4 * block_count(c.n)).reshape(-1, 4)
        total, _, unbalanced, overshoot = (float(v) for v in blocks.sum(axis=0))
        error = DensityError(total / c.n, float(blocks[:, 1].max()), unbalanced=unbalanced / c.n)
        return error, overshoot

    def _apply_pressure_change(self, c: StepContext) -> None:
        density.apply_pressure_change(
            c.n, self.kind, c.periodic, self._shifting, c.boundary.collider_count, c.scale,
            c.fluid, c.boundary.colliders, self._wall_table, c.unknowns,
        )  # fmt: skip

    def _correct_density(self, c: StepContext) -> None:
        self._apply_pressure_change(c)
        density.move(c.n, c.scale, c.fluid, c.unknowns)
        self._push_out(c)

    def _correct_conformation(self, c: StepContext) -> float:
        position_kernels.jacobi_from_positions(
            c.n, c.periodic, self.settings.corotation, self.settings.jacobi_relaxation, c.scale,
            c.materials.table, c.fluid, c.unknowns, self._sums.array,
        )  # fmt: skip
        residual = self._sums.total(c.n)
        position_kernels.add_position_change(c.n, c.periodic, c.scale, c.fluid, c.unknowns)
        self._push_out(c)
        return residual

    def _push_out(self, c: StepContext) -> None:
        c.boundary.constrain_positions(
            c.scale, c.fluid.position, c.unknowns.trial, c.unknowns.shift
        )


def _lattice_stiffness(kind: Smoothing, support: float, scale: Scale) -> float:
    """Σ_j V_j² |∇W_ij|² m of a full cubic lattice (DYVERSO's prototype neighbourhood), m⁻²."""
    reach = math.ceil(support)
    axis = np.arange(-reach, reach + 1)
    x = np.stack(np.meshgrid(axis, axis, axis, indexing="ij"), -1).reshape(-1, 3)
    q = np.linalg.norm(x[x.any(axis=1)], axis=1) / support
    # gradient_scale goes with w'(q)/q · x
    arms = scale.volume * scale.gradient_scale * smoothing_slope(kind, q) * scale.support
    return float((arms**2).sum())
