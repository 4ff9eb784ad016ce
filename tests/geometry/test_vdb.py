"""OpenVDB files: against OpenVDB itself, against samples that it wrote, and there and back."""

import re
import struct
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from openvdb_rigs import identity, peer, peer_grids
from vdb_rigs import SAMPLES, assert_same, empty_grid, near, rich_grid, sample_file, unpack_sample

from viscoil.core.errors import VdbError
from viscoil.geometry.vdb import Tiles, VdbGrid, read_vdb, write_vdb
from viscoil.geometry.vdb.cursor import Cursor
from viscoil.geometry.vdb.metadata import text_bytes
from viscoil.geometry.vdb.transform import read_transform

FILE_FACTS = ("file_bbox_min", "file_bbox_max", "file_voxel_count", "file_compression")


@pytest.fixture
def sample(tmp_path: Path) -> Callable[[str], Path]:
    return partial(sample_file, tmp_path)


# Files of ours, read by OpenVDB ---------------------------------------------------------------


def plain(value: Any) -> Any:
    """A value of metadata as it comes out of JSON."""
    return value.tolist() if isinstance(value, np.ndarray | np.generic) else value


@pytest.mark.parametrize("zipped", [False, True])
def test_openvdb_reads_our_files(tmp_path: Path, openvdb: None, zipped: bool) -> None:
    scalars, vectors = rich_grid(), rich_grid(vector=True)
    grids = [near(scalars) if zipped else scalars, near(vectors)]
    grids += [empty_grid(), empty_grid("", -2.0)]
    write_vdb(tmp_path / "ours.vdb", grids, zipped)
    peer("dump", tmp_path)
    theirs = peer_grids(tmp_path / "ours.npz")
    assert len(grids) == len(theirs)
    for grid, (other, facts) in zip(sorted(grids, key=identity), theirs, strict=True):
        assert_same(replace(grid, metadata={}), other)
        check_facts(grid, facts, zipped)


def check_facts(grid: VdbGrid, facts: dict[str, Any], zipped: bool) -> None:
    """Metadata, and what OpenVDB computes from the file itself."""
    metadata = facts["metadata"]
    own = {"name": grid.name, "class": grid.grid_class}
    given = {key: plain(value) for key, value in grid.metadata.items()} | own
    assert {key: metadata[key] for key in metadata if key not in FILE_FACTS} == given
    assert metadata["file_voxel_count"] == facts["voxels"]
    assert metadata["file_compression"] == ("zip + " if zipped else "") + "active values"
    if facts["bounds"]:
        assert [metadata["file_bbox_min"], metadata["file_bbox_max"]] == facts["bounds"]
    assert facts["map"] == "UniformScaleTranslateMap"
    size, origin = grid.voxel_size, np.array(grid.origin)
    np.testing.assert_array_equal(facts["far"], size * np.array([1000, -1000, 7]) + origin)
    # OpenVDB divides by the scale as a product with its inverse: two roundings instead of one.
    index = (np.array([1.5, -2.5, 3.5]) - origin) / size
    np.testing.assert_allclose(facts["back"], index, rtol=4 * np.finfo(float).eps)


# Files of OpenVDB, read by us -----------------------------------------------------------------


