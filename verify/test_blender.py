"""The Blender script in Blender: the `bpy` wheel, in build/blender-venv, builds and renders scenes."""

import json
import shutil
import subprocess
import sys
import venv
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.image import imread
from usd_rigs import (
    NAMES,
    export,
    make_scene,
    make_snapshot,
    make_surface,
    write_surfaces,
)

from viscoil.exchange.blender import BlenderFormat
from viscoil.preview.camera import Camera
from viscoil.scene import Scene
from viscoil.snapshots.collider_meshes import placed_mesh
from viscoil.snapshots.snapshot import MaterialLook, Snapshot

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parent.parent
PLACE = ROOT / "build/blender-venv"
BLENDER = "bpy==5.0.1"
PYTHON = "3.11"  # the only one that this wheel is for


@pytest.fixture(scope="module")
def blender() -> Path:
    """The Python that has Blender in it; 350 MB are downloaded the first time."""
    python = PLACE / "bin/python"
    if not (PLACE / "installed").exists():
        _make_venv()
        quiet = ["--quiet", "--disable-pip-version-check"]
        command = [str(python), "-m", "pip", "install", *quiet, BLENDER]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode != 0:
            pytest.skip(f"{BLENDER} cannot be installed here: {done.stderr.strip()[-300:]}")
        (PLACE / "installed").touch()
    done = subprocess.run([str(python), "-c", "import bpy"], capture_output=True, text=True)
    if done.returncode != 0:
        pytest.skip(f"{BLENDER} does not start here: {done.stderr.strip()[-300:]}")
    return python


def _make_venv() -> None:
    if sys.version_info[:2] == tuple(int(part) for part in PYTHON.split(".")):
        venv.create(PLACE, with_pip=True, clear=True)
        return
    other = shutil.which(f"python{PYTHON}")
    if other is None:
        pytest.skip(f"{BLENDER} needs Python {PYTHON}, and no python{PYTHON} is on the PATH")
    subprocess.run([other, "-m", "venv", "--clear", str(PLACE)], check=True)


def seen(
    python: Path, script: Path, frames: tuple[int, ...], width: int = 64, samples: int = 4
) -> Any:
    """What Blender says of the scene that the script builds."""
    looker = ROOT / "verify/blender/look_at_scene.py"
    picture = script.with_name("picture.png")
    arguments = [str(a) for a in (script, picture, width, samples, *frames)]
    done = subprocess.run(
        [str(python), str(looker), *arguments], capture_output=True, text=True, timeout=900
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout.splitlines()[-1])


def test_particles_in_blender(blender: Path, tmp_path: Path) -> None:
    """Counts are equal and bounds within single precision at each frame, also of moving colliders.

    The folder is moved after the export, so that only relative paths can lead to the frames.
    """
    scene = make_scene()
    counts = {0: (400, 30, 20), 1: (450, 31, 20), 4: (440, 30, 0)}
    snapshots = [make_snapshot(scene, f, counts[f]) for f in counts]
    script = export(BlenderFormat(), tmp_path / "made", scene, snapshots)
    shutil.move(tmp_path / "made", tmp_path / "moved")
    found = seen(blender, tmp_path / "moved" / script.name, tuple(counts))
    assert found["range"] == [0, 4, 50.0]
    assert found["engine"] == ["CYCLES", True]
    assert abs(found["fov"] - Camera.frame_scene(scene).fov) < 1e-4
    for snapshot in snapshots:
        there = found["frames"][str(snapshot.frame)]
        for k, name in enumerate(NAMES):
            mine = snapshot.channels["material"] == k
            assert there[name]["count"] == int(mine.sum())
            if mine.any():
                x = snapshot.channels["position"][mine]
                np.testing.assert_allclose(
                    there[name]["bounds"], [x.min(axis=0), x.max(axis=0)], atol=1e-5
                )
                fastest = np.linalg.norm(snapshot.channels["velocity"][mine], axis=1).max()
                assert abs(there[name]["speed"] - fastest) < 1e-5
        ball = placed_mesh(snapshot.colliders[1], snapshot.time)
        assert ball is not None
        np.testing.assert_allclose(there["sphere_1"]["bounds"], ball.bounds, atol=1e-5)
    assert 0.02 < found["mean"] < 0.98
    assert found["spread"] > 0.02


