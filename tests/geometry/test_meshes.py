"""Meshes: what they know of themselves, and that every format gives back what was put in."""

import math
import subprocess
import sys
import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from mesh_files import CUBE, CUBE_FACES, volume

import viscoil.geometry.meshes
from viscoil.core.errors import MeshError
from viscoil.geometry.meshes import TriangleMesh, read_mesh, write_mesh
from viscoil.geometry.meshes.topology import equal_points, fan, strip, unmatched_edges
from viscoil.geometry.meshes.triangles import area_vectors, areas, unit_normals

WRITTEN = ("obj", "ply", "stl", "off", "glb")
IN_SINGLE = {"stl", "glb"}


def cube(**attributes: np.ndarray) -> TriangleMesh:
    return TriangleMesh(CUBE, CUBE_FACES, attributes)


def torus(around: int, across: int) -> TriangleMesh:
    """Closed, with 2 · around · across triangles; radii 2 and 1."""
    u, v = np.meshgrid(*(np.arange(n) * 2 * np.pi / n for n in (around, across)), indexing="ij")
    ring = 2 + np.cos(v)
    points = np.stack((ring * np.cos(u), ring * np.sin(u), np.sin(v)), axis=-1).reshape(-1, 3)
    i, j = np.arange(around)[:, None], np.arange(across)[None]
    a, b = i * across + j, (i + 1) % around * across + j
    d, c = i * across + (j + 1) % across, (i + 1) % around * across + (j + 1) % across
    quads = np.stack((a, b, c, d), axis=-1).reshape(-1, 4)
    return TriangleMesh(points, fan(quads.ravel(), np.full(len(quads), 4))[0])


# The mesh itself


def test_normals_and_areas_of_triangles():
    """A right triangle with legs 3 and 4, the same turned around, and one without an area."""
    corner, x, y = (1.0, 1.0, 2.0), (4.0, 1.0, 2.0), (1.0, 5.0, 2.0)
    three = np.array([(corner, x, y), (corner, y, x), (corner, x, x)])
    np.testing.assert_array_equal(area_vectors(three), [(0, 0, 12), (0, 0, -12), (0, 0, 0)])
    np.testing.assert_array_equal(areas(three), [6, 6, 0])
    np.testing.assert_array_equal(unit_normals(three), [(0, 0, 1), (0, 0, -1), (0, 0, 0)])


def test_a_unit_cube():
    mesh = cube()
    low, high = mesh.bounds
    assert (low.tolist(), high.tolist()) == ([0, 0, 0], [1, 1, 1])
    assert mesh.area == pytest.approx(6, rel=1e-15)
    assert volume(mesh) == pytest.approx(1, rel=1e-15)
    assert mesh.triangles.shape == (12, 3, 3)
    assert mesh.is_closed


def test_unused_vertices_do_not_count_for_bounds():
    mesh = TriangleMesh(np.vstack((CUBE, [[9.0, 9, 9]])), CUBE_FACES)
    assert mesh.bounds[1].tolist() == [1, 1, 1]


def test_an_opened_cube_has_the_edges_of_its_hole():
    """Without face (a, b, c), the edges b→a, c→b and a→c are not matched."""
    a, b, c = CUBE_FACES[0]
    mesh = TriangleMesh(CUBE, CUBE_FACES[1:])
    assert not mesh.is_closed
    assert {tuple(edge) for edge in mesh.boundary_edges} == {(b, a), (c, b), (a, c)}


def test_a_face_turned_around_opens_the_cube():
    """Both its edges and those of its neighbours then lack an opposite: each edge twice."""
    faces = CUBE_FACES.copy()
    faces[0] = faces[0, ::-1]
    edges = TriangleMesh(CUBE, faces).boundary_edges
    assert len(edges) == 6
    a, b, c = CUBE_FACES[0]
    assert {tuple(edge) for edge in edges} == {(b, a), (c, b), (a, c)}


def test_seams_and_degenerate_faces_do_not_open_a_mesh():
    split = TriangleMesh(
        CUBE[CUBE_FACES].reshape(-1, 3), np.arange(36, dtype=np.int32).reshape(-1, 3)
    )
    assert split.is_closed
    assert TriangleMesh(CUBE, np.vstack((CUBE_FACES, [[0, 0, 1], [2, 2, 2]]))).is_closed
    merged = split.merged()
    assert len(merged.vertices) == 8
    assert np.array_equal(merged.triangles, split.triangles)


@given(hnp.arrays(np.int32, st.tuples(st.integers(0, 12), st.just(3)), elements=st.integers(0, 5)))
def test_boundary_edges_against_counting(faces):
    """An oriented edge is left as often as it outnumbers its opposite."""
    count = dict.fromkeys(((i, j) for i in range(6) for j in range(6)), 0)
    for face in faces.tolist():
        for k in range(3):
            count[face[k], face[(k + 1) % 3]] += 1
    expected = [e for e, n in count.items() for _ in range(n - count[e[1], e[0]])]
    found = unmatched_edges(faces, np.arange(6))
    assert sorted(map(tuple, found.tolist())) == sorted(expected)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@given(data=st.data())
