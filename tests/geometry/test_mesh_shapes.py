"""The helpers that built-in meshes are made of, against closed forms."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mesh_checks import is_closed, volumes

from viscoil.geometry.meshes.builtin.blends import (
    blob,
    both_sides,
    carved,
    melted,
    rod,
    slab,
    surface,
)
from viscoil.geometry.meshes.builtin.curves import circle, rectangle, spline
from viscoil.geometry.meshes.builtin.noise import fractal_noise, hashed, roughened, value_noise
from viscoil.geometry.meshes.builtin.solids import (
    axle,
    box,
    cylinder,
    ellipsoid,
    extrude,
    icosphere,
    rounded_box,
    sphere,
)
from viscoil.geometry.meshes.builtin.sweeps import lathe, ring_prism, sheet, tube
from viscoil.geometry.meshes.builtin.transforms import fitted, join, mirrored, moved, scaled, turned

BALL = 4.0 / 3.0 * np.pi
FEW = settings(max_examples=30)
length = st.floats(0.05, 3.0)
coordinate = st.floats(-2.0, 2.0)


@FEW
@given(length, length, st.integers(3, 60))
def test_a_turned_cylinder_is_a_prism(radius: float, height: float, n: int) -> None:
    """Its volume is that of the polygon, r² n sin(2 π / n) / 2, times the height."""
    exact = 0.5 * n * np.sin(2.0 * np.pi / n) * radius**2 * height
    for mesh in (cylinder(radius, height, n), axle(radius, height, n)):
        assert is_closed(mesh)
        assert volumes(mesh) == pytest.approx(exact, rel=1e-12)
    line = np.array([[0.0, 0.0, -height], [0.0, 0.0, -0.3 * height], [0.0, 0.0, 0.0]])
    assert volumes(tube(line, np.full(3, radius), n, (1.0, 0.0, 0.0))) == pytest.approx(exact)


@FEW
@given(st.lists(st.tuples(length, coordinate), min_size=2, max_size=6), st.integers(3, 20))
def test_any_turned_profile_is_closed(points: list[tuple[float, float]], n: int) -> None:
    assert is_closed(lathe([(0.0, 0.0), *points, (0.0, 1.0)], n))
    assert not is_closed(lathe(points, n))
    if len(points) > 2:
        assert is_closed(lathe(points, n, rows_close=True))


def test_spheres_converge_with_second_order() -> None:
    """Twice as many triangles along a line leave a quarter of the missing volume."""
    for meshes in ([sphere(0.7, n, 2 * n) for n in (16, 32)], [icosphere(k) for k in (3, 4)]):
        radius = np.linalg.norm(meshes[0].vertices, axis=1)
        assert radius == pytest.approx(radius[0], rel=1e-12)
        coarse, fine = (BALL * radius[0] ** 3 - volumes(mesh)[0] for mesh in meshes)
        assert fine > 0.0
        assert coarse / fine == pytest.approx(4.0, rel=0.02)


def test_a_turned_ring_has_the_volume_of_pappus() -> None:
    """Area of the section times the way of its middle, but for the polygon that the way is."""
    n, middle, radius = 40, 0.6, 0.2
    section = circle(radius, 24) * [1.0, -1.0] + [middle, 0.0]
    area = 0.5 * 24 * np.sin(2.0 * np.pi / 24) * radius**2
    way = n * np.sin(2.0 * np.pi / n) * middle
    mesh = lathe(section, n, rows_close=True)
    assert is_closed(mesh)
    assert volumes(mesh) == pytest.approx(area * way, rel=1e-12)


def test_boxes_and_prisms() -> None:
    assert volumes(box((0.3, 0.5, 0.7), (1.0, 2.0, 3.0))) == pytest.approx(0.105, rel=1e-12)
    outline = [(0.0, 0.0), (2.0, 0.0), (2.0, 1.0), (0.0, 2.0)]
    assert volumes(extrude(outline, 0.5)) == pytest.approx(1.5, rel=1e-12)
    frame = ring_prism(rectangle(2.0, 1.0, 32), circle(0.3, 32, -0.25 * np.pi), 0.1)
    hole = 16.0 * np.sin(2.0 * np.pi / 32) * 0.09
    assert is_closed(frame)
    assert volumes(frame) == pytest.approx(0.1 * (2.0 - hole), rel=1e-12)


def test_a_rounded_box() -> None:
    """Quarter circles are two chords: more than an octagon's share, less than the circle's."""
    a, b, c, r = 0.5, 0.7, 0.9, 0.1
    mesh = rounded_box((a, b, c), r)
    assert np.ptp(mesh.vertices, axis=0) == pytest.approx([a, b, c])
    p, q, s = a - 2 * r, b - 2 * r, c - 2 * r
    flat = p * q * s + 2 * r * (p * q + q * s + s * p)
    low = flat + 2.0 * np.sqrt(2.0) * r**2 * (p + q + s) + 4.0 / 3.0 * r**3
    high = flat + np.pi * r**2 * (p + q + s) + BALL * r**3
    assert is_closed(mesh)
    assert low < volumes(mesh)[0] < high


def test_transforms_keep_the_outside_outside() -> None:
    part = moved(box((0.2, 0.3, 0.4)), (0.5, 0.6, 0.7))
    changed = (
        scaled(part, (-1.0, 1.0, 1.0)),
        turned(part, (1.0, 2.0, 3.0), 50.0),
        mirrored(part),
        join(part, part),
    )
    for mesh in changed:
        assert volumes(mesh) == pytest.approx(0.024, rel=1e-12)
    quarter = turned(moved(box((0.2, 0.2, 0.2)), (1.0, 0.0, 0.0)), (0, 0, 1), 90.0)
    assert quarter.vertices.mean(axis=0) == pytest.approx([0.0, 1.0, 0.0], abs=1e-15)
    low, high = (f(fitted(part, 2.0, 2).vertices, axis=0) for f in (np.min, np.max))
    assert low == pytest.approx([-0.5, 0.0, -1.0])
    assert high == pytest.approx([0.5, 1.5, 1.0])


def test_a_bent_tube_has_the_volume_of_pappus() -> None:
    """A quarter of a ring of n pieces, with a section of m sides.

    The polygons miss φ² / 6 of the section, φ = 2 π / m, and ψ² / 6 of the way, ψ = π / 2 n.
    """
    n, m = 48, 192
    angle = np.linspace(0.0, 0.5 * np.pi, n + 1)
    path = np.stack([np.cos(angle), np.sin(angle), 0.0 * angle], axis=1)
    mesh = tube(path, np.tile([0.1, 0.2], (n + 1, 1)), m)
    missing = 1.0 - volumes(mesh)[0] / (np.pi * 0.02 * 0.5 * np.pi)
    assert is_closed(mesh)
    assert missing == pytest.approx(
        (2.0 * np.pi / m) ** 2 / 6 + (0.5 * np.pi / n) ** 2 / 6, rel=0.05
    )


def test_a_tube_may_end_in_a_tip() -> None:
    """A cone of n sides has a third of the volume of its prism."""
    line = np.array([[0.0, 0.0, 0.0], [0.0, 0.5, 0.0], [0.0, 1.0, 0.0]])
    mesh = tube(line, [0.4, 0.2, 0.0], 30)
    assert is_closed(mesh)
    assert volumes(mesh) == pytest.approx(5.0 * np.sin(2.0 * np.pi / 30) * 0.16, rel=1e-12)


@pytest.mark.parametrize("cell", [0.05, 0.025])
def test_a_blended_ellipsoid_has_its_volume(cell: float) -> None:
    """Its vertices lie on the surface, so that it misses about 0.4 h² / r² of the volume."""
    radii = np.array([0.5, 0.35, 0.4])
    mesh = surface(blob((0.1, 0.2, 0.3), radii), (-0.5, -0.3, -0.3), (0.7, 0.7, 0.8), cell)
    unit = (mesh.vertices - [0.1, 0.2, 0.3]) / radii
    assert np.linalg.norm(unit, axis=1) == pytest.approx(1.0, abs=1e-4)
    missing = 1.0 - volumes(mesh)[0] / (BALL * radii.prod())
    assert is_closed(mesh)
    assert 0.0 < missing < (cell / radii.min()) ** 2


def test_blends_are_distances_where_they_are_exact() -> None:
    points = np.random.default_rng(5).uniform(-2.0, 2.0, (3, 200))
    ball = blob((0.2, 0.1, 0.0), (0.5, 0.5, 0.5), 30.0)
    from_middle = np.linalg.norm(points - np.array([[0.2], [0.1], [0.0]]), axis=0)
    assert ball(points) == pytest.approx(from_middle - 0.5, abs=1e-12)
    stick = rod((0.0, -1.0, 0.0), (0.0, 1.0, 0.0), 0.1, 0.1)
    x, y, z = points
    beyond = np.maximum(np.abs(y) - 1.0, 0.0)
    assert stick(points) == pytest.approx(np.sqrt(x**2 + beyond**2 + z**2) - 0.1, abs=1e-12)
    cube = slab((0.0, 0.0, 0.0), (2.0, 2.0, 2.0), 0.25)
    assert cube(np.array([[2.0, 0.0], [0.0, 0.9], [0.0, 0.0]])) == pytest.approx([1.0, -0.1])
    pair = both_sides(rod((0.0, 0.0, 1.0), (0.0, 1.0, 1.0), 0.1, 0.1))
    assert pair(points) == pytest.approx(pair(points * np.array([[1.0], [1.0], [-1.0]])))


def test_a_blend_adds_only_where_parts_meet() -> None:
    a, b = blob((-0.3, 0, 0), (0.4, 0.4, 0.4)), blob((0.3, 0, 0), (0.4, 0.4, 0.4))
    both = melted([(a, 0.0), (b, 0.2)])
    p = np.random.default_rng(6).uniform(-1.0, 1.0, (3, 500))
    least = np.minimum(a(p), b(p))
    apart = np.abs(a(p) - b(p)) > 0.2
    assert both(p)[apart] == pytest.approx(least[apart])
    assert (both(p) <= least).all()
    assert (least - both(p)).max() <= 0.05
    assert (carved(a, b, 0.05)(p) >= np.maximum(a(p), -b(p)) - 1e-12).all()


@FEW
@given(st.lists(st.tuples(coordinate, coordinate), min_size=2, max_size=7), st.integers(1, 6))
def test_a_spline_passes_its_points(points: list[tuple[float, float]], between: int) -> None:
    curve = spline(points, (len(points) - 1) * between + 1)
    assert curve[::between] == pytest.approx(np.array(points), abs=1e-12)


def test_a_spline_through_a_line_is_the_line() -> None:
    curve = spline([(k, 2.0 * k, -k) for k in range(4)], 10)
    assert curve == pytest.approx(np.linspace(0.0, 3.0, 10)[:, None] * [1.0, 2.0, -1.0])


def test_sheets_are_open() -> None:
    grid = np.stack(np.meshgrid(np.arange(3.0), np.arange(4.0), [0.0], indexing="ij"), axis=-1)
    mesh = sheet(grid[:, :, 0])
    assert len(mesh.faces) == 12
    assert not is_closed(mesh)


def test_the_hash_is_the_same_everywhere() -> None:
    """Whole numbers of 2⁻³², pinned so that a mesh has the same bits on every machine."""
    cells = [[0, 0, 0], [1, 2, 3], [-1, -2, -3]]
    assert (hashed(cells, 1) * 2.0**32).tolist() == [1784140114, 2116767535, 1932091619]


def test_the_hash_is_even() -> None:
    """10 000 numbers in 10 bins: χ² with 9 degrees of freedom exceeds 27.9 once in a thousand."""
    cells = np.stack(np.meshgrid(np.arange(100), np.arange(100)), axis=-1)
    values = hashed(cells, 4).ravel()
    counts = np.histogram(values, bins=10, range=(0.0, 1.0))[0]
    assert ((counts - 1000.0) ** 2 / 1000.0).sum() < 27.9
    assert abs(np.corrcoef(values[:-1], values[1:])[0, 1]) < 0.04


@FEW
@given(st.lists(st.tuples(coordinate, coordinate, coordinate), min_size=1, max_size=20))
def test_noise_is_bounded_and_continuous(points: list[tuple[float, float, float]]) -> None:
    """The slope of each of the three smooth steps is at most 1.5, and values differ by at most 2."""
    p = np.array(points)
    value = value_noise(p, 3)
    assert np.abs(value).max() <= 1.0
    assert np.abs(value_noise(p + 1e-6, 3) - value).max() <= 9.1e-6
    assert np.abs(fractal_noise(p, 3, 3)).max() <= 1.75


def test_roughening_moves_along_normals() -> None:
    rough = roughened(ellipsoid((0.0, 0.0, 0.0), (1.0, 1.0, 1.0), 4), 0.05, 0.3)
    radius = np.linalg.norm(rough.vertices, axis=1)
    assert 0.02 < np.ptp(radius) < 2.0 * 0.05 * 1.75
    directions = rough.vertices / radius[:, None]
    assert np.abs(directions - icosphere(4).vertices).max() < 0.005
