"""Channels that fluids and emitters write, from the scene to the files and the picture."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from viscoil.core.errors import SceneError
from viscoil.outputs.frames import OF_THE_FRAME, read_frame
from viscoil.particles.store import BASE_CHANNELS
from viscoil.preview import Camera, render
from viscoil.running.outputs import create_outputs
from viscoil.runs.folder import RunFolder
from viscoil.scene import Scene
from viscoil.scene.channels import _NOT_CHANNELS, BASE
from viscoil.scene.solvers import settings_models
from viscoil.simulation.simulation import Simulation
from viscoil.solvers.registry import find_solver

TEXT = """\
[simulation]
spacing = 0.02
frames = 4

[[fluids]]
material = "honey"
shape = "box"
center = [0, 0, 0]
size = [0.08, 0.08, 0.08]
color = [0.1, 0.2, 0.3]
temperature = 320.0
channels = { tag = 2, flow = [1, 2, 3] }

[[emitters]]
material = "honey"
shape = "disc"
center = [0, 0.3, 0]
direction = [0, -1, 0]
radius = 0.03
speed = 1.0
channels = { tag = 5.0 }

[[outputs]]
type = "frames"
channels = ["position", "color", "temperature", "flow", "stress"]
"""


def test_the_scene_knows_all_channels_of_particles_and_solvers() -> None:
    """It may not import them, because they need the compute backend."""
    assert tuple(BASE_CHANNELS) == BASE
    for method, model in settings_models().items():
        assert set(find_solver(method).channels([], model.CHANNELS)) == set(model.CHANNELS)


def test_channels_exist_only_if_used() -> None:
    scene = Scene.from_toml(TEXT)
    assert scene.channel_widths == {"color": 3, "temperature": 1, "tag": 1, "flow": 3}
    assert Scene.from_toml(scene.to_toml()) == scene
    assert Scene.load("honey").channel_widths == {}


@pytest.mark.usefixtures("compute")
def test_particles_get_what_their_maker_says() -> None:
    """A maker that says nothing gives the material's colour, room temperature and zeros."""
    simulation = Simulation(Scene.from_toml(TEXT))
    for _ in range(4):
        simulation.step()
    shown = simulation.snapshot().channels
    honey = simulation.material("honey").color
    mine = shown["position"][:, 1] < 0.1
    assert 0 < mine.sum() == 64 < len(mine)
    for name, first, second in (
        ("color", (0.1, 0.2, 0.3), honey),
        ("tag", 2.0, 5.0),
        ("flow", (1.0, 2.0, 3.0), (0.0, 0.0, 0.0)),
    ):
        np.testing.assert_array_equal(shown[name][mine] - np.asarray(first, np.float32), 0.0)
        np.testing.assert_array_equal(shown[name][~mine] - np.asarray(second, np.float32), 0.0)
    assert simulation.particles.kinds["temperature"].unit == "K"


@pytest.mark.usefixtures("compute")
def test_files_hold_any_channel(tmp_path: Path) -> None:
    scene = Scene.from_toml(TEXT)
    outputs = create_outputs(scene, RunFolder(tmp_path))
    outputs[1].frame(Simulation(scene).snapshot())
    for output in outputs:
        output.close()
    (path,) = (tmp_path / "frames").glob("*.npz")
    arrays = read_frame(path)
    assert arrays["flow"].shape == (64, 3)
    assert set(arrays) >= {"position", "color", "temperature", "flow", "stress"}
    np.testing.assert_array_equal(arrays["temperature"], np.float32(320.0))


@pytest.mark.usefixtures("compute")
def test_the_preview_paints_particles() -> None:
    """A red and a blue half of one material: the picture has both, and neither without colours."""
    halves = [
        {"shape": "box", "material": "dough", "center": (x, 0.0, 0.0), "size": (0.1, 0.1, 0.1),
         "color": color}
        for x, color in ((-0.05, (0.9, 0.05, 0.05)), (0.05, (0.05, 0.05, 0.9)))
    ]  # fmt: skip
    scene = Scene.model_validate({"simulation": {"spacing": 0.02, "frames": 1}, "fluids": halves})
    shot = Simulation(scene).snapshot()
    picture = render(shot, Camera.frame_scene(scene), 96, 64).astype(int)
    redness = picture[..., 0] - picture[..., 2]
    assert (redness > 60).sum() > 100 and (redness < -60).sum() > 100
    assert redness[:, :48].mean() > 0 > redness[:, 48:].mean()


