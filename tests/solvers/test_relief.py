"""The shear stress of an arrangement of particles under pressure is relieved, and nothing else."""

import numpy as np
import pytest
from bars import above, below, near
from density_rigs import displacements
from rigs import SPACING, Float, Rig, jitter, lattice, numbers
from wave_rigs import first_turn, tilted_tank

from viscoil import Material
from viscoil.core.compute import write
from viscoil.neighbors.lattice import calibrate, smoothing_slope
from viscoil.neighbors.smoothing import Smoothing
from viscoil.solvers.dcpbd.context import StepContext
from viscoil.solvers.dcpbd.relief import MOST_UNEVEN, relieve

DT = 1.0 / 240.0
PRESSURE = 1000.0  # Pa
WATER = Material(density=1000.0, viscosity=0.0)

pytestmark = [pytest.mark.usefixtures("compute"), pytest.mark.physics]


def relieved(points: Float) -> tuple[Rig, Float, Float]:
    """Particles at rest under even pressure; their places, and the accelerations of relief, m/s²."""
    rig = Rig(points, material=WATER)
    c = rig.prepare(DT)
    return rig, numbers(c.view.near.position, c.n), relief_of(c)


def relief_of(c: StepContext) -> Float:
    """Accelerations of relief under even pressure, m/s²."""
    write(c.unknowns.pressure, np.full(c.n, PRESSURE, dtype=np.float32))
    tension = c.view.materials.table.surface_tension
    relieve(
        c.n, MOST_UNEVEN, c.view.scale, c.materials, tension, c.view.near, c.view.walls.arrays,
        c.stencil, c.unknowns,
    )  # fmt: skip
    return numbers(c.unknowns.velocity, c.n) / DT


def test_an_even_arrangement_needs_no_relief() -> None:
    """M of a lattice is isotropic: nothing acts below the surface, to the rounding of sums."""
    _rig, x, acceleration = relieved(lattice((11, 11, 11)))
    inner = np.abs(x).max(axis=1) < 1.2 * SPACING
    assert inner.sum() == 27
    near(acceleration[inner], 0.0, "acceleration, m/s²", abs=1e-5 * PRESSURE / (1000.0 * SPACING))


def test_only_what_shear_can_do_is_relieved() -> None:
    """A lattice of 0.4 times its width along x, and of the same volume, has |dev M| = 0.97.

    Pressures that were found in one step act in relief, as an impulse, in the next one: where |dev M| is
    too large they would grow from step to step, however short.
    """
    rig = Rig(lattice((13, 5, 5)) * [0.4, 0.4**-0.5, 0.4**-0.5], material=WATER)
    c = rig.prepare(DT)
    relief_of(c)
    uneven = numbers(c.unknowns.uneven, c.n) / PRESSURE
    norms = np.sqrt((uneven[:, :3] ** 2).sum(axis=1) + 2.0 * (uneven[:, 3:] ** 2).sum(axis=1))
    middle = np.linalg.norm(numbers(c.view.near.position, c.n), axis=1).argmin()
    near(norms[middle], MOST_UNEVEN, "|dev M| that is relieved", rel=1e-5, derived=True)
    below(norms.max(), (1.0 + 1e-5) * MOST_UNEVEN, "largest |dev M|", derived=True)


def test_it_keeps_momentum() -> None:
    """Opposite in pairs, to the rounding of 343 sums."""
    _rig, _x, acceleration = relieved(jitter(lattice((7, 7, 7)), 0.2, seed=4))
    size = np.abs(acceleration).sum()
    near(acceleration.sum(axis=0), 0.0, "sum of accelerations, m/s²", abs=1e-5 * size, derived=True)


def test_a_sheared_lattice_is_relieved_of_its_stress() -> None:
    """Where shear ends, at x = 0, relief undoes what pressure forces do.

    A lattice sheared by 5 % for x < 0 and not for x > 0 has stresses that differ by p dev M across x = 0.
    The sum of forces on all that is within three spacings of it is that difference over an area, and is
    the same with smoothing; relief is as much, with the opposite sign.
    """
    points = lattice((15, 11, 11))
    sheared = points + np.outer(np.where(points[:, 0] < 0.0, points[:, 0], 0.0), [0.0, 0.05, 0.0])
    _rig, x, acceleration = relieved(sheared)
    pressure = forces_of_pressure(x)
    inner = (np.abs(x[:, 1:]).max(axis=1) < 1.6 * SPACING) & (np.abs(x[:, 0]) < 4.2 * SPACING)
    resisting = pressure[inner, 1].sum()
    relief = acceleration[inner, 1].sum()
    above(abs(resisting), 1e-3 * PRESSURE / (1000.0 * SPACING), "acceleration by stress, m/s²")
    near(relief / resisting, -1.0, "relief over stress", abs=0.1)


