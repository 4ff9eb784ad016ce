"""Pictures: looks, light, solids, and the command that makes them."""

import json
import math
import os
import sys
from pathlib import Path

import numpy as np
import pytest
from picture_rigs import SCENE, ball, snapshot, two_balls, written

from viscoil.cli import main
from viscoil.cli.rendering import picture_dimensions
from viscoil.core.errors import MissingExtraError, ViscoilError
from viscoil.geometry.meshes.builtin.solids import box, sphere
from viscoil.outputs.png import read_png
from viscoil.preview.camera import Camera
from viscoil.render.pictures import PictureSettings, Studio, View
from viscoil.render.shading import glow_words, medium_words, surface_words
from viscoil.render.solids import Rod, creased, left_out, solids_of
from viscoil.render.studio import floor_height, orbited, zoomed
from viscoil.render.tone import developed, encoded
from viscoil.render.tracing import require_mitsuba
from viscoil.scene import PRESETS, Material, MeshCollider, Scene
from viscoil.snapshots.looks import (
    LOOKS,
    SOLIDS,
    chosen_looks,
    custom_look,
    fluid_size,
    material_look,
    solid_look,
)
from viscoil.snapshots.snapshot import Array, ColliderPose, MaterialLook, Snapshot


@pytest.mark.parametrize("name", PRESETS)
def test_every_preset_has_its_look(name: str) -> None:
    """Also under another name, as long as its colour is the preset's."""
    material = Material.from_preset(name)
    for called in (name, "mine"):
        look = material_look(MaterialLook(called, material.color, material.transmission))
        assert look is LOOKS[name]
    assert (look.depth is not None) == (material.transmission > 0)


def test_a_material_of_ones_own_looks_like_its_color() -> None:
    opaque = material_look(MaterialLook("mine", (0.1, 0.6, 0.2), 0.0))
    assert opaque.depth is None and opaque.color == (0.1, 0.6, 0.2)
    cloudy, clear = custom_look((0.1, 0.6, 0.2), 0.2), custom_look((0.1, 0.6, 0.2), 0.9)
    assert cloudy.depth is not None and clear.depth is not None
    assert cloudy.depth < clear.depth and cloudy.milk > clear.milk
    # a preset's name with another colour is no longer that preset
    assert material_look(MaterialLook("honey", (0.0, 0.0, 1.0), 0.35)) is not LOOKS["honey"]
    black = custom_look((0.0, 0.0, 0.0), 1.0)
    assert min(black.color) > 0.0


def test_light_is_absorbed_as_told() -> None:
    """After `depth` bodies' sizes, what is left is the look's colour (Beer and Lambert)."""
    look = custom_look((0.2, 0.5, 0.8), 0.5)
    words = medium_words(look, size=0.3)
    assert words is not None and look.depth is not None
    extinction = words["scale"] * np.array(words["sigma_t"]["value"])
    absorption = extinction * (1.0 - np.array(words["albedo"]["value"]))
    left = np.exp(-absorption * look.depth * 0.3)
    assert left == pytest.approx((0.2, 0.5, 0.8))
    assert max(words["sigma_t"]["value"]) == pytest.approx(1.0)


def test_words_of_each_kind_of_look() -> None:
    assert surface_words(LOOKS["dough"])["type"] == "twosided"
    assert surface_words(LOOKS["water"])["type"] == "dielectric"
    assert surface_words(LOOKS["pane"])["type"] == "thindielectric"
    assert medium_words(LOOKS["dough"], 1.0) is None and medium_words(LOOKS["pane"], 1.0) is None
    assert glow_words(LOOKS["lava"]) is not None and glow_words(LOOKS["honey"]) is None


def test_looks_of_solids() -> None:
    assert set(SOLIDS.values()) <= set(LOOKS)
    assert solid_look("builtin:wine-glass", False) is LOOKS["glass"]
    assert solid_look("rock.obj", False) is LOOKS["clay"]
    assert solid_look("jar.obj", True) is LOOKS["pane"]


