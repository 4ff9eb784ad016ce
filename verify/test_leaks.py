"""Thin and fast geometry: not one particle may pass through it."""

from pathlib import Path

import numpy as np
import pytest
from figures import picture, report

from viscoil import Scene, Simulation
from viscoil.meshes import TriangleMesh, write_mesh
from viscoil.meshes.builtin import builtin

RADIUS = 0.5  # m, of the bowl


def covered_bowl() -> TriangleMesh:
    """The bowl of zero thickness with a flat lid of zero thickness, so that nothing may leave it."""
    bowl = builtin("bowl")
    height = bowl.vertices[:, 1].max()
    rim = np.flatnonzero(np.abs(bowl.vertices[:, 1] - height) < 1e-9)
    rim = rim[np.argsort(np.arctan2(bowl.vertices[rim, 2], bowl.vertices[rim, 0]))]
    middle = len(bowl.vertices)
    lid = [(middle, a, b) for a, b in zip(rim, np.roll(rim, -1), strict=True)]
    return TriangleMesh(
        np.vstack([bowl.vertices, [[0.0, height, 0.0]]]),
        np.vstack([bowl.faces, lid]).astype(np.int32),
        {},
    )


def shaken(file: Path, spacing: float, seconds: float) -> Scene:
    """To and fro at 3 m/s with sudden turns, and a step up and down every other time."""
    turns = int(seconds / 0.2) + 1
    keys = [{"time": 0.1, "translation": [0.0, 0.0, 0.0]}]
    keys += [
        {"time": 0.1 + 0.2 * k, "translation": [0.3 * (-1) ** k, 0.1 * (k // 2 % 2), 0.0]}
        for k in range(1, turns + 1)
    ]
    collider = {"shape": "mesh", "file": str(file), "mode": "shell", "contact": "slip"}
    fluid = {"shape": "cylinder", "center": (0, 0.24, 0), "radius": 0.5, "height": 0.46}
    # a fixed step, so long that jets move several spacings in it: harder, and quicker
    step = 1.0 / 400.0
    settings = {"spacing": spacing, "duration": seconds, "name": "bowl", "time_step": step}
    return Scene.model_validate(
        {
            "simulation": settings,
            "materials": {"liquid": {"density": 1000.0, "viscosity": 0.0}},
            "fluids": [{"material": "liquid", "relax": True, **fluid}],
            "colliders": [{**collider, "motion": keys}],
        }
    )


@pytest.mark.slow
def test_a_shaken_bowl_keeps_every_particle(tmp_path: Path) -> None:
    write_mesh(tmp_path / "bowl.ply", covered_bowl())
    scene = shaken(tmp_path / "bowl.ply", 0.0163, 5.0)
    simulation = Simulation(scene)
    # what the cylinder has outside of the bowl is not part of the filling
    p = simulation.particles["position"].astype(float)
    simulation.particles.alive.from_numpy(
        np.pad(
            (np.linalg.norm(p - (0, RADIUS, 0), axis=1) < RADIUS).astype(np.int32),
            (0, simulation.particles.capacity - len(p)),
            constant_values=1,
        )
    )
    deepest, outside, steps = -np.inf, 0, 0
    while simulation.time < 5.0 - 1e-9:
        simulation.step()
        steps += 1
        pose = simulation._colliders.pose(0, simulation.time)
        p = pose.to_body(simulation.particles["position"].astype(float))
        beyond = np.maximum(np.linalg.norm(p - (0, RADIUS, 0), axis=1) - RADIUS, p[:, 1] - RADIUS)
        deepest = max(deepest, float(beyond.max()))
        outside = max(outside, int((beyond > 0.0).sum()))
    picture("shaken-bowl", scene, simulation.snapshot())
    report("shaken bowl: particles", simulation.particles.count, "50 000")
    report("shaken bowl: particles outside at any of its steps", outside, "0")
    report("shaken bowl: nearest to the middle of the shell, m", -deepest, "more than 0")
    report("shaken bowl: steps", steps, "printed")
    assert simulation.particles.count >= 50_000
    assert outside == 0


@pytest.mark.slow
@pytest.mark.parametrize("shape", ["mesh", "box"])
def test_no_particle_passes_a_plate_at_ten_metres_per_second(shape: str, tmp_path: Path) -> None:
    """A plate one cell thick; a particle passes if its way, seen from the plate, crosses its middle."""
    spacing, half = 0.02, np.array([0.01, 0.15, 0.15])
    corners = np.array(list(np.ndindex(2, 2, 2))) * 2.0 - 1.0
    quads = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    faces = [t for a, b, c, d in quads for t in ((a, b, c), (a, c, d))]
    write_mesh(tmp_path / "p.ply", TriangleMesh(corners * half, np.array(faces, np.int32), {}))
    motion = [{"time": 0.02}, {"time": 0.1, "translation": [0.8, 0.0, 0.0]}]
    plate = {"shape": "box", "size": tuple(2 * half)}
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
