"""Scene files that are missing, are none, or come from other systems; and any nonsense in them."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scene_rigs import GOOD, JARGON

from viscoil.core.errors import SceneError
from viscoil.scene import Scene
from viscoil.scene._toml import tomllib
from viscoil.scene.writer import to_toml


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
