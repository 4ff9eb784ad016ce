"""Sampling: lattices that fill shapes, and the particles that a scene starts with."""

from math import pi
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from pydantic import TypeAdapter

from viscoil.colliders import ColliderSet
from viscoil.core.errors import SceneError
from viscoil.sampling.seeding import Seeding, lattice, seed
from viscoil.scene import Fluid, Scene

FEW = settings(max_examples=25, deadline=None)

Float = NDArray[np.float64]


def fluid(**table: Any) -> Any:
    return TypeAdapter[Fluid](Fluid).validate_python({"material": "honey", **table})


def rotation_matrix(axis: Any, angle: float) -> Float:
    """Rodrigues' formula, apart from the quaternions of the code under test."""
    x, y, z = np.asarray(axis) / np.linalg.norm(axis)
    k = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    return np.asarray(np.eye(3) + np.sin(angle) * k + (1.0 - np.cos(angle)) * k @ k)


def seeded(spacing: float = 0.1, periodic: Any = (0, 0, 0), **groups: Any) -> Seeding:
    simulation = {"spacing": spacing, "frames": 1, "periodic": periodic}
    scene = Scene.model_validate({"simulation": simulation, **groups})
    return seed(scene, ColliderSet(scene.colliders))


def cube(x: float, y: float, z: float, size: float = 0.4, **more: Any) -> dict[str, Any]:
    table = {"material": "honey", "shape": "box", "center": (x, y, z), "size": (size,) * 3}
    return {**table, **more}


count = st.integers(1, 9)


@FEW
@given(st.tuples(count, count, count), st.floats(1e-3, 0.3))
def test_a_box_of_k_spacings_gets_k_points_half_a_spacing_from_its_faces(
    k: tuple[int, int, int], spacing: float
) -> None:
    size = tuple(n * spacing for n in k)
    points, _ = lattice(fluid(shape="box", center=(0, 0, 0), size=size), spacing)
    assert len(points) == k[0] * k[1] * k[2]
    margin = 0.5 * np.array(size) - points.max(axis=0)
    np.testing.assert_allclose(margin, 0.5 * spacing, rtol=1e-5)
    for axis in range(3):
        assert len(np.unique(points[:, axis])) == k[axis]


@FEW
@given(st.tuples(count, count, count), st.floats(0.02, 0.98))
def test_a_box_of_any_size_keeps_half_a_spacing_from_its_faces(
    k: tuple[int, int, int], more: float
) -> None:
    size = tuple((n + more) * 0.1 for n in k)
    points, _ = lattice(fluid(shape="box", center=(0, 0, 0), size=size), 0.1)
    margin = 0.5 * np.array(size) - points.max(axis=0)
    np.testing.assert_allclose(margin, 0.05 * (1.0 + more), rtol=1e-4)


shapes = st.one_of(
    st.fixed_dictionaries(
        {"shape": st.just("box"), "size": st.tuples(*[st.floats(0.05, 1.0)] * 3)}
    ),
    st.fixed_dictionaries({"shape": st.just("sphere"), "radius": st.floats(0.05, 0.6)}),
    st.fixed_dictionaries(
        {
            "shape": st.just("cylinder"),
            "radius": st.floats(0.05, 0.6),
            "height": st.floats(0.05, 1.0),
        }
    ),
    st.fixed_dictionaries(
        {
            "shape": st.just("torus"),
            "radius": st.floats(0.4, 0.7),
            "tube_radius": st.floats(0.1, 0.35),
        }
    ),
)


def inside(spec: Fluid, p: Float, margin: float) -> NDArray[np.bool_]:
    """Whether body points are in the shape by at least the margin, m."""
    around = np.sqrt(p[:, 0] ** 2 + p[:, 2] ** 2)
    match spec.shape:
        case "box":
            depth = (0.5 * np.array(spec.size) - np.abs(p)).min(axis=1)
        case "sphere":
            depth = spec.radius - np.sqrt((p**2).sum(axis=1))
        case "cylinder":
            depth = np.minimum(spec.radius - around, 0.5 * spec.height - np.abs(p[:, 1]))
        case "torus":
            depth = spec.tube_radius - np.sqrt((around - spec.radius) ** 2 + p[:, 1] ** 2)
    return np.asarray(depth >= margin)


