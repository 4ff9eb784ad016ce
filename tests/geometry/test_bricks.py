"""Distance fields of meshes against exact winding numbers, closed forms and brute force."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from solid_meshes import box, pipe

from viscoil.core.errors import SceneError
from viscoil.geometry.bricks.brick_field import BrickField
from viscoil.geometry.bricks.build import Mode, Request, build
from viscoil.geometry.bricks.cache import cached
from viscoil.geometry.bricks.openvdb import from_grids, to_grids
from viscoil.geometry.bricks.orient import oriented, volume
from viscoil.geometry.bricks.secondary import with_vertex_values
from viscoil.geometry.meshes.builtin import builtin
from viscoil.geometry.vdb import read_vdb, write_vdb

Float = NDArray[np.float64]
AWKWARD = ("two-spheres", "hemisphere", "flipped-sphere", "mobius")


def exact_winding(vertices: Float, faces: NDArray[np.integer], points: Float) -> Float:
    """Σ of solid angles over 4π (van Oosterom and Strackee 1983), face by face."""
    total = np.zeros(len(points))
    for triangle in vertices[faces]:
        a, b, c = (corner - points for corner in triangle)
        la, lb, lc = (np.linalg.norm(v, axis=1) for v in (a, b, c))
        top = np.einsum("ij,ij->i", a, np.cross(b, c))
        ab, bc, ca = (np.einsum("ij,ij->i", p, q) for p, q in ((a, b), (b, c), (c, a)))
        total += 2.0 * np.arctan2(top, la * lb * lc + ab * lc + bc * la + ca * lb)
    return total / (4.0 * np.pi)


def exact_distance(vertices: Float, faces: NDArray[np.integer], points: Float) -> Float:
    """To the nearest triangle, by the seven regions of each."""
    best = np.full(len(points), np.inf)
    for a, b, c in vertices[faces]:
        best = np.minimum(best, _to_triangle(points, a, b, c))
    return best


def _to_triangle(p: Float, a: Float, b: Float, c: Float) -> Float:
    n = np.cross(b - a, c - a)
    edges = [(a, b), (b, c), (c, a)]
    inside = np.all([(np.cross(e - s, p - s) @ n) >= 0.0 for s, e in edges], axis=0)
    to_edges = [_to_segment(p, s, e) for s, e in edges]
    length = np.linalg.norm(n)
    to_plane = np.abs((p - a) @ n) / length if length > 0.0 else np.full(len(p), np.inf)
    return np.where(inside & (length > 0.0), to_plane, np.min(to_edges, axis=0))


def _to_segment(p: Float, s: Float, e: Float) -> Float:
    along = e - s
    t = np.clip((p - s) @ along / max(float(along @ along), 1e-300), 0.0, 1.0)
    return np.linalg.norm(p - s - t[:, None] * along, axis=1)


def points_about(vertices: Float, cell: float, count: int) -> Float:
    low, high = vertices.min(axis=0) - 3 * cell, vertices.max(axis=0) + 3 * cell
    return np.random.default_rng(1).uniform(low, high, (count, 3))


def field_of(vertices: Float, faces: NDArray[np.integer], mode: Mode, cells: int) -> BrickField:
    cell = float(np.ptp(vertices, axis=0).max()) / cells
    offset = 0.6 * cell if mode == "shell" else 0.0
    return build(vertices, faces, Request(cell=cell, band=4 * cell, offset=offset, mode=mode))


@pytest.mark.parametrize("mode", ["solid", "container", "shell"])
@pytest.mark.parametrize("name", AWKWARD)
def test_sign_is_that_of_the_exact_winding_number(name: str, mode: Mode) -> None:
    """Except within half a cell of the surface, and where the mesh itself is undecided.

    libigl's winding numbers are approximate to about 0.01, and so is where they pass one half. A
    Möbius strip has no inside: near it the number hovers about one half, and there the surface
    that closes it is known to a cell.
    """
    mesh = builtin(name)
    faces = oriented(mesh.vertices, mesh.faces)
    field = field_of(mesh.vertices, mesh.faces, mode, 40)
    points = points_about(mesh.vertices, field.cell, 1000)
    d = field.sample(points)
    if mode == "shell":
        solid = exact_distance(mesh.vertices, mesh.faces, points) < 0.6 * field.cell
        decided = np.ones(len(points), dtype=bool)
    else:
        w = exact_winding(mesh.vertices, faces, points)
        solid = (w > 0.5) == (mode == "solid")
        decided = np.abs(w - 0.5) > 0.02
    sure = decided & (np.abs(d) > (1.0 if name == "mobius" else 0.5) * field.cell)
    assert sure.sum() > 300
    assert ((d < 0.0) == solid)[sure].all()


def test_distance_of_overlapping_spheres_is_that_of_their_union() -> None:
    """Half a cell allows for interpolation; faces inside of the union do not count."""
    mesh = builtin("two-spheres")
    field = field_of(mesh.vertices, mesh.faces, "solid", 48)
    points = points_about(mesh.vertices, field.cell, 1500)
    d = field.sample(points)
    outside = d > 0.0
    exact = exact_distance(mesh.vertices, mesh.faces, points[outside])
    wanted = np.minimum(exact, field.band)
    assert np.abs(d[outside] - wanted).max() < 0.5 * field.cell
    # Deep inside, also at the faces where the spheres overlap, it is solid through and through.
    middle = mesh.vertices.mean(axis=0)
    assert field.sample(middle[None])[0] <= -0.9 * field.band


def test_distance_of_a_box_is_exact_at_its_corners() -> None:
    """A brick's corners hold exact distances: single precision is all that is lost."""
    mesh = box(np.array([0.11, 0.07, 0.05]), np.array([0.9, 0.8, 0.7]))
    field = build(mesh.vertices, mesh.faces, Request(cell=0.05, band=0.2))
    at = field.corner_places().reshape(-1, 3)
    low, high = mesh.vertices.min(axis=0), mesh.vertices.max(axis=0)
    e = np.maximum(low - at, at - high)
    exact = np.linalg.norm(np.maximum(e, 0.0), axis=1) + np.minimum(e.max(axis=1), 0.0)
    wanted = np.clip(exact, -0.2, 0.2)
    assert np.abs(field.distance.reshape(-1) - wanted).max() < 1e-5


