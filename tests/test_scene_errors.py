"""Every mistake is answered by one sentence with its place, its key and what to do."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from viscoil.errors import SceneError, ViscoilError
from viscoil.scene import Scene
from viscoil.scene._toml import tomllib
from viscoil.scene.writer import to_toml

GOOD = """\
[simulation]
spacing = 0.1
duration = 1.0

[materials.goo]
density = 1000.0
viscosity = 1.0

[[fluids]]
material = "goo"
shape = "box"
center = [0, 0, 0]
size = [1, 1, 1]

[[emitters]]
material = "water"
shape = "disc"
center = [0, 3, 0]
direction = [0, -1, 0]
radius = 0.2
speed = 0.5

[[colliders]]
shape = "plane"
"""

JARGON = ("pydantic", "input_value", "Input should", "validation error", "Traceback", "type=")


def problems(text: str) -> list[str]:
    with pytest.raises(SceneError) as caught:
        Scene.from_toml(text, "my.toml")
    assert isinstance(caught.value, ViscoilError)
    for sentence in caught.value.problems:
        assert "\n" not in sentence
        assert sentence[0].islower() and not sentence.endswith(".")
        assert not any(word in sentence for word in JARGON)
    return list(caught.value.problems)


def test_the_base_scene_is_good() -> None:
    assert Scene.from_toml(GOOD).frames == 30


# (what stands in the good scene, what replaces it, the sentence)
CASES = {
    "unknown key": (
        "spacing = 0.1",
        "spacing = 0.1\nspcing = 0.1",
        'my.toml:3: simulation.spcing is no known key: did you mean "spacing"?',
    ),
    "unknown table": (
        "[[fluids]]",
        "[solvr]\n[[fluids]]",
        'my.toml:9: solvr is no known key: did you mean "solver"?',
    ),
    "synonym of a key": (
        "spacing = 0.1",
        "spacing = 0.1\ndt = 0.1",
        'my.toml:3: simulation.dt is no known key: did you mean "time_step"?',
    ),
    "a mesh as a container": (
        'shape = "plane"',
        'shape = "mesh"\nfile = "bowl.obj"\ncontainer = true',
        'my.toml:26: colliders.0.container is no known key: did you mean "mode"?',
    ),
    "an empty file name": (
        'shape = "plane"',
        'shape = "mesh"\nfile = ""',
        "my.toml:25: colliders.0.file is empty: write something (mesh file (.obj .ply .stl .glb .gltf "
        ".off), level set (.vdb), a folder of meshes with the same faces (an animation), or "
        '"builtin:NAME"), or remove it',
    ),
    "unknown key unlike any": (
        "density = 1000.0",
        "density = 1000.0\nzzz = 1",
        "my.toml:7: materials.goo.zzz is no known key: remove it, since materials.goo can have "
        "only preset, density, viscosity, modulus, relaxation_time, solvent_viscosity, "
        "compliance, surface_tension, adhesion, xsph, wall_friction, conductivity, heat_capacity, "
        "thermal, color, transmission",
    ),
    "key of another shape": (
        "size = [1, 1, 1]",
        "size = [1, 1, 1]\ntube_radius = 1",
        "my.toml:14: fluids.0.tube_radius does not go with this shape but with torus: remove it",
    ),
    "missing key": (
        "spacing = 0.1\n",
        "",
        "my.toml:1: simulation.spacing is missing: add it (particle spacing, m)",
    ),
    "text for a number": (
        "spacing = 0.1",
        'spacing = "0.1"',
        'my.toml:2: simulation.spacing is the text "0.1" but must be a number '
        "(particle spacing, m)",
    ),
    "switch for a number": (
        "spacing = 0.1",
        "spacing = true",
        "my.toml:2: simulation.spacing is true but must be a number (particle spacing, m)",
    ),
    "negative spacing": (
        "spacing = 0.1",
        "spacing = -0.1",
        "my.toml:2: simulation.spacing is -0.1 but must be greater than 0 (particle spacing, m)",
    ),
    "zero spacing": (
        "spacing = 0.1",
        "spacing = 0",
        "my.toml:2: simulation.spacing is 0 but must be greater than 0 (particle spacing, m)",
    ),
    "nan": (
        "spacing = 0.1",
        "spacing = nan",
        "my.toml:2: simulation.spacing is nan but must be a finite number (particle spacing, m)",
    ),
    "infinite": (
        "duration = 1.0",
        "duration = inf",
        "my.toml:3: simulation.duration is inf but must be a finite number (simulated time, s)",
    ),
    "zero duration": (
        "duration = 1.0",
        "duration = 0.0",
        "my.toml:3: simulation.duration is 0.0 but must be greater than 0 (simulated time, s)",
    ),
    "zero step": (
        "duration = 1.0",
        "duration = 1.0\ntime_step = 0",
        "my.toml:4: simulation.time_step is 0 but must be greater than 0 (fixed time step, s)",
    ),
    "infinity inside a vector": (
        "center = [0, 0, 0]",
        "center = [0, inf, 0]",
        "my.toml:12: fluids.0.center.1 is inf but must be a finite number",
    ),
    "vector too short": (
        "center = [0, 0, 0]",
        "center = [0, 0]",
        "my.toml:12: fluids.0.center is [0, 0] but must be a list of 3 numbers "
        "(centre of the shape, m)",
    ),
    "vector too long": (
        "size = [1, 1, 1]",
        "size = [1, 1, 1, 1]",
        "my.toml:13: fluids.0.size is [1, 1, 1, 1] but must be a list of 3 numbers "
        "(edge lengths along x, y and z, m)",
    ),
    "number for a vector": (
        "center = [0, 0, 0]",
        "center = 1",
        "my.toml:12: fluids.0.center is 1 but must be a list of 3 numbers (centre of the shape, m)",
    ),
    "zero density": (
        "density = 1000.0",
        "density = 0.0",
        "my.toml:6: materials.goo.density is 0.0 but must be greater than 0 (rest density, kg/m³)",
    ),
    "negative viscosity": (
        "viscosity = 1.0",
        "viscosity = -1.0",
        "my.toml:7: materials.goo.viscosity is -1.0 but must be at least 0 (viscosity, Pa s)",
    ),
    "nan viscosity": (
        "viscosity = 1.0",
        "viscosity = nan",
        "my.toml:7: materials.goo.viscosity is nan but must be at least 0 (viscosity, Pa s)",
    ),
    "unknown material": (
        'material = "goo"',
        'material = "gooo"',
        'my.toml:10: fluids.0.material ("gooo") is no known material: did you mean "goo"?',
    ),
    "unknown material like a preset": (
        'material = "water"',
        'material = "watr"',
        'my.toml:16: emitters.0.material ("watr") is no known material: did you mean "water"?',
    ),
    "unknown preset": (
        "viscosity = 1.0",
        'preset = "hony"',
        'my.toml:7: materials.goo.preset ("hony") is no known preset: did you mean "honey"?',
    ),
    "unknown shape": (
        'shape = "box"',
        'shape = "bx"',
        'my.toml:11: fluids.0.shape ("bx") is no known shape: did you mean "box"?',
    ),
    "missing shape": (
        'shape = "box"\n',
        "",
        'my.toml:9: fluids.0.shape is missing: add one of "box", "cylinder", "mesh", "particles", '
        '"sphere", "torus"',
    ),
    "unknown choice": (
        "[[fluids]]",
        '[solver]\nmethod = "dcpdb"\n[[fluids]]',
        'my.toml:10: solver.method ("dcpdb") is no known choice: did you mean "dcpbd"?',
    ),
    "fractional count": (
        "[[fluids]]",
        "[solver]\nvelocity_iterations = 2.5\n[[fluids]]",
        "my.toml:10: solver.velocity_iterations is 2.5 but must be a whole number "
        "(most iterations of the velocity projection per step)",
    ),
    "both duration and frames": (
        "duration = 1.0",
        "duration = 1.0\nframes = 3",
        "my.toml:1: simulation has both duration and frames: remove one of them",
    ),
    "neither duration nor frames": (
        "duration = 1.0\n",
        "",
        "my.toml:1: simulation needs either duration or frames: add one of them",
    ),
    "both speed and flow rate": (
        "speed = 0.5",
        "speed = 0.5\nflow_rate = 1.0",
        "my.toml:15: emitters.0 has both speed and flow_rate: remove one of them",
    ),
    "neither speed nor flow rate": (
        "speed = 0.5\n",
        "",
        "my.toml:15: emitters.0 needs either speed or flow_rate: add one of them",
    ),
    "zero direction": (
        "direction = [0, -1, 0]",
        "direction = [0, 0, 0]",
        "my.toml:19: emitters.0.direction ([0.0, 0.0, 0.0]) must not be the zero vector, "
        "because it gives a direction",
    ),
    "stop before start": (
        "speed = 0.5",
        "speed = 0.5\nstart = 2.0\nstop = 1.0",
        "my.toml:23: emitters.0.stop (1.0) must be later than start (2)",
    ),
    "friction without coefficient": (
        'shape = "plane"',
        'shape = "plane"\ncontact = "friction"',
        'my.toml:25: colliders.0.contact ("friction") needs a coefficient: add for example '
        '"friction = 0.4"',
    ),
    "friction without contact": (
        'shape = "plane"',
        'shape = "plane"\nfriction = 0.3',
        'my.toml:25: colliders.0.friction (0.3) works only with contact = "friction", '
        'and contact is "sticky"',
    ),
    "keyframes out of order": (
        'shape = "plane"',
        'shape = "plane"\nmotion = [\n  {time = 1},\n  {time = 0},\n]',
        "my.toml:27: colliders.0.motion.1.time (0.0) must be later than the keyframe before it (1)",
    ),
    "unknown key in an inline table": (
        "size = [1, 1, 1]",
        "size = [1, 1, 1]\nrotation = {axis = [0, 0, 1], angel = 1}",
        'my.toml:14: fluids.0.rotation.angel is no known key: did you mean "angle"?',
    ),
    "capsule of no length": (
        'shape = "plane"',
        'shape = "capsule"\nstart = [0, 1, 0]\nend = [0, 1, 0]\nradius = 1',
        "my.toml:26: colliders.0.end ([0.0, 1.0, 0.0]) is the same point as start: move it, "
        'or use shape = "sphere"',
    ),
    "ring without a hole": (
        'shape = "box"\ncenter = [0, 0, 0]\nsize = [1, 1, 1]',
        'shape = "torus"\ncenter = [0, 0, 0]\nradius = 1\ntube_radius = 1',
        "my.toml:14: fluids.0.tube_radius (1.0) must be smaller than radius (1), "
        "or the ring has no hole",
    ),
    "open box that is solid": (
        'shape = "plane"',
        'shape = "box"\ncenter = [0, 0, 0]\nsize = [1, 1, 1]\nopen = ["+y"]',
        'my.toml:27: colliders.0.open (["+y"]) works only for a container: add "container = true"',
    ),
    "steps the wrong way round": (
        "duration = 1.0",
        "duration = 1.0\nmin_time_step = 1.0",
        "my.toml:4: simulation.min_time_step (1.0) must not exceed max_time_step (0.00833333)",
    ),
    "iterations the wrong way round": (
        "[[fluids]]",
        "[solver]\nposition_iterations = 5\nmax_position_iterations = 4\n[[fluids]]",
        "my.toml:11: solver.max_position_iterations (4) must be at least position_iterations (5)",
    ),
    "bounds the wrong way round": (
        "duration = 1.0",
        "duration = 1.0\nkill_bounds = {min = [0, 0, 0], max = [1, 0, 1]}",
        "my.toml:4: simulation.kill_bounds.max ([1.0, 0.0, 1.0]) must exceed min along every axis",
    ),
    "name that is a path": (
        "duration = 1.0",
        'duration = 1.0\nname = "../x"',
        'my.toml:4: simulation.name ("../x") names the run folder: use letters, digits, spaces, '
        "dashes or underscores",
    ),
    "channels of a video": (
        "[[fluids]]",
        '[[outputs]]\ntype = "video"\nchannels = ["id"]\n[[fluids]]',
        'my.toml:11: outputs.0.channels (["id"]) works only with type = "frames" or "export", and '
        'type is "video": remove it',
    ),
    "export without a format": (
        "[[fluids]]",
        '[[outputs]]\ntype = "export"\n[[fluids]]',
        'my.toml:10: outputs.0.type ("export") needs format beside it, such as format = "vtp": add it',
    ),
    "format of frames": (
        "[[fluids]]",
        '[[outputs]]\ntype = "frames"\nformat = "vtp"\n[[fluids]]',
        'my.toml:11: outputs.0.format ("vtp") works only with type = "export", and type is '
        '"frames": remove it',
    ),
    "unknown format": (
        "[[fluids]]",
        '[[outputs]]\ntype = "export"\nformat = "vtpp"\n[[fluids]]',
        'my.toml:11: outputs.0.format ("vtpp") is no known choice: did you mean "vtp"?',
    ),
    "the same export twice": (
        "[[fluids]]",
        '[[outputs]]\ntype = "export"\nformat = "vtp"\n'
        '[[outputs]]\ntype = "export"\nformat = "vtp"\n[[fluids]]',
        'my.toml:14: outputs.1.format ("vtp") is exported twice: remove one of the two',
    ),
    "no channels": (
        "[[fluids]]",
        '[[outputs]]\ntype = "frames"\nchannels = []\n[[fluids]]',
        "my.toml:11: outputs.0.channels ([]) is empty: name at least one channel, "
        'such as "position", or remove it',
    ),
    "blind camera": (
        "[[fluids]]",
        "[camera]\nposition = [1, 1, 1]\ntarget = [1, 1, 1]\n[[fluids]]",
        "my.toml:11: camera.target ([1.0, 1.0, 1.0]) must differ from position, "
        "or the camera has nowhere to look",
    ),
    "table for an array": (
        '[[colliders]]\nshape = "plane"',
        '[colliders]\nshape = "plane"',
        "my.toml:23: colliders is a table but must be an array of tables: write [[colliders]]",
    ),
    "value for a table": (
        "[simulation]\nspacing = 0.1\nduration = 1.0",
        "simulation = 3",
        "my.toml:1: simulation is 3 but must be a table "
        "(resolution, duration, time step and domain)",
    ),
    "unclosed text": (
        'material = "goo"',
        'material = "goo',
        'my.toml:10: this is not valid TOML at column 16 (illegal character "\\n"): '
        "correct this line",
    ),
    "key given twice": (
        "spacing = 0.1",
        "spacing = 0.1\nspacing = 0.2",
        "my.toml:3: this is not valid TOML at column 14 (this key or table was given before): "
        "correct this line",
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_one_mistake_one_sentence(case: str) -> None:
    before, after, sentence = CASES[case]
    assert GOOD.count(before) == 1
    if case == "unclosed text":  # the wording of the parser differs between Python versions
        (found,) = problems(GOOD.replace(before, after))
        assert found.startswith("my.toml:10: this is not valid TOML at column 16 (")
        assert found.endswith("): correct this line")
        return
    assert problems(GOOD.replace(before, after)) == [sentence]


def test_several_mistakes_are_all_told_in_the_order_of_the_file() -> None:
    text = (
        GOOD.replace("spacing = 0.1", "spacing = -1")
        .replace('shape = "plane"', 'shape = "plain"')
        .replace("density = 1000.0", "density = nan")
        .replace('material = "goo"', 'material = "gou"')
    )
    found = problems(text)
    assert [sentence.split(": ")[0] for sentence in found] == [
        "my.toml:2",
        "my.toml:6",
        "my.toml:10",
        "my.toml:24",
    ]


def test_all_mistakes_of_one_table_are_told_at_once() -> None:
    """Also those in its shape, its motion and its contact, which are checked apart."""
    table = """
    normal = [0, 0, 0]
    motion = [{time = 2}, {time = 1}]
    friction = 0.4
    heat_transfer = 9.0
    """
    assert problems(GOOD + table) == [
        "my.toml:26: colliders.0.normal ([0.0, 0.0, 0.0]) must not be the zero vector, because it "
        "gives a direction",
        "my.toml:27: colliders.0.motion.1.time (1.0) must be later than the keyframe before it (2)",
        'my.toml:28: colliders.0.friction (0.4) works only with contact = "friction", '
        'and contact is "sticky"',
        "my.toml:29: colliders.0.heat_transfer (9.0) needs temperature beside it: add it",
    ]


def test_an_empty_file_misses_the_simulation_table() -> None:
    assert problems("") == [
        "my.toml: simulation is missing: add it (resolution, duration, time step and domain)"
    ]


def test_end_of_file_inside_an_array() -> None:
    (found,) = problems("[simulation]\nspacing = [\n")
    assert found.startswith("my.toml:3: this is not valid TOML at the end of the file")


class TestFiles:
    def error(self, path: Path | str) -> str:
        with pytest.raises(SceneError) as caught:
            Scene.load(path)
        (sentence,) = caught.value.problems
        return sentence

    def test_missing_file_like_a_built_in_scene(self) -> None:
        sentence = self.error("hony")
        assert sentence == ('there is no scene file hony: did you mean the built-in scene "honey"?')
        assert "built-in" in self.error("no/such/folder/hony.toml")

    def test_missing_file_like_one_beside_it(self, tmp_path: Path) -> None:
        (tmp_path / "my-scene.toml").write_text(GOOD)
        assert f'did you mean "{tmp_path / "my-scene.toml"}"?' in self.error(
            tmp_path / "my-scen.toml"
        )

    def test_missing_file_unlike_any(self) -> None:
        sentence = self.error("qqqqqqqqqqqq")
        assert "bad-meshes, bounce" in sentence and sentence.endswith("wine")

    def test_folder(self, tmp_path: Path) -> None:
        assert "is a folder: give a scene file" in self.error(tmp_path)

    def test_not_utf8(self, tmp_path: Path) -> None:
        path = tmp_path / "a.toml"
        path.write_bytes(b"[simulation]\n# caf\xe9\n")
        assert self.error(path) == f"{path}:2: this is not UTF-8 text: save the file as UTF-8"

    def test_byte_order_mark_and_windows_line_ends(self, tmp_path: Path) -> None:
        path = tmp_path / "a.toml"
        path.write_bytes(b"\xef\xbb\xbf" + GOOD.replace("\n", "\r\n").encode())
        assert Scene.load(path).name == "a"
        path.write_bytes(GOOD.replace("spacing", "spcing").replace("\n", "\r\n").encode())
        with pytest.raises(SceneError) as caught:
            Scene.load(path)
        assert f'{path}:2: simulation.spcing is no known key: did you mean "spacing"?' in (
            caught.value.problems
        )


FULL = GOOD + (
    "motion = [{time = 0}, {time = 1, rotation = {axis = [0, 0, 1], angle = 1}}]\n"
    '[solver]\nsupport = 2.0\n[camera]\nwidth = 320\n[[outputs]]\ntype = "frames"\n'
)
junk = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-3, 3)
    | st.floats()
    | st.sampled_from(["", "box", "goo", "honey", "inf", "shape", "{x}", "a\nb"]),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from(["shape", "preset", "time", "axis", "x", "0"]), inner)
    ),
    max_leaves=6,
)


def all_paths(data: Any, here: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:
    children = data.items() if isinstance(data, dict) else enumerate(data)
    found = []
    for key, value in children:
        found.append((*here, key))
        if isinstance(value, (dict, list)):
            found += all_paths(value, (*here, key))
    return found


@given(st.lists(st.tuples(st.integers(0, 999), junk), min_size=1, max_size=3))
@settings(max_examples=300, deadline=None)
def test_nonsense_is_answered_in_sentences(changes: list[tuple[int, Any]]) -> None:
    """Whatever stands anywhere in a scene, it is either accepted or explained."""
    data = tomllib.loads(FULL)
    for number, value in changes:
        paths = all_paths(data)
        if not paths:
            break
        *parents, last = paths[number % len(paths)]
        node: Any = data
        for part in parents:
            node = node[part]
        if value is None and isinstance(node, dict):
            del node[last]
        elif value is not None:
            node[last] = value
    try:
        Scene.from_toml(to_toml(data), "my.toml")
    except SceneError as error:
        for sentence in error.problems:
            assert sentence.startswith("my.toml") and not sentence.endswith(".")
            assert "\n" not in sentence
            assert not any(word in sentence for word in (*JARGON, "another kind"))
