"""Prefix sums and sums: exact, and the same for any length of the last block."""

import math
from typing import Any

import numpy as np
import pytest
import quadrants as qd
from hypothesis import given, settings
from hypothesis import strategies as st

from viscoil.core.compute import scalars, view, write
from viscoil.core.reductions import block_count, exclusive_scan, sum_doubles

FEW = settings(max_examples=30, deadline=None)
# around the ends of blocks of 1024, where a mistake would show
LENGTHS = (0, 1, 2, 1023, 1024, 1025, 2048, 5000)

pytestmark = pytest.mark.usefixtures("compute")


def ints(values: Any) -> Any:
    array = scalars(qd.i32, len(values))
    write(array, np.asarray(values, dtype=np.int32))
    return array


def scan(counts: np.ndarray) -> tuple[int, np.ndarray]:
    """Through poisoned scratch and output."""
    n = len(counts)
    sums, offsets = scalars(qd.i32, block_count(n) + 1), scalars(qd.i32, n + 1)
    sums.fill(-77)
    offsets.fill(-77)
    total = exclusive_scan(n, ints(counts), sums, offsets)
    return total, np.array(view(offsets, n + 1))


@pytest.mark.parametrize("n", LENGTHS)
def test_block_count_covers_all(n: int) -> None:
    assert 1024 * (block_count(n) - 1) < n <= 1024 * block_count(n) or n == block_count(n) == 0


@pytest.mark.parametrize("n", LENGTHS)
def test_scan_is_the_cumulative_sum(n: int) -> None:
    counts = np.random.default_rng(n).integers(0, 50, n)
    total, offsets = scan(counts)
    np.testing.assert_array_equal(offsets, np.concatenate([[0], np.cumsum(counts)]))
    assert total == counts.sum()


@FEW
@given(st.lists(st.integers(-1000, 1000), max_size=40), st.integers(0, 60))
def test_scan_of_anything(values: list[int], repeats: int) -> None:
    counts = np.array(values * repeats, dtype=np.int64)
    total, offsets = scan(counts)
    np.testing.assert_array_equal(offsets, np.concatenate([[0], np.cumsum(counts)]))
    assert total == counts.sum()


def test_scan_in_place() -> None:
    counts = np.random.default_rng(1).integers(0, 3, 3000)
    array, sums = ints([*counts, -77]), scalars(qd.i32, 3)
    assert exclusive_scan(3000, array, sums, array) == counts.sum()
    np.testing.assert_array_equal(view(array), np.concatenate([[0], np.cumsum(counts)]))


@pytest.mark.parametrize("n", LENGTHS)
def test_sum_of_doubles(n: int) -> None:
    """In whatever order, n additions err by at most n ε Σ|v|; and the bits depend on n alone."""
    values = np.random.default_rng(n).normal(size=n + 3) * 10.0 ** np.arange(-8, n - 5).clip(-8, 8)
    sums = []
    for spare in (3, 1000):
        array = scalars(qd.f64, n + spare)
        array.fill(np.nan)
        write(array, values[:n])
        sums.append(sum_doubles(n, array))
    bound = n * np.finfo(np.float64).eps * np.abs(values[:n]).sum()
    assert abs(sums[0] - math.fsum(values[:n])) <= bound
    assert sums[0] == sums[1]
