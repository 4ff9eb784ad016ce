"""Surface tension and adhesion in N/m: drops that rest, swing, lie on a plate and hang from one."""

import math

import numpy as np
import pytest
from figures import picture, report

from viscoil import Scene, Simulation
from viscoil.constraints.capillary import capillary_step
from viscoil.rheology.drop import FreeDrop, fit_swing
from viscoil.scene import Material

# radius in spacings, spacing (m), κ (N/m), step over that of capillary waves
CASES = [
    (5, 5e-4, 0.07, 1.0),
    (5, 5e-4, 0.07, 0.5),
    (5, 2.5e-4, 0.07, 1.0),
    (5, 5e-4, 0.02, 1.0),
    (5, 5e-4, 0.5, 1.0),
    (5, 0.05, 500.0, 1.0),
    (8, 5e-4, 0.07, 1.0),
    (8, 5e-4, 0.07, 0.5),
    (8, 3.125e-4, 0.07, 1.0),
    (12, 5e-4, 0.07, 1.0),
    (12, 5e-4, 0.07, 0.5),
]


@pytest.mark.parametrize(("size", "spacing", "kappa", "share"), CASES)
def test_drops_follow_laplace_and_rayleigh(
    size: int, spacing: float, kappa: float, share: float
) -> None:
    drop = FreeDrop(
        Material(density=1000.0, viscosity=0.0, surface_tension=kappa), spacing, size * spacing
    )
    dt = share * capillary_step(1000.0, spacing, kappa)
    period = 2.0 * math.pi / drop.rayleigh_frequency
    drop.advance(period, dt)
    pressure = drop.advance(0.5 * period, dt)[:, 2].mean() / drop.laplace_pressure
    u = drop.particles["velocity"].astype(np.float64)
    noise = math.sqrt((u**2).sum(axis=1).mean() * 1000.0 * drop.radius / kappa)
    drop.pull(0.2 * drop.rayleigh_frequency)
    rows = drop.advance(1.6 * period, dt)
    swing = fit_swing(rows[:, 0], rows[:, 1], drop.rayleigh_frequency)
    squared = (swing.undamped / drop.rayleigh_frequency) ** 2
    name = f"drop of {size} spacings of {spacing:g} m, κ {kappa:g} N/m, step {share:g}"
    report(f"{name}: pressure over 2κ/R", pressure, "within 0.2 of 1")
    report(f"{name}: ω² over 8κ/(ρR³)", squared, "within 0.2 of 1")
    report(f"{name}: damping over ω", swing.damping / drop.rayleigh_frequency, "numerical")
    report(f"{name}: RMS speed at rest over √(κ/ρR)", noise, "under 0.3")
    farthest = np.linalg.norm(drop.offsets(), axis=1).max() / drop.radius
    report(f"{name}: farthest particle over R", float(farthest), "under 1.15: nothing comes off")
    assert pressure == pytest.approx(1.0, abs=0.2)
    assert squared == pytest.approx(1.0, abs=0.2)
    assert noise < 0.3
    assert farthest < 1.15


def cap_centre(theta: float) -> float:
    """Height of the centre of mass of a spherical cap, over the radius of a ball of its volume."""
    c = math.cos(theta)
    radius = (4.0 / ((2.0 + c) * (1.0 - c) ** 2)) ** (1.0 / 3.0)
    return float(radius * (0.75 * (1.0 + c) ** 2 / (2.0 + c) - c))


def angle_of_cap(height: float) -> float:
    """The contact angle of the cap whose centre of mass is at this height, rad."""
    low, high = 0.05, math.pi
    for _ in range(60):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if cap_centre(middle) < height else (low, middle)
    return low


def lying_drop(ratio: float, contact: str = "slip") -> float:
    """Contact angle (degrees) of a drop whose adhesion is `ratio` κ, without gravity.

    It starts as a cylinder of 8 spacings that stands on the plate: a ball that only touches would be
    pushed off wherever W < κ.
    """
    d, kappa = 5e-4, 0.07
    scene = Scene.model_validate(
        {
            "simulation": {
                "spacing": d, "duration": 0.16, "fps": 100.0, "gravity": [0.0, 0.0, 0.0],
            },
            "materials": {
                "m": {
                    "density": 1000.0, "viscosity": 0.0, "surface_tension": kappa,
                    "adhesion": ratio * kappa, "xsph": 0.05,
                }
            },
            "fluids": [
                {
                    "material": "m", "shape": "cylinder", "center": [0, 4 * d, 0],
                    "radius": 8 * d, "height": 8 * d,
                }
            ],
            "colliders": [{"shape": "plane", "contact": contact}],
        }
    )  # fmt: skip
    heights = []
    simulation = Simulation(scene)
    for frame in simulation.frames():
        heights.append(frame.channels["position"][:, 1].mean())
    picture(f"lying-drop-{ratio:g}", scene, simulation.snapshot())
    ball = d * (simulation.particles.count * 3.0 / (4.0 * math.pi)) ** (1.0 / 3.0)
    return math.degrees(angle_of_cap(float(np.mean(heights[-4:])) / ball))


def test_contact_angles_follow_young_and_dupre() -> None:
    """W = κ (1 + cos θ): 180° without adhesion, 90° for κ, 0° for 2 κ."""
    angles = {}
    for ratio in (0.0, 0.5, 1.0, 1.5, 2.0):
        angles[ratio] = lying_drop(ratio)
        theory = math.degrees(math.acos(min(max(ratio - 1.0, -1.0), 1.0)))
        report(f"contact angle for W = {ratio:g} κ, degrees", angles[ratio], f"theory {theory:.0f}")
    assert angles[0.0] > 150.0
    assert angles[1.0] == pytest.approx(90.0, abs=25.0)
    assert angles[2.0] < 50.0
    assert sorted(angles.values(), reverse=True) == list(angles.values())


@pytest.mark.parametrize(("ratio", "hangs"), [(2.0, True), (1.5, True), (0.0, False)])
def test_a_drop_hangs_from_a_ceiling_with_adhesion_and_falls_without(
    ratio: float, hangs: bool
) -> None:
    d, kappa = 4e-4, 0.07
    scene = Scene.model_validate(
        {
            "simulation": {"spacing": d, "duration": 0.2, "fps": 100.0},
            "materials": {
                "m": {
                    "density": 1000.0, "viscosity": 0.0, "surface_tension": kappa,
                    "adhesion": ratio * kappa,
                }
            },
            "fluids": [
                {
                    "material": "m", "shape": "cylinder", "center": [0, -3 * d, 0],
                    "radius": 5 * d, "height": 6 * d,
                }
            ],
            "colliders": [{"shape": "plane", "normal": [0, -1, 0], "contact": "slip"}],
        }
    )  # fmt: skip
    simulation = Simulation(scene)
    for frame in simulation.frames():
        low = float(frame.channels["position"][:, 1].mean())
    report(f"ceiling: depth of the drop for W = {ratio:g} κ, m", -low, "hangs under 4 mm")
    assert (-low < 4e-3) == hangs
