"""Scenes of SPlisHSPlasH: what each table becomes, what is listed as lost, and what is refused."""

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.spatial.transform import Rotation

from viscoil.cli import main
from viscoil.colliders import ColliderSet
from viscoil.colliders.primitives import pose
from viscoil.emitters import Emitter
from viscoil.errors import SceneError, ViscoilError
from viscoil.imported_geometry import FileGeometry
from viscoil.meshes import TriangleMesh, read_mesh, write_mesh
from viscoil.meshes.builtin import builtin
from viscoil.sampling import seed
from viscoil.scene import Scene
from viscoil.scene.importers.splishsplash import Imported, coefficients, import_scene
from viscoil.scene.importers.splishsplash.files import turned

Json = dict[str, Any]
CORNERS = np.array([[x, y, z] for x in (0, 1) for y in (0, 1) for z in (0, 1)], dtype=float) - 0.5
QUADS = [[0, 1, 3, 2], [4, 6, 7, 5], [0, 4, 5, 1], [2, 3, 7, 6], [0, 2, 6, 4], [1, 5, 7, 3]]
BOX = TriangleMesh(CORNERS, [t for a, b, c, d in QUADS for t in ([a, b, c], [a, c, d])])

TANK = {
    "geometryFile": "models/box.obj",
    "translation": [0.0, 1.5, 0.0],
    "scale": [4.0, 3.0, 1.5],
    "isWall": True,
    "mapInvert": True,
}
BLOCK = {"start": [-0.5, 0.0, -0.5], "end": [0.5, 1.0, 0.5]}
DAM: Json = {
    "Configuration": {"particleRadius": 0.025, "stopAt": 2.0},
    "Materials": [{"id": "Fluid", "density0": 800.0, "viscosityMethod": 0}],
    "RigidBodies": [TANK],
    "FluidBlocks": [BLOCK],
}


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a box, a mesh that is none, and particles."""
    folder = tmp_path_factory.mktemp("splish")
    (folder / "models").mkdir()
    write_mesh(folder / "models" / "box.obj", BOX)
    write_mesh(folder / "models" / "shape.obj", builtin("bullet"))
    points = np.stack(np.meshgrid(*[0.05 * np.arange(6)] * 3), axis=-1).reshape(-1, 3)
    np.savez(folder / "models" / "seed.npz", position=points)
    return folder


@pytest.fixture
def imported(models: Path) -> Callable[..., Imported]:
    def take(data: Json, **tables: Any) -> Imported:
        path = models / "scene.json"
        path.write_text(json.dumps({**data, **tables}))
        return import_scene(path, FileGeometry(models / "out.toml"))

    return take


Take = Callable[..., Imported]


def scene_of(result: Imported, models: Path) -> Scene:
    (models / "out.toml").write_text(result.to_toml())
    return Scene.load(models / "out.toml")


def test_a_dam_break(imported: Take, models: Path) -> None:
    """Every number of a small scene, and the particles where SPlisHSPlasH puts them."""
    scene = scene_of(imported(DAM), models)
    assert scene.simulation.spacing == 0.05
    assert (scene.simulation.duration, scene.simulation.gravity) == (2.0, (0.0, -9.81, 0.0))
    assert scene.simulation.max_time_step == 0.005
    (tank,) = scene.colliders
    assert tank.shape == "box" and tank.container and tank.contact == "slip"
    assert (tank.center, tank.size) == ((0.0, 1.5, 0.0), (4.0, 3.0, 1.5))
    material = scene.materials["Fluid"]
    assert (material.density, material.kind) == (800.0, "inviscid")
    position = seed(scene, ColliderSet.of(scene)).position
    # round(1/0.05) − 1 particles along each axis, the first a diameter inside
    axis = -0.5 + 0.05 * np.arange(1, 20)
    np.testing.assert_allclose(np.unique(position[:, 0].round(5)), axis, atol=1e-5)
    np.testing.assert_allclose(np.unique(position[:, 1].round(5)), axis + 0.5, atol=1e-5)
    assert len(position) == 19**3


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
    geometry.write()
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


def material(imported: Take, models: Path, **keys: Any) -> Any:
    result = imported(DAM, Materials=[{"id": "Fluid", "density0": 800.0, **keys}])
    return scene_of(result, models).materials["Fluid"], result.lost


@pytest.mark.parametrize(
    ("number", "name"),
    [(1, "Standard viscosity"), (5, "Takahashi et al. 2015 (improved)"), (6, "Weiler et al. 2018")],
)
def test_kinematic_viscosities(imported: Take, models: Path, number: int, name: str) -> None:
    """η = ρ ν, whether the coefficient is in a table of its own or, as in older files, beside it."""
    nested, lost = material(imported, models, viscosityMethod=number, **{name: {"viscosity": 0.5}})
    flat, _ = material(imported, models, viscosityMethod=number, viscosity=0.5)
    assert nested.viscosity == flat.viscosity == 400.0
    assert not any("viscosity" in line for line in lost)


def test_viscosities_without_a_unit_are_estimated_and_told(imported: Take, models: Path) -> None:
    """A share of 0.05 of the strain rate is left after a step of 5 ms: ν = −ln 0.05/(k² Δt)."""
    expected = -800.0 * math.log(0.05) / ((2.0 * math.pi / 0.2) ** 2 * 0.005)
    peer, lost = material(
        imported, models, viscosityMethod=3, **{"Peer et al. 2015": {"viscosity": 0.05}}
    )
    bender, _ = material(
        imported, models, viscosityMethod=2, **{"Bender and Koschier 2017": {"viscosity": 0.95}}
    )
    assert peer.viscosity == pytest.approx(expected, rel=1e-3)
    assert bender.viscosity == pytest.approx(expected, rel=1e-3)
    assert any("viscosity = 0.05" in line and "estimate" in line for line in lost)


@pytest.mark.parametrize(("boundary", "contact"), [(0.0, "slip"), (2.0, "sticky")])
def test_boundary_viscosity_makes_walls_stick(
    imported: Take, boundary: float, contact: str
) -> None:
    keys = {"Weiler et al. 2018": {"viscosity": 1.0, "viscosityBoundary": boundary}}
    result = imported(DAM, Materials=[{"id": "Fluid", "viscosityMethod": 6, **keys}])
    assert result.tables["colliders"][0]["contact"] == contact


def test_surface_tension(imported: Take, models: Path) -> None:
    """k/d² for the one, Fowler's integral over pairs, done by SciPy, for the other."""
    method = {"Zorilla, Ritter, et al. 2020": {"surfaceTension": 0.1}}
    zorilla, _ = material(imported, models, surfaceTensionMethod=5, **method)
    assert zorilla.surface_tension == pytest.approx(0.1 / 0.05**2)
    d, c = 0.05, 300.0
    h, volume = 2 * d, 0.8 * d**3

    def kernel(r: float) -> float:
        q = max(r, d) / h
        return 16.0 / math.pi / h**3 * (1 - q) ** 3

    force = quad(lambda r: r**4 * c * volume * 10 / 7 * kernel(r) * r, 0, h, points=[d])[0]
    fowler = math.pi / volume**2 / 8 * force
    keys = {"surfaceTension": c, "surfaceTensionViscosity": 0.2, "surfaceTensionBoundary": 1e4}
    jeske, lost = material(
        imported, models, viscosityMethod=0, surfaceTensionMethod=4, **{"Jeske et al. 2023": keys}
    )
    assert jeske.surface_tension == pytest.approx(fowler, rel=1e-3)
    assert jeske.adhesion == pytest.approx(2 * fowler, rel=1e-3)  # wets wholly, and no more
    assert jeske.viscosity == pytest.approx(160.0)
    assert any("surfaceTension = 300.0" in line and "estimate" in line for line in lost)
    assert coefficients.adhesion_of_pairs(10.0) == pytest.approx(1.4 * fowler / 30.0)


