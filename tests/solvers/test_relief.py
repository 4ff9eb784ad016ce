"""The shear stress of an arrangement of particles under pressure is relieved, and nothing else."""

from typing import Any

import numpy as np
import pytest
from bars import above, near
from rigs import SPACING, Float, Rig, jitter, lattice, numbers

from viscoil import Material, Scene, Simulation
from viscoil.core.compute import write
from viscoil.neighbors.lattice import lattice_sums, smoothing_slope
from viscoil.neighbors.smoothing import Smoothing
from viscoil.solvers.dcpbd.relief import relieve

DT = 1.0 / 240.0
PRESSURE = 1000.0  # Pa
WATER = Material(density=1000.0, viscosity=0.0)

pytestmark = [pytest.mark.usefixtures("compute"), pytest.mark.physics]


def relieved(points: Float) -> tuple[Rig, Float, Float]:
    """Particles at rest under even pressure; their places, and the accelerations of relief, m/s²."""
    rig = Rig(points, material=WATER)
    c = rig.prepare(DT)
    write(c.unknowns.pressure, np.full(c.n, PRESSURE, dtype=np.float32))
    tension = c.view.materials.table.surface_tension
    relieve(c.n, c.view.scale, tension, c.view.near, c.view.walls.arrays, c.stencil, c.unknowns)
    return rig, numbers(c.view.near.position, c.n), numbers(c.unknowns.velocity, c.n) / DT


def test_an_even_arrangement_needs_no_relief() -> None:
    """M of a lattice is isotropic: nothing acts below the surface, to the rounding of sums."""
    _rig, x, acceleration = relieved(lattice((11, 11, 11)))
    inner = np.abs(x).max(axis=1) < 1.2 * SPACING
    assert inner.sum() == 27
    near(acceleration[inner], 0.0, "acceleration, m/s²", abs=1e-5 * PRESSURE / (1000.0 * SPACING))


def test_it_keeps_momentum() -> None:
    """Opposite in pairs, to the rounding of 343 sums."""
    _rig, _x, acceleration = relieved(jitter(lattice((7, 7, 7)), 0.2, seed=4))
    size = np.abs(acceleration).sum()
    near(acceleration.sum(axis=0), 0.0, "sum of accelerations, m/s²", abs=1e-5 * size, derived=True)


def test_a_sheared_lattice_is_relieved_of_its_stress() -> None:
    """Where shear ends, at x = 0, relief undoes four fifths of what pressure forces do.

    A lattice sheared by 5 % for x < 0 and not for x > 0 has stresses that differ by p dev M across x = 0.
    The sum of forces on all that is within three spacings of it is that difference over an area, and is
    the same with smoothing; relief is four fifths of it, with the opposite sign.
    """
    points = lattice((15, 11, 11))
    sheared = points + np.outer(np.where(points[:, 0] < 0.0, points[:, 0], 0.0), [0.0, 0.05, 0.0])
    _rig, x, acceleration = relieved(sheared)
    pressure = forces_of_pressure(x)
    inner = (np.abs(x[:, 1:]).max(axis=1) < 1.6 * SPACING) & (np.abs(x[:, 0]) < 4.2 * SPACING)
    resisting = pressure[inner, 1].sum()
    relief = acceleration[inner, 1].sum()
    above(abs(resisting), 1e-3 * PRESSURE / (1000.0 * SPACING), "acceleration by stress, m/s²")
    near(relief / resisting, -0.8, "relief over stress", abs=0.1)


def forces_of_pressure(x: Float) -> Float:
    """−Σ_j V (p + p) ∇W/ρ of particles at x, by brute force."""
    apart = x[:, None] - x[None]
    r = np.linalg.norm(apart, axis=-1)
    q = np.minimum(r / (2.0 * SPACING), 1.0)
    kind = Smoothing.CUBIC_SPLINE
    unit = 1.0 / (2.0 * SPACING * lattice_sums(kind, 2.0)[0])
    slope = unit * smoothing_slope(kind, q) / np.maximum(r, 1e-9)
    return np.asarray(-2.0 * PRESSURE / 1000.0 * (slope[..., None] * apart).sum(axis=1))


def slosh(n: int, **more: Any) -> tuple[float, float]:
    """Of a wave in a tank: its frequency over that of theory, and what is left of it after a half period.

    A tank of 1 m that is filled to 0.5 m with n particles along it; gravity is tilted by 6 %, and the
    centre of mass swings about where that puts it, by 0.01 m.
    """
    d, tilt = 1.0 / n, 0.06
    scene = {
        "simulation": {"spacing": d, "duration": 9.0, "gravity": (tilt * 9.81, -9.81, 0.0), **more},
        "materials": {"water": {"density": 1000.0, "viscosity": 0.0}},
        "fluids": [
            {"material": "water", "shape": "box", "center": (0.5, 0.25, 3 * d), "size": (1, 0.5, 6 * d)}
        ],
        "colliders": [
            {"shape": "box", "container": True, "open": ["+y"], "contact": "slip",
             "center": (0.5, 1.0, 3 * d), "size": (1.0, 2.0, 6 * d)}
        ],
    }  # fmt: skip
    simulation = Simulation(Scene.model_validate(scene))
    times, places = [], []
    while simulation.time < 0.85:
        simulation.step()
        times.append(simulation.time)
        places.append(simulation.particles["position"][:, 0].astype(np.float64).mean())
    turn = int(np.argmax(places))
    omega = np.sqrt(9.81 * np.pi * np.tanh(0.5 * np.pi))
    still = 0.5 + tilt / (12.0 * 0.5)  # the surface is tilted by 6 %
    return np.pi / omega / times[turn], (places[turn] - still) / (still - 0.5)


def test_a_wave_is_as_fast_as_theory_says() -> None:
    """5 % is a step of three in the time of its turn; without relief it is a tenth too fast.

    Of its amplitude at least six tenths are left after half a period: it loses a good third of its energy
    in a whole one.
    """
    frequency, left = slosh(20)
    near(frequency, 1.0, "frequency over theory", abs=0.05)
    above(left, 0.6, "amplitude after half a period")
