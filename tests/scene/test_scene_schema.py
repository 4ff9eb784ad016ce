"""The scene model: defaults, round trips, built-in scenes and what editors get."""

import json
import math
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from viscoil.scene import (
    PRESETS,
    DcpbdSettings,
    OutputSpec,
    Scene,
    SimulationSettings,
    builtin_scenes,
)

MINIMAL: dict[str, Any] = {"simulation": {"spacing": 0.1, "frames": 3}}


def test_defaults() -> None:
    scene = Scene.model_validate(MINIMAL)
    assert scene.simulation.gravity == (0.0, -9.81, 0.0)
    assert scene.simulation.max_time_step == 1 / 120
    assert (scene.solver.method, scene.solver.support) == ("dcpbd", 2.0)
    assert [output.type for output in scene.outputs] == ["frames", "preview", "video"]
    assert (scene.camera, scene.name) == (None, "untitled")


def test_frozen() -> None:
    scene = Scene.model_validate(MINIMAL)
    with pytest.raises(ValidationError):
        scene.simulation = SimulationSettings(spacing=1, frames=1)


@pytest.mark.parametrize(
    ("duration", "fps", "frames"),
    [(4.0, 30.0, 120), (0.1, 30.0, 3), (0.1, 24.0, 3), (1e-6, 30.0, 1), (0.7, 10.0, 7)],
)
def test_frames_cover_the_duration(duration: float, fps: float, frames: int) -> None:
    assert SimulationSettings(spacing=1, duration=duration, fps=fps).frame_count == frames


def test_with_frames_replaces_the_duration() -> None:
    scene = Scene.load("honey").with_frames(5)
    assert (scene.frames, scene.simulation.duration) == (5, None)
    assert scene.emitters == Scene.load("honey").emitters


def test_most_iterations_follow_the_least() -> None:
    data = {**MINIMAL, "solver": {"position_iterations": 100}}
    settings = Scene.model_validate(data).solver
    assert isinstance(settings, DcpbdSettings) and settings.max_position_iterations == 100


def test_presets_that_are_used_are_in_the_materials() -> None:
    scene = Scene.load("stirring")
    assert scene.materials["syrup"].viscosity == PRESETS["syrup"].values["viscosity"]


def test_models_can_be_put_together_in_python() -> None:
    loaded = Scene.load("palette")
    built = Scene(
        simulation=loaded.simulation,
        materials=loaded.materials,
        fluids=loaded.fluids,
        colliders=loaded.colliders,
    )
    assert built == loaded


@pytest.mark.parametrize("name", builtin_scenes())
def test_built_in_scene(name: str) -> None:
    scene = Scene.load(name)
    assert scene.name == name
    assert scene.simulation.description.endswith(".")
    assert scene.fluids or scene.emitters
    assert Scene.from_toml(scene.to_toml()) == scene


def test_built_in_scenes_are_all_there() -> None:
    expected = (
        "bad-meshes bounce bullet bunny-dam coiling column cream-waffle cream dam-break "
        "dragon-splash drain drops floating honey idols melting oil-on-water palette stirring "
        "toothpaste waterfall wine"
    )
    assert list(builtin_scenes()) == expected.split()


def test_palette_cubes_have_22_particles_a_side() -> None:
    scene = Scene.load("palette")
    for fluid in scene.fluids:
        assert fluid.shape == "box"
        assert [round(edge / scene.simulation.spacing, 9) for edge in fluid.size] == [22, 22, 22]


positive = st.floats(1e-6, 1e6)
# The compute backend, once another test has started it, treats subnormal numbers as zero.
number = st.floats(-1e6, 1e6, allow_subnormal=False)
vector = st.tuples(number, number, number)
direction = vector.filter(any)
rotation = st.fixed_dictionaries({"axis": direction, "angle": number})


def table(required: dict[str, Any], **optional: Any) -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries(required, optional=optional)


