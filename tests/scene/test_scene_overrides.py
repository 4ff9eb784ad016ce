"""Overrides reach any key, take TOML values or bare words, and say where they went wrong."""

from pathlib import Path

import pytest

from viscoil.core.errors import SceneError
from viscoil.scene import DcpbdSettings, Scene


def error(*overrides: str, scene: str = "honey") -> str:
    with pytest.raises(SceneError) as caught:
        Scene.load(scene, overrides)
    (sentence,) = caught.value.problems
    return sentence


def test_numbers_lists_and_bare_words() -> None:
    scene = Scene.load(
        "palette",
        [
            ("simulation.spacing", "0.01"),
            ("fluids.0.center", "[0,1,0]"),
            ("colliders.0.contact", "slip"),
            ("colliders.0.friction", "0.0"),
            ("solver.corotation", "false"),
            ("simulation.name", '"two words"'),
        ],
    )
    assert scene.simulation.spacing == 0.01
    assert scene.fluids[0].center == (0.0, 1.0, 0.0)
    assert scene.colliders[0].contact == "slip"
    assert isinstance(scene.solver, DcpbdSettings) and scene.solver.corotation is False
    assert scene.name == "two words"


def test_texts_with_an_equals_sign() -> None:
    assert Scene.load("honey", ["simulation.description=a=b"]).simulation.description == "a=b"


def test_a_preset_without_a_table_of_its_own() -> None:
    honey = Scene.load("honey", ["materials.honey.viscosity=80"]).materials["honey"]
    assert (honey.viscosity, honey.density) == (80.0, 1420.0)


def test_a_table_that_the_file_does_not_have() -> None:
    camera = Scene.load("honey", ["camera.width=320"]).camera
    assert camera is not None and camera.width == 320


@pytest.mark.parametrize("override", ["simulation.frames=7", "simulation.duration=0.2"])
def test_one_of_two_keys_replaces_the_other(override: str) -> None:
    assert Scene.load("honey", [override]).frames == (7 if "frames" in override else 6)


def test_both_of_two_keys_are_refused() -> None:
    assert "has both duration and frames" in error("simulation.frames=7", "simulation.duration=1")


def test_the_last_one_wins() -> None:
    overrides = ["simulation.spacing=0.1", "simulation.spacing=0.2"]
    assert Scene.load("honey", overrides).simulation.spacing == 0.2


@pytest.mark.parametrize(
    ("override", "sentence"),
    [
        (
            "simulation.spacing=-1",
            "--set simulation.spacing: simulation.spacing is -1 but must be greater than 0 "
            "(particle spacing, m)",
        ),
        (
            "simulation.spcing=1",
            '--set simulation.spcing: simulation.spcing is no known key: did you mean "spacing"?',
        ),
        (
            "materials.honey.viscosty=1",
            "--set materials.honey.viscosty: materials.honey.viscosty is no known key: "
            'did you mean "viscosity"?',
        ),
        (
            "simulation.spacing",
            '--set simulation.spacing has no value: write it as "--set simulation.spacing=VALUE"',
        ),
        ("=1", '--set "" is no key: write it like "simulation.spacing=0.01"'),
        ("a b=1", '--set "a b" is no key: write it like "simulation.spacing=0.01"'),
        (
            "emitters.0.center=[0, 1",
            "--set emitters.0.center has the value [0, 1, which is not valid TOML: correct it",
        ),
        (
            "emitters.3.radius=1",
            "--set emitters.3.radius: emitters has only the number 0: use that",
        ),
        (
            "emitters.x.radius=1",
            "--set emitters.x.radius: emitters has only the number 0: use that",
        ),
        (
            "emitters.0.center.5=1",
            "--set emitters.0.center.5: emitters.0.center has only the numbers 0 to 2: "
            "use one of them",
        ),
        (
            "fluids.0.radius=1",
            "--set fluids.0.radius: the scene has no fluids: add some to the file first",
        ),
        (
            "simulation.spacing.x=1",
            "--set simulation.spacing.x: simulation.spacing holds a value, not a table: "
            "shorten the key",
        ),
        (
            "simulation.spacing.x.y=1",
            "--set simulation.spacing.x.y: simulation.spacing holds a value, not a table: "
            "shorten the key",
        ),
    ],
)
def test_mistakes(override: str, sentence: str) -> None:
    assert error(override) == sentence


def test_a_vector_element() -> None:
    assert Scene.load("honey", ["emitters.0.center.1=0.2"]).emitters[0].center == (0.0, 0.2, 0.0)


def test_errors_in_the_file_keep_their_line(tmp_path: Path) -> None:
    path = tmp_path / "a.toml"
    path.write_text("[simulation]\nspacing = 0\nduration = 1\n")
    with pytest.raises(SceneError) as caught:
        Scene.load(path, ["simulation.cfl=0"])
    assert [p.split(": ")[0] for p in caught.value.problems] == [
        "--set simulation.cfl",
        f"{path}:2",
    ]