def test_equal_points_against_comparing_all(dtype, data):
    values = st.sampled_from([0.0, -0.0, 1.0, 1 + 2e-7, -1.0, 1e-30])
    shape = st.tuples(st.integers(0, 20), st.just(3))
    points = data.draw(hnp.arrays(dtype, shape, elements=values.map(dtype)))
    expected = [
        next(j for j in range(i + 1) if (points[j] == p).all()) for i, p in enumerate(points)
    ]
    assert equal_points(points).tolist() == expected


def test_points_whose_hashes_collide_stay_apart():
    """The hash chains x, y, z by maps that can be undone, so a second point is solved for."""

    def mixed(x: float) -> int:
        h = int(np.float64(x).view(np.uint64)) * 0x9E3779B97F4A7C15 % 2**64
        return h ^ (h >> 29)

    bits = mixed(1.0) ^ int(np.float64(2.0).view(np.uint64)) ^ mixed(3.0)
    other = np.uint64(bits).view(np.float64)
    assert math.isfinite(other)
    points = np.array([[1.0, 2, 5], [3, other, 5], [1, 2, 5], [3, other, 5]] * 3)
    assert equal_points(points).tolist() == [0, 1] * 6


@given(hnp.arrays(np.float64, (3, 3), elements=st.floats(-2, 2)))
def test_a_transformed_volume_is_the_determinant(matrix):
    """Never negative, since a mirrored mesh is turned around. Rounding: 12 products below 2³ · 3³."""
    mesh = cube().transformed(matrix, [0.5, -1, 2])
    with np.errstate(divide="ignore"):  # numpy divides by pivots that are subnormal
        determinant = np.linalg.det(matrix)
    assert volume(mesh) == pytest.approx(abs(determinant), abs=1e-12)
    assert np.allclose(mesh.vertices[0], [0.5, -1, 2], atol=0)


def test_arrays_cannot_be_written_but_those_given_can():
    given = CUBE.copy()
    mesh = TriangleMesh(given, CUBE_FACES)
    with pytest.raises(ValueError, match="read-only"):
        mesh.vertices[0, 0] = 1
    given[0, 0] = 0.0


def test_what_is_no_mesh():
    with pytest.raises(MeshError, match=r"shape \(4,\)"):
        TriangleMesh(np.zeros(4), CUBE_FACES)
    with pytest.raises(MeshError, match="vertex 3 is not finite"):
        TriangleMesh(np.array([[0.0] * 3] * 3 + [[0, np.nan, 0]]), np.array([[0, 1, 2]]))
    with pytest.raises(MeshError, match="triangle 12 refers to vertex -1 but there are 8"):
        TriangleMesh(CUBE, np.vstack((CUBE_FACES, [[0, 1, -1]])))
    with pytest.raises(MeshError, match='attribute "friction"'):
        cube(friction=np.zeros(7))
    assert len(TriangleMesh(CUBE * 1e308, CUBE_FACES).vertices) == 8


@given(st.lists(st.integers(0, 7), max_size=8))
def test_a_fan_covers_its_polygon(sides):
    """Triangles of an n-gon: (first, k, k + 1), written out."""
    corners = np.arange(sum(sides))
    starts = np.cumsum([0, *sides])
    expected = [
        [s, s + k, s + k + 1] for s, n in zip(starts, sides, strict=False) for k in range(1, n - 1)
    ]
    triangles, polygon = fan(corners, np.array(sides, dtype=np.int64))
    assert triangles.tolist() == expected
    assert np.bincount(polygon, minlength=len(sides)).tolist() == [max(n - 2, 0) for n in sides]


def test_strips_turn_every_other_triangle_and_start_anew():
    assert strip(np.arange(5)).tolist() == [[0, 1, 2], [2, 1, 3], [2, 3, 4]]
    assert strip(np.array([0, 1, 2, 3, -1, 4, 5, 6])).tolist() == [[0, 1, 2], [2, 1, 3], [4, 5, 6]]
    assert strip(np.array([1, -1])).shape == (0, 3)


def test_import_is_light():
    heavy = "{'quadrants', 'scipy', 'pydantic'}"
    code = f"import sys, viscoil.geometry.meshes; print(*{heavy} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""
    assert sorted(viscoil.geometry.meshes.__all__) == viscoil.geometry.meshes.__all__


# Round trips


