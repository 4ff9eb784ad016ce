"""Reading a run folder back."""

import json
from pathlib import Path

import numpy as np
import pytest

from viscoil.core.errors import RunError
from viscoil.outputs.frames import FramesOutput
from viscoil.runs.folder import RunFolder
from viscoil.runs.run import Run
from viscoil.scene import Scene
from viscoil.snapshots.collider_meshes import collider_mesh, placed_mesh
from viscoil.snapshots.snapshot import Array, ColliderPose, Snapshot

SCENE = """
[simulation]
name = "read"
spacing = 0.01
frames = 9
fps = 10

[[fluids]]
shape = "box"
material = "honey"
center = [0, 0.1, 0]
size = [0.1, 0.1, 0.1]

[[colliders]]
shape = "plane"

[[colliders]]
shape = "sphere"
center = [1, 2, 3]
radius = 0.5
motion = [{ time = 0 }, { time = 1, translation = [1, 0, 0] }]
"""


def written(folder: Path, frames: tuple[int, ...] = tuple(range(10))) -> Scene:
    scene = Scene.from_toml(SCENE)
    run = RunFolder(folder)
    run.write_run(scene.to_toml(), "cpu", 2, state="finished")
    output = FramesOutput(run.frames)
    for frame in frames:
        output.frame(snapshot(scene, frame))
    return scene


def snapshot(scene: Scene, frame: int) -> Snapshot:
    n = 5 + frame
    poses = [
        ColliderPose(scene.colliders[0], (0.0, 0.0, 0.0)),
        ColliderPose(scene.colliders[1], (frame, 2.0, 3.0), (0.0, 1.0, 0.0, 0.0), 2.0),
    ]
    channels: dict[str, Array] = {
        "position": np.full((n, 3), frame, np.float32),
        "velocity": np.zeros((n, 3), np.float32),
        "id": np.arange(n),
        "material": np.zeros(n, np.int32),
    }
    return Snapshot(frame, frame / 10, channels, (), poses, 0.01)


def test_a_run_is_read_back(tmp_path: Path) -> None:
    scene = written(tmp_path)
    run = Run(tmp_path)
    assert (run.name, run.fps, run.state) == ("read", 10, "finished")
    assert run.scene == scene
    assert run.frames == tuple(range(10))
    assert run.channels == ("position", "velocity", "id", "material")
    assert run.missing == ()
    frame = run.snapshot(3, ["position"])
    assert (frame.frame, frame.time, frame.spacing) == (3, 0.3, 0.01)
    assert list(frame.channels) == ["position"]
    assert len(frame.channels["position"]) == 8
    assert [look.name for look in frame.materials] == ["honey"]
    np.testing.assert_array_equal(frame.colliders[1].position, (3, 2, 3))
    np.testing.assert_array_equal(frame.colliders[1].orientation, (0, 1, 0, 0))
    assert frame.colliders[1].scale == 2.0


@pytest.mark.parametrize(
    ("text", "frames"),
    [
        (None, range(10)),
        ("3", [3]),
        ("-1", [9]),
        ("2:4", [2, 3, 4]),
        ("::4", [0, 4, 8]),
        ("1::3", [1, 4, 7]),
        (":2", [0, 1, 2]),
        ("-2:", [8, 9]),
        ("0,5,2:3", [0, 2, 3, 5]),
    ],
)
def test_frames_are_chosen(tmp_path: Path, text: str | None, frames: list[int]) -> None:
    written(tmp_path)
    assert Run(tmp_path).select(text) == list(frames)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("12", "there is no frame 12: there are 0 to 9"),
        ("20:30", "no frame of .* is in '20:30': it has 0 to 9"),
        ("all", "'all' does not name frames: write it as 12"),
        ("1:2:0", "does not name frames"),
        ("1:2:3:4", "does not name frames"),
        ("", "does not name frames"),
    ],
)
def test_frames_that_are_not_there(tmp_path: Path, text: str, sentence: str) -> None:
    written(tmp_path)
    with pytest.raises(RunError, match=sentence):
        Run(tmp_path).select(text)


def test_missing_frames_are_known(tmp_path: Path) -> None:
    written(tmp_path, (0, 1, 4))
    run = Run(tmp_path)
    assert (run.frames, run.missing) == ((0, 1, 4), (2, 3))
    assert run.select("0:9") == [0, 1, 4]
    with pytest.raises(RunError, match=r"frame_000002\.npz is missing"):
        run.snapshot(2)


