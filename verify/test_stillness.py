"""Fluids that stand still in a box, whatever they are made of and however long steps are."""

from math import inf

import numpy as np
import pytest
from figures import report

from viscoil import Scene, Simulation

D = 0.02  # m
FLUIDS: dict[str, object] = {
    "water": "water",
    "honey": "honey",
    "syrup-1": {"density": 1000.0, "viscosity": 1.0},
    "syrup-100": {"density": 1000.0, "viscosity": 100.0},
    "ketchup": "ketchup",
    "thick-cream": "thick-cream",
    "dough": "dough",
}


def box(material: object, d: float, contact: str) -> Simulation:
    """11 layers each way in a box that they fill to half of its height."""
    own = not isinstance(material, str)
    edge = 11 * d
    fluid = {"material": "fluid" if own else material, "shape": "box"}
    walls = {"shape": "box", "container": True, "open": ["+y"], "contact": contact}
    scene = {
        "simulation": {"spacing": d, "duration": 9.0},
        "materials": {"fluid": material} if own else {},
        "fluids": [{**fluid, "center": (0, edge / 2, 0), "size": (edge, edge, edge)}],
        "colliders": [{**walls, "center": (0, edge, 0), "size": (edge, 2 * edge, edge)}],
    }
    return Simulation(Scene.model_validate(scene))


def stand(material: object, contact: str) -> list[float]:
    """Mean speeds, m/s, after 1, 3 and 5 s."""
    simulation = box(material, D, contact)
    speeds = []
    for time in (1.0, 3.0, 5.0):
        while simulation.time < time - 1e-9:
            simulation.step()
        velocity = simulation.particles["velocity"].astype(np.float64)
        speeds.append(float(np.linalg.norm(velocity, axis=1).mean()))
    return speeds


@pytest.mark.parametrize("contact", ["slip", "sticky"])
@pytest.mark.parametrize("name", FLUIDS)
def test_fluid_in_a_box_comes_to_rest(name: str, contact: str) -> None:
    """The aim is 0.1 mm/s; what fails here is unrest that does not end."""
    speeds = stand(FLUIDS[name], contact)
    for time, speed in zip((1, 3, 5), speeds, strict=True):
        bar = "aim: 0.1" if time == 5 else ""
        report(f"stillness: {name}, {contact}, after {time} s, mm/s", 1e3 * speed, bar)
    assert speeds[-1] < max(speeds[0], 2e-4)
    assert speeds[-1] < 3e-3


SEQUENCES = {"down and up": [1 / 120, 1e-3, 1e-4, 1e-5, 1e-4, 1e-3], "to and fro": [1 / 120, 1e-4]}


@pytest.mark.parametrize("sequence", SEQUENCES)
@pytest.mark.parametrize("name", ["honey", "gel"])
@pytest.mark.parametrize("d", [0.02, 0.05, 0.1])
def test_steps_of_any_length_leave_it_at_rest(d: float, name: str, sequence: str) -> None:
    """No particle is faster than 2 g Δt_max, whichever steps follow each other."""
    gel = {"modulus": 1e5, "relaxation_time": inf, "solvent_viscosity": 10.0}
    material = {"density": 1000.0, **({"viscosity": 10.0} if name == "honey" else gel)}
    simulation = box(material, d, "slip")
    largest = 0.0
    for _ in range(3):
        for dt in SEQUENCES[sequence]:
            for _step in range(4):
                simulation.step(dt)
                velocity = simulation.particles["velocity"].astype(np.float64)
                largest = max(largest, float(np.linalg.norm(velocity, axis=1).max()))
    report(f"any step: {name}, {sequence}, d = {d} m, m/s", largest, "at most 0.1635")
    assert largest < 2 * 9.81 / 120
