"""Short steps, far from the origin: neither velocities nor positions are rounded away."""

import numpy as np
import pytest
from bars import near

from viscoil import Scene, Simulation

pytestmark = [pytest.mark.usefixtures("compute"), pytest.mark.physics]


@pytest.mark.parametrize("dt", [1e-5, 1e-4, 1.0 / 120.0])
@pytest.mark.parametrize("height", [0.3, 3.0, 100.0])
@pytest.mark.parametrize("viscosity", [0.0, 100.0])
def test_a_block_falls_with_g(height: float, dt: float, viscosity: float) -> None:
    """By its speed and by its way within 0.1 %.

    100 steps of 1e-5 s fall by 5e-6 m, less than the last bit of a coordinate of 100 m (8e-6 m): what
    a position cannot hold yet is in its remainder. Semi-implicit Euler falls by ½ g t (t + Δt).
    """
    simulation = Simulation(
        Scene.model_validate(
            {
                "simulation": {"spacing": 0.05, "duration": 100.0},
                "materials": {"fluid": {"density": 1000.0, "viscosity": viscosity}},
                "fluids": [
                    {
                        "material": "fluid",
                        "shape": "box",
                        "center": (0.0, height, 0.0),
                        "size": (0.2, 0.2, 0.2),
                    }
                ],
            }
        )
    )
    start = _height(simulation)
    for _ in range(100):
        simulation.step(dt)
    t = 100 * dt
    speed = simulation.particles["velocity"][:, 1].astype(np.float64).mean()
    near(-speed / t, 9.81, "acceleration by speed, m/s²", rel=1e-3, derived=True)
    fallen = start - _height(simulation)
    near(fallen * 2.0 / (t * (t + dt)), 9.81, "acceleration by way, m/s²", rel=1e-3, derived=True)


def _height(simulation: Simulation) -> float:
    """Of the middle, m, with what positions could not hold."""
    p = simulation.particles
    remainder = p["remainder"][:, 1].astype(np.float64) if "remainder" in p else np.zeros(1)
    return float(p["position"][:, 1].astype(np.float64).mean() + remainder.mean())
