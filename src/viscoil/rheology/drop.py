"""A free drop without gravity, and the surface tension that its pressure and its motion show.

Neither measurement uses what the surface tension model says of itself. The pressure inside is that of
the virial, the forces across the pairs of particles deep inside and their motion, and by Laplace
Δp = 2κ/R. A stretched drop swings with ω² = 8κ/(ρR³) (Rayleigh's mode 2). R is the radius of a ball of
the same volume.
"""

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from viscoil.constraints.capillary import CORE, CORE_RADIUS
from viscoil.core import compute
from viscoil.core.timing import PhaseClock
from viscoil.neighbors.lattice import smoothing_slope
from viscoil.neighbors.pairs import Neighbors
from viscoil.particles.store import Particles
from viscoil.rheology.slab import free_state
from viscoil.scene import Material, SolverSettings
from viscoil.scene.solvers import default_settings
from viscoil.solvers.registry import make_solver

Float = npt.NDArray[np.float64]

DISORDER = 0.05  # random displacement of the initial lattice, in spacings
SKIN = 2.5  # spacings below the surface in which the pressure is not taken


@dataclass(frozen=True)
class Swing:
    """A damped oscillation a e^(−gt) cos(ωt + φ) + b."""

    frequency: float  # ω, rad/s
    damping: float  # g, 1/s

    @property
    def undamped(self) -> float:
        """ω of the same oscillator without damping, rad/s."""
        return math.hypot(self.frequency, self.damping)


class FreeDrop:
    """Particles of one material that fill a ball of about the radius asked for, and their solver."""

    def __init__(
        self, material: Material, spacing: float, radius: float, seed: int = 0,
        settings: SolverSettings | None = None,
    ) -> None:  # fmt: skip
        compute.initialize()
        self.material, self.spacing, self.time = material, spacing, 0.0
        points = _ball(radius / spacing)
        points += np.random.default_rng(seed).uniform(-DISORDER, DISORDER, points.shape)
        self.radius: float = spacing * (len(points) * 3.0 / (4.0 * math.pi)) ** (1.0 / 3.0)
        self.particles = Particles(len(points))
        self.particles.append({"position": spacing * points})
        self._neighbors = Neighbors((0.0, 0.0, 0.0))
        settings = settings or default_settings()
        self._solver = make_solver(settings, spacing, self._neighbors, PhaseClock())
        self._state = free_state(self.particles, material, spacing, settings)

    @property
    def laplace_pressure(self) -> float:
        """2κ/R, Pa."""
        return 2.0 * self.material.surface_tension / self.radius

    @property
    def rayleigh_frequency(self) -> float:
        """√(8κ/(ρR³)), rad/s."""
        mass = self.material.density * self.radius**3
        return math.sqrt(8.0 * self.material.surface_tension / mass)

    def advance(self, duration: float, dt: float) -> Float:
        """Steps for a time; rows of (time, stretch, pressure inside) after each step."""
        rows = []
        for _ in range(round(duration / dt)):
            self._solver.step(self._state, dt)
            self.time += dt
            rows.append((self.time, self.stretch(), self.pressure()))
        return np.array(rows)

    def pull(self, rate: float) -> None:
        """Sets the velocities to those of a stretch along z at this rate, 1/s."""
        x = self.offsets()
        self.particles["velocity"] = rate * x * np.array([-0.5, -0.5, 1.0])

    def offsets(self) -> Float:
        """Positions from the centre of mass, m."""
        x = self.particles["position"].astype(np.float64)
        offsets: Float = x - x.mean(axis=0)
        return offsets

    def stretch(self) -> float:
        """How much longer along z than across: ⟨z²⟩ − ⟨x² + y²⟩/2 over R²."""
        squares = (self.offsets() ** 2).mean(axis=0)
        return float(squares[2] - 0.5 * (squares[0] + squares[1])) / self.radius**2

    def pressure(self) -> float:
        """Mean pressure deep inside, by the virial, Pa."""
        n, d = self.particles.count, self.spacing
        start, neighbor = self._neighbors.as_numpy(n)
        own = np.repeat(np.arange(n), np.diff(start))
        x = self.offsets()
        u = self.particles["velocity"].astype(np.float64)
        inside = np.linalg.norm(x, axis=1) < self.radius - SKIN * d
        chosen = inside[own]
        i, j = own[chosen], neighbor[chosen]
        r = np.linalg.norm(x[i] - x[j], axis=1)
        push = self._push(r, i, j)
        volume = inside.sum() * d**3
        kinetic = self.material.density * d**3 * (u[inside] ** 2).sum()
        return float((0.5 * (r * push).sum() + kinetic) / (3.0 * volume))

    def _push(self, r: Float, i: npt.NDArray[np.int64], j: npt.NDArray[np.int64]) -> Float:
        """Force between particles at the distance r, N: of pressure and of the core."""
        s, p = self._solver.scale, self.particles["pressure"].astype(np.float64)
        slope = smoothing_slope(self._solver.smoothing, r / s.support)
        pressed = -(s.volume**2) * (p[i] + p[j]) * s.gradient_scale * s.support * slope
        core = CORE * self.material.surface_tension * self.spacing
        push: Float = pressed + core * np.maximum(1.0 - r / (CORE_RADIUS * self.spacing), 0.0)
        return push


def fit_swing(time: Float, values: Float, guess: float) -> Swing:
    """The damped oscillation nearest to the values; `guess` is its frequency within a factor of two.

    For each ω and g the rest is linear; the best pair is searched on ever finer grids.
    """
    t = time - time[0]
    omega, damping, width = guess, 0.1 * guess, 1.0
    for _ in range(8):
        omegas = omega * np.linspace(1.0 - 0.5 * width, 1.0 + 1.0 * width, 25)
        dampings = np.maximum(damping + guess * np.linspace(-0.3, 0.3, 13) * width, 0.0)
        trials = [(_misfit(t, values, w, g), w, g) for w in omegas for g in dampings]
        _, omega, damping = min(trials)
        width *= 0.4
    return Swing(float(omega), float(damping))


def _misfit(t: Float, values: Float, omega: float, damping: float) -> float:
    decay = np.exp(-damping * t)
    basis = np.stack([decay * np.cos(omega * t), decay * np.sin(omega * t), np.ones_like(t)], 1)
    left = values - basis @ np.linalg.lstsq(basis, values, rcond=None)[0]
    return float(left @ left)


def _ball(radius: float) -> Float:
    """A cubic lattice of spacing 1 inside a ball."""
    reach = math.ceil(radius)
    axis = np.arange(-reach, reach) + 0.5
    points: Float = np.stack(np.meshgrid(axis, axis, axis, indexing="ij"), -1).reshape(-1, 3)
    inside: Float = points[(points**2).sum(axis=1) <= radius**2]
    return inside
