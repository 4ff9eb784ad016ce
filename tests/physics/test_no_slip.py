"""Fluid does not slip in the surface of a sticky wall, half a spacing below its first layer."""

import math
from typing import Any

import numpy as np
import pytest
from bars import near

from viscoil import Scene, Simulation

pytestmark = [pytest.mark.usefixtures("compute"), pytest.mark.physics]

D = 0.01  # m
SLOPE = 0.3


def film(layers: int, viscosity: float, **settings: Any) -> Simulation:
    """Down a slope, periodic, until its speed is steady: 1.5 of the times of the slowest mode."""
    width, depth = 7 * D, layers * D
    gravity = (9.81 * math.sin(SLOPE), -9.81 * math.cos(SLOPE), 0.0)
    scene = {
        "simulation": {
            "spacing": D, "duration": 9.0, "gravity": gravity, "periodic": (width, 0.0, width),
            **settings,
        },
        "solver": {"velocity_iterations": 60},
        "materials": {"syrup": {"density": 1000.0, "viscosity": viscosity}},
        "fluids": [
            {"shape": "box", "material": "syrup", "size": (width, depth, width),
             "center": (0.5 * width, 0.5 * depth, 0.5 * width)}
        ],
        "colliders": [{"shape": "plane", "contact": "sticky"}],
    }  # fmt: skip
    simulation = Simulation(Scene.model_validate(scene))
    steady = max(1.5 * depth**2 * 1000.0 / viscosity, 0.05)
    while simulation.time < steady:
        simulation.step()
    return simulation


@pytest.mark.parametrize(("layers", "viscosity"), [(4, 50.0), (8, 50.0), (8, 1000.0)])
def test_a_film_flows_as_fast_as_it_should(layers: int, viscosity: float) -> None:
    """g sin α h²/(3 ν): 5 %, and 0.71 of it where the first layer was held."""
    mean = film(layers, viscosity).particles["velocity"][:, 0].astype(np.float64).mean()
    exact = 9.81 * math.sin(SLOPE) * (layers * D) ** 2 / (3e-3 * viscosity)
    near(mean / exact, 1.0, "mean speed over theory", abs=0.05)


def test_the_wall_bears_the_weight_along_the_slope() -> None:
    """What a collider reports is what holds the film: its weight, down and along."""
    simulation = film(4, 50.0, report_forces=True)
    force = np.array(simulation.collider_forces[0].force)
    weight = 1000.0 * 7 * 7 * 4 * D**3 * np.array(simulation.gravity)
    near(force, weight, "force on the wall, N", abs=0.03 * np.linalg.norm(weight))


def test_a_gel_stays_where_it_sticks() -> None:
    """On a steep slope its first layer is held: linked by stress that it never forgets, it crept."""
    width, depth = 7 * D, 6 * D
    scene = {
        "simulation": {
            "spacing": D, "duration": 9.0, "periodic": (width, 0.0, width),
            "gravity": (9.81 * math.sin(1.2), -9.81 * math.cos(1.2), 0.0),
        },
        "materials": {
            "gel": {"density": 1000.0, "modulus": 2000.0, "relaxation_time": math.inf,
                    "solvent_viscosity": 5.0}
        },
        "fluids": [
            {"shape": "box", "material": "gel", "size": (width, depth, width),
             "center": (0.5 * width, 0.5 * depth, 0.5 * width)}
        ],
        "colliders": [{"shape": "plane", "contact": "sticky"}],
    }  # fmt: skip
    simulation = Simulation(Scene.model_validate(scene))
    start = simulation.particles["position"][np.argsort(simulation.particles["id"])].astype(float)
    while simulation.time < 1.0:
        simulation.step()
    end = simulation.particles["position"][np.argsort(simulation.particles["id"])].astype(float)
    way = (end[:, 0] - start[:, 0] + 0.5 * width) % width - 0.5 * width
    near(way[start[:, 1] < D], 0.0, "way of the first layer, m", abs=1e-3 * D)
