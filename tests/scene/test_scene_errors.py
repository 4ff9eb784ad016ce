"""Every mistake is answered by one sentence with its place, its key and what to do."""

import pytest
from scene_mistakes import CASES
from scene_rigs import GOOD, problems

from viscoil.scene import Scene


def test_the_base_scene_is_good() -> None:
    assert Scene.from_toml(GOOD).frames == 30


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
