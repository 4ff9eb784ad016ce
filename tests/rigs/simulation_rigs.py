"""Small scenes that simulations are tried on, and what to compare of them."""

import json
from typing import Any

import numpy as np

from viscoil.scene import Scene
from viscoil.simulation.simulation import Simulation
from viscoil.simulation.stepping import step_limit

D = 0.02
PASTE = {"density": 1200.0, "viscosity": 50.0}
JELLY = {"density": 1000.0, "modulus": 2000.0, "relaxation_time": 0.3}
RIGID = {"density": 1000.0, "relaxation_time": 0.0, "compliance": 0.0}
FLOOR = {"shape": "plane", "contact": "sticky"}
PADDLE = {
    "shape": "box",
    "center": (-0.12, 0.05, 0.0),
    "size": (0.04, 0.1, 0.2),
    "contact": "friction",
    "friction": 0.3,
    "motion": (
        {"time": 0.0},
        {"time": 0.2, "translation": (0.1, 0.0, 0.0)},
    ),
}
NOZZLE = {
    "shape": "disc",
    "material": "paste",
    "center": (0.0, 0.3, 0.0),
    "direction": (0.0, -1.0, 0.0),
    "radius": 0.03,
    "speed": 1.0,
}


def block(m: int, **values: Any) -> dict[str, Any]:
    return {
        "shape": "box",
        "material": "paste",
        "center": (0.0, 0.0, 0.0),
        "size": (m * D, m * D, m * D),
        **values,
    }


def scene(method: str | None = None, **tables: Any) -> Scene:
    """For the solver of that name, or the default one."""
    if method is not None:
        tables["solver"] = {"method": method}
    simulation = {"spacing": D, "frames": 20, **tables.pop("simulation", {})}
    materials = {"paste": PASTE, "jelly": JELLY, "rigid": RIGID}
    return Scene.model_validate({"simulation": simulation, "materials": materials, **tables})


def tank(
    material: str | dict[str, Any],
    layers: tuple[int, int, int],
    *,
    spacing: float = D,
    contact: str = "slip",
    velocity: float = 0.0,
    **tables: Any,
) -> Scene:
    """A box filled to half of its height with so many particles each way, which moves with it along x."""
    width, height, depth = (count * spacing for count in layers)
    name = material if isinstance(material, str) else "fluid"
    fluid = {"shape": "box", "material": name, "center": (0.0, 0.5 * height, 0.0)}
    box: dict[str, Any] = {"shape": "box", "container": True, "open": ("+y",), "contact": contact}
    if velocity:
        way = {"time": 9.0, "translation": (9.0 * velocity, 0.0, 0.0)}
        box["motion"] = ({"time": 0.0}, way)
    return Scene.model_validate(
        {
            "simulation": {"spacing": spacing, "duration": 9.0},
            "materials": {} if isinstance(material, str) else {name: material},
            "fluids": [{**fluid, "size": (width, height, depth), "velocity": (velocity, 0.0, 0.0)}],
            "colliders": [
                {**box, "center": (0.0, height, 0.0), "size": (width, 2.0 * height, depth)}
            ],
            **tables,
        }
    )


def weightless(*fluids: dict[str, Any], method: str | None = None, **simulation: Any) -> Scene:
    settings = {"gravity": (0.0, 0.0, 0.0), "time_step": 1.0 / 240.0, **simulation}
    return scene(method, fluids=fluids, simulation=settings)


def advance(simulation: Simulation, steps: int) -> dict[str, Any]:
    """Steps of 1/240 s, or the longest that the solver can take if that is less; the last figures."""
    for _ in range(steps):
        longest, _ = step_limit(simulation._solver, simulation._solver_state())
        figures = simulation.step(min(1.0 / 240.0, longest))
    return figures


def busy(method: str | None = None, **simulation: Any) -> Scene:
    """A jelly on the floor, a jet that falls onto it, a paddle, and a box that swallows strays."""
    return scene(
        method,
        fluids=[block(5, material="jelly", center=(0.0, 0.06, 0.0), velocity=(0.5, 0.0, 0.0))],
        emitters=[NOZZLE],
        colliders=[FLOOR, PADDLE],
        simulation={
            "kill_bounds": {"min": (-1.0, -1.0, -1.0), "max": (0.075, 1.0, 1.0)},
            **simulation,
        },
    )


def state(simulation: Simulation) -> dict[str, bytes]:
    found = {name: simulation.particles[name].tobytes() for name in simulation.particles}
    return {**found, "clock": json.dumps([simulation.time, simulation.steps]).encode()}


def by_id(simulation: Simulation, name: str) -> np.ndarray:
    values = np.array(simulation.particles[name])[np.argsort(simulation.particles["id"])]
    return values.astype(np.float64)
