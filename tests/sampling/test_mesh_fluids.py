"""Fluids that fill meshes, and starts without a jump in pressure."""

from pathlib import Path

import numpy as np
import pytest
from bars import above, below
from scene_rigs import floating_water

from viscoil import Scene, Simulation
from viscoil.core.errors import ViscoilError
from viscoil.geometry.meshes import write_mesh
from viscoil.geometry.meshes.builtin import builtin


def test_a_mesh_holds_its_volume_of_particles() -> None:
    """The lattice points inside a body fill it up to a layer of half a spacing at random: here 3 %."""
    text = floating_water(
        'shape = "mesh"\nfile = "builtin:bullet"\ncenter = [1.0, 2.0, 3.0]', spacing=0.02
    )
    p = Simulation(Scene.from_toml(text)).particles["position"].astype(float)
    mesh = builtin("bullet")
    a, b, c = np.moveaxis(mesh.vertices[mesh.faces], 1, 0)
    volume = np.einsum("ij,ij->", a, np.cross(b, c)) / 6.0
    assert len(p) * 0.02**3 == pytest.approx(volume, rel=0.03)
    low, high = mesh.vertices.min(axis=0), mesh.vertices.max(axis=0)
    at = np.array([1.0, 2.0, 3.0])
    assert (p > low + at).all() and (p < high + at).all()


def test_a_mesh_file_is_found_from_the_scene_file(tmp_path: Path) -> None:
    write_mesh(tmp_path / "body.ply", builtin("two-spheres"))
    text = floating_water(
        'shape = "mesh"\nfile = "body.ply"\ncenter = [0.0, 0.0, 0.0]', spacing=0.1
    )
    (tmp_path / "scene.toml").write_text(text)
    assert len(Simulation(Scene.load(tmp_path / "scene.toml")).particles) > 10


def test_a_missing_mesh_is_one_sentence(tmp_path: Path) -> None:
    text = floating_water('shape = "mesh"\nfile = "nobody.obj"\ncenter = [0.0, 0.0, 0.0]')
    (tmp_path / "scene.toml").write_text(text)
    with pytest.raises(ViscoilError, match=r"no mesh file .*nobody\.obj"):
        Simulation(Scene.load(tmp_path / "scene.toml"))


@pytest.mark.physics
def test_relaxed_fluid_starts_without_a_jump() -> None:
    """A cylinder of fluid that is cut to a bowl presses against its wall at first."""
    walls = """
[[colliders]]
shape = "mesh"
file = "builtin:bowl"
mode = "shell"
contact = "slip"
"""
    speeds = []
    for relax in ("relax = false", "relax = true", ""):
        size = "center = [0.0, 0.25, 0.0]\nradius = 0.6\nheight = 0.4"
        fluid = f'shape = "cylinder"\n{size}\n{relax}'
        simulation = Simulation(Scene.from_toml(floating_water(fluid, walls, spacing=0.05)))
        inside = np.linalg.norm(simulation.particles["position"] - (0, 0.5, 0), axis=1) < 0.5
        simulation.step(1e-3)
        speed = np.linalg.norm(simulation.particles["velocity"], axis=1)
        speeds.append(speed[inside].max())
    above(speeds[0], 1.0, "speed at once, m/s")
    below(max(speeds[1:]), 0.05 * speeds[0], "speed when relaxed, as asked or by itself, m/s")
    told = [note for note in simulation.notes if "started too close to walls" in note]
    assert len(told) == 1