def test_elasticity(imported: Take, models: Path) -> None:
    """G = E/(2 (1 + ν)), and the viscosity is that of a solvent."""
    keys = {"Kugelstadt et al. 2021": {"youngsModulus": 2.6e5, "poissonsRatio": 0.3}}
    gel, _ = material(imported, models, elasticityMethod=3, viscosityMethod=1, **keys)
    assert gel.kind == "elastic"
    assert gel.modulus == pytest.approx(1e5)
    assert gel.solvent_viscosity == pytest.approx(8.0)


def test_particles_that_are_held_fast_are_refused(imported: Take) -> None:
    keys = {"fixedBoxMin": [-9, -9, -9], "fixedBoxMax": [0, 9, 9]}
    bad = [{"id": "Fluid", "elasticityMethod": 3, "Kugelstadt et al. 2021": keys}]
    with pytest.raises(SceneError, match="holds particles fast in a box"):
        imported(DAM, Materials=bad)


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


def test_animation_fields(imported: Take, models: Path) -> None:
    """A constant velocity is a wind; a formula is listed."""
    field = {
        "translation": [1, 0, 0],
        "scale": [2, 3, 4],
        "expression_x": "1.5",
        "expression_y": "0",
        "expression_z": "-2",
        "startTime": 1,
        "endTime": 2,
    }
    ball = {**field, "shapeType": 1, "startTime": 0}
    waves = {**field, "expression_x": "cos(2*t)"}
    result = imported(DAM, AnimationFields=[field, ball, waves])
    first, second = scene_of(result, models).fields
    assert first.type == "wind" and first.region is not None and second.region is not None
    assert (first.velocity, first.start, first.stop) == ((1.5, 0.0, -2.0), 1.0, 2.0)
    assert (first.region.size, second.region.radius) == ((2.0, 3.0, 4.0), 2.0)
    assert any(line.startswith("AnimationFields[2]: follows formulas") for line in result.lost)