@st.composite
def meshes(draw) -> TriangleMesh:
    count = draw(st.integers(1, 12))
    number = st.floats(-(2.0**99), 2.0**99, width=32)
    points = draw(hnp.arrays(np.float64, (count, 3), elements=number))
    corner = st.integers(0, count - 1)
    faces = draw(hnp.arrays(np.int32, st.tuples(st.integers(1, 20), st.just(3)), elements=corner))
    colors = draw(hnp.arrays(np.float32, (count, 3), elements=st.floats(0, 1, width=32)))
    friction = draw(hnp.arrays(np.float32, count, elements=st.floats(0, 2, width=32)))
    flow = draw(hnp.arrays(np.float32, (count, 2), elements=st.floats(-9, 9, width=32)))
    return TriangleMesh(points, faces, {"color": colors, "friction": friction, "flow": flow})


@pytest.mark.parametrize("suffix", WRITTEN)
@given(mesh=meshes())
def test_what_is_written_comes_back(suffix, mesh, tmp_path_factory):
    """Bit for bit, since the numbers are single precision; STL has corners only."""
    path = tmp_path_factory.getbasetemp() / f"round.{suffix}"
    write_mesh(path, mesh)
    back = read_mesh(path)
    assert np.array_equal(back.triangles, mesh.triangles)
    if suffix == "stl":
        assert len(back.vertices) == len(np.unique(mesh.triangles.reshape(-1, 3) + 0.0, axis=0))
        return
    assert np.array_equal(back.vertices, mesh.vertices)
    assert np.array_equal(back.faces, mesh.faces)
    assert np.array_equal(back.attributes["color"], mesh.attributes["color"])
    if suffix in ("ply", "glb"):
        assert set(back.attributes) == {"color", "friction", "flow"}
        for name, values in mesh.attributes.items():
            assert np.array_equal(back.attributes[name], values)


@pytest.mark.parametrize("suffix", ["obj", "ply", "off"])
def test_double_precision_comes_back(suffix, tmp_path):
    mesh = TriangleMesh(CUBE / 3 * np.pi, CUBE_FACES)
    write_mesh(tmp_path / f"a.{suffix}", mesh)
    assert np.array_equal(read_mesh(tmp_path / f"a.{suffix}").vertices, mesh.vertices)


def test_what_is_no_number_comes_back_in_glb(tmp_path):
    """Attributes of a part that has none are NaN, which JSON, with the ranges of arrays, cannot hold."""
    friction = np.array([np.nan, 0.5] * 4, dtype=np.float32)
    write_mesh(tmp_path / "a.glb", cube(friction=friction))
    back = read_mesh(tmp_path / "a.glb").attributes["friction"]
    assert np.array_equal(back, friction, equal_nan=True)


@pytest.mark.parametrize("suffix", sorted(IN_SINGLE))
def test_what_single_precision_cannot_hold_is_not_written(suffix, tmp_path):
    path = tmp_path / f"a.{suffix}"
    with pytest.raises(MeshError, match=r"a\.\w+: has coordinates that are too large.*PLY"):
        write_mesh(path, TriangleMesh(CUBE * 1e200, CUBE_FACES))
    assert list(tmp_path.iterdir()) == []


def test_where_meshes_cannot_be_written(tmp_path):
    with pytest.raises(MeshError, match=r"a\.fbx: cannot be written in this format.*\.obj"):
        write_mesh(tmp_path / "a.fbx", cube())
    with pytest.raises(MeshError, match=r"cannot be written \(No such file"):
        write_mesh(tmp_path / "missing" / "a.obj", cube())
    with pytest.raises(MeshError, match="without spaces"):
        write_mesh(tmp_path / "a.ply", cube(**{"my friction": np.zeros(8)}))


# Size


@pytest.mark.parametrize(
    ("suffix", "around", "across"), [("obj", 250, 200), ("stl", 1000, 500), ("ply", 1000, 500)]
)
def test_large_files_are_read_in_two_seconds(tmp_path, suffix, around, across):
    """Processor time, since the machine may have other things to do."""
    mesh = torus(around, across)
    write_mesh(tmp_path / f"a.{suffix}", mesh)
    start = time.process_time()
    back = read_mesh(tmp_path / f"a.{suffix}")
    seconds = time.process_time() - start
    print(f"{suffix}: {len(mesh.faces)} triangles in {seconds:.2f} s")
    assert len(back.faces) == 2 * around * across
    assert len(back.vertices) == around * across
    assert seconds < 2


def test_files_that_are_too_large_are_not_opened(tmp_path):
    path = tmp_path / "a.stl"
    with open(path, "wb") as file:
        file.truncate((512 << 20) + 1)
    with pytest.raises(MeshError, match=r"a\.stl is 512 MiB, and at most 512 MiB are read"):
        read_mesh(path)


def test_the_torus_has_its_area():
    """4 π² R r = 8 π², and inscribed triangles lack a share of order 1/n²."""
    mesh = torus(120, 80)
    assert mesh.is_closed
    assert mesh.area == pytest.approx(8 * math.pi**2, rel=1.5e-3)