def test_what_is_no_run(tmp_path: Path) -> None:
    with pytest.raises(RunError, match="there is no folder"):
        Run(tmp_path / "nowhere")
    with pytest.raises(RunError, match="holds no run"):
        Run(tmp_path)
    (tmp_path / "run.json").write_text("{")
    with pytest.raises(RunError, match=r"run\.json is damaged"):
        Run(tmp_path)
    (tmp_path / "run.json").write_text('{"scene": 3}')
    with pytest.raises(RunError, match=r"run\.json is damaged"):
        Run(tmp_path)


def test_a_run_of_another_version(tmp_path: Path) -> None:
    written(tmp_path)
    record = json.loads((tmp_path / "run.json").read_text())
    record["scene"] = record["scene"].replace("fps", "frames_per_fortnight")
    record["versions"]["viscoil"] = "9.9"
    (tmp_path / "run.json").write_text(json.dumps(record))
    with pytest.raises(RunError, match=r"cannot be read by this version.*use version 9\.9"):
        Run(tmp_path)


def test_a_damaged_frame(tmp_path: Path) -> None:
    written(tmp_path)
    path = Run(tmp_path).frame_path(2)
    path.write_bytes(path.read_bytes()[:200])
    with pytest.raises(RunError, match=r"frame_000002\.npz is truncated or damaged"):
        Run(tmp_path).snapshot(2)


def test_channels_that_disagree(tmp_path: Path) -> None:
    written(tmp_path)
    path = Run(tmp_path).frame_path(2)
    arrays = dict(np.load(path))
    np.savez(path, **{**arrays, "id": arrays["id"][:3]})
    with pytest.raises(RunError, match=r"frame_000002\.npz is truncated or damaged"):
        Run(tmp_path).snapshot(2)


def test_an_unknown_channel(tmp_path: Path) -> None:
    written(tmp_path)
    with pytest.raises(RunError, match="no channel 'velosity': did you mean 'velocity'"):
        Run(tmp_path).check_channels(["id", "velosity"])


# Colliders as triangles

SHAPES = {
    "box": 'shape = "box"\ncenter = [0, 0, 0]\nsize = [1, 2, 3]',
    "sphere": 'shape = "sphere"\ncenter = [0, 0, 0]\nradius = 0.5',
    "cylinder": 'shape = "cylinder"\ncenter = [0, 0, 0]\nradius = 0.5\nheight = 2',
    "capsule": 'shape = "capsule"\nstart = [0, 0, 0]\nend = [0, 2, 0]\nradius = 0.5',
}
VOLUMES = {
    "box": 6.0,
    "sphere": np.pi / 6,
    "cylinder": np.pi / 2,
    "capsule": np.pi / 2 + np.pi / 6,
}


def collider(text: str) -> Scene:
    return Scene.from_toml(SCENE.split("[[colliders]]")[0] + "[[colliders]]\n" + text)


@pytest.mark.parametrize("shape", SHAPES)
def test_solids_have_their_volume(shape: str) -> None:
    """Closed and facing out: by tetrahedra; 64 flat sides lose at most 1 % of a round shape."""
    mesh = collider_mesh(collider(SHAPES[shape]).colliders[0])
    assert mesh is not None
    a, b, c = np.moveaxis(mesh.vertices[mesh.faces], 1, 0)
    volume = np.einsum("ij,ij->i", a, np.cross(b, c)).sum() / 6
    assert 0.99 * VOLUMES[shape] <= volume <= VOLUMES[shape] * (1 + 1e-9)


def test_a_container_lacks_its_open_faces() -> None:
    text = SHAPES["box"] + '\ncontainer = true\nopen = ["+y"]'
    mesh = collider_mesh(collider(text).colliders[0])
    assert mesh is not None
    assert len(mesh.faces) == 10
    a, b, c = np.moveaxis(mesh.vertices[mesh.faces], 1, 0)
    inward = -np.einsum("ij,ij->i", np.cross(b - a, c - a), (a + b + c) / 3)
    assert (inward > 0).all()


def test_a_mesh_stands_where_its_collider_does(tmp_path: Path) -> None:
    scene = written(tmp_path)
    mesh = placed_mesh(Run(tmp_path).snapshot(4).colliders[1], 0.4)
    assert mesh is not None
    np.testing.assert_allclose(mesh.vertices.mean(axis=0), (4, 2, 3), atol=1e-6)
    np.testing.assert_allclose(np.ptp(mesh.vertices, axis=0), 2.0, atol=1e-2)
    assert scene.colliders[1].shape == "sphere"


def test_an_animated_mesh_moves() -> None:
    spec = collider('shape = "mesh"\nfile = "builtin:dragon"').colliders[0]
    first, later = collider_mesh(spec, 0.0), collider_mesh(spec, 0.5)
    assert first is not None and later is not None
    assert np.abs(first.vertices - later.vertices).max() > 1e-3