def test_several_materials(imported: Take, models: Path) -> None:
    """Blocks keep their ids, materials that nothing is made of are listed, and older files work."""
    blocks = [BLOCK, {**BLOCK, "id": "oil", "translation": [0, 1.2, 0]}]
    data = {key: value for key, value in DAM.items() if key != "Materials"}
    result = imported(
        data,
        FluidBlocks=blocks,
        oil={"density0": 900},
        Materials=[{"id": "Fluid"}, {"id": "gas", "density0": 1}],
    )
    scene = scene_of(result, models)
    assert [(f.material) for f in scene.fluids] == ["Fluid", "oil"]
    assert {name: m.density for name, m in scene.materials.items()} == {"Fluid": 1000, "oil": 900}
    assert any("Materials[1]" in line and "'gas'" in line for line in result.lost)


def test_everything_unknown_is_listed(imported: Take) -> None:
    data = {
        **DAM,
        "Configuration": {**DAM["Configuration"], "imteStepSize": 0.1, "scriptFile": "a.py"},
        "Clouds": [],
    }
    lost = imported(data).lost
    assert "Configuration: imteStepSize is not known, and left out" in lost
    assert "the scene: Clouds is not known, and left out" in lost
    assert any("scriptFile" in line and "Python" in line for line in lost)


def test_keys_of_methods_are_listed_too(imported: Take) -> None:
    """Unknown ones, and tables of methods that the material does not use."""
    keys = {"Standard viscosity": {"viscosity": 1, "visco": 2}, "Weiler et al. 2018": {}}
    lost = imported(DAM, Materials=[{"id": "Fluid", **keys}]).lost
    assert "Materials[0].Standard viscosity: visco is not known, and left out" in lost
    assert "Materials[0].Weiler et al. 2018: its method is not the one that is chosen" in lost


def test_what_is_lost_stands_at_the_top_of_the_file(imported: Take) -> None:
    result = imported(DAM, Clouds=[])
    text = result.to_toml()
    assert text.startswith("# From scene.json")
    assert all(f"# - {line}\n" in text for line in result.lost)


