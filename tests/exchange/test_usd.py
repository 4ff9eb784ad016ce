"""USD export, read back by usd-core, which defines the format."""

import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fakes import ENVIRONMENT
from pxr import Gf, Sdf, Usd, UsdGeom, UsdShade, UsdValidation
from usd_rigs import (
    NAMES,
    SPACING,
    expected,
    export,
    make_scene,
    make_snapshot,
    make_surface,
    opened,
    points_at,
    write_surfaces,
)

from viscoil.exchange.usd.format import UsdFormat
from viscoil.geometry.meshes import TriangleMesh, write_mesh
from viscoil.geometry.meshes.builtin.solids import box
from viscoil.outputs.frames import frame_name
from viscoil.preview.camera import Camera
from viscoil.snapshots.collider_meshes import placed_mesh
from viscoil.snapshots.snapshot import Snapshot

FRAMES = (0, 1, 2, 5)  # 3 and 4 are missing


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[Snapshot]]:
    """Frames with different counts; from frame 2 on the third material has no particles."""
    scene = make_scene()
    counts = {0: (40, 30, 20), 1: (45, 30, 2), 2: (45, 30, 0), 5: (1, 31, 0)}
    snapshots = [
        make_snapshot(scene, f, counts[f], heat=lambda n: np.arange(n, dtype=np.float32))
        for f in FRAMES
    ]
    folder = tmp_path_factory.mktemp("usd")
    return export(UsdFormat(), folder / "out", scene, snapshots, ["heat", "id"]), snapshots


def check_particles(stage: Any, snapshots: list[Snapshot]) -> None:
    for snapshot in snapshots:
        for k, name in enumerate(NAMES):
            points, want = points_at(stage, name), expected(snapshot, k)
            at = float(snapshot.frame)
            count = len(want["id"])
            assert len(points.GetPointsAttr().Get(at)) == count
            assert points.GetIdsAttr().Get(at) == want["id"].tolist()
            heat = points.GetPrim().GetAttribute("primvars:heat").Get(at)
            assert list(heat) == want["heat"].tolist()
            for attribute, channel in (("points", "position"), ("velocities", "velocity")):
                got = np.array(points.GetPrim().GetAttribute(attribute).Get(at)).reshape(-1, 3)
                assert got.dtype == np.float32
                np.testing.assert_array_equal(got, want[channel])


def test_every_frame_reads_back_exactly(exported: tuple[Path, list[Snapshot]]) -> None:
    path, snapshots = exported
    stage = opened(path)
    check_particles(stage, snapshots)
    assert points_at(stage, NAMES[0]).GetIdsAttr().GetTypeName() == Sdf.ValueTypeNames.Int64Array
    assert points_at(stage, NAMES[0]).GetPointsAttr().GetTimeSamples() == list(FRAMES)


