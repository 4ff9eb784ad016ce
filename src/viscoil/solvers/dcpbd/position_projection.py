"""The position projection of DC-PBD (Barreiro 2017, section 5.3)."""

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from viscoil.neighbors.lattice import smoothing_slope
from viscoil.neighbors.scale import Scale
from viscoil.neighbors.smoothing import Smoothing
from viscoil.scene import DcpbdSettings
from viscoil.solvers.dcpbd import positions, shifts
from viscoil.solvers.dcpbd.context import StepContext
from viscoil.solvers.dcpbd.tallies import Tally
from viscoil.solvers.dcpbd.tolerances import tolerated_strain
from viscoil.solvers.dcpbd.velocity_projection import Convergence
from viscoil.solvers.linear.iterations import Loop

# How much farther than the support neighbours are listed, of it: it costs 6 % more pairs. Found by
# trying, 0.05 before; how many particles move too far for it is reported with every step.
MARGIN = 0.02
FIRST_MOMENTUM = 0.5 * (1.0 + math.sqrt(5.0))  # Nesterov's second number: the first step is taken
# The share of the last step's pressures that is a first guess of this one's. Derived: of a wave of which
# the iterations solve the share κ, pressure (as what it undoes of C in a step), rate (of C per step) and
# C itself follow P' = s (1 − κ) P + κ (C + R), R' = R − P', C' = C + R'. Jury's criterion calls that
# stable for s (1 − κ) < 1/2, and long waves of a large body have hardly any κ.
RECALLED_SHARE = 0.5
USUAL_STEP = 0.01  # s: what the steps before the first one are taken for
# Steps within which a step that was longer than its successors is forgotten; see `StepMemory`.
FORGETTING = 3.0
# What a residual of the velocity projection costs of the share that firm fluids recall. A choice: columns
# of 40 to 100 layers were calm with 10 and 30, and swung with 3 or less.
DISTRUST = 10.0
FAINT = 0.001  # of gravity: pressures that accelerate less are noise, and decide nothing
# What a step keeps of an excess of sealed fluid: so little less than all that a percent of excess costs
# one step in ten all of its iterations. A choice, as is the excess below which it is none.
FADING = 0.99
LEAST_EXCESS = 1e-4
LEAST_STIFFNESS = 0.1  # of a full neighbourhood's: what any is taken to have (DYVERSO, eq. 3)


@dataclass(frozen=True)
class DensityError:
    """What is left of the density constraint."""

    mean: float = 0.0  # of the compression max(C, 0)
    largest: float = 0.0
    outran: int = 0  # particles that moved farther against a neighbour than pairs are listed for
    unbalanced: float = 0.0  # mean error of C ≤ 0, p ≥ 0, p C = 0: also pressure that pulls apart


class StepMemory:
    """How long the steps were whose density errors are still to be undone.

    What steps of a length leave undone is undone within such a length of time, however short the steps
    are that follow; else it would become a speed that grows as steps get shorter. After three times
    that length a thousandth of it is left, and it is forgotten.
    """

    def __init__(self) -> None:
        self.longest = USUAL_STEP  # s
        self.last = USUAL_STEP  # s
        self.unsolved = 0.0  # residual of the last velocity projection, beyond its tolerance

    def save(self) -> npt.NDArray[np.float64]:
        """All of it."""
        return np.array([self.longest, self.last, self.unsolved])

    def load(self, saved: npt.NDArray[Any]) -> None:
        """Takes back what `save` gave; that of earlier versions had two numbers."""
        self.longest, self.last, self.unsolved = (*(float(value) for value in saved), 0.0)[:3]

    def take(self, dt: float) -> tuple[float, float, float]:
        """Shares for a step of `dt` (s): of an old density error, undone; of last pressures, recalled.

        The latter of thin fluids and of firm ones. In short steps pressures are noisy, for it takes large
        ones to move anything in so short a time. As impulses of a longer step they would throw particles
        about, and are recalled as what they were. Firm fluids keep all of them if they were solved for;
        else long waves, of which iterations leave most, would swing ever farther (see RECALLED_SHARE).
        """
        counts = min(1.0, self.last / dt)
        self.longest = max(dt, self.longest - dt / FORGETTING)
        self.last = dt
        kept = max(RECALLED_SHARE, 1.0 - DISTRUST * self.unsolved)
        return dt / self.longest, RECALLED_SHARE * counts, kept * counts


