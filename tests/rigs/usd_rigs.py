"""A scene, snapshots of it, and the loop of an export, for the tests of USD and Blender."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from pxr import Usd, UsdGeom

from viscoil.geometry.meshes import TriangleMesh, write_mesh
from viscoil.geometry.meshes.builtin.solids import sphere
from viscoil.outputs.frames import frame_name
from viscoil.scene import Scene
from viscoil.snapshots.snapshot import ColliderPose, MaterialLook, Snapshot

SPACING = 0.01

SCENE = """
[simulation]
name = "dessert"
spacing = 0.01
frames = 9
fps = 50

[materials."crème brûlée 2"]
preset = "thick-cream"

[materials.3d]
preset = "honey"

[materials."3 d"]
preset = "water"

[[fluids]]
shape = "box"
material = "3d"
center = [0, 0.1, 0]
size = [0.1, 0.1, 0.1]

[[colliders]]
shape = "plane"

[[colliders]]
shape = "sphere"
center = [1, 2, 3]
radius = 0.5
motion = [{ time = 0 }, { time = 1, translation = [1, 0, 0] }]

[[colliders]]
shape = "box"
center = [0, 0.5, 0]
size = [1, 1, 1]
container = true
open = ["+y"]

[[colliders]]
shape = "sphere"
center = [5, 5, 5]
radius = 0.5
visible = false
"""

NAMES = ("creme_brulee_2", "_3d", "_3_d")  # as USD takes them


def make_scene(*, more: str = "") -> Scene:
    return Scene.from_toml(SCENE + more)


def make_snapshot(
    scene: Scene, frame: int, counts: Sequence[int] = (40, 30, 20), **channels: Any
) -> Snapshot:
    """Particles in no order of id; materials are mixed."""
    random = np.random.default_rng(frame)
    n = sum(counts)
    material = random.permutation(np.repeat(np.arange(len(counts)), counts)).astype(np.int32)
    known = {
        "position": random.random((n, 3), dtype=np.float32),
        "velocity": random.random((n, 3), dtype=np.float32) - 0.5,
        "id": random.permutation(2 * n)[:n].astype(np.int32),
        "material": material,
        **{name: make(n) if callable(make) else make for name, make in channels.items()},
    }
    looks = [MaterialLook(k, m.color, m.transmission) for k, m in scene.materials.items()]
    return Snapshot(frame, frame / 50, known, looks, make_poses(scene, frame), SPACING)


def make_poses(scene: Scene, frame: int) -> list[ColliderPose]:
    """All but the moving sphere stay where the scene puts them."""
    from viscoil.colliders.primitives import pose

    poses = [ColliderPose(spec, *pose(spec, 0.0)) for spec in scene.colliders]
    angle = 0.3 * frame
    turn = (0.0, float(np.sin(angle / 2)), 0.0, float(np.cos(angle / 2)))
    poses[1] = ColliderPose(scene.colliders[1], (frame, 2.0, 3.0), turn, 1.0 + 0.1 * frame)
    return poses


def export(
    form: Any,
    folder: Path,
    scene: Scene,
    snapshots: Sequence[Snapshot],
    channels: Sequence[str] = (),
) -> Path:
    """What `viscoil export` does, in one process."""
    folder.mkdir(parents=True, exist_ok=True)
    for snapshot in snapshots:
        form.write(folder / frame_name(snapshot.frame, form.suffix), snapshot, channels)
    return Path(form.finish(folder, scene, [s.frame for s in snapshots]))


def make_surface(frame: int) -> TriangleMesh:
    """A sphere whose triangles change from frame to frame, with velocities."""
    ball = sphere(0.2 + 0.01 * frame, 6 + frame, 8)
    velocity = ball.vertices.astype(np.float32) * 3.0
    temperature = np.linspace(280, 300, len(velocity)).astype(np.float32)
    return TriangleMesh(
        ball.vertices, ball.faces, {"velocity": velocity, "temperature": temperature}
    )


def write_surfaces(folder: Path, frames: Sequence[int]) -> Path:
    folder.mkdir(parents=True)
    for frame in frames:
        write_mesh(folder / frame_name(frame, ".ply"), make_surface(frame))
    return folder


def opened(path: Path) -> Any:
    """A stage without faults of composition."""
    stage = Usd.Stage.Open(str(path))
    assert stage.GetCompositionErrors() == []
    return stage


def points_at(stage: Any, name: str) -> Any:
    return UsdGeom.Points.Get(stage, f"/World/Particles/{name}")


def expected(snapshot: Snapshot, k: int) -> dict[str, np.ndarray]:
    """The particles of a material in the order of their ids."""
    chosen = np.flatnonzero(snapshot.channels["material"] == k)
    rows = chosen[np.argsort(snapshot.channels["id"][chosen])]
    return {name: values[rows] for name, values in snapshot.channels.items()}
