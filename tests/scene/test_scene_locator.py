"""The locator must agree with tomllib on what keys there are, and with the eye on their lines."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from viscoil.scene._toml import tomllib
from viscoil.scene.locator import KeyLines
from viscoil.scene.writer import to_toml

TEXT = """\
# a comment with [brackets] and key = 1
title = "a # no comment, [no] table"

[simulation]
spacing = 0.1   # [not.a.table]
gravity = [
  0.0,
  -9.81, # down ]
  0.0,
]
kill_bounds.min = [0, 0, 0]
kill_bounds . "max" = [1, 1, 1]

[materials."thick honey"]
density = 1420

[[fluids]]
shape = "box"
rotation = { axis = [0, 0, 1], angle = 0.3 }

[[fluids]]
shape = 'sphere'
note = \"\"\"
shape = "none of this"
[[fluids]]
\"\"\"
center = [0, 0, 0]

[[colliders]]
motion = [
  { time = 0 },
  { time = 1, translation = [
    0, 0, 0] },
]
[[colliders.parts]]
a = 1
[[colliders.parts]]
a = 2
[colliders.parts.deep]
b = '''x'''''
"""

LINES = {
    ("title",): 2,
    ("simulation",): 4,
    ("simulation", "spacing"): 5,
    ("simulation", "gravity"): 6,
    ("simulation", "gravity", 0): 7,
    ("simulation", "gravity", 1): 8,
    ("simulation", "gravity", 2): 9,
    ("simulation", "kill_bounds", "min"): 11,
    ("simulation", "kill_bounds", "max"): 12,
    ("materials", "thick honey", "density"): 15,
    ("fluids", 0): 17,
    ("fluids", 0, "rotation", "angle"): 19,
    ("fluids", 1): 21,
    ("fluids", 1, "shape"): 22,
    ("fluids", 1, "note"): 23,
    ("fluids", 1, "center"): 27,
    ("colliders", 0, "motion", 0, "time"): 31,
    ("colliders", 0, "motion", 1, "time"): 32,
    ("colliders", 0, "motion", 1, "translation"): 32,
    ("colliders", 0, "motion", 1, "translation", 2): 33,
    ("colliders", 0, "parts", 0, "a"): 36,
    ("colliders", 0, "parts", 1, "a"): 38,
    ("colliders", 0, "parts", 1, "deep", "b"): 40,
}


@pytest.mark.parametrize(("path", "line"), LINES.items())
def test_line_of_each_key(path: tuple[str | int, ...], line: int) -> None:
    assert KeyLines(TEXT).lines[path] == line


def test_windows_line_ends_count_the_same() -> None:
    assert KeyLines(TEXT.replace("\n", "\r\n")).lines == KeyLines(TEXT).lines


def test_falls_back_to_the_table_around() -> None:
    lines = KeyLines(TEXT)
    assert lines.find(("fluids", 1, "missing", "key")) == 21
    assert lines.find(("nowhere",)) is None


def paths(data: Any, here: tuple[str | int, ...] = ()) -> set[tuple[str | int, ...]]:
    if isinstance(data, dict):
        children: list[tuple[str | int, Any]] = list(data.items())
    else:
        children = list(enumerate(data)) if isinstance(data, list) else []
    found = {here} if here else set()
    return found.union(*(paths(value, (*here, key)) for key, value in children))


def test_finds_exactly_the_keys_that_tomllib_sees() -> None:
    assert set(KeyLines(TEXT).lines) == paths(tomllib.loads(TEXT))


scalars = (
    st.text(max_size=8)
    | st.integers(-(2**63), 2**63 - 1)
    | st.booleans()
    | st.floats(allow_nan=False, allow_subnormal=False)  # zero, once the compute backend runs
)
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=12,
)
documents = st.dictionaries(st.text(max_size=5), values, max_size=5)


@given(documents)
def test_any_document_is_written_and_located(data: dict[str, Any]) -> None:
    text = to_toml(data)
    assert tomllib.loads(text) == data
    lines = KeyLines(text).lines
    assert set(lines) == paths(data)
    # A value on its own line stands where its key does.
    for path, value in ((p, follow(data, p)) for p in lines if isinstance(p[-1], str)):
        if isinstance(value, int) and not isinstance(value, bool):
            assert str(value) in text.split("\n")[lines[path] - 1]


def follow(data: Any, path: tuple[str | int, ...]) -> Any:
    for part in path:
        data = data[part]
    return data


@given(st.lists(st.sampled_from(["", "# x = 1", "  ", "# [t]"]), max_size=6), st.integers(0, 9))
def test_lines_shift_with_what_is_put_before(filler: list[str], count: int) -> None:
    head = "".join(f"{line}\n" for line in filler * count)
    shifted = KeyLines(head + TEXT).lines
    assert shifted == {p: n + len(filler) * count for p, n in KeyLines(TEXT).lines.items()}