def problems(old: str, new: str) -> list[str]:
    assert old in TEXT
    with pytest.raises(SceneError) as caught:
        Scene.from_toml(TEXT.replace(old, new), "my.toml")
    return list(caught.value.problems)


REGION = 'region = { shape = "box", radius = 1.0 }'
MISTAKES: list[tuple[str, str, str]] = [
    ('"temperature", "flow"', '"temprature", "flow"',
     'my.toml:25: outputs.0.channels.2 ("temprature") is no known channel: '
     'did you mean "temperature"?'),
    ("temperature = 320.0\n", "",
     'my.toml:24: outputs.0.channels.2 ("temperature") does not exist in this scene: '
        'give a fluid or emitter "temperature", or remove it here'),
    ("tag = 5.0", "tag = [1, 2, 3]",
     "my.toml:21: emitters.0.channels.tag ([1, 2, 3]) must hold a number, "
     "as it does elsewhere in the scene"),
    ("tag = 5.0", "tag = [1, 2]",
     "my.toml:21: emitters.0.channels.tag ([1, 2]) must be a finite number or a list of 3 of them"),
    ("tag = 5.0", "stress = 1.0",
     "my.toml:21: emitters.0.channels.stress is a name that Viscoil uses itself: "
     "choose another one"),
    ("tag = 5.0", "collider_pose = 1.0",
     "my.toml:21: emitters.0.channels.collider_pose is a name that Viscoil uses itself: "
     "choose another one"),
    ("tag = 5.0", '"my tag" = 1.0',
     "my.toml:21: emitters.0.channels.my tag is no name for a channel: "
     "use letters, digits and underscores"),
    ("[[outputs]]", "[[fields]]\ntype = \"vind\"\n[[outputs]]",
     'my.toml:24: fields.0.type ("vind") is no known type: did you mean "wind"?'),
    ("[[outputs]]", "[[fields]]\ntype = \"wind\"\nvelocity = [1, 0, 0]\namplitude = 1.0\n[[outputs]]",
     "my.toml:26: fields.0.amplitude does not go with this type but with noise: remove it"),
    ("[[outputs]]", "[[fields]]\ntype = \"vortex\"\nradius = 1.0\n[[outputs]]",
     "my.toml:23: fields.0 needs either angular_speed or strength: add one of them"),
    ("[[outputs]]", f"[[fields]]\ntype = \"drag\"\nlinear = 1.0\n{REGION}\n[[outputs]]",
     "my.toml:26: fields.0.region.size is missing: a box needs it"),
    ("[[outputs]]", "[[fields]]\ntype = \"drag\"\n[[outputs]]",
     "my.toml:23: fields.0 does nothing: give linear, quadratic or both"),
    ("[[outputs]]", "[[fields]]\ntype = \"drag\"\nlinear = 1.0\nmaterials = [\"water\"]\n[[outputs]]",
     'my.toml:26: fields.0.materials.0 ("water") is no known material: use one of honey'),
    ("[[outputs]]", "[[kill]]\nshape = \"box\"\ncenter = [0, 0, 0]\nradius = 1.0\n[[outputs]]",
     "my.toml:26: kill.0.radius does not go with this shape but with sphere: remove it"),
    ("[[outputs]]", "[[kill]]\nshape = \"plane\"\nstart = 2.0\nstop = 1.0\n[[outputs]]",
     "my.toml:26: kill.0.stop (1.0) must be later than start (2)"),
    ("temperature = 320.0", "max_age_spread = 1.0",
     "my.toml:11: fluids.0.max_age_spread (1.0) needs max_age beside it: add it"),
]  # fmt: skip


@pytest.mark.parametrize("old, new, sentence", MISTAKES)
def test_mistakes_are_answered_in_a_sentence(old: str, new: str, sentence: str) -> None:
    found = problems(old, new)
    assert any(one.startswith(sentence) for one in found), found


def test_values(tmp_path: Path) -> None:
    scene: Any = Scene.from_toml(TEXT)
    assert scene.fluids[0].channels == {"tag": 2.0, "flow": (1.0, 2.0, 3.0)}


def test_arrays_of_a_frame_are_no_names_for_channels() -> None:
    """Else the channel and, say, the poses of colliders would be one array of the file."""
    assert set(OF_THE_FRAME) <= set(_NOT_CHANNELS)
