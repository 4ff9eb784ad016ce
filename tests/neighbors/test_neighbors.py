"""Pair lists against brute force, in every kind of crowd."""

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial import cKDTree

from viscoil.core.compute import view
from viscoil.core.errors import RunError
from viscoil.neighbors import pairs as module
from viscoil.neighbors.pairs import Neighbors
from viscoil.particles.store import Particles

FEW = settings(max_examples=10, deadline=None)
OPEN = (0.0, 0.0, 0.0)
Period = tuple[float, float, float]

pytestmark = pytest.mark.usefixtures("compute")


def find(
    points: np.ndarray, radius: float, period: Period = OPEN
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Sorted positions, starts and neighbours, through poisoned arrays."""
    particles = Particles()
    particles.append({"position": points})
    near = Neighbors(period)
    near.pairs.neighbor.fill(-1)
    near._rows.entries.fill(-1)
    near.update(particles, radius)
    start, neighbor = near.as_numpy(particles.count)
    return np.array(particles["position"]), np.array(start), np.array(neighbor)


def check(points: np.ndarray, radius: float, period: Period = OPEN, blur: float = 1e-5) -> int:
    """Every pair closer than the radius is listed once, both ways, and nothing else.

    Pairs whose distance is the radius but for `blur`, which is what rounding of coordinates and of
    the squared distance can do in single precision, may be listed or not. Returns the longest row.
    """
    position, start, neighbor = find(points, radius, period)
    n = len(position)
    if not any(period):
        given = points.astype(np.float32)
        np.testing.assert_array_equal(np.sort(position, axis=0), np.sort(given, axis=0))
    x = position.astype(np.float64)
    apart = x[:, None] - x[None]
    for axis, length in enumerate(period):
        if length:
            assert ((x[:, axis] >= 0.0) & (x[:, axis] < length)).all()
            apart[..., axis] -= length * np.round(apart[..., axis] / length)
    distance = np.linalg.norm(apart, axis=-1)
    np.fill_diagonal(distance, np.inf)
    listed = np.zeros((n, n), dtype=int)
    np.add.at(listed, (np.repeat(np.arange(n), np.diff(start)), neighbor), 1)
    assert listed.max(initial=0) <= 1
    assert (listed == listed.T).all()
    assert (listed[distance < radius * (1.0 - blur)] == 1).all()
    assert (listed[distance > radius * (1.0 + blur)] == 0).all()
    return int(np.diff(start).max(initial=0))


def uniform(rng: np.random.Generator, n: int) -> np.ndarray:
    return rng.uniform(-0.5, 0.5, (n, 3))


def clustered(rng: np.random.Generator, n: int) -> np.ndarray:
    return rng.normal(size=(n, 3)) * 0.01 + rng.uniform(-3, 3, (5, 3))[rng.integers(0, 5, n)]


def coincident(rng: np.random.Generator, n: int) -> np.ndarray:
    return uniform(rng, max(n // 4, 1))[rng.integers(0, max(n // 4, 1), n)]


def flat(rng: np.random.Generator, n: int) -> np.ndarray:
    return uniform(rng, n) * [1.0, 0.0, 1.0]


@FEW
@given(
    crowd=st.sampled_from([uniform, clustered, coincident, flat]),
    n=st.integers(1, 400),
    seed=st.integers(0, 1000),
    radius=st.sampled_from([0.02, 0.1, 0.3]),
    shift=st.sampled_from([0.0, -7.3]),
)
def test_any_crowd(
    crowd: Callable[[np.random.Generator, int], np.ndarray],
    n: int,
    seed: int,
    radius: float,
    shift: float,
) -> None:
    """At 7.3 m coordinates are rounded to 5e-7 m, or 2.4e-5 of the smallest radius."""
    check(crowd(np.random.default_rng(seed), n) + shift, radius, blur=1e-4)


@FEW
@given(
    n=st.integers(1, 400),
    seed=st.integers(0, 1000),
    period=st.sampled_from([(1.0, 0.0, 0.0), (0.0, 0.37, 0.41), (0.31, 0.5, 0.7)]),
)
def test_periodic_axes(n: int, seed: int, period: Period) -> None:
    """Particles several periods outside are brought back in."""
    rng = np.random.default_rng(seed)
    check(rng.uniform(-1.5, 2.0, (n, 3)), 0.1, period, blur=1e-4)


def test_a_period_moves_no_particle_that_is_inside() -> None:
    points = np.random.default_rng(0).uniform(0.0, 0.7, (500, 3)).astype(np.float32)
    position, _, _ = find(points, 0.1, (0.7, 0.8, 0.9))
    assert sorted(map(tuple, position.tolist())) == sorted(map(tuple, points.tolist()))


@pytest.mark.parametrize("seed", range(4))
def test_the_last_number_before_a_period(seed: int) -> None:
    """Rounding must not put a particle at the very end into a cell that does not exist."""
    rng = np.random.default_rng(seed)
    for length in rng.uniform(0.31, 2.0, 8).astype(np.float32):
        end = np.nextafter(length, np.float32(0.0))
        points = np.array([[end, 0, 0], [end, 0.01, 0], [-1e-12, 0, 0.01], [0, 0, 0], [0.09, 0, 0]])
        position, start, _ = find(points, 0.1 * 1.001, (float(length), 0.0, 0.0))
        assert (position[:, 0] < length).all()
        assert np.diff(start).tolist() == [4] * 5


def test_a_short_period_is_refused() -> None:
    particles = Particles()
    particles.append({"position": np.zeros((1, 3))})
    with pytest.raises(RunError, match="shorter than three neighbour radii"):
        Neighbors((0.25, 0.0, 0.0)).update(particles, 0.1)


@pytest.mark.parametrize("n", [63, 64, 65, 66, 129, 300])
def test_rows_wider_than_the_first_guess(n: int) -> None:
    """All within each other's reach; 64 is the width of a row before it grows."""
    points = np.random.default_rng(n).uniform(0.0, 0.05, (n, 3))
    assert check(points, 0.1) == n - 1


def test_a_collapse_is_an_error() -> None:
    particles = Particles()
    particles.append({"position": np.zeros((2100, 3))})
    with pytest.raises(RunError, match="collapsed"):
        Neighbors().update(particles, 0.1)


def test_one_and_none() -> None:
    assert find(np.zeros((1, 3)), 0.1)[1].tolist() == [0, 0]
    particles, near = Particles(), Neighbors()
    near.update(particles, 0.1)
    assert (particles.count, near.pair_count) == (0, 0)


def test_after_all_have_died() -> None:
    particles, near = Particles(), Neighbors()
    particles.append({"position": np.zeros((10, 3))})
    near.update(particles, 0.1)
    particles.alive.fill(0)
    for _ in range(2):
        near.update(particles, 0.1)
        assert (particles.count, near.pair_count) == (0, 0)
    particles.append({"position": np.zeros((2, 3))})
    near.update(particles, 0.1)
    assert near.as_numpy(2)[1].tolist() == [1, 0]


def test_far_apart() -> None:
    """Clumps 100 m to 10 km from each other: memory goes with particles, not with the space between.

    At 2 km coordinates are rounded to 1.2e-4 m: a thousandth of the radius. Two clumps lie beyond
    the last cell (2^21/3 of them, 70 km) and are still right, since distances decide.
    """
    rng = np.random.default_rng(0)
    places = np.array(
        [[0, 0, 0], [100, 0, -50], [-2000, 1500, 3], [0, -900, 0], [1e6, 0, 0], [-1e6, -1e6, 0]]
    )
    points = places[rng.integers(0, len(places), 400)] + rng.uniform(0, 0.3, (400, 3))
    check(points, 0.1, blur=3e-3)


def test_many_against_a_tree() -> None:
    """20 000 particles, more than one chunk, in space and in bricks."""
    points = np.random.default_rng(3).uniform(-0.5, 0.5, (20_000, 3)).astype(np.float32)
    position, start, neighbor = find(points, 0.05)
    tree = cKDTree(position.astype(np.float64))
    inner = tree.count_neighbors(tree, 0.05 * (1.0 - 1e-6)) - len(points)
    outer = tree.count_neighbors(tree, 0.05 * (1.0 + 1e-6)) - len(points)
    assert inner <= len(neighbor) <= outer
    i = np.repeat(np.arange(len(points)), np.diff(start))
    assert np.linalg.norm(position[i] - position[neighbor], axis=1).max() < 0.05 * (1.0 + 1e-6)
    assert len(np.unique(i * len(points) + neighbor)) == len(neighbor)


def test_the_chunk_does_not_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither members nor order of the rows depend on how many are collected at a time."""
    points = np.random.default_rng(4).uniform(-0.2, 0.2, (3000, 3))
    whole = find(points, 0.06)
    for chunk in (1000, 517):
        monkeypatch.setattr(module, "CHUNK", chunk)
        for a, b in zip(whole, find(points, 0.06), strict=True):
            np.testing.assert_array_equal(a, b)


def test_lists_stay_right_as_particles_come_and_go() -> None:
    """The same object over many updates, as in a run: arrays are kept and must not go stale."""
    rng, particles, near = np.random.default_rng(5), Particles(), Neighbors()
    for count, radius in ((300, 0.1), (2000, 0.15), (100, 0.05), (900, 0.2)):
        particles.append({"position": rng.uniform(0.0, 1.0, (count, 3))})
        view(particles.alive, particles.count)[rng.random(particles.count) < 0.3] = 0
        particles["position"] += rng.normal(size=(particles.count, 3)) * 0.05
        near.update(particles, radius)
        start, neighbor = near.as_numpy(particles.count)
        fresh, fresh_start, fresh_neighbor = find(np.array(particles["position"]), radius)
        np.testing.assert_array_equal(fresh, particles["position"])
        np.testing.assert_array_equal(start, fresh_start)
        np.testing.assert_array_equal(neighbor, fresh_neighbor)
