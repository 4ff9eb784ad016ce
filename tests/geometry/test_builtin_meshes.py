"""The built-in meshes: what their catalogue promises, and what the things are for."""

import heapq
import time

import numpy as np
import pytest
from mesh_checks import (
    areas,
    faces_per_edge,
    is_closed,
    oriented_edges,
    volumes,
    winding,
)
from numpy.typing import NDArray

from viscoil.core.errors import SceneError
from viscoil.geometry.meshes.builtin import ENTRIES, NAMES, blends, builtin, is_animated
from viscoil.geometry.meshes.builtin.dragon import PERIOD
from viscoil.geometry.meshes.builtin.drain import GAP

Float = NDArray[np.float64]

every_name = pytest.mark.parametrize("name", NAMES)


def test_names_are_in_order_and_described() -> None:
    assert list(NAMES) == sorted(NAMES)
    assert all(about and about[-1] != "." for about in NAMES.values())


def test_a_name_that_is_nearly_right() -> None:
    with pytest.raises(SceneError, match='"dragoon" is no known built-in mesh: did you mean "drag'):
        builtin("dragoon")
    with pytest.raises(SceneError, match='did you mean "wine-glass"'):
        is_animated("wine_glass")


def test_a_time_that_is_none() -> None:
    with pytest.raises(SceneError, match='mesh "dragon" at time nan: use a finite time'):
        builtin("dragon", float("nan"))


@every_name
def test_arrays_are_sound(name: str) -> None:
    mesh = builtin(name)
    assert mesh.vertices.dtype == np.float64
    assert mesh.faces.dtype == np.int32
    assert np.isfinite(mesh.vertices).all()
    assert np.array_equal(np.unique(mesh.faces), np.arange(len(mesh.vertices)))
    assert 30 <= len(mesh.faces) <= 20_000
    # The thinnest are at the tips of horns and claws, a few tenths of a millimetre wide.
    assert areas(mesh).min() > 1e-9


@every_name
def test_the_same_bits_at_each_call(name: str) -> None:
    first, second = builtin(name), builtin(name)
    for a, b in ((first.vertices, second.vertices), (first.faces, second.faces)):
        assert a.tobytes() == b.tobytes()
        assert not np.shares_memory(a, b)


@every_name
def test_size_is_as_documented(name: str) -> None:
    vertices = builtin(name).vertices
    size = vertices.max(axis=0) - vertices.min(axis=0)
    assert size == pytest.approx(ENTRIES[name].size, abs=0.00501)


@pytest.mark.parametrize(
    "name", [name for name, entry in ENTRIES.items() if entry.origin == "middle of the base"]
)
def test_origin_is_the_middle_of_the_base(name: str) -> None:
    vertices = builtin(name).vertices
    assert vertices[:, 1].min() == pytest.approx(0.0, abs=0.003)
    middle = 0.5 * (vertices.max(axis=0) + vertices.min(axis=0))
    assert np.abs(middle[[0, 2]]).max() < 0.02


@every_name
def test_closed_where_claimed(name: str) -> None:
    assert is_closed(builtin(name)) == ENTRIES[name].closed


@pytest.mark.parametrize("name", [name for name in NAMES if ENTRIES[name].closed])
def test_no_part_is_inside_out(name: str) -> None:
    assert volumes(builtin(name)).min() > 0.0


def test_all_are_made_within_a_second() -> None:
    """Of processor time, since the wall clock also counts what else the machine does."""
    start = time.process_time()
    for name in NAMES:
        builtin(name)
    assert time.process_time() - start < 1.0


@every_name
def test_only_animated_meshes_move(name: str) -> None:
    now, later = builtin(name), builtin(name, 0.3)
    assert np.array_equal(now.faces, later.faces)
    assert now.vertices.shape == later.vertices.shape
    assert np.array_equal(now.vertices, later.vertices) != is_animated(name)


def test_the_dragon_beats_once_in_a_period() -> None:
    now, later = builtin("dragon", 0.2), builtin("dragon", 0.2 + PERIOD)
    assert np.abs(now.vertices - later.vertices).max() < 1e-13
    half = builtin("dragon", 0.2 + 0.5 * PERIOD).vertices
    assert np.abs(now.vertices - half).max() > 0.3