class SealedFluid:
    """By how much fluid without a surface is fuller than a lattice, where no pressure can undo it.

    Fluid all of which is under pressure fills what it is in. If there is more than fits, or if its
    particles, which are never as even as a lattice, have no room for being uneven, pressures would rise
    in every step, and hold it as a solid. So what is left in the mean when iterations are used up is
    taken for the density that it has. It fades within some hundred steps, in case there is a way out.
    """

    def __init__(self) -> None:
        self.excess = 0.0  # of C

    def learn(self, used_up: bool, left: float) -> None:
        """Of a step: whether iterations were used up, and the mean C `left` (0 with a surface)."""
        self.excess = self.excess + left if used_up and left > 0.0 else FADING * self.excess
        if self.excess < LEAST_EXCESS:
            self.excess = 0.0


class PositionProjection:
    """Projects x** to density and conformation constraints, one Jacobi iteration of each in turn."""

    def __init__(self, settings: DcpbdSettings, smoothing: Smoothing, scale: Scale) -> None:
        self.settings = settings
        self.steps = StepMemory()
        self.sealed = SealedFluid()
        self._loop = Loop()
        full = lattice_stiffness(smoothing, settings.support, scale)
        self._options = {stress: _options(settings, full, stress) for stress in (False, True)}

    def press(self, c: StepContext) -> None:
        """p ← a first guess, and u* ← u* under it."""
        options = self._options[c.carries_stress]
        options.tolerance = min(
            self.settings.density_tolerance, tolerated_strain(c.view) or math.inf
        )
        options.undone, options.recalled, options.kept = self.steps.take(c.view.scale.dt)
        options.excess = self.sealed.excess
        options.faint = FAINT * math.hypot(*c.view.gravity)
        positions.press(
            c.n, options, c.view.scale, c.materials, c.view.materials.table.body_friction,
            c.view.near, c.view.walls.arrays, c.stencil, c.unknowns,
        )  # fmt: skip

    def predict(self, c: StepContext) -> None:
        """y ← x** = x⁰ + Δt u**, outside the walls."""
        options = self._options[c.carries_stress]
        self._loop.reserve(c.n)
        self._begin_loop()
        positions.predict(
            c.n, options, c.view.scale, c.view.near, c.view.walls.arrays,
            c.stencil, c.unknowns, self._loop.arrays,
        )  # fmt: skip

    def __call__(self, c: StepContext) -> tuple[Convergence, DensityError]:
        """y ← x¹, from where `predict` put it and from the stresses already applied."""
        if not self._done(self._options[c.carries_stress].tolerance):
            self.iterate(c)
        loop = self._loop
        convergence = Convergence(loop.iterations, loop.number(Tally.RESIDUAL))
        outran = round(loop.number(Tally.OUTRAN))
        used_up = loop.iterations >= self.settings.max_position_iterations
        self.sealed.learn(used_up, loop.number(Tally.CLOSED))
        if c.carries_stress and ends_with_shifts(self.settings):
            self._shift(c)
            convergence = replace(convergence, iterations=convergence.iterations + loop.iterations)
        error = DensityError(
            mean=loop.number(Tally.MEAN_ERROR),
            largest=loop.number(Tally.LARGEST_ERROR),
            outran=outran,
            unbalanced=loop.number(Tally.UNBALANCED),
        )
        return convergence, error

    def finish(self, c: StepContext) -> None:
        """x⁰ ← x¹, and what is remembered of the pressures."""
        remainder = c.view.particles.array("remainder")
        shifted = c.carries_stress and ends_with_shifts(self.settings)
        positions.finish(
            c.n, c.view.scale, c.view.near, shifted, self.sealed.excess > 0.0, c.unknowns,
            remainder, self._loop.arrays.sums,
        )  # fmt: skip

    def _begin_loop(self) -> None:
        self._loop.start({Tally.NESTEROV: FIRST_MOMENTUM, Tally.EXCESS: self.sealed.excess})

    def _done(self, tolerance: float) -> bool:
        s = self.settings
        calm = self._loop.number(Tally.UNBALANCED) < tolerance
        return s.max_position_iterations == 0 or (s.position_iterations == 0 and calm)

    def iterate(self, c: StepContext) -> None:
        """All iterations of a step."""
        positions.iterate(
            self._loop.go, c.n, self._options[c.carries_stress], c.view.scale,
            c.materials, c.view.near, c.view.walls.arrays, c.stencil, c.memory,
            c.unknowns, self._loop.arrays,
        )  # fmt: skip

    def _shift(self, c: StepContext) -> None:
        """y ← x¹ with particles as evenly as they should lie."""
        options, loop = self._options[c.carries_stress], self._loop
        self._begin_loop()
        shifts.begin_shifts(
            c.n, options, c.view.scale, c.view.near, c.view.walls.arrays, c.stencil,
            c.unknowns, loop.arrays,
        )  # fmt: skip
        calm = loop.number(Tally.UNBALANCED) < options.evenness
        if not calm and self.settings.max_position_iterations > 0:
            shifts.iterate_shifts(
                loop.go, c.n, options, c.view.scale, c.view.near, c.view.walls.arrays,
                c.stencil, c.unknowns, loop.arrays,
            )  # fmt: skip


