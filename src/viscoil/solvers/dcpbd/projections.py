"""The two projections of DC-PBD, as loops of kernels (Barreiro 2017, sections 5.2 and 5.3)."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import quadrants as qd

from viscoil.constraints.density import wall_table
from viscoil.core.compute import scalars, view, write
from viscoil.core.reductions import block_count, sum_doubles
from viscoil.materials.table import Materials
from viscoil.neighbors.lattice import smoothing_slope
from viscoil.neighbors.scale import Scale
from viscoil.neighbors.smoothing import Smoothing
from viscoil.scene import SolverSettings
from viscoil.solvers.dcpbd import position_kernels, velocity_kernels
from viscoil.solvers.dcpbd.density_kernels import Tally
from viscoil.solvers.dcpbd.workspace import Fluid, Unknowns
from viscoil.walls import coupling
from viscoil.walls.boundary import Boundary

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
    smoothing: Smoothing


def constrain(c: StepContext, *, through_stress: bool, anew: bool = True) -> bool:
    """Walls hold whom they meet, and bodies move with them; whether any contact changed.

    `anew` tells that the velocities are those without any contact (see `coupling.hold`).
    """
    changed = c.boundary.constrain_velocities(c.scale, c.fluid, c.unknowns.velocity, through_stress)
    if c.boundary.coupled:
        coupling.hold(
            c.scale.dt, anew, c.boundary.walls, c.boundary.contacts, c.fluid, c.unknowns.velocity
        )
    return changed


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


class Progress:
    """What a loop of iterations inside one kernel is told and tells: launching each costs more.

    Kernels take `go` as their first argument. Its place among the compiled arguments must not depend
    on which others a variant of the kernel uses: Quadrants 1.3 remembers one place for all variants.
    """

    def __init__(self) -> None:
        self.go: Any = qd.ndarray(qd.i32, ())  # the loop repeats while it is not 0
        self.used: Any = scalars(qd.i32, 1)
        self.numbers: Any = scalars(qd.f64, 8)

    def start(self, numbers: Mapping[int, float]) -> None:
        """With these numbers at their places, and 0 elsewhere."""
        self.go.fill(1)
        write(self.used, [0])
        write(self.numbers, [numbers.get(k, 0.0) for k in range(8)])

    @property
    def iterations(self) -> int:
        return int(view(self.used)[0])

    def number(self, k: int) -> float:
        return float(view(self.numbers)[k])


class VelocityProjection:
    """Projects u* to the conformation constraints: one linear system in the stresses."""

    def __init__(self, settings: SolverSettings) -> None:
        self.settings = settings
        self._sums = BlockSums()
        self._progress = Progress()

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
        keeps the stresses of a body at rest and drops those of an impact. Contacts are those under
        these stresses: fluid at rest is pressed against side walls by nothing else, and without them
        its stresses seem to drive it apart.
        """
        self._choose_contacts(c)
        velocity_kernels.free_velocities(c.n, c.fluid, c.boundary.contacts, c.unknowns)
        velocity_kernels.right_side(
            c.n, c.periodic, self.settings.corotation, c.scale, c.materials.table, c.fluid,
            c.unknowns, self._sums.array,
        )  # fmt: skip
        size, along = self._sums.totals(c.n)
        velocity_kernels.response(
            c.n, c.periodic, c.boundary.coupled, c.scale, c.materials.table, c.fluid,
            c.boundary.walls, c.boundary.contacts, c.unknowns, self._sums.array,
        )  # fmt: skip
        curvature = self._sums.total(c.n)
        factor = along / curvature if curvature > 0.0 else 0.0
        velocity_kernels.scale_stress(c.n, min(max(factor, 0.0), 1.0), c.unknowns)
        return size

    def _choose_contacts(self, c: StepContext) -> bool:
        """u ← u* + M⁻¹Jᵀσ, then walls hold whom they meet; whether that changed."""
        velocity_kernels.load_stress(c.n, c.scale, c.fluid, c.unknowns)
        velocity_kernels.velocities_under_stress(c.n, c.periodic, c.scale, c.fluid, c.unknowns)
        return constrain(c, through_stress=True)

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
        if budget == 0 or rz <= enough:
            return 0, rz
        self._progress.start({0: rz})
        velocity_kernels.conjugate_gradients(
            self._progress.go, c.n, c.periodic, c.boundary.coupled, budget, enough, c.scale,
            c.materials.table, c.fluid, c.boundary.walls, c.boundary.contacts, c.unknowns,
            self._sums.array, self._progress.used, self._progress.numbers,
        )  # fmt: skip
        return self._progress.iterations, self._progress.number(0)

    def _jacobi(self, c: StepContext, budget: int) -> tuple[int, float]:
        rz = 0.0
        for _ in range(budget):
            velocity_kernels.jacobi_from_velocities(
                c.n, c.periodic, self.settings.corotation, self.settings.jacobi_relaxation,
                c.scale, c.materials.table, c.fluid, c.unknowns, self._sums.array,
            )  # fmt: skip
            rz = self._sums.total(c.n)
            velocity_kernels.add_velocity_change(c.n, c.periodic, c.scale, c.fluid, c.unknowns)
            constrain(c, through_stress=True, anew=False)
        return budget, rz