@FEW
@given(
    shapes,
    st.tuples(*[st.floats(-1, 1)] * 3).filter(lambda v: float(np.linalg.norm(v)) > 0.1),
    st.floats(-7.0, 7.0),
)
def test_points_fill_the_turned_shape(table: Any, axis: Any, angle: float) -> None:
    """All lie inside, the set is its own mirror image in the centre, and no site is missing.

    Sizes within 1 % of a spacing (0.001 m) of a multiple of it may count as that multiple.
    """
    spacing, center = 0.1, np.array([0.3, -0.2, 0.1])
    turn = {"axis": axis, "angle": angle}
    spec = fluid(center=tuple(center), rotation=turn, **table)
    points, _ = lattice(spec, spacing)
    assert points.dtype == np.float32
    body = (points - center) @ rotation_matrix(axis, angle)
    assert inside(spec, body, margin=-1e-3).all()
    site = np.round(2.0 * body / spacing).astype(int)
    np.testing.assert_allclose(body, 0.5 * spacing * site, rtol=0, atol=1e-5)
    assert len(points) and {tuple(s) for s in site} == {tuple(-s) for s in site}
    assert len({tuple(s) for s in site}) == len(site)
    grid = np.array(np.meshgrid(*[np.arange(-22, 23)] * 3)).reshape(3, -1).T
    vacant = {tuple(g) for g in grid[((grid - site[0]) % 2 == 0).all(axis=1)]}
    vacant -= {tuple(s) for s in site}
    assert not inside(spec, 0.5 * spacing * np.array(list(vacant)), margin=2e-3).any()


def test_velocities_add_the_spin_about_the_centre() -> None:
    turn = {"axis": (0, 0, 1), "angle": 0.5}
    spec = fluid(**cube(1, 2, 3, velocity=(0, 0, 5), angular_velocity=(0, 2, 0), rotation=turn))
    points, velocity = lattice(spec, 0.1)
    r = points - np.array([1, 2, 3])
    expected = np.stack([2 * r[:, 2], 0 * r[:, 0], 5 - 2 * r[:, 0]], axis=1)
    np.testing.assert_allclose(velocity, expected, atol=1e-5)


@pytest.mark.parametrize(
    ("table", "volume"),
    [
        ({"shape": "sphere", "radius": 1.0}, 4 / 3 * pi),
        ({"shape": "cylinder", "radius": 1.0, "height": 2.0}, 2 * pi),
        ({"shape": "torus", "radius": 1.0, "tube_radius": 0.5}, 2 * pi**2 * 0.25),
    ],
    ids=["sphere", "cylinder", "torus"],
)
def test_number_of_points_matches_the_volume(table: Any, volume: float) -> None:
    """Sites cut by the surface (area / d^2 of them) are in or out at random: error ~ their root.

    Area at most 4 pi^2 0.5 m2, d = 0.04 m: 12 000 sites, so 110 of 80 000 points; 1 % is ample.
    """
    points, _ = lattice(fluid(center=(0, 0, 0), **table), 0.04)
    assert len(points) * 0.04**3 == pytest.approx(volume, rel=0.01)


def test_a_shape_thinner_than_the_spacing_gets_one_layer() -> None:
    points, _ = lattice(fluid(shape="box", center=(0, 0, 0), size=(0.3, 0.02, 0.3)), 0.1)
    assert len(points) == 9 and not points[:, 1].any()


@pytest.mark.parametrize("exponent", [5, 12])
def test_a_shape_with_too_many_points_is_refused(exponent: int) -> None:
    spec = fluid(shape="box", center=(0, 0, 0), size=(1, 1, 1))
    with pytest.raises(SceneError, match=rf"1e\+{3 * exponent} particles.*simulation\.spacing"):
        lattice(spec, 10.0**-exponent)


