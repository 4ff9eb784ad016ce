"""The preview: pictures against what must be seen in them, and as an output of a run."""

import hashlib
import os
import subprocess
import sys

import numpy as np
from preview_rigs import BLUE, FRONT, GROUND, RED, SCENE, cube, draw, redness, snap

from viscoil.outputs.frames import FramesOutput
from viscoil.outputs.png import read_png
from viscoil.outputs.stats import StatsOutput
from viscoil.outputs.video import VideoOutput
from viscoil.preview import Camera, render
from viscoil.preview.output import PreviewOutput
from viscoil.running.outputs import create_outputs
from viscoil.runs.folder import RunFolder
from viscoil.scene import BoxCollider, Rotation, Scene, SphereCollider
from viscoil.snapshots.snapshot import MaterialLook


def test_fluid_is_seen_where_it_is(compute):
    """A cube of side 1 at distance 6 - 0.5 fills 1 / (2 * 5.5 * tan(0.25)) = 0.36 of the height."""
    red = redness(draw(snap(cube((0, 0.5, 0), 1.0)))) > 60
    rows, columns = np.flatnonzero(red.any(axis=1)), np.flatnonzero(red.any(axis=0))
    expected = 0.356 * 54
    assert abs(np.ptp(rows) + 1 - expected) <= 2
    assert abs(np.ptp(columns) + 1 - expected) <= 2
    assert abs(rows.mean() - 26.5) <= 1.5
    assert abs(columns.mean() - 47.5) <= 1.5


def test_right_is_right_and_up_is_up(compute):
    picture = redness(draw(snap(cube((0.8, 0.9, 0), 0.4)))) > 60
    rows, columns = np.nonzero(picture)
    assert len(rows) > 0
    assert rows.max() < 27
    assert columns.min() > 48


def test_nearer_things_hide_farther_ones(compute):
    fluid = cube((0, 0.5, 0), 0.4)
    front = SphereCollider(center=(0.0, 0.5, 1.0), radius=0.5)
    behind = SphereCollider(center=(0.0, 0.5, -1.0), radius=0.5)
    assert not np.any(redness(draw(snap(fluid, colliders=[front]))) > 60)
    assert np.sum(redness(draw(snap(fluid, colliders=[behind]))) > 60) > 30
    hidden = front.model_copy(update={"visible": False})
    np.testing.assert_array_equal(
        draw(snap(fluid, colliders=[hidden])), draw(snap(fluid, colliders=[]))
    )


def test_one_sees_into_a_container(compute):
    fluid = cube((0, 0.5, 0), 0.4)
    box = BoxCollider(center=(0.0, 0.5, 0.0), size=(1.2, 0.8, 1.0), container=True)
    bare, boxed = draw(snap(fluid)), draw(snap(fluid, colliders=[box]))
    inside = (slice(20, 34), slice(41, 55))
    assert np.abs(bare[inside] - boxed[inside]).mean() < 12
    assert np.any(boxed.sum(axis=2) < bare.sum(axis=2) - 60)


def test_fluid_casts_a_shadow(compute):
    """The lamp is on the left, so the shadow falls to the right of what is above the ground."""
    above = Camera((0.0, 3.0, 5.0), (0.0, 0.2, 0.0), 0.5, 1.0)
    empty = draw(snap(np.zeros((0, 3)), colliders=[GROUND]), above)
    full = draw(snap(cube((0, 0.6, 0), 0.5), colliders=[GROUND]), above)
    darker = (empty - full).min(axis=2) > 25
    darker &= redness(full) < 40
    rows, columns = np.nonzero(darker)
    assert len(rows) > 40
    assert np.median(columns) > 50


def test_materials_have_their_colours(compute):
    left, right = cube((-0.6, 0.5, 0), 0.5), cube((0.6, 0.5, 0), 0.5)
    material = np.repeat([0, 1], [len(left), len(right)])
    picture = draw(snap(np.concatenate([left, right]), (RED, BLUE), material))
    # Cubes of side 0.5 at 0.6 from the middle: their centres are 10 pixels off the middle.
    assert redness(picture)[27, 36] > 80
    assert redness(picture)[27, 60] < -80
    only_blue = draw(snap(right, (RED, BLUE), np.ones(len(right), dtype=np.int32)))
    assert redness(only_blue)[27, 60] < -80


