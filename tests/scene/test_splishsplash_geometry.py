"""Scenes of SPlisHSPlasH: where fluids, bodies and nozzles are put, and how they move."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation
from splish_rigs import BLOCK, BOX, DAM, TANK, Take, scene_of

from viscoil.colliders import ColliderSet
from viscoil.colliders.primitives import pose
from viscoil.core.errors import RunError, SceneError
from viscoil.emitters.nozzles import Emitter
from viscoil.exchange.imported_geometry import FileGeometry
from viscoil.geometry.meshes import read_mesh, write_mesh
from viscoil.sampling.seeding import seed
from viscoil.scene.importers.splishsplash import import_scene
from viscoil.scene.importers.splishsplash.files import turned


@given(
    start=st.tuples(*[st.integers(-40, 0)] * 3),
    size=st.tuples(*[st.integers(4, 30)] * 3),
    scale=st.tuples(*[st.sampled_from([0.5, 1.0, 2.0])] * 3),
    shift=st.tuples(*[st.integers(-20, 20)] * 3),
)
@settings(
    max_examples=50, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_blocks_hold_the_particles_of_the_original(
    imported: Take, start: Any, size: Any, scale: Any, shift: Any
) -> None:
    """The formula of its sampler: x_k = s a + t + (k + 1) d for k below round(s (b − a)/d) − 1."""
    d = 0.05
    a, b = (np.array(v) * d for v in (start, np.add(start, size)))
    block = {
        "start": a.tolist(),
        "end": b.tolist(),
        "scale": list(scale),
        "translation": (np.array(shift) * 0.1).tolist(),
    }
    result = imported(DAM, FluidBlocks=[block, BLOCK])
    counts = [round(s * (hi - lo) / d) - 1 for s, lo, hi in zip(scale, a, b, strict=True)]
    if min(counts) < 1:
        assert "too thin" in "".join(result.lost)
        return
    box = result.tables["fluids"][0]
    first = np.array(box["center"]) - 0.5 * np.array(box["size"]) + 0.5 * d
    expected = np.array(scale) * a + np.array(shift) * 0.1 + d
    np.testing.assert_allclose(first, expected, atol=2e-6)
    np.testing.assert_allclose(np.array(box["size"]) / d, counts, rtol=1e-6)


vectors = st.tuples(*[st.floats(-2.0, 2.0)] * 3)


@given(
    vector=vectors,
    axis=vectors.filter(lambda v: max(map(abs, v)) > 0.1),
    angle=st.floats(-7, 7),
)
def test_turns(vector: Any, axis: Any, angle: float) -> None:
    expected = Rotation.from_rotvec(angle * np.array(axis) / np.linalg.norm(axis)).apply(vector)
    np.testing.assert_allclose(turned(vector, axis, angle), expected, atol=1e-12)


@settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    shift=vectors,
    axis=vectors.filter(lambda v: max(map(abs, v)) > 0.1),
    angle=st.floats(-3.0, 3.0),
    scale=st.tuples(*[st.floats(0.2, 3.0)] * 3),
    name=st.sampled_from(["box", "shape"]),
)
def test_bodies_stand_where_the_original_puts_them(
    imported: Take, models: Path, shift: Any, axis: Any, angle: float, scale: Any, name: str
) -> None:
    """R S x + t of the vertices, whether the collider is a box, a mesh or a stretched copy of one."""
    body = {
        "geometryFile": f"models/{name}.obj",
        "translation": list(shift),
        "rotationAxis": list(axis),
        "rotationAngle": angle,
        "scale": list(scale),
    }
    geometry = FileGeometry(models / "out.toml")
    (models / "scene.json").write_text(json.dumps({**DAM, "RigidBodies": [body]}))
    scene = scene_of(import_scene(models / "scene.json", geometry), models)
    geometry.write(overwrite=True)
    (spec,) = scene.colliders
    vertices = read_mesh(models / "models" / f"{name}.obj").vertices
    turn = Rotation.from_rotvec(angle * np.array(axis) / np.linalg.norm(axis))
    expected = turn.apply(np.array(scale) * vertices) + np.array(shift)
    if spec.shape == "box":
        assert name == "box"
        local = 0.5 * np.sign(vertices) * np.array(spec.size)
    else:
        assert spec.shape == "mesh"
        local = spec.scale * read_mesh(spec.file).vertices
    found = pose(spec, 0.0).to_world(local)
    np.testing.assert_allclose(found, expected, atol=5e-6)


def test_meshes_of_the_same_name_are_kept_apart(models: Path, tmp_path: Path) -> None:
    """From two folders, one of them named twice, and by factors that read the same."""
    (tmp_path / "other").mkdir()
    write_mesh(tmp_path / "other/Shape.obj", BOX)
    geometry = FileGeometry(tmp_path / "out.toml")
    shape, other = models / "models/shape.obj", tmp_path / "other/Shape.obj"
    names = [
        geometry.stretched(path, scale)
        for path, scale in (
            (shape, (1.0, 2.0, 1.0)),
            (other, (1.0, 2.0, 1.0)),
            (models / "models/../models/shape.obj", (1.0, 2.0, 1.0)),
            (shape, (1.0, 2.0 + 1e-9, 1.0)),
        )
    ]
    start = "out-meshes/"
    assert names == [
        f"{start}shape-1x2x1.ply",
        f"{start}Shape-1x2x1-2.ply",
        f"{start}shape-1x2x1.ply",
        f"{start}shape-1x2x1-3.ply",
    ]
    assert geometry.write() == [tmp_path / name for name in dict.fromkeys(names)]
    for name, path in ((names[0], shape), (names[1], other)):
        expected = read_mesh(path).vertices * (1.0, 2.0, 1.0)
        np.testing.assert_allclose(read_mesh(tmp_path / name).vertices, expected, atol=1e-6)


def test_a_mesh_that_is_there_is_not_replaced(models: Path, tmp_path: Path) -> None:
    mine = tmp_path / "out-meshes/shape-1x2x1.ply"
    mine.parent.mkdir()
    mine.write_text("mine")
    geometry = FileGeometry(tmp_path / "out.toml")
    geometry.stretched(models / "models/box.obj", (3.0, 1.0, 1.0))
    geometry.stretched(models / "models/shape.obj", (1.0, 2.0, 1.0))
    with pytest.raises(RunError, match=r"shape-1x2x1\.ply is there already.*--overwrite"):
        geometry.write()
    assert [p.name for p in mine.parent.iterdir()] == [mine.name] and mine.read_text() == "mine"
    geometry.write(overwrite=True)
    assert len(read_mesh(mine).faces)


def test_a_mesh_of_one_scale_is_referred_to(imported: Take, models: Path) -> None:
    body = {"geometryFile": "models/shape.obj", "scale": [2, 2, 2], "mapInvert": True}
    result = imported(DAM, RigidBodies=[body])
    (table,) = result.tables["colliders"]
    assert (table["file"], table["scale"], table["mode"]) == ("models/shape.obj", 2.0, "container")


def test_free_bodies(imported: Take, models: Path) -> None:
    body = {
        "geometryFile": "models/shape.obj",
        "isDynamic": 1,
        "density": 300,
        "velocity": [1, 0, 0],
        "restitution": 0.6,
        "friction": 0.2,
    }
    result = imported(DAM, RigidBodies=[TANK, body])
    spec = scene_of(result, models).colliders[1]
    assert spec.shape == "mesh" and spec.dynamic
    assert (spec.density, spec.velocity, spec.restitution) == (300.0, (1.0, 0.0, 0.0), 0.6)
    assert any("RigidBodies[1].friction = 0.2" in line for line in result.lost)


def test_models(imported: Take, models: Path) -> None:
    """Particle files and meshes, put where the original puts them."""
    place = {"translation": [0, 1, 0], "rotationAxis": [0, 1, 0], "rotationAngle": 0.5}
    tables = [
        {"particleFile": "models/seed.npz", "scale": 1, **place},
        {"particleFile": "models/shape.obj", "scale": [1, 2, 1], "translation": [5, 0, 0]},
    ]
    result = imported(DAM, FluidModels=tables, FluidBlocks=[], RigidBodies=[])
    first, second = result.tables["fluids"]
    assert (first["shape"], first["file"], first["center"]) == (
        "particles",
        "models/seed.npz",
        [0.0, 1.0, 0.0],
    )
    assert first["rotation"] == {"axis": [0.0, 1.0, 0.0], "angle": 0.5}
    assert second["shape"] == "mesh" and second["file"] == "out-meshes/shape-1x2x1.ply"


@settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(angle=st.floats(-3, 3), which=st.sampled_from("xyz"), kind=st.integers(0, 1))
def test_emitters_blow_where_the_original_does(
    imported: Take, models: Path, angle: float, which: str, kind: int
) -> None:
    """Along R x, with sides R z and R y, unless it is turned about its own axis, which is told."""
    axis = [float(which == a) for a in "xyz"]
    emitter = {
        "type": kind,
        "width": 8,
        "height": 3,
        "translation": [1, 2, 3],
        "rotationAxis": axis,
        "rotationAngle": angle,
        "velocity": 2.5,
        "emitStartTime": 0.5,
        "emitEndTime": 4,
    }
    result = imported(DAM, Emitters=[emitter])
    scene = scene_of(result, models)
    (spec,) = scene.emitters
    assert spec.shape != "mesh"
    turn = Rotation.from_rotvec(angle * np.array(axis)).as_matrix()
    frame = Emitter(spec, 0, 0.05).frame
    np.testing.assert_allclose(frame.direction, turn[:, 0], atol=1e-6)
    assert (spec.center, spec.speed, spec.start, spec.stop) == ((1.0, 2.0, 3.0), 2.5, 0.5, 4.0)
    if spec.shape == "disc":
        assert kind == 1 and spec.radius == pytest.approx(0.2)
        return
    told = any("turned about its own axis" in line for line in result.lost)
    wide, high = (
        np.array(frame.width_axis) * spec.size[0],
        np.array(frame.height_axis) * spec.size[1],
    )
    sides = {tuple(np.abs(v).round(4).tolist()) for v in (wide, high)}
    expected = {tuple(np.abs(v).round(4).tolist()) for v in (0.4 * turn[:, 2], 0.15 * turn[:, 1])}
    near = all(min(np.abs(np.subtract(s, e)).max() for e in expected) < 0.02 for s in sides)
    assert near or told


def test_limits_of_emitters(imported: Take) -> None:
    """At most as many as there are at the start and as emitters may add; and what left is removed."""
    keys = {
        "maxEmitterParticles": 500,
        "emitterReuseParticles": True,
        "emitterBoxMin": [-1, -1, -1],
        "emitterBoxMax": [3, 1, 1],
    }
    result = imported(DAM, Materials=[{"id": "Fluid", **keys}], Emitters=[{"width": 3}])
    assert result.tables["simulation"]["max_particles"] == 19**3 + 500
    (kill,) = result.tables["kill"]
    assert (kill["center"], kill["size"]) == ([1.0, 0.0, 0.0], [4.0, 2.0, 2.0])
    assert kill["outside"] and kill["materials"] == ["Fluid"]


MOTOR = {"bodyID1": 1, "bodyID2": 0, "position": [0.5, 0, 0], "axis": [0, 2, 0], "target": -6}


def test_motors_turn_bodies_about_their_hinge(imported: Take, models: Path) -> None:
    """x(t) = p + R(−6 t) (x₀ − p), also between keyframes, where the way is a chord of 0.1 rad."""
    paddle = {
        "geometryFile": "models/box.obj",
        "isDynamic": True,
        "translation": [0, 1, 0],
        "id": 1,
    }
    result = imported(
        DAM, RigidBodies=[{**TANK, "id": 0}, paddle], TargetVelocityMotorHingeJoints=[MOTOR]
    )
    spec = scene_of(result, models).colliders[1]
    for time in np.linspace(0.0, 2.0, 23):
        turn = Rotation.from_rotvec([0.0, -6.0 * time, 0.0])
        expected = np.array([0.5, 0.0, 0.0]) + turn.apply([-0.5, 1.0, 0.0])
        found = pose(spec, time)
        np.testing.assert_allclose(found.position, expected, atol=0.5 * 0.1**2 / 8 + 1e-6)
        ahead = found.to_world(np.array([[1.0, 0.0, 0.0]]))[0] - found.position
        np.testing.assert_allclose(ahead, turn.apply([1.0, 0.0, 0.0]), atol=1e-5)


def test_motors_with_a_sequence(imported: Take, models: Path) -> None:
    """Speeds 0 to 4 in a second and back in the next, over and over: 4 rad in a round."""
    motor = {
        **MOTOR,
        "position": [0, 0, 0],
        "targetSequence": [0, 0, 1, 4, 2, 0],
        "repeatSequence": 1,
    }
    paddle = {"geometryFile": "models/box.obj", "isDynamic": True, "id": 1}
    result = imported(
        {**DAM, "Configuration": {"stopAt": 7.0}},
        RigidBodies=[{**TANK, "id": 0}, paddle],
        TargetVelocityMotorHingeJoints=[motor],
    )
    keys = scene_of(result, models).colliders[1].motion
    angles = {round(k.time, 6): k.rotation.angle for k in keys if k.rotation is not None}
    for time, angle in (
        (0.5, 0.5),
        (1.0, 2.0),
        (2.0, 4.0),
        (3.0, 6.0),
        (5.5, 8.0 + 3.5),
        (7.0, 14.0),
    ):
        assert angles[time] == pytest.approx(angle, abs=1e-6)


def test_two_dimensions_become_a_slab(imported: Take, models: Path) -> None:
    """Four particles across, between walls that they just touch."""
    result = imported({**DAM, "Configuration": {"particleRadius": 0.025, "sim2D": True}})
    scene = scene_of(result, models)
    position = seed(scene, ColliderSet.of(scene)).position
    assert len(position) == 19 * 19 * 4
    np.testing.assert_allclose(np.unique(position[:, 2].round(5)), [-0.075, -0.025, 0.025, 0.075])
    walls = [c for c in scene.colliders if c.shape == "plane"]
    assert [(w.point[2], w.normal[2], w.contact) for w in walls] == [
        (-0.1, 1.0, "slip"),
        (0.1, -1.0, "slip"),
    ]
    assert any("slab" in line for line in result.lost)


def test_a_mesh_in_two_dimensions_is_refused(imported: Take) -> None:
    """What counts there is its section at z = 0, and not its body."""
    flat = {**DAM, "Configuration": {"sim2D": True}}
    with pytest.raises(SceneError, match=r"RigidBodies\[1\] cuts a mesh"):
        imported(flat, RigidBodies=[TANK, {"geometryFile": "models/shape.obj"}])
