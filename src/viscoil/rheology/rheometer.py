"""The virtual rheometer: what a material does in the simulator, against what was asked for.

    from viscoil.rheology import measure
    from viscoil.scene import Material

    print(measure(Material(density=1000.0, modulus=200.0, relaxation_time=0.5)))

Each experiment drives the whole solver and evaluates momentum and motion alone (see `slab`).
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from viscoil.core.errors import ViscoilError
from viscoil.rheology.slab import Grid, Slab, WaveSlab
from viscoil.scene import Material, SolverSettings
from viscoil.scene.solvers import default_settings

Float = npt.NDArray[np.float64]

SPACING = 0.01  # m, where nothing about the material suggests one
STEPS_PER_TIME = 50  # in a relaxation time, or a period: errors of first order, Δt/2τ, are then 1 %
STEPS_PER_DECAY = 100  # in the decay time of a wave: the same errors are 0.5 %
STIFFNESS = 0.02  # Δt² k² a/ρ with stiffness a: share of a wave's speed that stress takes in a step
STRAIN = 0.05  # amplitude of small strains: errors of second order, γ², are 0.25 %


@dataclass(frozen=True)
class Setup:
    """What is sheared, and how finely in space and time."""

    material: Material
    grid: Grid
    time_step: float  # s
    solver: SolverSettings

    def slab(self) -> WaveSlab:
        return WaveSlab(self.material, self.grid, self.solver)


@dataclass(frozen=True)
class Relaxation:
    """What a step strain gives."""

    modulus: float  # G, Pa
    relaxation_time: float  # τ, s
    times: Float  # since the middle of the step, s
    moduli: Float  # stress over strain, Pa


def setup(
    material: Material,
    *,
    spacing: float | None = None,
    time_step: float | None = None,
    per_wavelength: int = 24,
    diagonal: bool = False,
    disorder: float = 0.0,
    solver: SolverSettings | None = None,
) -> Setup:
    """A slab for the material; without a spacing (m) or step (s) it is chosen to resolve it well.

    The choice is free, because a material's numbers depend on neither. A viscoelastic slab is as
    long as leaves most of a wave's speed after a step, so that its strain can be held.
    """
    _check(material)
    dt = time_step or _time_step(material, spacing or SPACING, per_wavelength)
    if spacing is None:
        spacing = _spacing(material, dt, per_wavelength)
    grid = Grid(spacing, per_wavelength, diagonal, disorder)
    return Setup(material, grid, dt, solver or default_settings())


def step_strain(bench: Setup, strain: float = STRAIN, duration: float = 2.0) -> Relaxation:
    """Strains within one step and holds for `duration` relaxation times; τ and G by a fit of log σ.

    A strain that grows evenly over Δt has relaxed as one that was applied at Δt/2.
    """
    slab, dt = bench.slab(), bench.time_step
    slab.launch(strain / dt)
    slab.step(dt)
    times, moduli = [0.5 * dt], [slab.stress / slab.strain]
    for _ in range(_hold_steps(bench, duration)):
        slab.shear(dt, 0.0)
        times.append(slab.time - 0.5 * dt)
        moduli.append(slab.stress / slab.strain)
    # The first stress still holds the solvent's.
    slope, offset = np.polyfit(times[1:], np.log(np.maximum(moduli[1:], 1e-30)), 1)
    time = math.inf if slope >= 0.0 else -1.0 / slope
    return Relaxation(math.exp(offset), time, np.array(times), np.array(moduli))


def oscillation(
    bench: Setup, omega: float, strain: float = STRAIN, settle: float = 5.0, cycles: int = 1
) -> complex:
    """G* = G′ + i G″ in Pa at ω (rad/s), from the oscillation after `settle` relaxation times.

    Stress and strain are both those that were measured, so neither inertia nor a motor that lags
    has any part in their ratio.
    """
    slab = bench.slab()
    period = 2.0 * math.pi / omega
    steps = math.ceil(period / min(bench.time_step, period / STEPS_PER_TIME))
    dt = period / steps
    waiting = math.ceil(settle * bench.material.relaxation_time / dt)
    record = []
    for n in range(waiting + cycles * steps):
        # sin ωt starts at full rate; the transient that this leaves has died out after `waiting`
        slab.shear(dt, strain * omega * math.cos(omega * (slab.time + 0.5 * dt)))
        if n >= waiting:
            record.append((slab.time, slab.strain, slab.stress))
    times, strains, stresses = np.array(record).T
    return _harmonic(times, stresses, omega) / _harmonic(times, strains, omega)


def steady_shear(bench: Setup, rate: float, duration: float = 6.0) -> float:
    """Viscosity (Pa s): stress over rate after `duration` relaxation times of shear at `rate` (1/s)."""
    slab = bench.slab()
    for _ in range(_hold_steps(bench, duration)):
        slab.shear(bench.time_step, rate)
    return slab.stress / slab.rate


def decaying_wave(bench: Setup, strain: float = 0.1, steps: int = STEPS_PER_DECAY) -> float:
    """Viscosity (Pa s) from the decay e^(−ν k² t) of a wave that is left to itself.

    `strain` is what it would reach if it decayed as asked.
    """
    slab, rho = bench.slab(), bench.material.density
    asked = _viscosity(bench.material) * slab.wave_number**2 / rho
    slab.launch(strain * asked)
    times, speeds = [0.0], [slab.speed]
    for _ in range(steps):
        slab.step(bench.time_step)
        times.append(slab.time)
        speeds.append(slab.speed)
    slope = np.polyfit(times, np.log(np.maximum(speeds, 1e-30)), 1)[0]
    return float(-slope * rho / slab.wave_number**2)


def poiseuille(bench: Setup, times: npt.ArrayLike, strain: float = 0.2) -> tuple[Float, Float]:
    """Mean speed and centre-line speed, over the steady mean, when a body force starts at t = 0.

    Two channels side by side, driven against each other, need no walls: between them u = 0 by
    symmetry. Each is half a period wide. `strain` is the greatest steady strain at the walls within
    one relaxation time; the force follows from it. Times in s.
    """
    material = bench.material
    channel = _Channels(bench)
    eta = _viscosity(material)
    rate = strain / (material.relaxation_time or 1.0)
    force = rate * eta / channel.half_gap
    mean_speed = force * channel.half_gap**2 / (3.0 * eta)
    asked = np.atleast_1d(np.asarray(times, float))
    record = [(0.0, 0.0, 0.0)]
    while record[-1][0] < asked.max():
        channel.drive(bench.time_step, force / material.density)
        record.append((record[-1][0] + bench.time_step, channel.mean(), channel.centre()))
    clock, mean, centre = np.array(record).T
    return np.interp(asked, clock, mean) / mean_speed, np.interp(asked, clock, centre) / mean_speed


class _Channels(Slab):
    """Flow along +x where y < L/2 and along −x where y > L/2."""

    def __init__(self, bench: Setup) -> None:
        super().__init__(bench.material, bench.grid, bench.solver)
        self.half_gap = 0.25 * bench.grid.periods[1]

    def drive(self, dt: float, acceleration: float) -> None:
        """One step under ±acceleration (m/s²) along x."""
        sign, _ = self._place()
        self.push(dt * acceleration * sign[:, None] * np.array([1.0, 0.0, 0.0]))
        self.advance(dt)

    def mean(self) -> float:
        sign, _ = self._place()
        return float(np.mean(sign * self.particles["velocity"][:, 0]))

    def centre(self) -> float:
        """By a parabola through the middle third, of both channels."""
        sign, y = self._place()
        near = np.abs(y) < 1.0 / 3.0
        along = sign[near] * self.particles["velocity"][near, 0]
        return float(np.polyfit(y[near] ** 2, along, 1)[1])

    def _place(self) -> tuple[Float, Float]:
        """Direction of the flow, and Y from −1 to 1 across its channel."""
        y = self.particles["position"][:, 1].astype(np.float64)
        sign = np.where(y < 2.0 * self.half_gap, 1.0, -1.0)
        return sign, y / self.half_gap - np.where(sign > 0.0, 1.0, 3.0)


@dataclass(frozen=True)
class Figure:
    """One number of a material."""

    name: str
    unit: str
    asked: float
    measured: float

    @property
    def error(self) -> float:
        """Relative."""
        return self.measured / self.asked - 1.0


@dataclass(frozen=True)
class Report:
    """What `measure` found; prints as a table."""

    figures: tuple[Figure, ...]
    spacing: float  # m
    time_step: float  # s

    def __str__(self) -> str:
        lines = [f"{'':<16}  {'asked':>10}  {'measured':>10}  {'error':>7}"]
        lines += [
            f"{f.name:<16}  {f.asked:>10.4g}  {f.measured:>10.4g}  {f.error:>+7.1%}  {f.unit}"
            for f in self.figures
        ]
        lines.append(f"spacing {self.spacing:.3g} m, time step {self.time_step:.3g} s")
        return "\n".join(lines)


def measure(
    material: Material,
    *,
    spacing: float | None = None,
    time_step: float | None = None,
    solver: SolverSettings | None = None,
    progress: Callable[[str], None] | None = None,
) -> Report:
    """Modulus, relaxation time and viscosity, as far as the material has them.

    Give the spacing (m) and step (s) of a scene to learn what the material is in that scene.
    """
    bench = setup(material, spacing=spacing, time_step=time_step, solver=solver)
    say = progress or (lambda _: None)
    figures: list[Figure] = []
    if material.kind in ("viscoelastic", "elastic"):
        say("step strain")
        found = step_strain(bench)
        figures.append(Figure("modulus", "Pa", material.modulus, found.modulus))
        if material.kind == "viscoelastic":
            time = Figure("relaxation time", "s", material.relaxation_time, found.relaxation_time)
            figures.append(time)
            say("steady shear")
            eta = steady_shear(bench, STRAIN / material.relaxation_time)
            figures.append(Figure("viscosity", "Pa s", _viscosity(material), eta))
    else:
        say("decaying wave")
        eta = decaying_wave(bench)
        figures.append(Figure("viscosity", "Pa s", _viscosity(material), eta))
    return Report(tuple(figures), bench.grid.spacing, bench.time_step)


def _check(material: Material) -> None:
    if material.kind == "paper":
        raise ViscoilError(
            "a material given by its compliance has no modulus or viscosity to compare with: "
            "give modulus and relaxation_time, or viscosity"
        )
    if material.kind == "inviscid" and material.solvent_viscosity == 0.0:
        raise ViscoilError("an inviscid material has nothing to measure: give it a viscosity")


def _viscosity(material: Material) -> float:
    """η₀ = η + η_s, Pa s."""
    return material.viscosity + material.solvent_viscosity


def _time_step(material: Material, spacing: float, per_wavelength: int) -> float:
    """A share of the relaxation time, of the decay time of a wave, or of a solid's period."""
    if material.kind == "viscoelastic":
        return material.relaxation_time / STEPS_PER_TIME
    k = 2.0 * math.pi / (spacing * per_wavelength)
    if material.kind == "elastic":
        return 1.0 / (k * math.sqrt(material.modulus / material.density) * STEPS_PER_TIME)
    return material.density / (_viscosity(material) * k**2 * STEPS_PER_DECAY)


def _spacing(material: Material, dt: float, per_wavelength: int) -> float:
    if material.kind != "viscoelastic":
        return SPACING
    polymer = 1.0 / (1.0 / material.modulus + dt / material.viscosity)
    stiffness = polymer + material.solvent_viscosity / dt
    wavelength = 2.0 * math.pi * dt * math.sqrt(stiffness / (STIFFNESS * material.density))
    return wavelength / per_wavelength


def _hold_steps(bench: Setup, duration: float) -> int:
    """Steps in `duration` relaxation times; a solid, which has none, is held for a while."""
    time = bench.material.relaxation_time
    if math.isinf(time):
        return STEPS_PER_TIME
    return max(4, round(duration * time / bench.time_step))


def _harmonic(times: Float, values: Float, omega: float) -> complex:
    """z of the best fit Re(z e^(iωt)) + drift."""
    basis = np.stack([np.cos(omega * times), -np.sin(omega * times), np.ones_like(times)], axis=1)
    real, imaginary, _ = np.linalg.lstsq(basis, values, rcond=None)[0]
    return complex(real, imaginary)