BAD: list[tuple[Json, str]] = [
    ({"Configuration": 3}, "Configuration must be a table, and it is 3"),
    ({"Configuration": {"particleRadius": 0}}, "particleRadius must be greater than 0"),
    ({"Configuration": {"particleRadius": "big"}}, "particleRadius must be a number"),
    ({"FluidBlocks": {}}, "FluidBlocks must be a list of tables"),
    ({"FluidBlocks": [{"start": [1, 2]}]}, r"FluidBlocks\[0\].start must be 3 numbers"),
    ({"FluidBlocks": []}, "has no fluid: add FluidBlocks"),
    ({"RigidBodies": [{"geometryFile": "none.obj"}]}, "names 'none.obj', which is not there"),
    ({"RigidBodies": [{}]}, r"RigidBodies\[0\] has no geometryFile"),
    ({"RigidBodies": [{**TANK, "scale": [1, 0, 1]}]}, "scale must not be 0"),
    ({"RigidBodies": [{**TANK, "geometryFile": "scene.json"}]}, "mesh .*scene.json"),
    ({"RigidBodies": [{**TANK, "isWall": 7}]}, "isWall must be true or false"),
    ({"FluidModels": [{"particleFile": "models/none.bgeo"}]}, "which is not there"),
    ({"FluidModels": [{"particleFile": "models/box.json"}]}, "which is not there"),
    ({"FluidModels": [{"particleFile": "scene.json"}]}, "particle file .* no format"),
    ({"Materials": [{"id": "Fluid", "viscosityMethod": 12}]}, "must be a method from 0 to 7"),
    ({"Materials": [{"id": "Fluid", "density0": -1}]}, "density0 must be greater than 0"),
]


@pytest.mark.parametrize(("change", "words"), BAD)
def test_bad_values_are_told_in_a_sentence(imported: Take, change: Json, words: str) -> None:
    with pytest.raises(ViscoilError, match=words) as caught:
        imported({**DAM, **change})
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('{"a": 1,}', ":1: this is not valid JSON"),
        ('{\n"a": tru}', ":2: this is not valid JSON"),
        ("[1, 2]", "is no scene"),
        ('{"a": NaN}', "NaN is no number in JSON"),
        ("[" * 100_000, "nested too deeply"),
        ("", "not valid JSON"),
    ],
)
def test_bad_json(tmp_path: Path, text: str, words: str) -> None:
    (tmp_path / "a.json").write_text(text)
    with pytest.raises(SceneError, match=words):
        import_scene(tmp_path / "a.json", FileGeometry(tmp_path / "a.toml"))


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=4),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3)
    ),
    max_leaves=4,
)


@settings(
    max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.data())
def test_any_value_is_taken_or_refused(imported: Take, data: st.DataObject) -> None:
    """One value of a whole scene replaced by anything: a scene that is valid, or a sentence."""
    whole: Json = json.loads(
        json.dumps({**DAM, "Emitters": [{"width": 3}], "AnimationFields": [{"expression_x": "1"}]})
    )
    place: Any = whole
    while True:
        keys = list(place) if isinstance(place, dict) else list(range(len(place)))
        key = data.draw(st.sampled_from(keys))
        deeper = isinstance(place[key], (dict, list)) and place[key]
        if not deeper or data.draw(st.booleans()):
            break
        place = place[key]
    place[key] = data.draw(values)
    try:
        Scene.from_toml(imported(whole).to_toml())
    except ViscoilError as error:
        assert "Traceback" not in str(error)


def test_the_command(
    models: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: Any
) -> None:
    """It writes a scene that `check` takes, beside a stretched mesh, and does not overwrite one."""
    body = {"geometryFile": "models/shape.obj", "scale": [1, 2, 1], "translation": [1, 0.5, 0]}
    (models / "dam.json").write_text(json.dumps({**DAM, "RigidBodies": [TANK, body]}))
    monkeypatch.chdir(tmp_path)
    assert main(["import", str(models / "dam.json"), "--check"]) == 0
    assert "can be imported" in capsys.readouterr().out and not list(tmp_path.iterdir())
    assert main(["import", str(models / "dam.json")]) == 0
    printed = capsys.readouterr().out
    assert "dam.toml is written, with 1 meshes in dam-meshes" in printed
    assert main(["check", "dam.toml"]) == 0
    assert "particles at the start" in capsys.readouterr().out
    assert main(["import", str(models / "dam.json")]) == 1
    assert "is there already" in capsys.readouterr().err
    assert main(["import", str(models / "dam.json"), "--overwrite"]) == 0
    assert main(["import", "none.json", "--out", "b.toml"]) == 1
    assert "there is no file none.json" in capsys.readouterr().err
    assert not (tmp_path / "b.toml").exists()