@pytest.mark.parametrize("when", [0.0, 0.13, 0.4, 0.77])
def test_the_dragon_moves_smoothly(when: float) -> None:
    """Central differences of a smooth motion miss its velocity by c h², of a kink by more.

    Each halving of h makes the change of the difference quotient four times smaller; the next term
    of the series is (2 π h / T)² / 20 of the first, which is 0.1 % for h = 0.02 s.
    """

    def velocity(h: float) -> Float:
        apart = builtin("dragon", when + h).vertices - builtin("dragon", when - h).vertices
        return np.asarray(apart / (2.0 * h))

    v = [velocity(0.02 * 0.5**k) for k in range(3)]
    ratio = np.abs(v[0] - v[1]).max() / np.abs(v[1] - v[2]).max()
    assert ratio == pytest.approx(4.0, rel=0.01)
    assert 0.5 < np.abs(v[2]).max() < 10.0


@pytest.mark.parametrize("name", ["boat", "dragon", "tank"])
def test_badly_made_ones_are_not_manifold(name: str) -> None:
    counts = faces_per_edge(builtin(name))
    assert counts.max() > 2
    assert counts.min() == 1


def test_the_parts_of_the_dragon_overlap() -> None:
    """Body, haunch and thigh all surround a point in the hip, but for what open wings add."""
    hip = np.array([[-0.13 + 0.0973, 0.215, 0.04]]) * 0.803
    assert winding(builtin("dragon"), hip)[0] == pytest.approx(3.0, abs=0.4)


