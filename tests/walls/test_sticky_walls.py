"""Stiff fluid that is dragged over sticky walls of any shape."""

from pathlib import Path

import numpy as np
import pytest
from bars import below

from viscoil import Scene, Simulation
from viscoil.geometry.meshes import TriangleMesh, write_mesh


def nails() -> TriangleMesh:
    """A bed of pyramids, two spacings wide at the base and four high."""
    side = np.arange(-0.3, 0.31, 0.15)
    base = 0.05 * np.array([(-1, 0, -1), (-1, 0, 1), (1, 0, 1), (1, 0, -1), (0, 4, 0)])
    faces = np.array([(0, 1, 4), (1, 2, 4), (2, 3, 4), (3, 0, 4), (0, 2, 1), (0, 3, 2)])
    feet = np.array([(x, 0.0, z) for x in side for z in side])
    vertices = (feet[:, None] + base).reshape(-1, 3)
    return TriangleMesh(
        vertices, (faces + 5 * np.arange(len(feet))[:, None, None]).reshape(-1, 3).astype(np.int32)
    )


@pytest.mark.physics
def test_nothing_is_thrown_off_spikes(tmp_path: Path) -> None:
    """A held particle takes drag that would carry it far; that must not tell where its wall is.

    Nothing in a falling body can be faster than it falls, but for what a single push out of a wall
    may add; half as much again is far below what throws particles off.
    """
    write_mesh(tmp_path / "nails.ply", nails())
    scene = Scene.model_validate(
        {
            "simulation": {"spacing": 0.05, "duration": 0.4, "name": "nails"},
            "materials": {"tar": {"density": 1000.0, "viscosity": 1000.0}},
            "fluids": [
                {"shape": "sphere", "material": "tar", "center": (0, 0.75, 0), "radius": 0.3}
            ],
            "colliders": [
                {"shape": "mesh", "file": str(tmp_path / "nails.ply"), "contact": "sticky"}
            ],
        }
    )
    simulation = Simulation(scene)
    worst = 0.0
    while simulation.time < 0.4 - 1e-9:
        figures = simulation.step()
        worst = max(worst, figures["max_speed"] / (9.81 * simulation.time))
    below(worst, 1.5, "speed over that of the fall")
