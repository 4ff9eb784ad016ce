"""A standing wave: a tank of water whose gravity is tilted swings about where that puts it."""

from math import pi, sqrt, tanh
from typing import Any

import numpy as np
from numpy.typing import NDArray

from viscoil import Scene, Simulation

LENGTH, DEPTH = 1.0, 0.5  # m
TILT = 0.06  # of gravity, and so of the surface in the end
OMEGA = sqrt(9.81 * pi / LENGTH * tanh(pi * DEPTH / LENGTH))  # 1/s, of the first mode


def tilted_tank(n: int, **simulation: Any) -> Simulation:
    """With n particles along it, and six across; `simulation` is what else the scene says of that."""
    d = LENGTH / n
    walls = {"shape": "box", "container": True, "open": ["+y"], "contact": "slip"}
    gravity = (TILT * 9.81, -9.81, 0.0)
    scene = {
        "simulation": {"spacing": d, "duration": 99.0, "gravity": gravity, **simulation},
        "materials": {"water": {"density": 1000.0, "viscosity": 0.0}},
        "fluids": [
            {"material": "water", "shape": "box", "center": (0.5 * LENGTH, 0.5 * DEPTH, 3 * d),
             "size": (LENGTH, DEPTH, 6 * d)}
        ],
        "colliders": [
            {**walls, "center": (0.5 * LENGTH, 2 * DEPTH, 3 * d), "size": (LENGTH, 4 * DEPTH, 6 * d)}
        ],
    }  # fmt: skip
    return Simulation(Scene.model_validate(scene))


def swing(tank: Simulation, duration: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Times (s) and centres of mass along the tank (m)."""
    times, places = [], []
    while tank.time < duration:
        tank.step()
        times.append(tank.time)
        places.append(tank.particles["position"][:, 0].astype(np.float64).mean())
    return np.array(times), np.array(places)


def first_turn(tank: Simulation) -> tuple[float, float]:
    """Frequency over that of theory, and what is left of the amplitude, after half a period."""
    times, places = swing(tank, 0.85)
    turn = int(np.argmax(places))
    still = 0.5 * LENGTH + TILT * LENGTH**2 / (12.0 * DEPTH)
    left = (places[turn] - still) / (still - 0.5 * LENGTH)
    return float(pi / OMEGA / times[turn]), float(left)
