"""The scenes of DYVERSO's figures, coarse and short: nothing in a solid, nothing lost."""

from typing import Any

import numpy as np
import pytest
from bars import below, near

from viscoil import Scene, Simulation
from viscoil.emitters.nozzles import Emitter

# particles over those of the scene as written, and frames
SCENES = {
    "bad-meshes": (0.12, 14),
    "bullet": (0.2, 8),
    "bunny-dam": (0.04, 8),
    "dragon-splash": (0.025, 13),
    "drain": (0.3, 12),
    "idols": (0.3, 12),
    "waterfall": (0.4, 15),
    "wine": (0.2, 6),
}


def deepest(simulation: Simulation) -> float:
    """How far (in spacings) the deepest particle is inside a collider; negative: outside."""
    state = simulation.snapshot()
    inside = -simulation._colliders.distance(state.channels["position"], simulation.time)
    return float(inside.max(initial=-np.inf)) / simulation.scene.simulation.spacing


@pytest.mark.physics
@pytest.mark.parametrize("name", SCENES)
def test_scene(name: str) -> None:
    """A particle may sink a tenth of a spacing into a wall while iterations go on."""
    scale, frames = SCENES[name]
    simulation = Simulation(Scene.load(name, [f"simulation.scale={scale}"]).with_frames(frames))
    start = simulation.particles.count
    figures: dict[str, Any] = {}
    while simulation.frame < frames:
        frame = simulation.frame
        while simulation.frame == frame:
            figures = simulation.step()
        below(deepest(simulation), 0.1, "depth in a wall, spacings")
    below(figures["density_error_mean"], 0.02, "density error")
    made = simulation.particles.next_id
    if not simulation.scene.emitters:
        assert made == start
    else:
        # what was made is what the nozzles let through, but for the layers in their run-in zones
        nozzles = [e for e in simulation._inflow.emitters if isinstance(e, Emitter)]
        assert len(nozzles) == len(simulation.scene.emitters)
        opened = sum(max(simulation.time - e.start, 0.0) * e.flow_rate for e in nozzles)
        layers = sum(e.points * 4 for e in nozzles)
        volumes = opened / simulation.scene.simulation.spacing**3
        near(made, volumes, "particles made", abs=layers, derived=True)
    assert np.isfinite(simulation.particles["position"]).all()