@pytest.fixture(scope="module")
def made(openvdb: None, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Files of OpenVDB, and what it says is in them; also of those that it wrote elsewhere."""
    folder = tmp_path_factory.mktemp("made")
    peer("make", folder)
    for path in SAMPLES.glob("*mask.vdb.gz"):
        (folder / path.stem).write_bytes(unpack_sample(path.stem.removesuffix(".vdb")))
    peer("dump", folder)
    return folder


READABLE = ["sphere", "many", "half", "empty", "mask", "zip_mask", "blosc_mask"]
READABLE += ["half_mask", "half_zip_mask", "half_blosc_mask"]


@pytest.mark.parametrize("name", READABLE)
def test_we_read_openvdb_files(made: Path, name: str) -> None:
    grids = sorted(read_vdb(made / f"{name}.vdb"), key=identity)
    theirs = [pair for pair in peer_grids(made / f"{name}.npz") if pair[1]["type"] != "bool"]
    assert len(grids) == len(theirs)
    for grid, (other, facts) in zip(grids, theirs, strict=True):
        assert_same(replace(grid, metadata={}), other)
        known = {key: plain(value) for key, value in grid.metadata.items()}
        assert known.items() <= facts["metadata"].items()
        rest = facts["metadata"].keys() - known
        assert all(
            key.startswith("file_") or key in ("name", "class", "is_saved_as_half_float")
            for key in rest
        )


def test_level_set_of_a_sphere(made: Path) -> None:
    """Distances are those of the sphere, within rounding to single precision of lengths of 4 m."""
    (grid,) = read_vdb(made / "sphere.vdb")
    offsets = np.moveaxis(np.indices((8, 8, 8)), 0, -1)
    index = grid.origins[:, None, None, None] + offsets
    world = grid.voxel_size * index + grid.origin
    distance = np.linalg.norm(world - 2.0, axis=-1) - 1.0
    assert np.abs(distance - grid.values)[grid.active].max() < 4 * np.finfo(np.float32).eps * 4
    assert grid.grid_class == "level set"
    inside = grid.tiles.values == np.float32(-grid.background)  # type: ignore[operator]
    assert inside.any() and not grid.tiles.active.any()


@pytest.mark.parametrize("name", ["rotated", "stretched", "frustum"])
def test_transforms_that_do_not_fit(made: Path, name: str) -> None:
    with pytest.raises(VdbError, match="only cubic voxels along the world's axes"):
        read_vdb(made / f"{name}.vdb")


# Samples, whose values are written down in write_samples.cc ------------------------------------


def expected_sample(vector: bool) -> VdbGrid:
    i, j, k = np.indices((8, 8, 8))
    values = np.full((5, 8, 8, 8), 2.5, np.float32)
    active = np.zeros((5, 8, 8, 8), bool)
    active[0] = (i + j + k) % 3 != 0
    values[0] = np.where(active[0], 0.25 * (i + 8 * j + 64 * k), 2.5)
    values[1, :, 0, 0] = [3.0, -2.0] * 4
    values[2, :, 0, 0] = np.arange(8)
    values[3, 0, 0, 0], values[4, 0, 0, 0] = -2.5, 5.0
    tile_places = [(80, 8, 16), (88, 8, 16), (128, 256, 384), (-4096, 4096, 0)]
    tile_values = np.array([7.0, -2.5, -9.0, 11.0], np.float32)
    grid = VdbGrid(
        name="number",
        origins=np.array([(x, 0, 0) for x in (0, 16, 32, 48, 64)], np.int32),
        values=values,
        active=active,
        background=2.5,
        voxel_size=0.5,
        origin=(1.0, 2.0, 3.0),
        tiles=Tiles(
            np.array(tile_places, np.int32),
            np.array([8, 8, 128, 4096], np.int32),
            tile_values,
            np.array([True, False, True, True]),
        ),
    )
    if not vector:
        return grid
    tiles = grid.tiles._replace(values=np.repeat(tile_values[:, None], 3, axis=1))
    repeated = np.repeat(values[..., None], 3, axis=-1)
    return replace(grid, name="vector", values=repeated, background=(2.5,) * 3, tiles=tiles)


WAYS = ["none", "mask", "zip", "zip_mask", "blosc", "blosc_mask", "stream"]
WAYS += ["half_mask", "half_zip_mask", "half_blosc_mask"]


@pytest.mark.parametrize("name", WAYS)
def test_samples(sample: Callable[[str], Path], name: str) -> None:
    number, vector = read_vdb(sample(name))
    assert_same(replace(number, metadata={}), expected_sample(vector=False))
    expected = replace(expected_sample(vector=True), grid_class="staggered")
    assert_same(replace(vector, metadata={}), expected)
    assert vector.metadata == {"vector_type": "contravariant relative"}
    found = number.metadata
    assert {key: plain(value) for key, value in found.items()} == {
        "artist": "Ada",
        "gain": float(np.float32(0.1)),
        "frame": 12,
        "ticks": 2**40,
        "time": 0.1,
        "loop": True,
        "pivot": [1.0, 2.0, 3.0],
        "size": [4, 5, 6],
    }
    assert isinstance(found["gain"], np.float32) and isinstance(found["ticks"], np.int64)


@pytest.mark.parametrize("vector", [False, True])
def test_our_bytes_are_those_of_openvdb(tmp_path: Path, vector: bool) -> None:
    """Transform, nodes and leaves, and where they are: all but names and metadata."""
    path = tmp_path / "ours.vdb"
    write_vdb(path, [expected_sample(vector)])
    kind = b"Tree_vec3s_5_4_3" if vector else b"Tree_float_5_4_3"
    ours, theirs = (tree_bytes(data, kind) for data in (path.read_bytes(), unpack_sample("mask")))
    assert ours == theirs


def tree_bytes(data: bytes, kind: bytes) -> tuple[bytes, bytes]:
    """From a grid's transform to its leaves, and from there to its end."""
    offsets = data.index(kind) + len(kind) + 4  # behind the type is an empty text
    start, leaves, end = struct.unpack_from("<3q", data, offsets)
    assert start == offsets + 24
    return data[data.index(b"UniformScaleTranslateMap", start) : leaves], data[leaves:end]


@pytest.mark.parametrize("version", [222, 223, 224, 225])
def test_file_versions(sample: Callable[[str], Path], version: int) -> None:
    """Nothing that concerns these grids has changed between them."""
    path = sample("zip_mask")
    data = bytearray(path.read_bytes())
    data[8:12] = version.to_bytes(4, "little")
    path.write_bytes(data)
    assert len(read_vdb(path)) == 2


SCALE, SHIFT = [0.5] * 3, [1.0, 2.0, 3.0]
MATRIX = [0.5, 0, 0, 0, 0, 0.5, 0, 0, 0, 0, 0.5, 0, *SHIFT, 1.0]
MAPS = {
    "UniformScaleMap": ([*SCALE, *[0.0] * 12], (0.5, (0.0, 0.0, 0.0))),
    "ScaleMap": ([*SCALE, *[0.0] * 12], (0.5, (0.0, 0.0, 0.0))),
    "TranslationMap": (SHIFT, (1.0, (1.0, 2.0, 3.0))),
    "UniformScaleTranslateMap": ([*SHIFT, *SCALE, *[0.0] * 12], (0.5, (1.0, 2.0, 3.0))),
    "ScaleTranslateMap": ([*SHIFT, *SCALE, *[0.0] * 12], (0.5, (1.0, 2.0, 3.0))),
    "AffineMap": (MATRIX, (0.5, (1.0, 2.0, 3.0))),
    "UnitaryMap": (np.eye(4).ravel().tolist(), (1.0, (0.0, 0.0, 0.0))),
}


@pytest.mark.parametrize("name", MAPS)
def test_maps(name: str) -> None:
    """All that can be cubic voxels along the axes; the numbers that follow from others are ignored."""
    numbers, expected = MAPS[name]
    cursor = Cursor(Path("a.vdb"), text_bytes(name) + np.array(numbers, "<f8").tobytes())
    assert read_transform(cursor, "grid") == expected
    assert cursor.left == 0


def test_double_precision_beside_whole_numbers(sample: Callable[[str], Path]) -> None:
    number, vector = read_vdb(sample("types"))
    assert_same(number, expected_sample(vector=False))
    assert_same(vector, expected_sample(vector=True))


def test_grids_that_share_a_tree(sample: Callable[[str], Path]) -> None:
    first, second = read_vdb(sample("shared"))
    expected = expected_sample(vector=False)
    assert_same(replace(first, metadata={}), expected)
    moved = replace(expected, voxel_size=2.0, origin=(0.0, 0.0, 0.0), grid_class="fog volume")
    assert_same(replace(second, metadata={}), moved)
    assert second.values is first.values


def test_no_grid_that_we_read(sample: Callable[[str], Path]) -> None:
    with pytest.raises(VdbError, match="no grid of floats or vectors: export"):
        read_vdb(sample("others"))


# Our own round trip ----------------------------------------------------------------------------


@st.composite
def grids(draw: st.DrawFn) -> VdbGrid:
    """A few leaves and tiles anywhere, with few or many distinct values, NaN and -0 among them."""
    vector = draw(st.booleans())
    channels = (3,) if vector else ()
    blocks = draw(st.lists(st.tuples(*[st.integers(-40, 40)] * 3), max_size=6, unique=True))
    sizes = [draw(st.sampled_from([8, 128, 4096])) for _ in blocks]
    count = draw(st.integers(0, len(blocks)))
    origins = np.array([[8 * p for p in b] for b in blocks[:count]], np.int32).reshape(-1, 3)
    # Tiles stand in other 4096³ blocks than leaves and than each other.
    tile_places = [[4096 * (7 + i), 4096 * b[0], 0] for i, b in enumerate(blocks[count:])]
    pool = draw(arrays.arrays(np.float32, st.integers(1, 4), elements=st.floats(width=32)))
    pool = np.concatenate((pool, -pool, np.array([0.0, -0.0], np.float32)))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    shape, t = (count, 8, 8, 8), len(blocks) - count
    values = rng.choice(pool, (*shape, *channels))
    background = rng.choice(pool, channels or None)
    return VdbGrid(
        name=draw(st.text(st.characters(exclude_characters="\x1e", codec="utf-8"))),
        origins=origins,
        values=values,
        active=rng.random(shape) < draw(st.sampled_from([0.0, 0.1, 0.9, 1.0])),
        background=tuple(background.tolist()) if vector else float(background),
        voxel_size=draw(st.floats(1e-6, 1e6)),
        origin=draw(st.tuples(*[st.floats(-1e6, 1e6)] * 3)),
        grid_class=draw(st.sampled_from(["unknown", "level set", "fog volume", "staggered"])),
        tiles=Tiles(
            np.array(tile_places, np.int32).reshape(-1, 3),
            np.array(sizes[count:], np.int32),
            rng.choice(pool, (t, *channels)),
            rng.random(t) < 0.5,
        ),
        metadata=draw(st.dictionaries(st.sampled_from(["a", "b"]), METADATA)),
    )


METADATA = st.one_of(
    st.text(st.characters(codec="utf-8")),
    st.booleans(),
    st.integers(-(2**31), 2**31 - 1),
    st.floats(allow_nan=False),
    arrays.arrays(
        np.float32, st.sampled_from([(2,), (3,), (4, 4)]), elements=st.floats(0, 1, width=32)
    ),
)


@settings(deadline=None, max_examples=40)
@given(grids=st.lists(grids(), max_size=3), zipped=st.booleans())
def test_round_trip(
    tmp_path_factory: pytest.TempPathFactory, grids: list[VdbGrid], zipped: bool
) -> None:
    path = tmp_path_factory.getbasetemp() / "round.vdb"
    write_vdb(path, grids, zipped)
    again = read_vdb(path)
    assert len(again) == len(grids)
    for before, after in zip(grids, again, strict=True):
        assert_same(before, after)
    first = path.read_bytes()
    write_vdb(path, again, zipped)
    assert (
        path.read_bytes()[61:] == first[61:]
    )  # but for the tag, which the order of leaves changes
    write_vdb(path, grids, zipped)
    assert path.read_bytes() == first


def test_a_large_file_is_read_and_written_fast(tmp_path: Path) -> None:
    """A slab of 50 000 leaves, in seconds of this process, whatever else the machine is doing."""
    count = 50_000
    index = np.arange(count)
    origins = 8 * np.stack((index // 500, index // 10 % 50, index % 10), axis=-1).astype(np.int32)
    values = np.random.default_rng(0).random((count, 8, 8, 8), np.float32)
    grid = replace(empty_grid("slab"), origins=origins, values=values, active=values < 0.1)
    grid = replace(grid, values=np.where(grid.active, values, np.float32(1.5)))
    start = time.process_time()
    write_vdb(tmp_path / "slab.vdb", [grid])
    written = time.process_time()
    (again,) = read_vdb(tmp_path / "slab.vdb")
    read = time.process_time()
    print(f"\n{count} leaves: written in {written - start:.2f} s, read in {read - written:.2f} s")
    assert_same(grid, again)
    assert max(written - start, read - written) < 5.0


def test_the_page_runs(tmp_path: Path) -> None:
    page = (Path(__file__).parents[2] / "docs" / "vdb.md").read_text(encoding="utf-8")
    (program,) = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert done.stdout == "density (8, 8, 8, 8) [0. 1. 0.]\n", done.stderr