@pytest.mark.parametrize("radius", [0.12, 0.1200723, 0.1214])
def test_long_slivers_have_the_right_side(radius: float) -> None:
    """As in meshes from CAD: 72 cells long, one wide; their nearest points need all digits."""
    cell, length = 0.01, 0.72
    mesh = pipe(radius, length, 64)
    field = build(mesh.vertices, mesh.faces, Request(cell=cell, band=3 * cell, mode="container"))
    low, high = np.array([-0.14, -0.02, -0.14]), np.array([0.14, 0.74, 0.14])
    p = np.random.default_rng(5).uniform(low, high, (20_000, 3))
    from_wall = radius - np.hypot(p[:, 0], p[:, 2])
    exact = np.minimum(from_wall, np.minimum(p[:, 1], length - p[:, 1]))
    sure = np.abs(exact) > 0.5 * cell
    assert ((field.sample(p) > 0.0) == (exact > 0.0))[sure].all()


def test_a_face_that_is_hidden_in_part_is_no_wall_where_it_is_hidden() -> None:
    """Two crossing bars as a container: in the plane of one's side, within the other, is free space.

    The nearest wall is where the bars meet. Sides of a bar are two triangles each, hidden in part.
    """
    upright = box(np.array([-0.5, -1.0, -0.5]), np.array([0.5, 1.0, 0.5]))
    level = box(np.array([-1.0, -0.5, -0.4]), np.array([1.0, 0.5, 0.4]))
    vertices = np.concatenate([upright.vertices, level.vertices])
    faces = np.concatenate([upright.faces, level.faces + len(upright.vertices)])
    cell = 1.0 / 32.0
    field = build(vertices, faces, Request(cell=cell, band=0.6, mode="container"))
    y, z = np.random.default_rng(2).uniform(-1.0, 1.0, (2, 4000)) * [[0.5], [0.4]]
    exact = np.minimum(0.5 - np.abs(y), 0.4 - np.abs(z))
    for x in (-0.5, 0.5):
        found = field.sample(np.stack([np.full_like(y, x), y, z], axis=1))
        np.testing.assert_allclose(found, exact, atol=0.5 * cell)


def test_memory_grows_with_the_surface_and_not_with_the_volume() -> None:
    mesh = builtin("two-spheres")
    small, large = (field_of(mesh.vertices, mesh.faces, "solid", n) for n in (64, 128))
    assert 3.0 < large.bytes / small.bytes < 5.0


def test_flipped_faces_are_turned_and_an_inverted_solid_is_a_solid() -> None:
    sphere = builtin("flipped-sphere")
    turned = oriented(sphere.vertices, sphere.faces)
    whole = volume(sphere.vertices, turned)
    assert whole > 0.0
    inverted = oriented(sphere.vertices, turned[:, ::-1])
    assert volume(sphere.vertices, inverted) == pytest.approx(whole)


def test_velocities_of_a_turning_mesh_are_carried_to_the_corners() -> None:
    """v = ω × x is linear on each face, so it is exact at the nearest points."""
    mesh = builtin("two-spheres")
    omega = np.array([0.3, -1.0, 2.0])
    field = field_of(mesh.vertices, mesh.faces, "solid", 24)
    field = with_vertex_values(
        field, "velocity", mesh.vertices, mesh.faces, np.cross(omega, mesh.vertices)
    )
    near = np.abs(field.distance) < 0.5 * field.cell
    at = field.corner_places()[near]
    wrong = np.linalg.norm(field.secondary["velocity"][near] - np.cross(omega, at), axis=1)
    assert wrong.max() <= np.linalg.norm(omega) * field.cell


