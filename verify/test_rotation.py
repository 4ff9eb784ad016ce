"""Figure 7 of Barreiro 2017: a free spinning block, with and without what keeps its rotation."""

from typing import Any

import numpy as np
from figures import by_id, cube, report

from viscoil import Scene, Simulation

D = 0.02


def spin(**solver: Any) -> tuple[float, float]:
    """Share of angular momentum left after 1 s, and drift of linear momentum relative to Σ m |u|."""
    scene = Scene.model_validate(
        {
            "simulation": {
                "spacing": D,
                "duration": 1.0,
                "gravity": [0.0, 0.0, 0.0],
                "time_step": 1 / 240,
            },
            "solver": {
                "velocity_iterations": 20,
                "velocity_tolerance": 0.0,
                "position_iterations": 20,
                **solver,
            },
            "materials": {"stiff": {"density": 1000.0, "relaxation_time": 0.0, "compliance": 0.0}},
            "fluids": [cube("stiff", 16, D, -8 * D, angular_velocity=[0.0, 0.0, 10.0])],
        }
    )
    simulation = Simulation(scene)
    before = simulation.snapshot()
    for frame in simulation.frames():
        last = frame
    return _angular(last) / _angular(before), _drift(last)


def _angular(snapshot: Any) -> float:
    x, u = by_id(snapshot), by_id(snapshot, "velocity")
    return float(np.cross(x - x.mean(0), u - u.mean(0)).sum(0)[2])


def _drift(snapshot: Any) -> float:
    """Momentum over the sum of sizes; 0 of a block that stands still."""
    u = by_id(snapshot, "velocity")
    return float(np.linalg.norm(u.sum(0)) / max(np.linalg.norm(u, axis=1).sum(), 1e-30))


def test_a_spinning_block_keeps_its_angular_momentum() -> None:
    kept, drift = spin()
    report("rotation: angular momentum left after 1 s", kept, "at least 0.95")
    report("rotation: linear momentum drift", drift, "at most 1e-5")
    assert kept >= 0.95
    assert drift <= 1e-5


def test_without_corotation_and_correction_it_visibly_loses_it() -> None:
    kept, _ = spin(corotation=False, gradients="plain")
    report("rotation: left without corotation and correction", kept, "visibly lost: below 0.5")
    assert kept < 0.5
