"""Pair lists of particles of several sizes against brute force."""

import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rigs import lattice

from viscoil.core.compute import write
from viscoil.core.errors import RunError
from viscoil.neighbors.levels import MOST_LEVELS, MixedNeighbors
from viscoil.neighbors.pairs import Neighbors
from viscoil.particles.store import SIZE, Particles

pytestmark = pytest.mark.usefixtures("compute")

FEW = settings(max_examples=15, deadline=None)
OPEN = (0.0, 0.0, 0.0)
RADIUS = 0.02
Period = tuple[float, float, float]


def crowd(points: np.ndarray, sizes: np.ndarray) -> Particles:
    particles = Particles()
    particles.add_channel("size", SIZE)
    particles.append({"position": points, "size": sizes})
    return particles


def check(points: np.ndarray, sizes: np.ndarray, period: Period = OPEN, blur: float = 1e-5) -> None:
    """Every pair closer than (s_i + s_j)/2 radii is listed once, both ways, and nothing else.

    `blur` is what rounding of coordinates and of the squared distance can do: such pairs are free.
    """
    particles = crowd(points, sizes)
    near = MixedNeighbors(np.unique(sizes.astype(np.float32)).tolist(), period)
    near.pairs.neighbor.fill(-1)
    near._rows.entries.fill(-1)
    near.update(particles, RADIUS)
    n = particles.count
    start, neighbor = near.as_numpy(n)
    x, s = particles["position"].astype(np.float64), particles["size"].astype(np.float64)
    assert (np.diff(s) >= 0.0).all(), "levels come one after the other"
    apart = x[:, None] - x[None]
    for axis, length in enumerate(period):
        if length:
            apart[..., axis] -= length * np.round(apart[..., axis] / length)
    distance = np.linalg.norm(apart, axis=-1) / (0.5 * (s[:, None] + s[None]) * RADIUS)
    np.fill_diagonal(distance, np.inf)
    listed = np.zeros((n, n), dtype=int)
    np.add.at(listed, (np.repeat(np.arange(n), np.diff(start)), neighbor), 1)
    assert listed.max(initial=0) <= 1
    assert (listed == listed.T).all()
    assert (listed[distance < 1.0 - blur] == 1).all()
    assert (listed[distance > 1.0 + blur] == 0).all()


@FEW
@given(
    seed=st.integers(0, 2**32 - 1),
    sizes=st.lists(st.floats(1.0, 3.0), min_size=1, max_size=MOST_LEVELS, unique=True),
    extent=st.floats(0.01, 0.3),
    center=st.floats(-5.0, 5.0),
)
def test_random_crowds(seed: int, sizes: list[float], extent: float, center: float) -> None:
    rng = np.random.default_rng(seed)
    points = center + rng.uniform(-extent, extent, (400, 3))
    # 5 m from the origin coordinates are rounded to 2.4e-7 m, and distances to 2e-5 radii
    check(points, rng.choice(sizes, 400), blur=1e-4)


@pytest.mark.parametrize("period", [(0.2, 0.0, 0.0), (0.21, 0.25, 0.183), (0.0, 0.19, 0.5)])
def test_periodic_crowds(period: Period) -> None:
    rng = np.random.default_rng(3)
    lengths = np.where(np.array(period) > 0.0, period, 0.2)
    points = rng.uniform(-0.5, 1.5, (600, 3)) * lengths
    check(points, rng.choice([1.0, 2.0, 3.0], 600), period, blur=1e-4)


def test_two_lattices_side_by_side() -> None:
    """The usual scene, with rows longer than the first guess and cells at either side of the origin."""
    fine, coarse = lattice((12, 8, 8), 0.01), lattice((5, 3, 3), 0.03, (0.14, 0.0, 0.0))
    sizes = np.repeat([1.0, 3.0], [len(fine), len(coarse)])
    check(np.concatenate([fine, coarse]), sizes, blur=1e-4)


def test_one_size_is_the_search_for_one_size() -> None:
    points = np.random.default_rng(1).uniform(0.0, 0.2, (2000, 3))
    mixed, plain = MixedNeighbors([1.0]), Neighbors()
    with_sizes, without = crowd(points, np.ones(2000)), Particles()
    without.append({"position": points})
    mixed.update(with_sizes, RADIUS)
    plain.update(without, RADIUS)
    for a, b in zip(mixed.as_numpy(2000), plain.as_numpy(2000), strict=True):
        np.testing.assert_array_equal(a, b)


def test_dead_particles_go() -> None:
    points = np.tile(np.arange(4.0)[:, None], 3)
    particles = crowd(points, np.array([1.0, 3.0, 1.0, 3.0]))
    write(particles.alive, [1, 0, 0, 1])
    near = MixedNeighbors([1.0, 3.0])
    near.update(particles, RADIUS)
    assert particles["id"].tolist() == [0, 3]
    assert particles["size"].tolist() == [1.0, 3.0]


def test_too_many_sizes_are_refused() -> None:
    with pytest.raises(RunError, match="8 different spacings, and 7 are possible"):
        MixedNeighbors([1.0 + 0.1 * k for k in range(8)])


def test_cost_per_pair() -> None:
    """Half the particles three times as large: below twice the cost of a pair of uniform particles.

    Processor time of the best of several, one after the other, so that other processes matter little.
    """
    fine, coarse = lattice((40, 20, 20), 0.01), lattice((40, 20, 20), 0.03, (0.0, -0.42, 0.0))
    uniform = Particles()
    uniform.append({"position": lattice((80, 20, 20), 0.01)})
    sizes = np.repeat([1.0, 3.0], [len(fine), len(coarse)])
    mixed = crowd(np.concatenate([fine, coarse]), sizes)
    plain_search, mixed_search = Neighbors(), MixedNeighbors([1.0, 3.0])
    plain, levels = [], []
    for _ in range(8):
        plain.append(_seconds_per_pair(plain_search, uniform))
        levels.append(_seconds_per_pair(mixed_search, mixed))
    ratio = min(levels) / min(plain)
    print(f"cost of a pair, mixed over uniform: {ratio:.2f}")
    assert ratio < 2.0


def _seconds_per_pair(near: Neighbors, particles: Particles) -> float:
    start = time.process_time()
    near.update(particles, 0.0204)
    return (time.process_time() - start) / near.pair_count