def test_a_field_is_built_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VISCOIL_CACHE", str(tmp_path))
    mesh = builtin("two-spheres")
    request = Request(cell=0.1, band=0.3)
    first = cached(mesh.vertices, mesh.faces, request)
    monkeypatch.setattr(
        "viscoil.geometry.bricks.cache.build", lambda *_: pytest.fail("built again")
    )
    again = cached(mesh.vertices, mesh.faces, request)
    for name in ("top", "table", "places", "distance", "primitive", "origin"):
        np.testing.assert_array_equal(getattr(first, name), getattr(again, name))
    assert (first.cell, first.band, first.beyond) == (again.cell, again.band, again.beyond)


def test_a_damaged_or_unwritable_cache_does_no_harm(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VISCOIL_CACHE", str(tmp_path / "cache"))
    mesh = builtin("two-spheres")
    request = Request(cell=0.1, band=0.3)
    wanted = cached(mesh.vertices, mesh.faces, request)
    for file in (tmp_path / "cache").iterdir():
        file.write_bytes(file.read_bytes()[:100])
    np.testing.assert_array_equal(
        cached(mesh.vertices, mesh.faces, request).distance, wanted.distance
    )
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("VISCOIL_CACHE", str(tmp_path / "file"))
    assert len(cached(mesh.vertices, mesh.faces, request).places) == len(wanted.places)


def test_a_field_survives_a_vdb_file(tmp_path: Path) -> None:
    """Within the bricks to the last bit; solid tiles stay solid."""
    mesh = builtin("two-spheres")
    field = field_of(mesh.vertices, mesh.faces, "solid", 96)
    field = with_vertex_values(field, "velocity", mesh.vertices, mesh.faces, mesh.vertices)
    write_vdb(tmp_path / "field.vdb", to_grids(field))
    back = from_grids(read_vdb(tmp_path / "field.vdb"), "field.vdb", "solid", 0.0)
    points = points_about(mesh.vertices, field.cell, 5000)
    near = np.abs(field.sample(points)) < 0.5 * field.band
    np.testing.assert_allclose(back.sample(points), field.sample(points), atol=1e-6)
    np.testing.assert_allclose(
        back.sample(points[near], "velocity"), field.sample(points[near], "velocity"), atol=1e-5
    )
    inside_out = from_grids(read_vdb(tmp_path / "field.vdb"), "field.vdb", "container", 0.0)
    np.testing.assert_allclose(inside_out.sample(points), -field.sample(points), atol=1e-6)


def test_a_cell_that_is_too_fine_is_refused() -> None:
    mesh = builtin("two-spheres")
    with pytest.raises(SceneError, match="larger cell_size"):
        build(mesh.vertices, mesh.faces, Request(cell=1e-6, band=3e-6))


def test_a_run_writes_the_fields_of_its_colliders(tmp_path: Path) -> None:
    """Once for a mesh that keeps its shape, every frame for one that moves."""
    from viscoil.outputs.collider_fields import ColliderFieldsOutput
    from viscoil.snapshots.snapshot import ColliderPose, Snapshot

    mesh = builtin("two-spheres")
    still = field_of(mesh.vertices, mesh.faces, "solid", 16)
    output = ColliderFieldsOutput(tmp_path)
    for frame in range(3):
        moving = with_vertex_values(
            still, "velocity", mesh.vertices, mesh.faces, frame * mesh.vertices
        )
        poses = [ColliderPose(None, (1, 2, 3), distance_field=f) for f in (still, moving, None)]
        output.frame(Snapshot(frame, 0.0, {}, [], poses, 0.1))
    assert [p.name for p in sorted((tmp_path / "collider_0").iterdir())] == ["frame_000000.vdb"]
    assert len(list((tmp_path / "collider_1").iterdir())) == 3
    assert not (tmp_path / "collider_2").exists()
    distance, velocity = read_vdb(tmp_path / "collider_1" / "frame_000002.vdb")
    assert distance.grid_class == "level set" and velocity.is_vector
    assert distance.metadata["position"] == "1 2 3"
    again = ColliderFieldsOutput(tmp_path)  # of a run that was interrupted and goes on
    again.frame(Snapshot(3, 0.0, {}, [], poses, 0.1))
    again.frame(
        Snapshot(4, 0.0, {}, [], [replace(poses[0], distance_field=moving), *poses[1:]], 0.1)
    )
    names = [p.name for p in sorted((tmp_path / "collider_0").iterdir())]
    assert names == ["frame_000000.vdb", "frame_000004.vdb"]
    assert len(list((tmp_path / "collider_1").iterdir())) == 3
