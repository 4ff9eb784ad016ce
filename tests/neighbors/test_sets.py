"""Neighbours in another set, compared with brute force."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from viscoil.neighbors.pairs import Neighbors
from viscoil.neighbors.sets import SetNeighbors
from viscoil.particles.store import Particles

RADIUS = 0.13

pytestmark = pytest.mark.usefixtures("compute")


def crowd(points: np.ndarray) -> Particles:
    particles = Particles()
    if len(points):
        particles.append({"position": points})
    return particles


def pairs(
    points: np.ndarray,
    others: np.ndarray,
    period: tuple[float, float, float] = (0.0, 0.0, 0.0),
    sort: bool = True,
) -> set[tuple[int, int]]:
    """(id of a particle, id of one of the other set) of all listed pairs."""
    first, second = crowd(points), crowd(others)
    cells = Neighbors(period)
    if sort:
        Neighbors(period).update(first, RADIUS)
    cells.update(second, RADIUS)
    across = SetNeighbors(period)
    across.pairs.neighbor.fill(-1)
    across.update_across(first, second, cells, RADIUS)
    start, neighbor = across.as_numpy(first.count)
    i = np.repeat(np.arange(first.count), np.diff(start))
    a, b = np.array(first["id"]), np.array(second["id"])
    listed = [(int(a[x]), int(b[y])) for x, y in zip(i, neighbor, strict=True)]
    assert len(set(listed)) == len(listed)
    return set(listed)


@settings(max_examples=25, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    n=st.integers(0, 300),
    m=st.integers(0, 300),
    periodic=st.booleans(),
    far=st.booleans(),
)
def test_as_brute_force_finds_them(seed: int, n: int, m: int, periodic: bool, far: bool) -> None:
    """Except pairs within rounding of the radius: coordinates of 40 m are known to 4e-6 m."""
    rng = np.random.default_rng(seed)
    shift = np.array([40.0, -40.0, 3.0]) if far and not periodic else np.zeros(3)
    points, others = rng.random((n, 3)) + shift, rng.random((m, 3)) + shift
    period = (1.0, 1.0, 0.0) if periodic else (0.0, 0.0, 0.0)
    apart = (points[:, None] - others[None]).astype(np.float64)
    if periodic:
        apart[..., :2] -= np.round(apart[..., :2])
    distance = np.linalg.norm(apart, axis=-1)
    blur = 2e-5 if far else 1e-6
    surely = {(int(i), int(j)) for i, j in np.argwhere(distance < RADIUS - blur)}
    perhaps = {(int(i), int(j)) for i, j in np.argwhere(distance < RADIUS + blur)}
    found = pairs(points, others, period)
    assert surely <= found <= perhaps


def test_rows_grow_and_many_particles_are_listed_in_chunks() -> None:
    """A hundred others in one place near all of 20 000 particles: longer rows than there were."""
    rng = np.random.default_rng(0)
    points = np.stack([np.linspace(0.0, 0.05, 20_000)] * 3, axis=1)
    found = pairs(points, rng.random((100, 3)) * 0.01, sort=False)
    assert len(found) == 20_000 * 100
