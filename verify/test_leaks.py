"""Thin and fast geometry: not one particle may pass through it."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from bowl_rigs import ShakenBowl
from figures import picture, report
from solid_meshes import box

from viscoil import Scene, Simulation
from viscoil.geometry.meshes import write_mesh


@pytest.mark.slow
@pytest.mark.parametrize(
    ("viscosity", "contact", "seconds"),
    [(0.0, "slip", 5.0), (1000.0, "sticky", 1.0)],
    ids=["water", "tar"],
)
def test_a_shaken_bowl_keeps_every_particle(
    viscosity: float, contact: str, seconds: float, tmp_path: Path
) -> None:
    bowl = ShakenBowl.filled(tmp_path, 0.0163, seconds, viscosity, contact)
    bowl.shake()
    simulation = bowl.simulation
    name = f"bowl shaken at 3 m/s for {seconds:g} s, {viscosity:g} Pa s"
    picture(f"shaken-bowl-{viscosity:g}", simulation.scene, simulation.snapshot())
    report(f"{name}: particles", simulation.particles.count, "50 000")
    report(f"{name}: steps", simulation.steps, "printed")
    report(f"{name}: most particles outside after any step", bowl.outside, "0")
    report(f"{name}: nearest to the middle of the shell, m", bowl.nearest, "more than 0")
    assert simulation.particles.count >= 50_000
    assert bowl.outside == 0


@pytest.mark.slow
@pytest.mark.parametrize("shape", ["mesh", "box"])
def test_no_particle_passes_a_plate_at_ten_metres_per_second(shape: str, tmp_path: Path) -> None:
    """A plate one cell thick; a particle passes if its way, seen from the plate, crosses its middle."""
    spacing, half = 0.02, np.array([0.01, 0.15, 0.15])
    write_mesh(tmp_path / "p.ply", box(-half, half))
    motion = [{"time": 0.02}, {"time": 0.1, "translation": [0.8, 0.0, 0.0]}]
    plate: dict[str, Any] = {"shape": "box", "size": tuple(2 * half)}
    if shape == "mesh":
        plate = {"shape": "mesh", "file": str(tmp_path / "p.ply"), "cell_size": spacing}
    place = {"center": (-0.4, 0.2, 0.0), "contact": "slip", "motion": motion}
    size = (1.2, 0.8, 0.6)
    tank = {"shape": "box", "container": True, "open": ("+y",), "center": (0, 0.4, 0), "size": size}
    scene = Scene.model_validate(
        {
            "simulation": {"spacing": spacing, "duration": 0.1, "name": "plate"},
            "materials": {"liquid": {"density": 1000.0, "viscosity": 0.0}},
            "fluids": [
                {
                    "material": "liquid",
                    "shape": "box",
                    "center": (0, 0.2, 0),
                    "size": (1.2, 0.4, 0.6),
                }
            ],
            "colliders": [{**plate, **place}, {**tank, "contact": "slip"}],
        }
    )
    simulation = Simulation(scene)
    passed, before = 0, _by_id(simulation)
    while simulation.time < 0.1 - 1e-9:
        simulation.step()
        after = _by_id(simulation)
        passed += _crossings(before, after, half)
        before = after
    picture(f"plate-{shape}", scene, simulation.snapshot())
    report(f"plate at 10 m/s ({shape}): particles that passed through it", passed, "0")
    assert passed == 0


def _by_id(simulation: Simulation) -> np.ndarray:
    """Places seen from the plate, in the order of ids."""
    pose = simulation._colliders.pose(0, simulation.time)
    order = np.argsort(simulation.particles["id"])
    return pose.to_body(simulation.particles["position"][order].astype(float))


def _crossings(before: np.ndarray, after: np.ndarray, half: np.ndarray) -> int:
    share = before[:, 0] / np.where(before[:, 0] == after[:, 0], 1.0, before[:, 0] - after[:, 0])
    crosses = (before[:, 0] < 0.0) != (after[:, 0] < 0.0)
    at = before + share[:, None] * (after - before)
    return int((crosses & (np.abs(at[:, 1:]) < half[1:]).all(axis=1)).sum())
