"""The script for Blender: Python without Blender, right numbers, no paths of this machine.

Blender itself runs it in verify/test_blender.py.
"""

import ast
import math
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from usd_rigs import NAMES, export, make_scene, make_snapshot, write_surfaces

from viscoil.exchange.blender import BlenderFormat, blender_script, principled
from viscoil.exchange.usd.format import UsdFormat
from viscoil.preview.camera import Camera
from viscoil.scene import Scene
from viscoil.scene.presets import PRESETS
from viscoil.snapshots.looks import LOOKS, material_look
from viscoil.snapshots.snapshot import MaterialLook


def settings(text: str) -> dict[str, Any]:
    """What the script sets at its top."""
    found = {}
    for statement in ast.parse(text).body:
        if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name):
            found[statement.targets[0].id] = ast.literal_eval(statement.value)
    return found


def test_the_script_lies_beside_the_stage(tmp_path: Path) -> None:
    scene = make_scene()
    path = export(BlenderFormat(), tmp_path, scene, [make_snapshot(scene, f) for f in (2, 7)])
    assert path == tmp_path / "dessert_blender.py"
    text = path.read_text(encoding="utf-8")
    assert str(tmp_path) not in text
    found = settings(text)
    camera = Camera.frame_scene(scene)
    assert (tmp_path / found["STAGE"]).is_file()
    assert (found["FPS"], found["FIRST_FRAME"], found["LAST_FRAME"]) == (50, 2, 7)
    assert (found["WIDTH"], found["HEIGHT"]) == (960, 540)
    assert found["REPRESENTATION"] == "particles"
    assert found["FLOOR"] is None  # a plane is there
    x, y, z = camera.position
    assert found["CAMERA"] == pytest.approx((x, -z, y), abs=1e-6)
    assert found["RADIUS"] == pytest.approx(camera.radius, abs=1e-6)
    assert tuple(found["FLUIDS"]) == NAMES
    for fluid, (name, m) in zip(found["FLUIDS"].values(), scene.materials.items(), strict=True):
        assert fluid["color"] == material_look(MaterialLook(name, m.color, m.transmission)).color
    assert found["FLUIDS"]["_3d"]["kind"] == "clear"
    assert found["FLUIDS"]["creme_brulee_2"]["kind"] == "paste"


def test_the_script_reads_well(tmp_path: Path) -> None:
    """It passes the linter, and every function says what it does."""
    ruff = shutil.which("ruff") or str(Path(sys.executable).with_name("ruff"))
    text = blender_script(make_scene(), "dessert.usda", [0, 5], "particles")
    command = [ruff, "check", "--isolated", "--select", "E,F,I,B,SIM", "--ignore", "E501,B905", "-"]
    done = subprocess.run(command, input=text, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stdout
    functions = [f for f in ast.walk(ast.parse(text)) if isinstance(f, ast.FunctionDef)]
    assert [f.name for f in functions if not ast.get_docstring(f)] == []
    assert len(functions) > 10


def test_a_surface_is_what_is_drawn_if_there_is_one(tmp_path: Path) -> None:
    scene = make_scene()
    surfaces = write_surfaces(tmp_path / "surface", [3])
    path = export(BlenderFormat(surfaces), tmp_path / "a", scene, [make_snapshot(scene, 3)])
    assert settings(path.read_text())["REPRESENTATION"] == "surface"
    surfaces = tmp_path / "no surfaces"
    path = export(BlenderFormat(surfaces), tmp_path / "b", scene, [make_snapshot(scene, 3)])
    assert settings(path.read_text())["REPRESENTATION"] == "particles"


def test_a_floor_where_no_plane_is() -> None:
    text = '[[colliders]]\nshape = "sphere"\nradius = 0.1\ncenter = [0, 0.5, 0]\n'
    fluid = '[[fluids]]\nshape = "sphere"\nmaterial = "honey"\ncenter = [0, 1, 0]\nradius = 0.1\n'
    scene = Scene.from_toml(f"[simulation]\nspacing = 0.01\nframes = 1\n{fluid}{text}")
    found = settings(blender_script(scene, "a.usda", [0], "particles"))
    assert found["FLOOR"] == pytest.approx(Camera.frame_scene(scene).floor)
    assert math.isfinite(found["FLOOR"])


@pytest.mark.parametrize("name", ["@NAME@", "...", "ü ö", "a'b", "$HOME"])
def test_odd_names_of_scenes(tmp_path: Path, name: str) -> None:
    data = make_scene().to_dict()
    data["simulation"]["name"] = name
    scene = Scene.model_validate(data)
    path = export(BlenderFormat(), tmp_path, scene, [make_snapshot(scene, 0)])
    assert path.parent == tmp_path
    found = settings(path.read_text(encoding="utf-8"))
    assert (tmp_path / found["STAGE"]).is_file()


@pytest.mark.parametrize("name", PRESETS)
def test_one_sees_through_what_lets_light_through(name: str) -> None:
    found = principled(LOOKS[name], 0.5)
    clear = PRESETS[name].values["transmission"] > 0.1
    assert (found["kind"] == "clear", found["depth"] > 0.0) == (clear, clear)
    assert (found["glow"] > 0.0) == (name == "lava")


def test_depths_grow_with_the_body() -> None:
    small, large = (principled(LOOKS["honey"], size) for size in (0.1, 1.0))
    assert large["depth"] == pytest.approx(10 * small["depth"])
    assert {**small, "depth": 0} == {**large, "depth": 0}


def test_it_is_a_format_of_its_own() -> None:
    assert (BlenderFormat().name, UsdFormat().name) == ("blender", "usd")
    assert BlenderFormat().suffix == ".usdc"
