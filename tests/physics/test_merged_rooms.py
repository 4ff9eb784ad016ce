"""Rooms that meet: rigid bodies beside moving colliders, level sets, relaxed starts, resolutions."""

from pathlib import Path

import numpy as np
import pytest
from bars import above, near

from viscoil import Scene, Simulation
from viscoil.colliders import ColliderSet
from viscoil.colliders.mesh_shapes import MeshShape
from viscoil.core.errors import SceneError
from viscoil.geometry.bricks.build import Request, build
from viscoil.geometry.bricks.openvdb import to_grids
from viscoil.geometry.meshes.builtin import builtin
from viscoil.geometry.vdb import write_vdb
from viscoil.preview import Camera
from viscoil.scene import MeshCollider

POOL = """
[simulation]
spacing = 0.05
frames = 4
[materials.water]
preset = "water"
viscosity = 0.0
[[fluids]]
material = "water"
shape = "box"
center = [0.0, 0.2, 0.0]
size = [0.8, 0.4, 0.6]
{fluid}
[[colliders]]
shape = "box"
container = true
open = ["+y"]
center = [0.0, 0.5, 0.0]
size = [0.8, 1.0, 0.6]
contact = "slip"
[[colliders]]
shape = "sphere"
center = [0.0, 0.62, 0.0]
radius = 0.12
dynamic = true
density = 300.0
contact = "slip"
{more}
"""


def heights(text: str, steps: int = 60) -> list[float]:
    simulation = Simulation(Scene.from_toml(text))
    found = []
    for _ in range(steps):
        simulation.step(0.005)
        found.append(float(simulation.bodies.states[1].position[1]))
    return found


@pytest.mark.physics
def test_a_body_floats_beside_a_collider_that_moves() -> None:
    """A lid far away changes nothing: the body must not be put back to where the scene has it."""
    lid = """
[[colliders]]
shape = "box"
center = [5.0, 5.0, 5.0]
size = [0.1, 0.1, 0.1]
motion = [{ time = 0.0 }, { time = 1.0, translation = [1.0, 0.0, 0.0] }]
"""
    alone, beside = (heights(POOL.format(fluid="", more=more)) for more in ("", lid))
    near(beside, alone, "height beside the lid, m", abs=1e-6)
    above(min(alone), 0.3, "height of what floats, m")


@pytest.mark.physics
def test_a_relaxed_start_leaves_bodies_where_they_are() -> None:
    relaxed = heights(POOL.format(fluid="relax = true", more=""), steps=3)
    near(relaxed, 0.62, "height, m", abs=0.01)


def test_a_level_set_is_a_collider_with_a_picture(tmp_path: Path) -> None:
    mesh = builtin("two-spheres")
    field = build(mesh.vertices, mesh.faces, Request(cell=0.05, band=0.2))
    write_vdb(tmp_path / "body.vdb", to_grids(field))
    body = f"""
[[colliders]]
shape = "mesh"
file = "{tmp_path / "body.vdb"}"
center = [0.0, 0.8, 0.0]
scale = 0.3
"""
    scene = Scene.from_toml(POOL.format(fluid="", more=body))
    Camera.frame_scene(scene)
    simulation = Simulation(scene)
    simulation.step(0.005)
    placed = simulation._colliders.field(2)
    assert placed is not None and placed.cell == pytest.approx(0.015)


def test_what_assumes_one_resolution_is_refused_with_several() -> None:
    fluid = "spacing = 0.025"
    for key in ("surface_tension", "adhesion", "xsph"):
        text = POOL.format(fluid=fluid, more="").replace(
            "viscosity = 0.0", f"viscosity = 0.0\n{key} = 0.1"
        )
        with pytest.raises(SceneError, match="works with one resolution"):
            Scene.from_toml(text)
    warm = POOL.format(fluid=fluid + "\ntemperature = 300.0", more="")
    with pytest.raises(SceneError, match="works with one resolution"):
        Scene.from_toml(warm)


def test_a_band_that_is_too_narrow_is_refused_and_the_usual_one_is_not() -> None:
    with pytest.raises(SceneError, match="narrower than what particles feel"):
        ColliderSet([MeshCollider(file="builtin:bowl", band=0.05)], 0.05)
    shrinking = [{"time": 0.0}, {"time": 1.0, "scale": 0.25}]
    spec = MeshCollider.model_validate({"file": "builtin:two-spheres", "motion": shrinking})
    colliders = ColliderSet([spec], 0.05)
    shape = colliders.meshes[0]
    assert isinstance(shape, MeshShape) and 0.25 * shape.request.band >= 0.1


def test_beyond_the_table_of_a_container_all_is_solid() -> None:
    mesh = builtin("two-spheres")
    field = build(mesh.vertices, mesh.faces, Request(cell=0.02, band=0.06, mode="container"))
    outside = np.array([[9.0, 0, 0], [0, 9.0, 0], [0, 0, 9.0], [-9.0, 0, 0], [0.9, 0.8, 0.8]])
    np.testing.assert_allclose(field.sample(outside), -0.06, rtol=1e-6)


def test_smooth_sizes_stay_positive() -> None:
    keys = [{"time": 0.0}, {"time": 1.0, "scale": 0.05}, {"time": 2.0, "scale": 0.05}]
    spec = MeshCollider.model_validate(
        {"file": "builtin:bowl", "motion": keys, "interpolation": "smooth", "mode": "shell"}
    )
    colliders = ColliderSet([spec], 0.05)
    sizes = [colliders.pose(0, t).scale for t in np.linspace(0.0, 2.0, 41)]
    assert min(sizes) > 0.0


def test_a_sheet_is_no_solid_and_a_cell_is_no_larger_than_its_mesh(tmp_path: Path) -> None:
    from viscoil.geometry.meshes import TriangleMesh, write_mesh

    corners = np.array([[0, 0, 0], [1, 0, 0], [1, 0, 1], [0, 0, 1]], dtype=float)
    faces = np.array([[0, 1, 2], [0, 2, 3]], dtype=np.int32)
    attributes = {"rough": np.array([0.1, np.nan, 0.1, 0.2]), "bad": np.array([0.1, -1, 0, 0])}
    write_mesh(tmp_path / "sheet.ply", TriangleMesh(corners, faces, attributes))
    file = str(tmp_path / "sheet.ply")
    with pytest.raises(SceneError, match="encloses no volume"):
        ColliderSet([MeshCollider(file=file)], 0.1)
    with pytest.raises(SceneError, match="too large for the mesh"):
        ColliderSet([MeshCollider(file="builtin:bowl", cell_size=10.0)], 0.1)
    with pytest.raises(SceneError, match="no friction"):
        rough = {"contact": "friction", "friction": 0.7, "mode": "shell", "file": file}
        spec = MeshCollider.model_validate({**rough, "friction_attribute": "bad"})
        ColliderSet([spec], 0.1).meshes[0].distance_field(0.0, 0.0)
    spec = MeshCollider.model_validate({**rough, "friction_attribute": "rough"})
    friction = ColliderSet([spec], 0.1).meshes[0].distance_field(0.0, 0.0).secondary["friction"]
    assert np.isfinite(friction).all() and friction.max() == pytest.approx(0.7, rel=0.2)


def test_an_offset_that_reaches_too_far_is_refused_at_once() -> None:
    mesh = builtin("bunny")
    with pytest.raises(SceneError, match="smaller offset"):
        build(mesh.vertices, mesh.faces, Request(cell=0.1, band=0.3, offset=100.0))