def test_looks_that_a_user_chooses() -> None:
    things = ["cold-honey", "colliders.0"]
    assert chosen_looks(["cold-honey = syrup", "colliders.0=glass"], things) == {
        "cold-honey": LOOKS["syrup"],
        "colliders.0": LOOKS["glass"],
    }
    for text, expected in (
        ("cold-honey=sirup", 'did you mean "syrup"'),
        ("cold-hony=syrup", 'did you mean "cold-honey"'),
        ("syrup", "not of the form MATERIAL=LOOK"),
    ):
        with pytest.raises(ViscoilError, match=expected):
            chosen_looks([text], things)


def test_how_large_a_body_of_fluid_is() -> None:
    """The ketchup is a ball of 5 cm radius, and the cube of that volume has this edge."""
    scene = Scene.from_toml(SCENE)
    assert fluid_size(scene, "ketchup") == pytest.approx((4 / 3 * math.pi) ** (1 / 3) * 0.05)
    assert fluid_size(scene, "water") is None


def test_the_curve_from_light_to_numbers() -> None:
    """sRGB maps 0.5 to 0.7354 (IEC 61966-2-1); the film is black at 0, rises, and ends at white."""
    assert encoded(np.array([0.0, 0.5, 1.0])) == pytest.approx([0.0, 0.7354, 1.0], abs=1e-4)
    light = np.repeat(np.array([0.0, 0.01, 0.2, 1.0, 1e4])[None, :, None], 3, axis=2)
    row = developed(light)[0, :, 0].astype(int)
    assert row[0] == 0 and row[-1] == 255 and (np.diff(row) > 0).all()


def test_the_camera_goes_around_and_closer() -> None:
    camera = Camera((1.0, 2.0, 3.0), (1.0, 1.0, 1.0), fov=0.8)
    assert orbited(camera, math.pi).position == pytest.approx((1.0, 2.0, -1.0))
    assert orbited(camera, math.pi / 2).position == pytest.approx((3.0, 2.0, 1.0))
    assert math.tan(zoomed(camera, 2.0).fov / 2) == pytest.approx(math.tan(0.4) / 2)


def test_where_the_floor_is() -> None:
    scene = Scene.from_toml(SCENE)
    camera = Camera.frame_scene(scene)
    plane = ColliderPose(scene.colliders[0], (0.0, -0.3, 0.0))
    tilted = ColliderPose(scene.colliders[0], (0.0, 5.0, 0.0), (0.38, 0.0, 0.0, 0.92))
    assert floor_height(scene, camera, [plane, tilted]) == -0.3


def test_normals_are_smooth_on_a_sphere_and_sharp_on_a_box() -> None:
    round_one = creased(sphere(1.0, 24, 48))
    outward = round_one.vertices / np.linalg.norm(round_one.vertices, axis=1, keepdims=True)
    assert np.einsum("ij,ij->i", round_one.attributes["normal"], outward).min() > 0.99
    edged = creased(box((1.0, 2.0, 3.0)))
    a, b, c = edged.triangles.swapaxes(0, 1)
    face = np.cross(b - a, c - a)
    face /= np.linalg.norm(face, axis=1, keepdims=True)
    assert edged.attributes["normal"] == pytest.approx(np.repeat(face, 3, axis=0), abs=1e-6)


def test_a_container_is_drawn_as_its_edges(tmp_path: Path) -> None:
    """The lid is open, but its four edges end the walls: twelve rods. The floor is the backdrop."""
    run = written(tmp_path, {0: snapshot(ball(0.03))})
    colliders = [ColliderPose(s, getattr(s, "center", (0, 0, 0))) for s in run.scene.colliders]
    shot = Snapshot(0, 0.0, {}, (), colliders, 0.01)
    rods = list(solids_of(shot, {}))
    assert len(rods) == 12 and all(isinstance(rod, Rod) for rod in rods)
    lengths = sorted(float(np.linalg.norm(r.end - r.start)) for r in rods if isinstance(r, Rod))
    assert lengths == pytest.approx([0.2] * 4 + [0.3] * 4 + [0.5] * 4)
    (pane,) = solids_of(shot, {"colliders.1": LOOKS["glass"]})
    assert not isinstance(pane, Rod) and pane.look.thin


