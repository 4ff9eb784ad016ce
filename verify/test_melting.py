"""The built-in scene of heat: a scoop of ice cream slumps on a warm plate, and not on a cold one."""

import numpy as np
import pytest
from figures import report

from viscoil import Scene, Simulation

COLD = ["colliders.0.temperature=260.0", "simulation.ambient_temperature=260.0"]


def run(*changes: str) -> tuple[np.ndarray, np.ndarray]:
    """Heights of the top (m) and mean temperatures (K), frame by frame, at 1000 particles."""
    scene = Scene.load("melting", ["simulation.spacing=0.004", *changes])
    frames = [frame.channels for frame in Simulation(scene)]
    tops = [float(f["position"][:, 1].max()) for f in frames]
    return np.array(tops), np.array([float(f["temperature"].mean()) for f in frames])


@pytest.mark.slow
def test_a_scoop_melts_on_a_warm_plate_only() -> None:
    """Cold, it sags by its own weight over η/(ρ g H) = 14 s; warm, it flows in four."""
    warm, temperatures = run()
    cold, constant = run(*COLD)
    report("melting: height left on a warm plate", warm[-1] / warm[0], "below 0.6")
    report("melting: height left on a cold plate", cold[-1] / cold[0], "above 0.75")
    assert warm[-1] < 0.6 * warm[0]
    assert cold[-1] > 0.75 * cold[0]
    assert (np.diff(temperatures) > 0.0).all()
    assert np.abs(constant - 260.0).max() < 1e-3
