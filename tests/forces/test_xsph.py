"""Iterative XSPH: equation 6 by brute force, momentum, stability, and waves that it damps."""

import numpy as np
import pytest
from bars import above, below, near
from rigs import SPACING, USUAL, Rig, jitter, lattice, numbers

from viscoil.core.compute import write
from viscoil.forces.xsph import VelocitySmoothing, passes
from viscoil.materials.table import Materials
from viscoil.neighbors.lattice import calibrate, smoothing_value
from viscoil.scene import Material

pytestmark = [pytest.mark.usefixtures("compute"), pytest.mark.physics]


def rig_of(*c: float, densities: tuple[float, ...] = (1000.0,)) -> Rig:
    """A shaken cube with random velocities; every other particle is of the other material."""
    rng = np.random.default_rng(1)
    points = jitter(lattice((6, 6, 6)), 0.2)
    rig = Rig(points, rng.normal(size=points.shape))
    rig.materials = Materials(
        [
            Material(density=density, viscosity=0.0, xsph=value)
            for value, density in zip(c, densities, strict=True)
        ]
    )
    rig.particles["material"] = np.arange(len(points)) % len(c)
    return rig


def smoothed(rig: Rig) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Velocities before and after, and masses, in the same order."""
    c = rig.prepare(1e-3)
    before = numbers(c.unknowns.velocity, c.n).copy()
    VelocitySmoothing().finish(c.view, c.unknowns.velocity)
    return before, numbers(c.unknowns.velocity, c.n), 1.0 / numbers(c.view.near.inverse_mass, c.n)


def test_number_of_passes() -> None:
    assert [passes(c) for c in (0.0, 0.1, 0.5, 0.6, 1.0, 50.0)] == [0, 1, 1, 2, 2, 100]


@pytest.mark.parametrize("c", [0.3, 1.7])
def test_equation_6_by_brute_force(c: float) -> None:
    rig = rig_of(c)
    before, after, _ = smoothed(rig)
    x = rig.particles["position"].astype(np.float64)
    r = np.linalg.norm(x[:, None] - x[None], axis=2)
    scale = rig.solver.scale
    w = scale.volume * scale.value_scale * smoothing_value(USUAL, r / scale.support)
    expected = before.copy()
    for _ in range(passes(c)):
        expected += c / passes(c) * (w @ expected - w.sum(axis=1)[:, None] * expected)
    near(after, expected, "velocity, m/s", abs=1e-5)


def test_momentum_is_kept_between_materials() -> None:
    """Different c, densities of 1 to 8: what is lost is rounding, 1e-7 of each of some 30 pairs."""
    before, after, mass = smoothed(rig_of(0.0, 3.0, densities=(1000.0, 8000.0)))
    above(np.abs(after - before).max(), 0.1, "change, m/s")
    change = (mass[:, None] * (after - before)).sum(axis=0)
    size = (mass[:, None] * np.abs(before)).sum()
    below(np.abs(change).max(), 1e-6 * size, "momentum, kg m/s", derived=True)


@pytest.mark.parametrize("densities", [(1000.0, 1000.0), (100.0, 10000.0)])
def test_any_strength_is_stable(densities: tuple[float, float]) -> None:
    """c = 50: energy falls, and nobody gets faster than the fastest was."""
    rig = rig_of(50.0, 50.0, densities=densities)
    before, after, mass = smoothed(rig)
    left, had = ((mass * (u**2).sum(axis=1)).sum() for u in (after, before))
    below(left, 0.1 * had, "energy left, J")
    assert np.abs(after).max() <= np.abs(before).max()


def test_a_common_velocity_is_untouched() -> None:
    rig = rig_of(50.0)
    c = rig.prepare(1e-3)
    write(c.unknowns.velocity, np.tile([1.0, -2.0, 3.0], (c.n, 1)))
    VelocitySmoothing().finish(c.view, c.unknowns.velocity)
    np.testing.assert_array_equal(
        numbers(c.unknowns.velocity, c.n), np.tile([1.0, -2.0, 3.0], (c.n, 1))
    )


def test_a_shear_wave_decays_at_the_rate_of_the_lattice() -> None:
    """On a lattice one pass takes c Σ V W (1 − cos k·x) of a wave: closed form, to 1e-4."""
    count, c = 24, 0.4
    period = (7 * SPACING, count * SPACING, 7 * SPACING)
    points = (np.stack(np.meshgrid(np.arange(7), np.arange(count), np.arange(7), indexing="ij"), -1)
              .reshape(-1, 3) + 0.5) * SPACING  # fmt: skip
    k = 2.0 * np.pi / period[1]
    u = np.zeros_like(points)
    u[:, 0] = np.sin(k * points[:, 1])
    rig = Rig(points, u, Material(density=1000.0, viscosity=0.0, xsph=c), periodic=period)
    before, after, _ = smoothed(rig)
    axis = np.arange(-2, 3)
    x = np.stack(np.meshgrid(axis, axis, axis, indexing="ij"), -1).reshape(-1, 3)
    w = calibrate(USUAL, 2.0).value * smoothing_value(USUAL, np.linalg.norm(x, axis=1) / 2.0)
    expected = 1.0 - c * float(w @ (1.0 - np.cos(k * SPACING * x[:, 1])))
    near(after[:, 0], expected * before[:, 0], "wave, m/s", abs=1e-4)
