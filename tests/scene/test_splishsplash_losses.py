"""Scenes of SPlisHSPlasH: what is listed as lost, what is refused, and the command."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from splish_rigs import DAM, TANK, Json, Take

from viscoil.cli import main
from viscoil.core.errors import SceneError, ViscoilError
from viscoil.exchange.imported_geometry import FileGeometry
from viscoil.scene import Scene
from viscoil.scene.importers.splishsplash import import_scene


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


def test_a_scene_file_ends_in_toml(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Else the JSON file itself might be what is replaced."""
    source = tmp_path / "a.json"
    source.write_text("{}")
    assert main(["import", str(source), "--out", str(source), "--overwrite"]) == 1
    assert "is no name for a scene file: let it end in .toml" in capsys.readouterr().err
    assert source.read_text() == "{}"
