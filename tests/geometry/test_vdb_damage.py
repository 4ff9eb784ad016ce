"""OpenVDB files that are damaged or do not fit, and grids that no file can hold."""

import time
import tracemalloc
import zlib
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from vdb_rigs import rich_grid, sample_file, unpack_sample

from viscoil.core.errors import RunError, VdbError
from viscoil.geometry.vdb import read_vdb, write_vdb
from viscoil.geometry.vdb.unpacking import unzip


@pytest.fixture
def sample(tmp_path: Path) -> Callable[[str], Path]:
    return partial(sample_file, tmp_path)


def damaged_files() -> Iterator[bytes]:
    """Files cut short, with flipped bits, and with random bytes; mostly near the beginning."""
    rng = np.random.default_rng(7)
    names = ["mask", "zip_mask", "blosc_mask", "half_zip_mask", "half_blosc_mask", "shared"]
    whole = [unpack_sample(name) for name in names]
    for i in range(2000):
        data = bytearray(whole[i % len(whole)])
        used = np.flatnonzero(np.frombuffer(data, np.uint8))
        if i % 5 == 0:
            yield bytes(data[: rng.integers(len(data))])
            continue
        for _ in range(rng.integers(1, 4)):
            at = rng.choice(used) if i % 2 else rng.integers(800 if i % 3 else len(data))
            data[at] = data[at] ^ (1 << rng.integers(8)) if i % 4 else rng.integers(256)
        yield bytes(data)


def test_damaged_files_are_read_or_refused(tmp_path: Path) -> None:
    path = tmp_path / "damaged.vdb"
    refused = 0
    slowest = 0.0
    for data in damaged_files():
        path.write_bytes(data)
        start = time.process_time()
        try:
            for grid in read_vdb(path):
                # A leaf takes at least 129 bytes, and a vector's values 6144 bytes in memory.
                assert grid.values.nbytes <= 48 * len(data)
        except VdbError as error:
            assert "\n" not in str(error)
            refused += 1
        slowest = max(slowest, time.process_time() - start)
    print(f"\n{refused} of 2000 damaged files refused, the slowest took {slowest:.3f} s")
    assert refused > 400  # at least those that are cut short
    assert slowest < 2.0


def test_every_cut_is_refused(sample: Callable[[str], Path]) -> None:
    path = sample("zip_mask")
    data = path.read_bytes()
    for end in [*range(0, 700, 7), *range(700, len(data), 997), len(data) - 1]:
        path.write_bytes(data[:end])
        with pytest.raises(
            VdbError, match="not an OpenVDB file" if end < 8 else "ends too early|points to"
        ):
            read_vdb(path)


@pytest.mark.parametrize("where", ["metadata", "grids", "name", "tiles", "children"])
def test_absurd_counts_cost_nothing(sample: Callable[[str], Path], where: str) -> None:
    """A count of 2³² - 1 is refused before anything is allocated for it."""
    path = sample("mask")
    data = bytearray(path.read_bytes())
    root = data.index(np.float32(2.5).tobytes())
    at = {"metadata": 57, "grids": 61, "name": 65, "tiles": root + 4, "children": root + 8}[where]
    data[at : at + 4] = b"\xff" * 4
    path.write_bytes(data)
    tracemalloc.start()
    with pytest.raises(VdbError, match=r"damaged|tree of a missing"):
        read_vdb(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 20e6


def test_a_zip_bomb_is_not_unpacked() -> None:
    bomb = zlib.compress(bytes(100_000_000))
    tracemalloc.start()
    with pytest.raises(ValueError, match="another length"):
        unzip(bomb, 2048)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1e6


def test_files_that_cannot_be_read(tmp_path: Path, sample: Callable[[str], Path]) -> None:
    with pytest.raises(VdbError, match=r"missing\.vdb cannot be read"):
        read_vdb(tmp_path / "missing.vdb")
    (tmp_path / "text.vdb").write_text("not a volume")
    with pytest.raises(VdbError, match="not an OpenVDB file"):
        read_vdb(tmp_path / "text.vdb")
    old = sample("mask")
    data = bytearray(old.read_bytes())
    data[8:12] = (220).to_bytes(4, "little")
    old.write_bytes(data)
    with pytest.raises(VdbError, match="file version 220, but 222 or newer"):
        read_vdb(old)


GRID = rich_grid()
BAD = {
    "values has the shape": {"values": GRID.values[:2]},
    "background has the shape": {"background": (1.0, 2.0, 3.0)},
    "the class is 'fog'": {"grid_class": "fog"},
    "voxel_size is 0.0": {"voxel_size": 0.0},
    "origin is": {"origin": (0.0, np.nan, 0.0)},
    "multiples of 8": {"origins": GRID.origins + 1},
    "8, 128 or 4096": {"tiles": GRID.tiles._replace(sizes=GRID.tiles.sizes + 8)},
    "overlap": {"origins": np.zeros_like(GRID.origins)},
    "leaves or tiles overlap": {"tiles": GRID.tiles._replace(origins=0 * GRID.tiles.origins)},
    "metadata 'a' is": {"metadata": {"a": {}}},
    "fit into 32 bits": {"origins": GRID.origins.astype(np.int64) * 2**20},
    "U\\+001E": {"name": "a\x1eb"},
}


@pytest.mark.parametrize("message", BAD)
def test_grids_that_cannot_be_written(tmp_path: Path, message: str) -> None:
    with pytest.raises(VdbError, match=message):
        write_vdb(tmp_path / "bad.vdb", [replace(GRID, **BAD[message])])  # type: ignore[arg-type]
    assert not list(tmp_path.iterdir())


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(RunError, match="cannot be read or written"):
        write_vdb(tmp_path / "nowhere" / "a.vdb", [GRID])
