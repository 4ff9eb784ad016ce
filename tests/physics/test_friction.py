"""Blocks on slopes: Coulomb friction by the whole load, however many layers of particles press on."""

import math

import numpy as np
import pytest
from bars import below, near

from viscoil import Scene, Simulation

pytestmark = [pytest.mark.usefixtures("compute"), pytest.mark.physics]

D = 0.02  # m
FRICTION = 0.5


def speeds(slope: float, layers: int, duration: float) -> tuple[np.ndarray, np.ndarray]:
    """Times (s) and mean speeds down a slope of this tangent (m/s) of a block of gel."""
    angle = math.atan(slope)
    gravity = (9.81 * math.sin(angle), -9.81 * math.cos(angle), 0.0)
    size = (6 * D, layers * D, 6 * D)
    gel = {"density": 1000.0, "modulus": 1e5, "viscosity": 1e9}
    simulation = Simulation(
        Scene.model_validate(
            {
                "simulation": {"spacing": D, "duration": 10.0, "gravity": gravity},
                "materials": {"gel": gel},
                "fluids": [
                    {
                        "material": "gel",
                        "shape": "box",
                        "center": (0.0, 0.5 * layers * D, 0.0),
                        "size": size,
                    }
                ],
                "colliders": [{"shape": "plane", "contact": "friction", "friction": FRICTION}],
            }
        )
    )
    rows = []
    while simulation.time < duration:
        simulation.step()
        along = simulation.particles["velocity"][:, 0].astype(np.float64)
        rows.append((simulation.time, along.mean()))
    time, speed = np.array(rows).T
    return time, speed


@pytest.mark.parametrize("layers", [1, 4, 8])
def test_it_rests_below_the_angle_of_friction(layers: int) -> None:
    """At 0.95 μ it stays. What it swings by, as a gel that is let go, is a hundredth of a slide."""
    time, speed = speeds(0.95 * FRICTION, layers, 0.3)
    late = time > 0.15
    below(abs(speed[late].mean()), 0.01 * 9.81 * 0.3, "mean speed, m/s")


@pytest.mark.parametrize("layers", [1, 4, 8])
@pytest.mark.parametrize("slope", [1.05 * FRICTION, 1.0])
def test_it_slides_as_coulomb_says_above(slope: float, layers: int) -> None:
    """g (sin α − μ cos α) within 5 %."""
    time, speed = speeds(slope, layers, 0.3)
    late = time > 0.1
    found = np.polyfit(time[late], speed[late], 1)[0]
    angle = math.atan(slope)
    expected = 9.81 * (math.sin(angle) - FRICTION * math.cos(angle))
    near(found, expected, "acceleration, m/s²", rel=0.05)