def test_a_ring_that_slips_between_the_points_is_refused() -> None:
    ring = {"shape": "torus", "center": (0, 0, 0), "radius": 0.21, "tube_radius": 0.001}
    with pytest.raises(SceneError, match=r"fluids\.0 .*too thin"):
        seeded(fluids=[{"material": "honey", **ring}])


def test_colliders_are_met_where_the_periodic_box_puts_the_fluid() -> None:
    ball = {"shape": "sphere", "center": (0.5, 0.5, 0.5), "radius": 0.4}
    with pytest.raises(SceneError, match="inside colliders"):
        seeded(fluids=[cube(3.5, 0.5, 0.5)], periodic=(1, 0, 0), colliders=[ball])


def test_points_inside_colliders_are_left_out_and_counted() -> None:
    """A plane through the middle of 4x4x4 points removes two layers of 16."""
    result = seeded(
        fluids=[cube(0, 0, 0), cube(2, 2, 2)],
        colliders=[{"shape": "plane", "point": (0, 0, 0), "normal": (0, 1, 0)}],
    )
    assert len(result.position) == 32 + 64
    assert (result.position[:, 1] > 0).all()
    (note,) = result.notes
    assert "32 of 64" in note and "fluids.0" in note


def test_fluid_that_touches_the_walls_of_its_container_is_kept_whole() -> None:
    result = seeded(
        fluids=[cube(0, 0, 0)],
        colliders=[{"shape": "box", "center": (0, 0, 0), "size": (0.4,) * 3, "container": True}],
    )
    assert len(result.position) == 64 and not result.notes


def test_colliders_count_where_they_are_at_the_start() -> None:
    motion = [{"time": 0, "translation": (5, 0, 0)}, {"time": 1}]
    ball = {"shape": "sphere", "center": (0, 0, 0), "radius": 9, "motion": motion}
    with pytest.raises(SceneError, match="inside colliders"):
        seeded(fluids=[cube(13.5, 0, 0)], colliders=[ball])
    assert len(seeded(fluids=[cube(-5, 0, 0)], colliders=[ball]).position) == 64


def test_materials_are_numbered_in_the_order_of_the_scene() -> None:
    result = seeded(
        materials={"a": {"preset": "honey"}, "b": {"preset": "water"}},
        fluids=[cube(0, 0, 0, material="b"), cube(1, 0, 0, material="a")],
    )
    assert result.material.dtype == np.int32
    assert result.material.tolist() == [1] * 64 + [0] * 64
    assert (result.position[result.material == 0][:, 0] > 0.5).all()


def test_overlapping_fluids_are_refused_by_name() -> None:
    with pytest.raises(SceneError, match=r"fluids\.0 .*fluids\.2 .*overlap"):
        seeded(fluids=[cube(0, 0, 0), cube(3, 0, 0), cube(0.27, 0.27, 0.27)])


def test_interlocking_lattices_overlap() -> None:
    """Shifted by half a spacing along each axis, no two points are closer than 0.87 spacings."""
    with pytest.raises(SceneError, match="overlap"):
        seeded(fluids=[cube(0, 0, 0), cube(0.05, 0.05, 0.05)])


def test_thin_sheets_that_lie_on_each_other_overlap() -> None:
    """Sheets of one layer, a tenth of a spacing thick: no point is deep inside the other."""
    sheet = cube(0, 0, 0) | {"size": (1.0, 0.01, 1.0)}
    with pytest.raises(SceneError, match="overlap"):
        seeded(fluids=[sheet, sheet | {"center": (0.01, 0.02, 0.03)}])


def test_fluids_that_share_a_face_do_not_overlap() -> None:
    result = seeded(fluids=[cube(0, 0, 0), cube(0.4, 0, 0)])
    assert len(result.position) == 128


