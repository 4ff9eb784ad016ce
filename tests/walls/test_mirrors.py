"""Walls mirror particles: what is beside them is as full, and as well held, as what is not."""

import numpy as np
import pytest
from bars import below, near
from simulation_rigs import D, tank

from viscoil import Scene, Simulation
from viscoil.core.compute import view

pytestmark = [pytest.mark.usefixtures("compute"), pytest.mark.physics]

SYRUP = {"density": 1000.0, "viscosity": 20.0}


@pytest.mark.parametrize("smoothing", ["cubic_spline", "wendland_c2"])
@pytest.mark.parametrize("support", [2.0, 2.5])
def test_a_box_of_a_lattice_is_full_to_its_corners(smoothing: str, support: float) -> None:
    """C of every particle that has none missing above it: rounding of sums of 100 terms below 1."""
    solver = {"smoothing": smoothing, "support": support}
    simulation = Simulation(tank(SYRUP, (6, 8, 6), solver=solver))
    simulation.gravity = (0.0, 0.0, 0.0)
    simulation.step(1e-6)
    context = simulation._solver._context  # type: ignore[attr-defined]
    unknowns = context(simulation._solver.view(simulation._solver_state(), 1e-6)).unknowns
    compression = view(unknowns.compression, simulation.particles.count)
    deep = simulation.particles["position"][:, 1] < (8 - support) * D
    near(compression[deep], 0.0, "compression", abs=1e-5)


def test_pressure_is_as_steep_at_walls_as_elsewhere() -> None:
    """The same everywhere; where walls mirrored nothing, a fifth more in their first layer.

    On a lattice it is ρ g/M, with M = −Σ_j V_j x_ij (∇W_ij)_x, which is 1 for many neighbours.
    """
    simulation = Simulation(tank(SYRUP, (8, 10, 8)))
    for _ in range(60):
        simulation.step()
    x, p = simulation.particles["position"], simulation.particles["pressure"]
    walls = (np.abs(x[:, [0, 2]]) > 3.2 * D).sum(axis=1)
    # in pairs, for pressure may alternate from layer to layer
    pair = ((x[:, 1] / D - 1.0) // 2.0).astype(int)
    places = 2.0 * D * np.arange(3)
    slopes = [
        np.polyfit(places, [p[(pair == a) & (walls == k)].mean() for a in range(3)], 1)[0]
        for k in range(3)
    ]
    near(slopes, -9810.0, "pressure gradient, Pa/m", rel=0.02)
    speed = np.linalg.norm(simulation.particles["velocity"], axis=1).mean()
    below(1e3 * speed, 0.6, "mean speed at rest, mm/s")


def test_images_push_nothing_along_the_wall() -> None:
    """A periodic channel whose fluid is thrown about keeps its momentum along it, but for rounding."""
    width = 8 * D
    scene = {
        "simulation": {"spacing": D, "duration": 1.0, "periodic": (0.0, 0.0, width)},
        "materials": {"water": {"density": 1000.0, "viscosity": 0.0}},
        "fluids": [
            {"shape": "box", "material": "water", "size": (width,) * 3,
             "center": (0.0, 4 * D, 0.5 * width)}
        ],
        "colliders": [
            {"shape": "box", "container": True, "open": ["+y", "+z", "-z"], "contact": "slip",
             "center": (0.0, width, 0.5 * width), "size": (width, 2 * width, width)}
        ],
    }  # fmt: skip
    simulation = Simulation(Scene.model_validate(scene))
    random = np.random.default_rng(3).normal(0.0, 0.3, simulation.particles["velocity"].shape)
    simulation.particles["velocity"] = random
    before = simulation.particles["velocity"][:, 2].astype(np.float64).mean()
    for _ in range(20):
        simulation.step()
    after = simulation.particles["velocity"][:, 2].astype(np.float64).mean()
    near(after, before, "mean velocity along the channel, m/s", abs=2e-6)
