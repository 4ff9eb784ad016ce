"""Velocities that differ from particle to particle are damped in thin fluids, and nothing else is."""

import numpy as np
import pytest
from bars import near
from rigs import USUAL

from viscoil import Scene, Simulation
from viscoil.neighbors.lattice import calibrate

pytestmark = [pytest.mark.usefixtures("compute"), pytest.mark.physics]

D = 0.02  # m
COUNT = 12


def falling() -> tuple[Simulation, np.ndarray, np.ndarray]:
    """A block of water in free fall, the places of its lattice (in spacings) and who is well inside."""
    edge = COUNT * D
    block = {"material": "m", "shape": "box", "center": (0.0, 0.0, 0.0), "size": (edge, edge, edge)}
    scene = {
        "simulation": {"spacing": D, "duration": 10.0},
        "materials": {"m": {"density": 1000.0, "viscosity": 0.0}},
        "fluids": [block],
    }
    simulation = Simulation(Scene.model_validate(scene))
    place = np.round(simulation.particles["position"] / D + 0.5 * (COUNT - 1)).astype(int)
    inside = ((place > 3) & (place < COUNT - 4)).all(axis=1)
    return simulation, place, inside


def after_a_step(simulation: Simulation, sideways: np.ndarray) -> np.ndarray:
    """Velocities along x after a step of 1/480 s that starts with these, m/s, in the order of ids."""
    velocity = np.zeros((simulation.particles.count, 3), np.float32)
    velocity[:, 0] = sideways
    simulation.particles["velocity"] = velocity
    simulation.step(1.0 / 480.0)
    order = np.argsort(simulation.particles["id"])
    return np.asarray(simulation.particles["velocity"][order, 0], np.float64)


def test_layers_that_slide_against_each_other_are_slowed() -> None:
    """Layers across y that alternate: they compress nothing, so that pressures do nothing to them.

    c is 0.3 here. Smoothing takes λ of their speed, twice the share of W in layers of the other
    direction, one above and one below; 1 − c λ² is left.
    """
    simulation, place, inside = falling()
    start = 0.01 * (-1.0) ** place[:, 1]
    left = after_a_step(simulation, start)[inside] / start[inside]
    taken = 4.0 * calibrate(USUAL, 2.0).below[0]
    near(left, 1.0 - 0.3 * taken**2, "share of the speed that is left", rel=0.01, derived=True)


def test_a_shear_flow_is_left_alone() -> None:
    """Neighbourhoods inside are even, where a linear field has no difference: to rounding of 1e-7."""
    simulation, place, inside = falling()
    start = 0.01 * (place[:, 1] - 0.5 * (COUNT - 1))
    found = after_a_step(simulation, start)
    near(found[inside], start[inside], "speed, m/s", abs=2e-5, derived=True)


def test_momentum_is_kept() -> None:
    """What one particle gains the other loses: to the rounding of 1728 speeds of 0.05 m/s."""
    simulation, _place, _inside = falling()
    start = np.random.default_rng(0).normal(0.0, 0.05, simulation.particles.count)
    found = after_a_step(simulation, start)
    near(found.mean(), start.mean(), "mean speed, m/s", abs=1e-7, derived=True)