def overlap_by_brute_force(size: Float, center: Float, axis: Float, angle: float) -> bool:
    """Points within d / 2 of each other, or deeper than d / 4 in the other box; d = 0.1 m."""
    turn = {"axis": tuple(axis), "angle": angle}
    plain = fluid(shape="box", center=(0, 0, 0), size=tuple(size))
    turned = fluid(shape="box", center=tuple(center), size=tuple(size), rotation=turn)
    a, b = (lattice(spec, 0.1)[0].astype(np.float64) for spec in (plain, turned))
    nearest = np.linalg.norm(a[:, None] - b[None], axis=-1).min()
    in_turned = 0.5 * size - np.abs((a - center) @ rotation_matrix(axis, angle))
    in_plain = 0.5 * size - np.abs(b)
    return bool(nearest < 0.05 or max(in_turned.min(1).max(), in_plain.min(1).max()) > 0.025)


@pytest.mark.parametrize("size", [(0.3, 0.3, 0.3), (0.9, 0.2, 0.2), (0.7, 0.01, 0.7)])
def test_overlap_is_what_brute_force_finds(size: Any) -> None:
    """Cubes, bars that cross, and sheets so thin that only the points' distance counts."""
    rng = np.random.default_rng(7)
    found = []
    for _ in range(100):
        center, axis, angle = rng.uniform(-0.4, 0.4, 3), rng.normal(size=3), rng.uniform(0, 6)
        table = {"material": "honey", "shape": "box", "size": size}
        turn = {"axis": tuple(axis), "angle": angle}
        fluids = [
            {**table, "center": (0, 0, 0)},
            {**table, "center": tuple(center), "rotation": turn},
        ]
        found.append(overlap_by_brute_force(np.array(size), center, axis, angle))
        if found[-1]:
            with pytest.raises(SceneError, match="overlap"):
                seeded(fluids=fluids)
        else:
            seeded(fluids=fluids)
    assert 10 < sum(found) < 90


def test_periodic_images_count_as_neighbours() -> None:
    """In a box of 1 m, a cube at 0.05 m reaches to -0.15 m: that is where one at 0.9 m is."""
    fluids = [cube(0.05, 0.5, 0.5), cube(0.8, 0.5, 0.5)]
    assert len(seeded(fluids=fluids).position) == 128
    with pytest.raises(SceneError, match="overlap"):
        seeded(fluids=fluids, periodic=(1, 0, 0))
    with pytest.raises(SceneError, match="overlap"):
        seeded(fluids=[fluids[0], cube(7.8, 0.5, 0.5)], periodic=(1, 0, 0))


def test_a_fluid_may_fill_a_period_but_not_exceed_it() -> None:
    assert len(seeded(fluids=[cube(0.2, 0.2, 0.2)], periodic=(0.4, 0.4, 0.4)).position) == 64
    with pytest.raises(SceneError, match="periodic image"):
        seeded(fluids=[cube(0.2, 0.2, 0.2)], periodic=(0.33, 0, 0))


def test_positions_are_wrapped_into_the_periodic_box() -> None:
    result = seeded(fluids=[cube(0, -3, 0)], periodic=(1, 0, 1))
    assert (result.position[:, [0, 2]] >= 0).all() and (result.position[:, [0, 2]] < 1).all()
    columns = sorted(set(np.round(result.position[:, 0], 3).tolist()))
    assert columns == pytest.approx([0.05, 0.15, 0.85, 0.95])
    assert result.position[:, 1].max() < -2.5


def test_a_coordinate_just_below_zero_wraps_to_zero_not_to_the_period() -> None:
    result = seeded(fluids=[cube(-1e-9, 0.5, 0.5, size=0.1)], periodic=(1, 0, 0))
    assert 0.0 <= result.position[0, 0] < 1.0


def test_a_scene_without_fluid_is_refused_and_one_with_an_emitter_is_not() -> None:
    with pytest.raises(SceneError, match="no fluid"):
        seeded()
    nozzle = {"shape": "disc", "center": (0, 1, 0), "direction": (0, -1, 0), "radius": 0.2}
    result = seeded(emitters=[{"material": "honey", "speed": 1.0, **nozzle}])
    assert result.position.shape == (0, 3) and result.velocity.shape == (0, 3)
    assert result.material.shape == (0,) and not result.notes
