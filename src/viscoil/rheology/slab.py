"""A slab of one material in which a standing shear wave is driven and measured.

Why a wave: along x and y the slab is periodic, so it has no wall where fluid could slip or thin out,
and the only thing needed to shear it is a force per particle, added to the velocities between steps
(exact operator splitting). The velocity is u = U e sin(k·x) with e ⊥ k, so its strain is γ cos(k·x)
with γ′ = k U, and its stress S cos(k·x).

Why by momentum: the stress is not taken from the solver. A step takes the
amplitude from U* (after the drive) to U (after the step); that loss is the work of the stress,

    S = ρ (U* − U)/(k Δt),

whatever the solver did inside: projections, density, left-over residuals. Inertia is subtracted
exactly, so the slab need not be small against the wave length of shear.

Why open along z: shear moves particles into arrangements that need a little more room. With two free
surfaces, across which the motion has no gradient, the slab can take it, as any fluid with a surface
does; in a box that is full and closed the pressure would rise without end, and resist the shear.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from viscoil.colliders import ColliderSet
from viscoil.core import compute
from viscoil.core.timing import PhaseClock
from viscoil.forces.registry import bare_forces
from viscoil.materials.table import Materials
from viscoil.neighbors.pairs import Neighbors
from viscoil.neighbors.smoothing import Smoothing
from viscoil.particles.store import Particles
from viscoil.scene import Material, SolverSettings
from viscoil.scene.solvers import default_settings
from viscoil.solvers.protocol import State
from viscoil.solvers.registry import make_solver
from viscoil.walls.contact_walls import ContactWalls

Float = npt.NDArray[np.float64]

NARROWEST = 7  # particles across a periodic axis: three neighbour radii
THICKNESS = 10  # particles between the free surfaces


@dataclass(frozen=True)
class Grid:
    """How finely a wave is resolved, and in which direction it runs."""

    spacing: float  # d, m
    per_wavelength: int = 24  # particles
    diagonal: bool = False  # along (1, 1, 0) instead of y
    disorder: float = 0.0  # random displacement of the initial lattice, in spacings
    seed: int = 0

    @property
    def counts(self) -> tuple[int, int, int]:
        """Particles along x, y and z; a diagonal wave has to fit both periods."""
        if self.diagonal:
            side = round(math.sqrt(2.0) * self.per_wavelength)
            return (side, side, THICKNESS)
        return (NARROWEST, self.per_wavelength, THICKNESS)

    @property
    def periods(self) -> tuple[float, float, float]:
        """After which space repeats along x, y and z, m; 0 is open."""
        return (self.counts[0] * self.spacing, self.counts[1] * self.spacing, 0.0)

    @property
    def wave_vector(self) -> Float:
        """k, 1/m."""
        turn = 2.0 * math.pi / self.periods[1]
        return turn * np.array([1.0 if self.diagonal else 0.0, 1.0, 0.0])

    @property
    def direction(self) -> Float:
        """e, the direction of the motion."""
        e = np.array([1.0, -1.0 if self.diagonal else 0.0, 0.0])
        unit: Float = e / np.linalg.norm(e)
        return unit

    def positions(self) -> Float:
        """A cubic lattice that fills the slab, shaken."""
        lattice = np.stack(np.meshgrid(*map(np.arange, self.counts), indexing="ij"), axis=-1)
        shake = np.random.default_rng(self.seed).uniform(-1.0, 1.0, (lattice.size // 3, 3))
        places: Float = (lattice.reshape(-1, 3) + 0.5 + self.disorder * shake) * self.spacing
        return places


def free_state(
    particles: Particles, material: Material, spacing: float, settings: SolverSettings
) -> State:
    """Particles of one material without gravity and walls."""
    nothing = ColliderSet(())
    smoothing = Smoothing[settings.smoothing.upper()]
    walls = ContactWalls(nothing.arrays, nothing.count, smoothing, settings.support)
    return State(particles, Materials([material]), walls, bare_forces(spacing, settings))


class Slab:
    """One material between two free surfaces, and the solver that moves it."""

    def __init__(
        self, material: Material, grid: Grid, settings: SolverSettings | None = None
    ) -> None:
        compute.initialize()
        self.grid = grid
        self.density = material.density
        positions = grid.positions()
        self.particles = Particles(len(positions))
        self.particles.append({"position": positions})
        settings = settings or default_settings()
        self._solver = make_solver(
            settings, grid.spacing, Neighbors(grid.periods), PhaseClock()
        )  # fmt: skip
        self._state = free_state(self.particles, material, grid.spacing, settings)

    def push(self, change: Float) -> None:
        """Adds velocities (n, 3) in m/s, in the present order of the particles."""
        self.particles["velocity"] += change.astype(np.float32)

    def advance(self, dt: float) -> Mapping[str, float]:
        """One step of the solver, without gravity."""
        return self._solver.step(self._state, dt)


class WaveSlab(Slab):
    """A slab with a standing shear wave; `rate`, `strain` and `stress` are amplitudes."""

    def __init__(
        self, material: Material, grid: Grid, settings: SolverSettings | None = None
    ) -> None:
        super().__init__(material, grid, settings)
        self.wave_number = float(np.linalg.norm(grid.wave_vector))
        self.time = 0.0  # s
        self.speed = 0.0  # U, m/s
        self.strain = 0.0  # γ
        self.stress = 0.0  # S, Pa

    @property
    def rate(self) -> float:
        """γ̇ = k U of the last step, 1/s."""
        return self.wave_number * self.speed

    def launch(self, rate: float) -> None:
        """Adds to the amplitude of the strain rate (1/s)."""
        shape = self._shape()
        self.push((rate / self.wave_number) * shape[:, None] * self.grid.direction)
        self.speed = self._amplitude()

    def step(self, dt: float, force: float = 0.0) -> None:
        """Advances under a body force of this amplitude (N/m³) and notes what the fluid did."""
        if force:
            self.launch(self.wave_number * dt * force / self.density)
        before = self.speed
        self.advance(dt)
        self.speed = self._amplitude()
        self.time += dt
        self.strain += dt * self.rate
        self.stress = self.density * (before - self.speed) / (self.wave_number * dt)

    def shear(self, dt: float, rate: float) -> None:
        """Advances at about the strain rate asked for (1/s), as a rheometer's motor would.

        The force is the one that the last stress calls for. What was really reached is in `rate`
        and `strain`; evaluations use those, so a motor that lags costs no accuracy.
        """
        wanted = self.density * (rate / self.wave_number - self.speed) / dt
        self.step(dt, wanted + self.wave_number * self.stress)

    def _shape(self) -> Float:
        """sin(k·x) of each particle."""
        phase = self.particles["position"].astype(np.float64) @ self.grid.wave_vector
        shape: Float = np.sin(phase)
        return shape

    def _amplitude(self) -> float:
        shape = self._shape()
        along = self.particles["velocity"].astype(np.float64) @ self.grid.direction
        return float(along @ shape / (shape @ shape))