FLUID: dict[str, Any] = {"material": st.sampled_from(sorted(PRESETS)), "center": vector}
fluids = table(
    {**FLUID, "shape": st.just("box"), "size": st.tuples(positive, positive, positive)},
    rotation=rotation,
    velocity=vector,
) | table({**FLUID, "shape": st.just("sphere"), "radius": positive}, angular_velocity=vector)
emitters = table(
    {**FLUID, "shape": st.just("disc"), "radius": positive, "direction": direction},
    start=positive,
).flatmap(lambda e: st.sampled_from(["speed", "flow_rate"]).map(lambda key: {**e, key: 0.5}))
motion = st.lists(table({}, translation=vector, rotation=rotation), max_size=3).map(
    lambda frames: [{**frame, "time": i / 3} for i, frame in enumerate(frames)]
)
colliders = table(
    {"shape": st.just("plane"), "normal": direction}, motion=motion, visible=st.booleans()
) | table(
    {"shape": st.just("sphere"), "center": vector, "radius": positive},
    contact=st.just("friction"),
    friction=positive,
).filter(lambda c: ("contact" in c) == ("friction" in c))
scenes = table(
    {
        "simulation": table(
            {"spacing": positive},
            name=st.text("abc -_é", min_size=1, max_size=5),
            description=st.text(max_size=10),
            gravity=vector,
            time_step=positive,
            seed=st.integers(0, 2**63 - 1),
            max_age=positive,
        ).flatmap(
            lambda s: st.sampled_from([("duration", 0.3), ("frames", 7)]).map(
                lambda x: {**s, x[0]: x[1]}
            )
        )
    },
    fluids=st.lists(fluids, max_size=2),
    emitters=st.lists(emitters, max_size=2),
    colliders=st.lists(colliders, max_size=2),
    outputs=st.lists(st.sampled_from(["frames", "video"]).map(lambda t: {"type": t}), max_size=2),
    camera=table({}, position=vector, fov=st.floats(0.1, 3.0)),
)


@given(scenes)
@settings(max_examples=60, deadline=None)
def test_any_scene_survives_its_text(data: dict[str, Any]) -> None:
    scene = Scene.model_validate(data)
    text = scene.to_toml()
    again = Scene.from_toml(text)
    assert again == scene
    assert again.to_toml() == text
    assert Scene.model_validate(scene.model_dump()) == scene


def test_an_empty_list_of_outputs_stays_empty() -> None:
    scene = Scene.model_validate({**MINIMAL, "outputs": []})
    assert Scene.from_toml(scene.to_toml()).outputs == ()


def test_infinite_relaxation_time_survives_the_text() -> None:
    again = Scene.from_toml(Scene.load("bounce").to_toml())
    assert math.isinf(again.materials["gel"].relaxation_time)


class TestJsonSchema:
    def test_is_json_and_names_every_table(self) -> None:
        schema = json.loads(json.dumps(Scene.json_schema(), allow_nan=False))
        assert list(schema["properties"]) == list(Scene.model_fields)
        assert schema["additionalProperties"] is False

    def test_every_key_is_described(self) -> None:
        for name, model in Scene.json_schema()["$defs"].items():
            for key, node in model["properties"].items():
                assert node.get("description"), f"{name}.{key}"

    def test_shape_is_required_in_a_file(self) -> None:
        models = Scene.json_schema()["$defs"].values()
        shaped = [m for m in models if "const" in m["properties"].get("shape", {})]
        assert len(shaped) == 19 and all("shape" in m["required"] for m in shaped)

    def test_materials_may_come_from_a_preset_alone(self) -> None:
        material = Scene.json_schema()["$defs"]["Material"]
        assert "required" not in material
        assert material["properties"]["preset"]["enum"] == sorted(PRESETS)


def test_import_is_light() -> None:
    code = (
        "import sys, viscoil.scene, viscoil.cli\n"
        "heavy = {'quadrants', 'numpy', 'matplotlib', 'scipy', 'rich.progress'}\n"
        "sys.exit(str(heavy & set(sys.modules)) if heavy & set(sys.modules) else 0)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_reference_page_is_up_to_date() -> None:
    root = Path(__file__).parents[2]
    script = root / "scripts" / "scene_reference.py"
    subprocess.run([sys.executable, str(script), "--check"], check=True)


def test_output_spec_of_default_channels_is_accepted_for_video() -> None:
    spec = OutputSpec(type="video", channels=("position", "velocity", "id", "material"))
    assert spec.type == "video"
