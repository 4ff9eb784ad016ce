"""The position projection of DC-PBD (Barreiro 2017, section 5.3)."""

import math
from dataclasses import dataclass

import numpy as np

from viscoil.neighbors.lattice import smoothing_slope
from viscoil.neighbors.scale import Scale
from viscoil.neighbors.smoothing import Smoothing
from viscoil.scene import DcpbdSettings
from viscoil.solvers.dcpbd import positions
from viscoil.solvers.dcpbd.context import StepContext
from viscoil.solvers.dcpbd.density import Tally
from viscoil.solvers.dcpbd.velocity_projection import Convergence
from viscoil.solvers.linear.iterations import Loop

# How much farther than the support neighbours are listed, of it: it costs 6 % more pairs. Found by
# trying, 0.05 before; how many particles move too far for it is reported with every step.
MARGIN = 0.02
FIRST_MOMENTUM = 0.5 * (1.0 + math.sqrt(5.0))  # Nesterov's second number: the first step is taken
LEAST_STIFFNESS = 0.1  # of a full neighbourhood's: what any is taken to have (DYVERSO, eq. 3)


@dataclass(frozen=True)
class DensityError:
    """What is left of the density constraint."""

    mean: float = 0.0  # of the compression max(C, 0)
    largest: float = 0.0
    outran: int = 0  # particles that moved farther against a neighbour than pairs are listed for
    unbalanced: float = 0.0  # mean error of C ≤ 0, p ≥ 0, p C = 0: also pressure that pulls apart


class PositionProjection:
    """Projects x** to density and conformation constraints, one Jacobi iteration of each in turn."""

    def __init__(self, settings: DcpbdSettings, smoothing: Smoothing, scale: Scale) -> None:
        self.settings = settings
        self._loop = Loop()
        full = lattice_stiffness(smoothing, settings.support, scale)
        self._options = {stress: _options(settings, full, stress) for stress in (False, True)}

    def predict(self, c: StepContext) -> None:
        """y ← x** = x⁰ + Δt u**, outside the walls and under a first guess of the pressures."""
        self._loop.reserve(c.n)
        self._loop.start({Tally.NESTEROV: FIRST_MOMENTUM})
        positions.predict(
            c.n, self._options[c.carries_stress], c.view.scale, c.view.near, c.view.walls.arrays,
            c.stencil, c.unknowns, self._loop.arrays,
        )  # fmt: skip

    def __call__(self, c: StepContext) -> tuple[Convergence, DensityError]:
        """y ← x¹, from where `predict` put it and from the stresses already applied."""
        if not self._done():
            self.iterate(c)
        loop = self._loop
        error = DensityError(
            mean=loop.number(Tally.MEAN_ERROR),
            largest=loop.number(Tally.LARGEST_ERROR),
            outran=round(loop.number(Tally.OUTRAN)),
            unbalanced=loop.number(Tally.UNBALANCED),
        )
        return Convergence(loop.iterations, loop.number(Tally.RESIDUAL)), error

    def _done(self) -> bool:
        s = self.settings
        calm = self._loop.number(Tally.UNBALANCED) < s.density_tolerance
        return s.max_position_iterations == 0 or (s.position_iterations == 0 and calm)

    def iterate(self, c: StepContext) -> None:
        """All iterations of a step."""
        positions.iterate(
            self._loop.go, c.n, self._options[c.carries_stress], c.view.scale,
            c.materials, c.view.near, c.view.walls.arrays, c.stencil, c.memory,
            c.unknowns, self._loop.arrays,
        )  # fmt: skip


def _options(settings: DcpbdSettings, full: float, stress: bool) -> positions.Options:
    prototype = settings.stiffness == "prototype"
    return positions.Options(
        stiffness=full if prototype else LEAST_STIFFNESS * full,
        margin=MARGIN,
        fewest=settings.position_iterations,
        most=settings.max_position_iterations,
        tolerance=settings.density_tolerance,
        beta=settings.jacobi_relaxation,
        prototype=prototype,
        corotated=settings.corotation,
        conforming=stress,
        shifting=stress and settings.projection == "doubly",
    )


def lattice_stiffness(smoothing: Smoothing, support: float, scale: Scale) -> float:
    """Σ_j V_j² |∇W_ij|² m of a full cubic lattice (DYVERSO's prototype neighbourhood), m⁻²."""
    reach = math.ceil(support)
    axis = np.arange(-reach, reach + 1)
    x = np.stack(np.meshgrid(axis, axis, axis, indexing="ij"), -1).reshape(-1, 3)
    q = np.linalg.norm(x[x.any(axis=1)], axis=1) / support
    # gradient_scale is the factor of w'(q)/q · x, so that of w'(q) is gradient_scale · h
    arms = scale.volume * scale.gradient_scale * smoothing_slope(smoothing, q) * scale.support
    return float((arms**2).sum())