@dataclass(frozen=True)
class DensityError:
    mean: float  # of the compression max(C, 0)
    largest: float
    outran: int = (
        0  # particles that moved farther against a neighbour than the pair list allows for
    )
    unbalanced: float = 0.0  # mean error of C ≤ 0, p ≥ 0, p C = 0: also pressure that pulls apart


class PositionProjection:
    """Projects y to density and conformation constraints, one Jacobi iteration of each in turn."""

    def __init__(self, settings: SolverSettings, kind: Smoothing, scale: Scale) -> None:
        self.settings = settings
        self.kind = int(kind)
        self._sums = BlockSums()
        self._progress = Progress()
        self._wall_table = scalars(qd.f32, 129)
        write(self._wall_table, wall_table(kind, settings.support))
        share = 1.0 if settings.stiffness == "prototype" else 0.1
        self._least_stiffness = share * _lattice_stiffness(kind, settings.support, scale)

    def __call__(self, c: StepContext, conform: bool) -> tuple[Convergence, DensityError]:
        """y ← projected positions, going on from the stresses already applied."""
        self.begin(c, conform)
        if not self._done():
            self.iterate(c, conform)
        p = self._progress
        error = DensityError(
            mean=p.number(Tally.MEAN_ERROR),
            largest=p.number(Tally.LARGEST_ERROR),
            outran=round(p.number(Tally.OUTRAN)),
            unbalanced=p.number(Tally.UNBALANCED),
        )
        return Convergence(p.iterations, p.number(Tally.RESIDUAL)), error

    def _done(self) -> bool:
        s = self.settings
        calm = self._progress.number(Tally.UNBALANCED) < s.density_tolerance
        return s.max_position_iterations == 0 or (s.position_iterations == 0 and calm)

    def begin(self, c: StepContext, conform: bool) -> None:
        """What comes before the first iteration."""
        self._sums.reserve(c.n)
        self._progress.start({Tally.NESTEROV: 0.5 * (1.0 + math.sqrt(5.0))})
        position_kernels.begin(
            c.n, self.kind, c.periodic, c.boundary.coupled, conform,
            self.settings.stiffness == "prototype", self._least_stiffness, MARGIN, c.scale, c.fluid,
            c.boundary.walls, c.boundary.contacts, self._wall_table, c.unknowns, self._sums.array,
            self._progress.numbers,
        )  # fmt: skip

    def iterate(self, c: StepContext, conform: bool) -> None:
        """All iterations of a step."""
        s = self.settings
        shifting = conform and s.projection == "doubly"
        position_kernels.iterate(
            self._progress.go, c.n, self.kind, c.periodic, shifting, conform, s.corotation,
            c.boundary.coupled, s.position_iterations, s.max_position_iterations, s.density_tolerance,
            s.jacobi_relaxation, c.scale, c.materials.table, c.fluid, c.boundary.walls,
            c.boundary.contacts, self._wall_table, c.unknowns, self._sums.array,
            self._progress.used, self._progress.numbers,
        )  # fmt: skip


def _lattice_stiffness(kind: Smoothing, support: float, scale: Scale) -> float:
    """Σ_j V_j² |∇W_ij|² m of a full cubic lattice (DYVERSO's prototype neighbourhood), m⁻²."""
    reach = math.ceil(support)
    axis = np.arange(-reach, reach + 1)
    x = np.stack(np.meshgrid(axis, axis, axis, indexing="ij"), -1).reshape(-1, 3)
    q = np.linalg.norm(x[x.any(axis=1)], axis=1) / support
    # gradient_scale goes with w'(q)/q · x
    arms = scale.volume * scale.gradient_scale * smoothing_slope(kind, q) * scale.support
    return float((arms**2).sum())
