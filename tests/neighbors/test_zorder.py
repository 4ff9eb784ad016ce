"""Z-indices: a bijection of 21 bits per axis, and a stable sort that needs few passes."""

from typing import Any

import numpy as np
import pytest
import quadrants as qd
from hypothesis import given, settings
from hypothesis import strategies as st

from viscoil.core.compute import Longs, scalars, vectors, view, write
from viscoil.neighbors import zorder
from viscoil.neighbors.zorder import ZSort, encode, squeeze

FEW = settings(max_examples=25, deadline=None)
ORIGIN, LAST = 0x0AAAAA, 0x1FFFFF
DEAD = 0x7FFFFFFFFFFFFFFF

pytestmark = pytest.mark.usefixtures("compute")


@qd.kernel(fastcache=True)
def encode_cells(n: qd.i32, x: Longs, y: Longs, z: Longs, keys: Longs):
    for i in range(n):
        keys[i] = encode(x[i], y[i], z[i])


@qd.kernel(fastcache=True)
def decode_cells(n: qd.i32, keys: Longs, x: Longs, y: Longs, z: Longs):
    for i in range(n):
        x[i] = squeeze(keys[i])
        y[i] = squeeze(keys[i] >> 1)
        z[i] = squeeze(keys[i] >> 2)


def interleave(cell: np.ndarray) -> int:
    """The Z-index of one cell, bit by bit."""
    x, y, z = (int(v) for v in cell)
    return sum(
        (x >> b & 1) << 3 * b | (y >> b & 1) << 3 * b + 1 | (z >> b & 1) << 3 * b + 2
        for b in range(21)
    )


def longs(values: Any) -> Any:
    array = scalars(qd.i64, len(values))
    write(array, np.asarray(values, dtype=np.int64))
    return array


def test_keys_are_interleaved_bits_and_decode() -> None:
    corners = [[a, b, c] for a in (0, LAST) for b in (0, LAST) for c in (0, LAST)]
    powers = [np.eye(3, dtype=int)[a] << b for a in range(3) for b in range(21)]
    random = np.random.default_rng(0).integers(0, LAST + 1, (500, 3))
    cells = np.concatenate([corners, powers, random])
    n = len(cells)
    keys, back = longs(np.full(n, -1)), [longs(np.full(n, -1)) for _ in range(3)]
    encode_cells(n, *(longs(cells[:, a]) for a in range(3)), keys)
    decode_cells(n, keys, *back)
    assert view(keys, n).tolist() == [interleave(cell) for cell in cells]
    np.testing.assert_array_equal(np.stack([view(b, n) for b in back], axis=1), cells)


def cells_of(points: np.ndarray, per_metre: float) -> np.ndarray:
    product = np.floor(points.astype(np.float32) * np.float32(per_metre)).astype(np.int64)
    return np.clip(product + ORIGIN, 0, LAST)


def sort(points: np.ndarray, per_metre: float, alive: np.ndarray) -> tuple[ZSort, int, bool]:
    n = len(points)
    position, mask = vectors(3, n), scalars(qd.i32, n)
    write(position, points)
    write(mask, alive.astype(np.int32))
    sorter = ZSort()
    survivors, moved = sorter.sort(n, [per_metre] * 3, position, mask)
    return sorter, survivors, moved


def check_sorted(points: np.ndarray, per_metre: float, alive: np.ndarray) -> None:
    """Against NumPy's stable sort of bit-by-bit keys."""
    n = len(points)
    sorter, survivors, moved = sort(points, per_metre, alive)
    keys = np.array([interleave(cell) for cell in cells_of(points, per_metre)], dtype=np.int64)
    keys[~alive] = DEAD
    order = np.argsort(keys, kind="stable")
    assert survivors == alive.sum()
    np.testing.assert_array_equal(view(sorter.keys, n), keys[order])
    np.testing.assert_array_equal(view(sorter.order, n), order)
    assert moved == (not alive.all() or (np.diff(keys) < 0).any())