def forces_of_pressure(x: Float) -> Float:
    """−Σ_j V (p + p) ∇W/ρ of particles at x, by brute force."""
    apart = x[:, None] - x[None]
    r = np.linalg.norm(apart, axis=-1)
    q = np.minimum(r / (2.0 * SPACING), 1.0)
    unit = calibrate(Smoothing.WENDLAND_C2, 2.0).slope / (2.0 * SPACING)
    slope = unit * smoothing_slope(Smoothing.WENDLAND_C2, q) / np.maximum(r, 1e-9)
    return np.asarray(-2.0 * PRESSURE / 1000.0 * (slope[..., None] * apart).sum(axis=1))


def springs(kind: Smoothing, wave: tuple[int, int, int], relieved: bool = True) -> Float:
    """What pressure and relief resist a wave of displacements with, p/d², along its two harmless axes.

    `wave` counts wavelengths along the edges of an endless lattice of 8 particles each way. Displacements
    across it that compress nothing are harmless, and on a lattice that is what symmetry says.
    """
    edge = 8 * SPACING
    points = lattice((8, 8, 8), center=(0.5 * edge,) * 3)
    phase = 2.0 * np.pi * ((points - points[0]) / edge) @ np.array(wave)
    first = np.cross(wave, [0.0, 0.0, 1.0] if wave[:2] != (0, 0) else [1.0, 0.0, 0.0])
    found = []
    for axis in (first, np.cross(wave, first)):
        shape = np.cos(phase)[:, None] * axis / np.linalg.norm(axis)
        amplitude = 0.01 * SPACING
        rig = Rig(
            points + amplitude * shape,
            material=WATER,
            periodic=(edge,) * 3,
            smoothing=kind.name.lower(),
        )
        c = rig.prepare(DT)
        order = np.argsort(numbers(c.view.particles.array("id"), c.n))
        relief = relief_of(c)[order]
        pushed = displacements(rig, c, np.full(c.n, PRESSURE))[order] / DT**2
        answer = ((relieved * relief + pushed) * shape).sum() / (shape * shape).sum()
        found.append(-answer / amplitude * 1000.0 * SPACING**2 / PRESSURE)
    return np.array(found)


WAVES = [(1, 0, 0), (1, 1, 0), (1, 1, 1), (2, 0, 0), (4, 0, 0), (4, 4, 0), (4, 4, 4), (4, 2, 0)]


@pytest.mark.parametrize("wave", WAVES)
def test_what_is_left_holds_a_lattice_together(wave: tuple[int, int, int]) -> None:
    """Pressure is a spring against every wave, also where relief takes most of it away.

    Displacements of a hundredth of a spacing have an error of 1e-4 of the stiffest spring, 9 p/d².
    """
    assert springs(Smoothing.WENDLAND_C2, wave).min() > -1e-3


def test_a_lattice_of_cubic_splines_falls_apart() -> None:
    """Waves of two spacings along two axes: −0.27 p/d² by the second derivatives of W."""
    near(springs(Smoothing.CUBIC_SPLINE, (4, 4, 0)).min(), -0.27, "softest spring", rel=0.1)


@pytest.mark.parametrize("wave", [(1, 0, 0), (1, 1, 0), (1, 1, 1)])
def test_long_waves_meet_little_resistance(wave: tuple[int, int, int]) -> None:
    """Of 8, 5.7 and 4.6 spacings: less than half of what it is without relief.

    What smoothing leaves is of the second order in d over the wavelength: 0.21, 0.23 and 0.44.
    """
    left = springs(Smoothing.WENDLAND_C2, wave).sum()
    before = springs(Smoothing.WENDLAND_C2, wave, relieved=False).sum()
    below(left / before, 0.5, "springs left", derived=True)


def test_a_wave_is_as_fast_as_theory_says() -> None:
    """5 % is a step of three in the time of its turn; without relief it is a tenth too fast.

    Of its amplitude at least eight tenths are left after half a period: a wave that loses a third of its
    energy in a whole one has nine. It was less than six when pressures pushed where a step ends.
    """
    frequency, left = first_turn(tilted_tank(20))
    near(frequency, 1.0, "frequency over theory", abs=0.05)
    above(left, 0.8, "amplitude after half a period")