def _options(settings: DcpbdSettings, full: float, stress: bool) -> positions.Options:
    prototype = settings.stiffness == "prototype"
    return positions.Options(
        stiffness=full if prototype else LEAST_STIFFNESS * full,
        margin=MARGIN,
        fewest=settings.position_iterations,
        most=settings.max_position_iterations,
        tolerance=settings.density_tolerance,
        evenness=0.5 * settings.density_tolerance,
        undone=1.0,
        recalled=RECALLED_SHARE,
        excess=0.0,
        faint=0.0,
        kept=1.0,
        beta=settings.jacobi_relaxation,
        prototype=prototype,
        corotated=settings.corotation,
        conforming=stress,
        shifting=stress and ends_with_shifts(settings),
        joint=stress and joins_pressures(settings),
        late=settings.projection != "doubly",
    )


def ends_with_shifts(settings: DcpbdSettings) -> bool:
    """Whether what forces leave of C between firm particles is undone by shifts."""
    return settings.projection == "doubly"


def joins_pressures(settings: DcpbdSettings) -> bool:
    """Whether pressures are unknowns of the velocity projection: not in the paper's variants."""
    return settings.projection == "doubly" and settings.velocity_solver == "pcg"


def lattice_stiffness(smoothing: Smoothing, support: float, scale: Scale) -> float:
    """Σ_j V_j² |∇W_ij|² m of a full cubic lattice (DYVERSO's prototype neighbourhood), m⁻²."""
    reach = math.ceil(support)
    axis = np.arange(-reach, reach + 1)
    x = np.stack(np.meshgrid(axis, axis, axis, indexing="ij"), -1).reshape(-1, 3)
    q = np.linalg.norm(x[x.any(axis=1)], axis=1) / support
    # gradient_scale is the factor of w'(q)/q · x, so that of w'(q) is gradient_scale · h
    arms = scale.volume * scale.gradient_scale * smoothing_slope(smoothing, q) * scale.support
    return float((arms**2).sum())