@FEW
@given(
    n=st.integers(1, 2500),
    seed=st.integers(0, 1000),
    extent=st.sampled_from([0.02, 1.0, 300.0]),
    dying=st.sampled_from([0.0, 0.1, 1.0]),
)
def test_sort_is_right_and_stable(n: int, seed: int, extent: float, dying: float) -> None:
    """Negative coordinates included; with extent 0.02 many share a cell, so stability counts."""
    rng = np.random.default_rng(seed)
    points = rng.uniform(-extent, extent, (n, 3)).astype(np.float32)
    check_sorted(points, 100.0, rng.random(n) >= dying)


def test_sort_of_what_is_sorted_moves_nothing() -> None:
    points = np.random.default_rng(0).uniform(-1, 1, (3000, 3)).astype(np.float32)
    alive = np.ones(len(points), dtype=bool)
    order = np.array(view(sort(points, 20.0, alive)[0].order))
    check_sorted(points[order], 20.0, alive)


def test_places_beyond_all_cells_are_clamped() -> None:
    """21 bits at 100 cells per metre end near -7 km and 14 km."""
    points = np.array([[1e9, 0, 0], [-1e9, 0, 0], [0, 3e38, 0], [0, -np.inf, 0]], dtype=np.float32)
    sorter, survivors, _ = sort(points, 100.0, np.ones(4, dtype=bool))
    keys = np.array(view(sorter.keys, 4))
    assert survivors == 4
    assert ((keys >= 0) & (keys < DEAD)).all()
    assert sorted(view(sorter.order, 4).tolist()) == [0, 1, 2, 3]


def test_an_empty_sort_after_a_full_one() -> None:
    """What an earlier sort left behind must not be counted."""
    points = np.random.default_rng(0).random((10, 3))
    sorter, survivors, _ = sort(points, 10.0, np.zeros(10, dtype=bool))
    assert survivors == 0
    assert sorter.sort(0, [10.0] * 3, vectors(3, 10), scalars(qd.i32, 10)) == (0, False)


@pytest.mark.parametrize("bits", range(2, 21))
def test_cells_around_the_origin_share_their_high_bits(bits: int) -> None:
    """Of 2^k cells a third lies to each side of the alternating pattern before bit k changes."""
    reach = 2**bits // 3
    near = np.array([ORIGIN - reach + 1, ORIGIN, ORIGIN + reach - 1])
    assert len(set(near >> bits)) == 1


@pytest.mark.parametrize(("half_extent", "passes"), [(0.8, 3), (20.0, 5)])
def test_few_passes(monkeypatch: pytest.MonkeyPatch, half_extent: float, passes: int) -> None:
    """±85 cells differ in 8 bits per axis, 24 in all: 3 passes of 8. ±2730 cells: 39 bits, 5."""
    calls = []
    scatter = zorder._scatter

    def counted(*a: Any) -> None:
        calls.append(a[1])
        scatter(*a)

    monkeypatch.setattr(zorder, "_scatter", counted)
    points = np.random.default_rng(0).uniform(-half_extent, half_extent, (5000, 3))
    sort(points.astype(np.float32), 100.0, np.ones(5000, dtype=bool))
    assert len(calls) <= passes


def test_the_dead_cost_no_passes(monkeypatch: pytest.MonkeyPatch) -> None:
    """One bit more tells them apart: 24 bits and one, 4 passes; all 63 bits would take 8."""
    calls = []
    scatter = zorder._scatter

    def counted(*a: Any) -> None:
        calls.append(a[1])
        scatter(*a)

    monkeypatch.setattr(zorder, "_scatter", counted)
    points = np.random.default_rng(0).uniform(-0.8, 0.8, (5000, 3)).astype(np.float32)
    check_sorted(points, 100.0, np.arange(5000) % 3 > 0)
    assert len(calls) <= 4


@pytest.mark.parametrize("cell", [0, 1, ORIGIN, LAST - 1, LAST])
def test_one_living_cell_among_the_dead(cell: int) -> None:
    """Its key may begin with any number of ones: the bit that tells the dead apart is found."""
    points = np.full((50, 3), (cell - ORIGIN + 0.5) / 100.0, dtype=np.float32)
    points[:, 2] = 0.0
    check_sorted(points, 100.0, np.arange(50) % 2 > 0)


def test_a_dead_first_particle() -> None:
    """Nothing may be compared with the first key."""
    points = np.random.default_rng(2).uniform(-1, 1, (2000, 3)).astype(np.float32)
    check_sorted(points, 50.0, np.arange(2000) > 0)