def test_it_can_be_moved_and_opened_from_elsewhere(
    exported: tuple[Path, list[Snapshot]], tmp_path: Path
) -> None:
    """In another process and folder, with a relative path, after the first folder is gone."""
    path, snapshots = exported
    copy = tmp_path / "first" / "out"
    shutil.copytree(path.parent, copy)
    moved = tmp_path / "second" / "deep er"
    moved.parent.mkdir()
    shutil.move(copy, moved)
    check_particles(opened(moved / path.name), snapshots)
    code = (
        "from pxr import Usd\n"
        f"stage = Usd.Stage.Open('second/deep er/{path.name}')\n"
        f"points = stage.GetPrimAtPath('/World/Particles/{NAMES[0]}').GetAttribute('points')\n"
        "print(*(len(points.Get(f)) for f in (0, 1, 2, 5)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path, env=ENVIRONMENT, capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    assert (done.returncode, done.stdout.split()) == (0, ["40", "45", "45", "1"]), done.stderr
    for file in moved.glob("*.usda"):
        assert str(path.parent) not in file.read_text()


def test_what_the_stage_says(exported: tuple[Path, list[Snapshot]]) -> None:
    path, _ = exported
    assert path.name == "dessert.usda"
    stage = opened(path)
    assert stage.GetDefaultPrim().GetPath() == "/World"
    assert UsdGeom.GetStageUpAxis(stage) == "Y"
    assert UsdGeom.GetStageMetersPerUnit(stage) == 1.0
    assert (stage.GetTimeCodesPerSecond(), stage.GetFramesPerSecond()) == (50, 50)
    assert (stage.GetStartTimeCode(), stage.GetEndTimeCode()) == (0, 5)
    prim = points_at(stage, "creme_brulee_2").GetPrim()
    assert prim.GetCustomDataByKey("material") == "crème brûlée 2"
    assert prim.GetMetadata("displayName") == "crème brûlée 2"
    particles = stage.GetPrimAtPath("/World/Particles")
    assert [p.GetName() for p in particles.GetChildren()] == list(NAMES)


def test_bounds_are_those_of_the_spheres(exported: tuple[Path, list[Snapshot]]) -> None:
    path, snapshots = exported
    stage = opened(path)
    for snapshot in snapshots:
        for k, name in enumerate(NAMES):
            points, at = points_at(stage, name), float(snapshot.frame)
            cache = UsdGeom.BBoxCache(at, ["default"])
            box = cache.ComputeWorldBound(points.GetPrim()).ComputeAlignedRange()
            where = expected(snapshot, k)["position"]
            assert box.IsEmpty() == (len(where) == 0)
            if len(where):
                low = where.min(axis=0) - 0.5 * SPACING
                high = where.max(axis=0) + 0.5 * SPACING
                np.testing.assert_allclose([box.GetMin(), box.GetMax()], [low, high], atol=1e-6)


def test_missing_frames_are_bridged(exported: tuple[Path, list[Snapshot]]) -> None:
    """Of different counts, the earlier frame is held; so are whole numbers."""
    path, snapshots = exported
    stage = opened(path)
    points = points_at(stage, NAMES[0])
    held = expected(snapshots[2], 0)
    for frame in (3, 4):
        np.testing.assert_array_equal(points.GetPointsAttr().Get(frame), held["position"])
        assert points.GetIdsAttr().Get(frame) == held["id"].tolist()
    assert len(points_at(stage, NAMES[2]).GetPointsAttr().Get(4)) == 0


def test_between_frames_a_particle_goes_straight_to_where_it_will_be(tmp_path: Path) -> None:
    """Though the order in the run's files differs: positions of the same id are blended."""
    scene = make_scene()
    first, second = (make_snapshot(scene, f, (50, 0, 0)) for f in (0, 1))
    ids = np.random.default_rng(9).permutation(first.channels["id"])
    second = Snapshot(
        1, 0.02, {**second.channels, "id": ids}, second.materials, second.colliders, SPACING
    )
    stage = opened(export(UsdFormat(), tmp_path, scene, [first, second]))
    middle = points_at(stage, NAMES[0]).GetPointsAttr().Get(0.5)
    want = 0.5 * (expected(first, 0)["position"] + expected(second, 0)["position"])
    np.testing.assert_allclose(middle, want, atol=1e-7)


def test_particles_of_one_size_share_a_width(exported: tuple[Path, list[Snapshot]]) -> None:
    stage = opened(exported[0])
    points = points_at(stage, NAMES[1])
    assert points.GetWidthsInterpolation() == "constant"
    np.testing.assert_array_equal(points.GetWidthsAttr().Get(1.0), np.array([SPACING], np.float32))


def test_sizes_colours_and_channels_have_their_types(tmp_path: Path) -> None:
    scene = make_scene()
    values: dict[str, Any] = {
        "size": lambda n: np.linspace(1, 2, n, dtype=np.float32),
        "color": lambda n: np.linspace(0, 1, 3 * n, dtype=np.float32).reshape(n, 3),
        "age": lambda n: np.arange(n, dtype=np.float64),
        "swirl": lambda n: np.ones((n, 3), np.float32),
        "uv": lambda n: np.ones((n, 2), np.float32),
        "kind": lambda n: np.arange(n, dtype=np.int16),
        "big": lambda n: np.arange(n, dtype=np.int64) + 2**40,
        "stress": lambda n: np.arange(6 * n, dtype=np.float32).reshape(n, 6),
        "column": lambda n: np.arange(n, dtype=np.float32).reshape(n, 1),
    }
    snapshot = make_snapshot(scene, 7, **values)
    path = export(UsdFormat(), tmp_path, scene, [snapshot], list(values))
    stage = opened(path)
    types = Sdf.ValueTypeNames
    wanted = {
        "displayColor": types.Color3fArray, "age": types.FloatArray, "swirl": types.Float3Array,
        "uv": types.Float2Array, "kind": types.IntArray, "big": types.Int64Array,
        "stress_diagonal": types.Float3Array, "stress_shear": types.Float3Array,
        "column": types.FloatArray,
    }  # fmt: skip
    for k, name in enumerate(NAMES):
        points, want = points_at(stage, name), expected(snapshot, k)
        assert points.GetWidthsInterpolation() == "vertex"
        widths = points.GetWidthsAttr().Get(7)
        np.testing.assert_array_equal(widths, np.float32(SPACING * want["size"]))
        api = UsdGeom.PrimvarsAPI(points)
        found = {p.GetPrimvarName(): p for p in api.GetPrimvarsWithAuthoredValues()}
        assert {n: p.GetTypeName() for n, p in found.items()} == wanted
        assert {p.GetInterpolation() for p in found.values()} == {"vertex"}
        assert all(len(p.Get(7)) == len(want["id"]) for p in found.values())
        np.testing.assert_array_equal(found["displayColor"].Get(7), want["color"])
        np.testing.assert_array_equal(found["stress_shear"].Get(7), want["stress"][:, 3:])
        np.testing.assert_array_equal(found["big"].Get(7), want["big"])
        np.testing.assert_array_equal(found["column"].Get(7), want["column"][:, 0])
        material, _ = UsdShade.MaterialBindingAPI(points.GetPrim()).ComputeBoundMaterial()
        shader, _, _ = material.ComputeSurfaceSource()
        source = shader.GetInput("diffuseColor").GetConnectedSources()[0][0].source
        assert source.GetPrim().GetAttribute("inputs:varname").Get() == "displayColor"


def test_colliders_stand_where_they_stood(exported: tuple[Path, list[Snapshot]]) -> None:
    """World positions of all vertices, for the moving, the still and the open one."""
    path, snapshots = exported
    stage = opened(path)
    colliders = stage.GetPrimAtPath("/World/Colliders").GetChildren()
    assert [c.GetName() for c in colliders] == ["plane_0", "sphere_1", "box_2"]
    for snapshot in snapshots:
        cache = UsdGeom.XformCache(float(snapshot.frame))
        for index, prim in enumerate(colliders):
            mesh = UsdGeom.Mesh(prim)
            want = placed_mesh(snapshot.colliders[index], snapshot.time)
            assert want is not None
            matrix = np.array(cache.GetLocalToWorldTransform(prim))
            local = np.array(mesh.GetPointsAttr().Get(float(snapshot.frame)))
            world = np.c_[local, np.ones(len(local))] @ matrix
            np.testing.assert_allclose(world[:, :3], want.vertices, atol=2e-6)
            faces = np.array(mesh.GetFaceVertexIndicesAttr().Get()).reshape(-1, 3)
            np.testing.assert_array_equal(faces, want.faces)
            assert mesh.GetSubdivisionSchemeAttr().Get() == "none"
    still = UsdGeom.Xformable(colliders[0])
    assert not still.TransformMightBeTimeVarying()
    assert UsdGeom.Xformable(colliders[1]).TransformMightBeTimeVarying()


def test_a_deforming_collider(tmp_path: Path) -> None:
    """Its faces are in the stage, its points in the frames."""
    block = box((0.2, 0.2, 0.2))
    (tmp_path / "meshes").mkdir()
    for i in range(4):
        grown = TriangleMesh(block.vertices * (1 + i), block.faces)
        write_mesh(tmp_path / "meshes" / f"block_{i:03d}.obj", grown)
    file = f'\n[[colliders]]\nshape = "mesh"\nfile = "{tmp_path / "meshes"}"\nfps = 50\n'
    scene = make_scene(more=file)
    snapshots = [make_snapshot(scene, f) for f in (0, 2)]
    stage = opened(export(UsdFormat(), tmp_path / "out", scene, snapshots))
    mesh = UsdGeom.Mesh.Get(stage, "/World/Colliders/mesh_4")
    for frame in (0, 2):
        points = np.array(mesh.GetPointsAttr().Get(frame))
        np.testing.assert_allclose(points, block.vertices * (1 + frame), atol=1e-7)
        np.testing.assert_allclose(mesh.GetExtentAttr().Get(frame)[1], [0.1 + 0.1 * frame] * 3)
    assert len(mesh.GetFaceVertexCountsAttr().Get()) == 12


def test_looks_and_the_camera(exported: tuple[Path, list[Snapshot]]) -> None:
    path, _ = exported
    stage, scene = opened(path), make_scene()
    for name, material in zip(NAMES, scene.materials.values(), strict=True):
        prim = stage.GetPrimAtPath(f"/World/Particles/{name}")
        bound, _ = UsdShade.MaterialBindingAPI(prim).ComputeBoundMaterial()
        shader, _, _ = bound.ComputeSurfaceSource()
        assert shader.GetIdAttr().Get() == "UsdPreviewSurface"
        np.testing.assert_allclose(shader.GetInput("diffuseColor").Get(), material.color)
        opacity = shader.GetInput("opacity").Get()
        assert opacity == 1.0 if material.transmission == 0.0 else 0.1 < opacity < 0.8
    camera = UsdGeom.Camera.Get(stage, "/World/Camera").GetCamera(0)
    wanted = Camera.frame_scene(scene)
    frustum = camera.frustum
    assert camera.GetFieldOfView(Gf.Camera.FOVVertical) == pytest.approx(
        np.degrees(wanted.fov), abs=1e-4
    )
    assert camera.aspectRatio == pytest.approx(960 / 540)
    np.testing.assert_allclose(frustum.position, wanted.position, atol=1e-9)
    np.testing.assert_allclose(frustum.ComputeLookAtPoint() - frustum.position,
        np.array(wanted.axes()[2]) * frustum.viewDistance, atol=1e-6)  # fmt: skip


def test_surfaces_are_for_pictures(tmp_path: Path) -> None:
    """Triangles change from frame to frame; without a mesh at a frame the earlier one is held."""
    scene = make_scene()
    surfaces = write_surfaces(tmp_path / "surface", (0, 1, 5))
    form = UsdFormat(surfaces)
    path = export(form, tmp_path / "out", scene, [make_snapshot(scene, f) for f in FRAMES])
    stage = opened(path)
    mesh = UsdGeom.Mesh.Get(stage, "/World/Surface")
    for frame, source in ((0, 0), (1, 1), (2, 1), (5, 5)):
        want = make_surface(source)
        np.testing.assert_array_equal(mesh.GetPointsAttr().Get(frame), np.float32(want.vertices))
        indices = np.array(mesh.GetFaceVertexIndicesAttr().Get(frame))
        np.testing.assert_array_equal(indices, want.faces.ravel())
        np.testing.assert_array_equal(
            mesh.GetVelocitiesAttr().Get(frame), want.attributes["velocity"]
        )
        heat = UsdGeom.PrimvarsAPI(mesh).GetPrimvar("temperature")
        np.testing.assert_array_equal(heat.Get(frame), want.attributes["temperature"])
        assert heat.GetInterpolation() == "vertex"
        if frame == source:  # else it is on its way to the next
            extent = mesh.GetExtentAttr().Get(frame)
            np.testing.assert_array_equal(extent, np.array(want.bounds, np.float32))
        valid, reason = UsdGeom.Mesh.ValidateTopology(
            mesh.GetFaceVertexIndicesAttr().Get(frame),
            mesh.GetFaceVertexCountsAttr().Get(frame),
            len(mesh.GetPointsAttr().Get(frame)),
        )
        assert valid, reason
    assert mesh.GetSubdivisionSchemeAttr().Get() == "none"
    assert UsdGeom.Imageable(mesh).ComputePurpose() == "render"
    particles = points_at(stage, NAMES[0])
    assert UsdGeom.Imageable(particles).ComputePurpose() == "proxy"
    assert len(particles.GetPointsAttr().Get(2)) == 40


def test_without_surfaces_particles_are_seen_in_pictures(tmp_path: Path) -> None:
    """Also where an earlier export left surfaces."""
    scene = make_scene()
    snapshots = [make_snapshot(scene, 0)]
    export(UsdFormat(write_surfaces(tmp_path / "surface", [0])), tmp_path, scene, snapshots)
    stage = opened(export(UsdFormat(), tmp_path, scene, snapshots))
    assert not stage.GetPrimAtPath("/World/Surface")
    assert UsdGeom.Imageable(points_at(stage, NAMES[0])).ComputePurpose() == "default"


def test_usd_finds_nothing_wrong(tmp_path: Path) -> None:
    """By the checks that come with the library, of the stage and of single frames."""
    scene = make_scene()
    form = UsdFormat(write_surfaces(tmp_path / "surface", (0, 1)))
    path = export(form, tmp_path, scene, [make_snapshot(scene, f) for f in (0, 1)])
    checks = UsdValidation.ValidationRegistry().GetOrLoadAllValidators()
    assert len(checks) > 20
    context = UsdValidation.ValidationContext(checks)
    for file in (path, *tmp_path.glob("*.usdc")):
        problems = [error.GetMessage() for error in context.Validate(opened(file))]
        assert problems == [], file.name
    broken = Usd.Stage.CreateInMemory()
    UsdGeom.Mesh.Define(broken, "/a").CreateFaceVertexIndicesAttr([0, 1, 2])
    assert context.Validate(broken) != []


def test_a_frame_alone_can_be_opened(exported: tuple[Path, list[Snapshot]]) -> None:
    path, _ = exported
    stage = opened(path.parent / frame_name(2, ".usdc"))
    points = points_at(stage, NAMES[0])
    assert len(points.GetPointsAttr().Get(stage.GetStartTimeCode())) == 45
    assert list(points.GetWidthsAttr().Get()) == [np.float32(SPACING)]
    assert UsdGeom.GetStageMetersPerUnit(stage) == 1.0
