"""What one stiffness for all (DYVERSO, eqs. 3 and 4) saves and costs, in a dam break of water.

The column of Martin and Moyce (1952): its front is followed until it has run as far as the column is
wide twice over. Another resolution can be given: stiffness.py PARTICLES_PER_WIDTH.
"""

import sys
from collections.abc import Callable
from statistics import mean
from time import process_time
from typing import Any

import numpy as np
from measure import note

from viscoil import Scene, Simulation
from viscoil.core import compute
from viscoil.solvers.dcpbd.solver import DCPBD

ACROSS = 24  # particles along the width of the column, which is twice as high
WIDTH = 0.15  # m
DURATION = 0.3  # s
REPETITIONS = 15  # of the preparation that is timed


def dam_break(across: int, stiffness: str) -> Scene:
    """A column in the corner of a tank that it cannot run through in time."""
    length = 6.0 * WIDTH
    column = {
        "material": "water",
        "shape": "box",
        "center": [0.5 * WIDTH, WIDTH, 0.0],
        "size": [WIDTH, 2.0 * WIDTH, WIDTH],
    }
    tank = {
        "shape": "box",
        "container": True,
        "open": ["+y"],
        "center": [0.5 * length, length, 0.0],
        "size": [length, 2.0 * length, WIDTH],
        "contact": "slip",
    }
    return Scene.model_validate(
        {
            "simulation": {"spacing": WIDTH / across, "duration": DURATION, "fps": 60},
            "solver": {"stiffness": stiffness},
            "materials": {"water": {"density": 1000.0, "viscosity": 0.0}},
            "fluids": [column],
            "colliders": [tank],
        }
    )


def preparation(simulation: Simulation) -> float:
    """Milliseconds of all that comes before the first iteration, the quickest of several."""
    solver = simulation._solver
    assert isinstance(solver, DCPBD)
    c = solver._context(solver.view(simulation._solver_state(), solver.scale.dt))
    work = solver._project_positions.predict
    return min(milliseconds(lambda: work(c)) for _ in range(REPETITIONS))


def milliseconds(work: Callable[[], Any]) -> float:
    """Of processor time over threads, which others on the machine disturb less than the clock."""
    begin = process_time()
    work()
    return (process_time() - begin) / compute.backend()[1] * 1e3


def front(simulation: Simulation) -> float:
    """How far the foot of the column has run, in widths; a few drops may be farther."""
    return float(np.quantile(simulation.particles["position"][:, 0], 0.995) / WIDTH)


def run(across: int, stiffness: str) -> dict[str, float]:
    simulation = Simulation(dam_break(across, stiffness))
    simulation.step()  # compiles
    steps: list[dict[str, Any]] = []
    spent = []
    while simulation.frame < simulation.scene.frames:
        spent.append(milliseconds(lambda: steps.append(simulation.step())))
    return {
        "steps": len(steps),
        "iterations of a step, mean": mean(s["position_iterations"] for s in steps),
        "density error, mean, %": 100.0 * mean(s["density_error_mean"] for s in steps),
        "density error, largest, %": 100.0 * max(s["density_error_max"] for s in steps),
        "front, widths": front(simulation),
        "fastest particle, m/s": max(s["max_speed"] for s in steps),
        "outran the pair list, most": max(s["outran_neighbors"] for s in steps),
        "a step, mean, ms": mean(spent),
        "of it before the first iteration, ms": preparation(simulation),
    }


def main(across: int) -> None:
    compute.initialize()
    exact, prototype = run(across, "exact"), run(across, "prototype")
    note("particles", 2 * across**3, "")
    print("| | exact | prototype |\n|---|---|---|")
    for name in exact:
        print(f"| {name} | {exact[name]:.4g} | {prototype[name]:.4g} |")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else ACROSS)
