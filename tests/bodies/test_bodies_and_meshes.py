"""Rigid bodies among meshes, whose distances are known in a narrow band only."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from bars import below, near
from solid_meshes import box

from viscoil import Scene, Simulation
from viscoil.geometry.meshes import write_mesh

D = 0.01  # m
RADIUS = 6 * D  # twice the band of a mesh collider


def room(tmp_path: Path, half: float, low: float, high: float) -> str:
    write_mesh(tmp_path / "room.ply", box((-half, low, -half), (half, high, half)))
    return str(tmp_path / "room.ply")


def dropped(file: str, mode: str, height: float, body: dict[str, Any]) -> Simulation:
    """A body and, out of its way, a little water, for no scene is without."""
    water = {"shape": "box", "center": (0.2, 0.02, 0.2), "size": (0.02, 0.02, 0.02)}
    return Simulation(
        Scene.model_validate(
            {
                "simulation": {"spacing": D, "duration": 2.0, "time_step": 1 / 240},
                "materials": {"liquid": {"density": 1000.0, "viscosity": 0.0}},
                "fluids": [{"material": "liquid", **water}],
                "colliders": [
                    {"shape": "mesh", "file": file, "mode": mode},
                    {"dynamic": True, "density": 800.0, "center": (0.0, height, 0.0), **body},
                ],
            }
        )
    )


BALL = {"shape": "sphere", "radius": RADIUS}


@pytest.mark.physics
@pytest.mark.parametrize("mode", ["container", "solid"])
def test_a_large_ball_falls_until_it_lies_on_a_mesh(mode: str, tmp_path: Path) -> None:
    """Inside of a room, and on a block: nothing holds it in the air, and the floor does at its radius."""
    file = room(tmp_path, 0.3, 0.0, 0.6) if mode == "container" else room(tmp_path, 0.3, -0.2, 0.0)
    simulation = dropped(file, mode, 0.3, BALL)
    for _ in range(24):
        simulation.step()
    state = simulation.bodies.states[1]
    near(state.velocity[1], -9.81 * simulation.time, "speed of fall, m/s", rel=1e-3)
    for _ in range(240):
        simulation.step()
    state = simulation.bodies.states[1]
    near(state.position[1], RADIUS, "height at rest, m", abs=0.2 * D)
    below(float(np.linalg.norm(state.velocity)), 0.02, "speed at rest, m/s")


@pytest.mark.physics
def test_a_ball_in_a_corner_touches_both_walls(tmp_path: Path) -> None:
    """It rolls down a tilt of gravity and comes to rest at its radius from floor and wall."""
    simulation = dropped(room(tmp_path, 0.3, 0.0, 0.6), "container", 1.01 * RADIUS, BALL)
    simulation.gravity = (6.0, -8.0, 0.0)
    for _ in range(480):
        simulation.step()
    x = simulation.bodies.states[1].position
    near(x[0], 0.3 - RADIUS, "place beside the wall, m", abs=0.2 * D)
    near(x[1], RADIUS, "height on the floor, m", abs=0.2 * D)