def test_a_level_set_is_told_to_be_left_out() -> None:
    spec = MeshCollider(shape="mesh", file="rock.vdb", center=(0.0, 0.0, 0.0))
    shot = Snapshot(0, 0.0, {}, (), [ColliderPose(spec, (0.0, 0.0, 0.0))], 0.01)
    assert left_out(shot) == ["colliders.0 (rock.vdb)"]
    assert list(solids_of(shot, {})) == []


LEFT, RIGHT = slice(21, 25), slice(39, 43)  # columns in which the balls' middles are seen


def hue(picture: Array, column: slice) -> Array:
    """Mean colour of the balls' middle rows in some columns."""
    return np.asarray(picture[16:20, column].reshape(-1, 3).mean(axis=0))


def test_pictures_show_the_fluid_and_can_be_continued(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Ketchup is on the left and toothpaste on the right; what is there is kept."""
    empty = snapshot(np.zeros((0, 3)), 1)
    run = written(tmp_path / "run", {0: two_balls(), 1: empty})
    arguments = ["render", str(run.path), "--size", "64x36", "--samples", "4", "--quiet"]
    assert main([*arguments, "--frames", "0"]) == 0
    said = capsys.readouterr().out
    assert "1 of 1 frames have no surface yet" in said
    assert f"viscoil video {run.path} --pictures render" in said
    first = run.path / "render/frame_000000.png"
    picture = read_png(first)
    assert picture.shape == (36, 64, 3)
    red, mint = hue(picture, LEFT), hue(picture, RIGHT)
    assert red[0] > 2 * red[1] and red[0] > 2 * red[2]
    assert mint[1] > 1.05 * mint[0] and mint[2] > 1.05 * mint[0]
    corner = picture[:4, :4].reshape(-1, 3).mean(axis=0)
    assert corner.min() > 30 and np.ptp(corner) < 25
    stamp = first.stat().st_mtime_ns
    assert main(arguments) == 0
    assert "2 pictures (1 was there already)" in capsys.readouterr().out
    assert first.stat().st_mtime_ns == stamp
    nothing = read_png(run.path / "render/frame_000001.png")
    assert np.ptp(hue(nothing, LEFT)) < 25
    assert main([*arguments[:-2], "8", "--quiet"]) == 1
    assert "pictures that were made with other settings" in capsys.readouterr().err
    record = json.loads((run.path / "render/render.json").read_text())
    assert list(record["frames"]) == ["0", "1"]


def test_a_turntable_goes_around(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """From behind, left and right are exchanged. The surfaces are those that `mesh` made."""
    run = written(tmp_path / "run", {0: two_balls()})
    assert main(["mesh", str(run.path), "--quiet", "--processes", "1"]) == 0
    small = ["--size", "64x36", "--samples", "2", "--quiet"]
    capsys.readouterr()
    assert main(["render", str(run.path), "--turntable", "2", *small]) == 0
    assert "no surface" not in capsys.readouterr().out
    folder = run.path / "turntable_000000"
    front, back = (read_png(folder / f"frame_00000{i}.png") for i in (0, 1))
    assert hue(front, LEFT)[0] > 2 * hue(front, LEFT)[2]
    assert hue(back, RIGHT)[0] > 2 * hue(back, RIGHT)[2]
    assert hue(back, LEFT)[2] > hue(back, LEFT)[0]


def test_a_stopped_series_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Ctrl-C during the second of three pictures leaves one, which is not made again."""
    run = written(tmp_path / "run", {n: two_balls(n) for n in range(3)})
    drawn: list[int] = []

    def drawing(studio: Studio, view: View) -> Array:
        if len(drawn) == 1 and view.frame == 1:
            drawn.append(-1)
            raise KeyboardInterrupt
        drawn.append(view.frame)
        return np.zeros((16, 16, 3), np.uint8)

    monkeypatch.setattr(Studio, "picture", drawing)
    assert main(["render", str(run.path), "--quiet"]) == 130
    assert "the same command makes the rest" in capsys.readouterr().err
    assert main(["render", str(run.path), "--quiet"]) == 0
    assert drawn == [0, -1, 1, 2]
    assert "3 pictures (1 was there already)" in capsys.readouterr().out
    # one frame with another zoom: the film is not to show the others as they were
    assert (
        main(["render", str(run.path), "--quiet", "--frames", "1", "--zoom", "2", "--overwrite"])
        == 0
    )
    assert [p.name for p in (run.path / "render").glob("*.png")] == ["frame_000001.png"]


def test_a_new_surface_makes_a_picture_stale(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file that surface.json does not name is not taken for a surface, and ages nothing."""
    run = written(tmp_path / "run", {n: two_balls(n) for n in range(2)})
    drawn: list[int] = []

    def drawing(studio: Studio, view: View) -> Array:
        drawn.append(view.frame)
        return np.zeros((16, 16, 3), np.uint8)

    monkeypatch.setattr(Studio, "picture", drawing)
    command = [str(run.path), "--quiet"]
    surface = run.path / "surface/frame_000001.ply"
    assert main(["mesh", *command, "--processes", "1"]) == 0
    assert main(["render", *command]) == 0
    picture = (run.path / "render/frame_000001.png").stat().st_mtime_ns
    os.utime(surface, ns=(picture + 1, picture + 1))
    drawn.clear()
    assert main(["render", *command]) == 0
    assert drawn == [1]
    later = (run.path / "render/frame_000001.png").stat().st_mtime_ns + 1
    os.utime(surface, ns=(later, later))
    surface.with_name("surface.json").unlink()
    assert main(["render", *command]) == 0
    assert drawn == [1]
    assert Studio(run, PictureSettings(16, 16, 1, {})).surfaces([0, 1]) == {}


def test_without_the_libraries(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    run = written(tmp_path / "run", {0: two_balls()})
    arguments = ["render", str(run.path), "--size", "32x18", "--samples", "1", "--quiet"]
    monkeypatch.setitem(sys.modules, "pyoidn", None)
    assert main(arguments) == 0
    assert "pyoidn is not here, so the pictures are not denoised" in capsys.readouterr().out
    assert read_png(run.path / "render/frame_000000.png").max() > 50
    monkeypatch.setitem(sys.modules, "pysplashsurf", None)
    assert main([*arguments, "--overwrite"]) == 1
    assert "pip install 'viscoil[surface]'" in capsys.readouterr().err
    monkeypatch.setitem(sys.modules, "mitsuba", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'viscoil\[render\]'"):
        require_mitsuba()


@pytest.mark.parametrize("text", ["1280", "axb", "0x100", "1280x", "99999x10", "-5x20", "1e3x20"])
def test_a_size_that_is_none(tmp_path: Path, text: str) -> None:
    run = written(tmp_path / "run", {})
    with pytest.raises(ViscoilError, match="is no size: write width x height"):
        picture_dimensions(run, text)
    assert picture_dimensions(run, "640x360") == (640, 360)
    assert picture_dimensions(run, None) == (960, 540)


def test_wrong_use_of_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = str(written(tmp_path / "run", {0: two_balls(), 1: two_balls(1)}).path)
    for arguments, expected in (
        (["--look", "ketchup=hony"], 'did you mean "honey"'),
        (["--size", "huge"], "is no size"),
        (["--turntable", "8", "--frames", "0,1"], "a turntable shows one frame"),
        (["--frames", "9"], "there is no frame 9"),
    ):
        assert main(["render", run, *arguments]) == 1
        assert expected in capsys.readouterr().err
    bare = str(written(tmp_path / "bare", {}).path)
    assert main(["render", bare]) == 1
    assert "has no particle files" in capsys.readouterr().err