def test_fast_particles_are_blurred(blender: Path, tmp_path: Path) -> None:
    """A sphere of 0.1 m that goes 0.15 m while the shutter is open is 0.25 m wide, and not 0.1 m.

    Seen at an angle and with ends too faint to count, at least 1.5 and at most 2.5 times as wide.

    The number of particles changes at each frame, so that the blur can only come from velocities.
    """
    widths = []
    for speed in (0.0, 9.0):
        folder = tmp_path / f"{speed:g}"
        shots = [_lonely(frame, speed) for frame in (0, 1, 2)]
        script = export(BlenderFormat(), folder, _lonely_scene(), shots)
        seen(blender, script, (1,), width=320, samples=16)
        picture = imread(folder / "picture.png")
        red = (picture[..., 0] - picture[..., 1]).max(axis=0) > 0.03
        widths.append(int(np.ptp(np.flatnonzero(red))) + 1)
    print(f"\nwidth of a sphere at rest and at 9 m/s: {widths[0]} and {widths[1]} pixels")
    assert 1.5 * widths[0] <= widths[1] <= 2.5 * widths[0]


def _lonely_scene() -> Scene:
    fluid = 'shape = "box"\nmaterial = "ketchup"\ncenter = [0, 0.5, 0]\nsize = [1, 1, 1]\n'
    return Scene.from_toml(
        f"[simulation]\nname = 'one'\nspacing = 0.1\nframes = 3\nfps = 30\n[[fluids]]\n{fluid}"
    )


def _lonely(frame: int, speed: float) -> Snapshot:
    """One place, with one particle at even frames and two at odd ones."""
    n = 1 + frame % 2
    channels: dict[str, Any] = {
        "position": np.tile(np.array([-0.2, 0.5, 0.0], np.float32), (n, 1)),
        "velocity": np.tile(np.array([speed, 0.0, 0.0], np.float32), (n, 1)),
        "id": np.arange(n),
        "material": np.zeros(n, np.int32),
    }
    look = MaterialLook("ketchup", (0.75, 0.08, 0.04), 0.0)
    return Snapshot(frame, frame / 30, channels, [look], [], 0.1)


def test_one_frame_in_blender(blender: Path, tmp_path: Path) -> None:
    scene = make_scene()
    script = export(BlenderFormat(), tmp_path, scene, [make_snapshot(scene, 7)])
    found = seen(blender, script, (7,))
    assert found["range"][:2] == [7, 7]
    assert [found["frames"]["7"][name]["count"] for name in NAMES] == [40, 30, 20]


def test_a_surface_in_blender(blender: Path, tmp_path: Path) -> None:
    """Triangles that change, with velocities; the particles stay out of the way."""
    scene = make_scene()
    surfaces = write_surfaces(tmp_path / "surface", (0, 1, 2))
    snapshots = [make_snapshot(scene, f) for f in (0, 1, 2)]
    script = export(BlenderFormat(surfaces), tmp_path / "out", scene, snapshots)
    found = seen(blender, script, (0, 1, 2))
    for frame, there in found["frames"].items():
        want = make_surface(int(frame))
        assert there["Surface"]["count"] == len(want.vertices)
        np.testing.assert_allclose(there["Surface"]["bounds"], want.bounds, atol=1e-6)
        fastest = np.linalg.norm(want.attributes["velocity"], axis=1).max()
        assert abs(there["Surface"]["speed"] - fastest) < 1e-5
        assert not any(thing["type"] == "POINTCLOUD" for thing in there.values())
    assert 0.02 < found["mean"] < 0.98
