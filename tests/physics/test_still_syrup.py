"""Syrup that stands in a cup stands still, and costs hardly any iterations."""

import numpy as np
import pytest
from bars import below
from simulation_rigs import D, tank

from viscoil import Scene, Simulation

pytestmark = pytest.mark.physics

LAYERS = 12


def cup(viscosity: float, contact: str = "sticky") -> Scene:
    return tank({"density": 1000.0, "viscosity": viscosity}, (10, LAYERS, 10), contact=contact)


@pytest.mark.parametrize("viscosity", [20.0, 200.0])
def test_it_does_not_stir_itself(viscosity: float) -> None:
    """Pressure is carried by what it was, and not by a flow that squeezes and shifts that refill.

    The pressure at the bottom, ρ g H, against a stiffness of 50 η would squeeze the fluid at the rate
    ρ g H/(50 η): its middle sank by half a spacing a second and more. A tenth is allowed for.
    """
    simulation = Simulation(cup(viscosity))
    steps = [simulation.step() for _ in range(60)]
    order = np.argsort(simulation.particles["id"])
    before, start = simulation.particles["position"][order], simulation.time
    steps += [simulation.step() for _ in range(30)]
    order = np.argsort(simulation.particles["id"])
    moved = (simulation.particles["position"][order] - before) / (simulation.time - start)
    below(np.sqrt((moved**2).sum(axis=1).mean()), 0.1 * D, "drift, m/s")
    # stresses that hold it are those of the step before
    below(np.mean([s["velocity_iterations"] for s in steps[60:]]), 6, "velocity iterations")


def test_pressure_stays_the_same_when_steps_get_shorter() -> None:
    """A quarter of the step, with the pressure that holds the weight: nothing is thrown up.

    A pressure four times too large would throw the syrup up at up to 3 g for that step.
    """
    simulation = Simulation(cup(200.0))
    for _ in range(60):
        simulation.step(1 / 120)
    before = simulation.particles["velocity"].copy()
    simulation.step(1 / 480)
    change = simulation.particles["velocity"][:, 1].mean() - before[:, 1].mean()
    below(abs(change), 0.1 * 9.81 / 480, "kick, m/s")


def test_nor_between_walls_that_slip() -> None:
    """Stresses of the step before hold it here too: nearly all of them, where it was half.

    In edges two walls hold a particle; while the solve knew of one, tar of 1000 Pa s sank by 5 mm/s
    at its top and was shifted up again.
    """
    simulation = Simulation(cup(1000.0, "slip"))
    for _ in range(60):
        simulation.step()
    top = simulation.particles["position"][:, 1] > (LAYERS - 1) * D
    sinking = -simulation.particles["velocity"][top, 1].astype(np.float64).mean()
    below(abs(sinking), 2.5e-3, "speed at the top, m/s")