def test_clear_fluid_shows_what_is_behind(compute):
    """A dark collider behind a layer of fluid is seen through clear fluid, not through opaque."""
    layer = cube((0, 0.5, 0), 0.3)
    white = (0.95, 0.95, 0.95)
    solid = SphereCollider(center=(0.0, 0.5, -0.7), radius=0.4)

    def change(transmission):
        look = (MaterialLook("glass", white, transmission),)
        with_it = draw(snap(layer, look, colliders=[solid]))
        return np.abs(with_it - draw(snap(layer, look)))[26:28, 47:49].mean()

    assert change(0.0) < 2
    assert change(0.95) > 20


def test_lost_particles_are_left_out(compute):
    fluid = cube((0, 0.5, 0), 0.5)
    lost = [[np.nan, 0, 0], [np.inf, 0, 0], [1e30, 0, 0], [0, -500.0, 0]]
    picture = draw(snap(np.concatenate([fluid, np.array(lost, dtype=np.float32)])))
    np.testing.assert_array_equal(picture, draw(snap(fluid)))
    draw(snap(lost))


def test_edges_are_smooth(compute):
    """Along the edge of a turned box some pixels lie between the two colours."""
    turned = BoxCollider(
        center=(0.0, 0.5, 0.0), size=(1.0, 1.0, 0.1), rotation=Rotation(axis=(0, 0, 1), angle=0.3)
    )
    row = draw(snap(np.zeros((0, 3)), colliders=[turned]))[27, :, 1]
    low, high = row[48], row[5]
    between = (np.abs(row - low) > 15) & (np.abs(row - high) > 15)
    assert between.any()


HASH = """
import hashlib
from viscoil.core import compute
compute.initialize("cpu", {threads})
import preview_rigs as t
import numpy as np
x = np.concatenate([t.cube((-0.3, 0.4, 0), 0.7), t.cube((0.5, 0.3, 0.2), 0.5)])
material = (np.arange(len(x)) % 2).astype(np.int32)
picture = t.render(t.snap(x, (t.RED, t.BLUE), material, [t.GROUND, *t.SOLIDS[:2]]), t.FRONT, 96, 54)
print(hashlib.sha256(picture.tobytes()).hexdigest())
"""


def test_the_same_bytes_for_any_number_of_threads():
    digests = set()
    for threads in (1, 5):
        code = HASH.format(threads=threads)
        path = os.pathsep.join(p for p in sys.path if p)
        env = {**os.environ, "PYTHONPATH": path}
        run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=env)
        assert run.returncode == 0, run.stderr
        digests.add(run.stdout.split()[-1])
    assert len(digests) == 1
    assert len(digests.pop()) == len(hashlib.sha256().hexdigest())


# As outputs of a run


def test_the_outputs_of_a_scene(tmp_path):
    only = '[[outputs]]\ntype = "video"\n'
    for text, kinds in (
        (SCENE, [StatsOutput, FramesOutput, PreviewOutput, VideoOutput]),
        (SCENE + only, [StatsOutput, PreviewOutput, VideoOutput]),
    ):
        outputs = create_outputs(Scene.from_toml(text), RunFolder(tmp_path))
        assert [type(o) for o in outputs] == kinds
        for output in outputs:
            output.close()


def test_the_preview_writes_its_pictures(compute, tmp_path):
    output = PreviewOutput(tmp_path / "preview", tmp_path / "preview.png", FRONT, 96, 54)
    snapshot = snap(cube((0, 0.5, 0), 1.0))
    output.frame(snapshot)
    output.close()
    picture = read_png(tmp_path / "preview" / "frame_000000.png")
    np.testing.assert_array_equal(picture, render(snapshot, FRONT, 96, 54))
    np.testing.assert_array_equal(picture, read_png(tmp_path / "preview.png"))