def test_blended_bodies_miss_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks that are skipped because they lie far from the surface hold none of it."""
    quick = [builtin(name) for name in ("bunny", "idol")]
    monkeypatch.setattr(blends, "_STEEPEST", np.inf)
    for mesh, name in zip(quick, ("bunny", "idol"), strict=True):
        assert np.array_equal(mesh.vertices, builtin(name).vertices)


# Points on the axis of a vessel are in its hollow, and the last one is in its wall.
@pytest.mark.parametrize(
    ("name", "hollow", "solid"),
    [
        (
            "wine-glass",
            [(0, 0.5, 0), (0, 0.7, 0), (0.24, 0.75, 0)],
            [(0.262, 0.75, 0), (0, 0.3, 0)],
        ),
        ("bottle", [(0, 0.13, 0), (0, 0.5, 0), (0, 0.98, 0)], [(0.125, 0.4, 0), (0, 0.095, 0)]),
        ("cup", [(0, 0.1, 0), (0, 0.9, 0)], [(0.345, 0.5, 0), (0, 0.03, 0), (0.63, 0.5, 0)]),
        ("idol", [(0.35, 0.1, 0), (0, 0.1, -0.35)], [(0.435, 0.1, 0), (0, 0.5, 0)]),
        ("can", [(0, 0.05, 0), (0, 0.19, 0)], [(-0.055, 0.1, 0), (0, 0.004, 0)]),
    ],
)
def test_vessels_are_hollow(name: str, hollow: list[Float], solid: list[Float]) -> None:
    mesh = builtin(name)
    assert winding(mesh, np.array(hollow)) == pytest.approx(0.0, abs=1e-9)
    inside = winding(mesh, np.array(solid))
    assert inside == pytest.approx(np.round(inside), abs=1e-9)
    assert inside.min() > 0.5


def test_water_can_leave_the_drain() -> None:
    """From the road through the grid into the pit, and out of the pipe, all is free."""
    parts = [builtin(name) for name in ("cobbles", "drain-grid", "drain-pit")]
    down = [(0.033, y, 0.06) for y in (0.05, 0.0, -0.05, -0.1, -0.3, -0.46)]
    out = [(x, -0.465, 0.0) for x in (0.2, 0.34, 0.36, 0.4, 0.42, 0.6, 0.75)]
    assert sum(winding(part, np.array(down + out)) for part in parts) == pytest.approx(
        0.0, abs=1e-9
    )
    walls = np.array([(0.38, -0.3, 0.0), (-0.38, -0.4, 0.0), (0.0, -0.81, 0.0), (0.0, -0.4, 0.3)])
    assert winding(parts[2], walls).min() > 0.5


def test_the_parts_of_the_drain_fit() -> None:
    """The grid lies within the gap, and the pit is wider than the gap and meets the plate."""
    road, grid, pit = (builtin(name).vertices for name in ("cobbles", "drain-grid", "drain-pit"))
    assert np.abs(grid[:, [0, 2]]).max(axis=0) == pytest.approx(0.5 * np.array(GAP), abs=0.0051)
    assert pit[:, 1].max() > road[:, 1].min()
    assert winding(builtin("drain-pit"), np.array([(0.5 * GAP[0], -0.2, 0.5 * GAP[1])]))[0] < 0.5
    assert winding(builtin("cobbles"), np.array([(0.0, -0.09, 0.0)]))[0] == pytest.approx(0.0)


def test_the_bullet_has_its_volume() -> None:
    """48 sides miss φ² / 6 of it, φ = 2 π / 48, and the chords of the nose a little more.

    25 points on the arc miss at most (π / 48)² / 6 of the section, twice that of the volume.
    """
    radius, shoulder, nose = 0.25, 0.4, 0.6
    arc = (radius**2 + nose**2) / (2.0 * radius)
    y = (np.arange(20_000) + 0.5) / 20_000 * nose
    ogive = np.mean((np.sqrt(arc**2 - y**2) + radius - arc) ** 2) * nose
    missing = 1.0 - volumes(builtin("bullet"))[0] / (np.pi * (radius**2 * shoulder + ogive))
    sides = (2.0 * np.pi / 48) ** 2 / 6.0
    assert 0.99 * sides < missing < sides + (np.pi / 48) ** 2 / 3.0


def test_a_third_of_a_sphere_is_flipped() -> None:
    """A share of 1/3 of 5120 faces has a standard deviation of 0.0066; three of them are allowed."""
    mesh = builtin("flipped-sphere")
    a, b, c = np.moveaxis(mesh.vertices[mesh.faces] - [0.0, 0.5, 0.0], 1, 0)
    inward = np.einsum("ij,ij->i", np.cross(b - a, c - a), a) < 0.0
    assert inward.mean() == pytest.approx(1.0 / 3.0, abs=0.02)


def test_the_mobius_strip_has_one_edge() -> None:
    """One boundary and Euler characteristic 0: a ring would have two boundaries."""
    mesh = builtin("mobius")
    edges, counts = np.unique(np.sort(oriented_edges(mesh), axis=1), axis=0, return_counts=True)
    assert len(mesh.vertices) - len(edges) + len(mesh.faces) == 0
    rim = edges[counts == 1]
    follow, seen = {int(rim[0, 0])}, set[int]()
    while follow:
        vertex = follow.pop()
        seen.add(vertex)
        near = rim[(rim == vertex).any(axis=1)].ravel().tolist()
        follow |= set(near) - seen
    assert seen == set(rim.ravel().tolist())


def _flow(height: Float, start: tuple[int, int]) -> tuple[float, tuple[int, int]]:
    """Where water from a source leaves the terrain, and the highest place on its way.

    It always takes the lowest place that it has not yet wetted among those it touches, and so runs
    downhill and fills every hollow to its brim.
    """
    queue, seen, highest = [(float(height[start]), start)], {start}, -np.inf
    while True:
        level, (i, j) = heapq.heappop(queue)
        highest = max(highest, level)
        if i in (0, height.shape[0] - 1) or j in (0, height.shape[1] - 1):
            return highest, (i, j)
        for place in ((i + 1, j), (i - 1, j), (i, j + 1), (i, j - 1)):
            if place not in seen:
                seen.add(place)
                heapq.heappush(queue, (float(height[place]), place))


def _terrain() -> tuple[Float, Float]:
    """Position along the river and height (rows, columns) of the waterfall."""
    rows = builtin("waterfall").vertices.reshape(-1, 81, 3)
    return rows[..., 0], rows[..., 1]


def test_the_waterfall_fills_a_lake_that_overflows_downstream() -> None:
    x, y = _terrain()
    lake = np.unravel_index(np.argmin(np.where((x > 0.0) & (x < 1.0), y, np.inf)), y.shape)
    level, outlet = _flow(y, (int(lake[0]), int(lake[1])))
    assert level - y[lake] > 0.1
    assert outlet[0] == len(y) - 1
    assert 10 < outlet[1] < 70


def test_the_river_of_the_waterfall_stays_in_its_bed() -> None:
    """From the spring over the ledges to the outlet, and it falls by most of a metre."""
    x, y = _terrain()
    above = int(np.argmin(np.abs(x[:, 40] + 1.2)))
    spring = (above, int(np.argmin(y[above])))
    level, outlet = _flow(y, spring)
    assert outlet[0] == len(y) - 1
    assert level - y[spring] < 0.06
    assert y[spring] - y[outlet] > 0.7


def test_a_flooded_river_of_the_waterfall_stays_in_its_bed() -> None:
    """Everywhere above the falls the banks stand 0.1 m over the bed or more."""
    x, y = _terrain()
    for row in range(len(y)):
        if x[row, 40] < -0.62:
            bed = int(np.argmin(y[row]))
            assert min(y[row, :bed].max(), y[row, bed:].max()) - y[row, bed] > 0.1
