# mypy: disable-error-code="valid-type,no-untyped-def,no-untyped-call,misc,untyped-decorator"
"""Colliders: exact distances, unit normals, and motion, in kernels and in NumPy."""

import subprocess
import sys
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
import quadrants as qd
from hypothesis import example, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from pydantic import TypeAdapter

from viscoil.colliders import ColliderSet, Contact, Kind, distance
from viscoil.colliders.arrays import ColliderArrays, Vec4s, distance_and_normal, surface_velocity
from viscoil.colliders.motion import velocities
from viscoil.core.compute import Vec3s
from viscoil.geometry import quaternions
from viscoil.scene import Collider

Float = NDArray[np.float64]

pytestmark = pytest.mark.usefixtures("compute")

FEW = settings(max_examples=12, deadline=None)
# Coordinates are below 4 m, so single precision leaves about 5e-7 m after a few operations.
SINGLE = 4e-6


@qd.kernel(fastcache=True)
def _query(c: ColliderArrays, k: qd.i32, x: Vec3s, normal_distance: Vec4s, velocity: Vec3s):
    for i in x:
        normal_distance[i] = distance_and_normal(c, k, x[i])
        velocity[i] = surface_velocity(c, k, x[i])


def make(**table: Any) -> Collider:
    return TypeAdapter[Collider](Collider).validate_python(table)


def query(colliders: ColliderSet, k: int, points: Float) -> tuple[Float, Float, Float]:
    """Normals, distances and surface velocities of primitive k from the kernel."""
    from viscoil.core.compute import vectors, write

    x, nd, v = vectors(3, len(points)), vectors(4, len(points)), vectors(3, len(points))
    write(x, points)
    nd.fill(np.nan)
    v.fill(np.nan)
    _query(colliders.arrays, k, x, nd, v)
    result = nd.to_numpy().astype(np.float64)
    return result[:, :3], result[:, 3], v.to_numpy().astype(np.float64)


def single(points: Float) -> Float:
    """What the kernel will see of the points."""
    return points.astype(np.float32).astype(np.float64)


length = st.floats(0.05, 1.0)
coordinate = st.floats(-1.0, 1.0)
vector = st.tuples(coordinate, coordinate, coordinate)
direction = vector.filter(lambda v: np.linalg.norm(v) > 0.1)
rotation = st.fixed_dictionaries({"axis": direction, "angle": st.floats(-7.0, 7.0)})
sizes = st.tuples(length, length, length)
seeds = st.integers(0, 2**32)
SOLIDS: dict[str, dict[str, st.SearchStrategy[Any]]] = {
    "plane": {"point": vector, "normal": direction},
    "box": {"center": vector, "size": sizes, "rotation": rotation},
    "sphere": {"center": vector, "radius": length},
    "cylinder": {"center": vector, "radius": length, "height": length, "rotation": rotation},
    "capsule": {"start": st.just((0.1, 0.2, 0.3)), "end": vector, "radius": length},
}
# Each kind in its own test: drawn from one strategy, some kinds would hardly ever come up.
each_kind = pytest.mark.parametrize("shape", SOLIDS)


def solid(data: st.DataObject, shape: str) -> Collider:
    return make(shape=shape, **data.draw(st.fixed_dictionaries(SOLIDS[shape])))


def points_around(spec: Collider, seed: int) -> Float:
    """Random points, and the awkward ones: centres, axes, faces, edges and corners."""
    rng = np.random.default_rng(seed)
    axes = np.array(np.meshgrid(*[[-1.0, -0.5, 0.0, 0.5, 1.0]] * 3)).reshape(3, -1).T
    special = axes * half_extent(spec)
    body = np.concatenate([special, rng.uniform(-1.5, 1.5, (300, 3))])
    return single(ColliderSet([spec]).pose(0, 0.0).to_world(body))


def half_extent(spec: Collider) -> Float:
    match spec.shape:
        case "plane":
            return np.array([1.0, 0.0, 1.0])
        case "box":
            return 0.5 * np.array(spec.size)
        case "sphere":
            return np.full(3, spec.radius)
        case "cylinder":
            return np.array([spec.radius, 0.5 * spec.height, spec.radius])
        case "capsule":
            half = 0.5 * float(np.linalg.norm(np.subtract(spec.end, spec.start)))
            return np.array([spec.radius, half, spec.radius])
        case other:
            raise ValueError(f"no extent of a {other}")


@each_kind
@FEW
@given(st.data(), seeds)
def test_kernel_and_numpy_distances_agree(shape: str, data: st.DataObject, seed: int) -> None:
    spec = solid(data, shape)
    points = points_around(spec, seed)
    _, kernel, _ = query(ColliderSet([spec]), 0, points)
    np.testing.assert_allclose(kernel, distance(spec, points, 0.0), rtol=0, atol=SINGLE)


@each_kind
@FEW
@given(st.data(), seeds)
def test_normals_are_unit_and_lead_to_the_surface(
    shape: str, data: st.DataObject, seed: int
) -> None:
    """x - d n must be on the surface for every x, also where the nearest point is not unique."""
    spec = solid(data, shape)
    points = points_around(spec, seed)
    normal, d, _ = query(ColliderSet([spec]), 0, points)
    np.testing.assert_allclose(np.linalg.norm(normal, axis=1), 1.0, rtol=0, atol=2e-6)
    foot = points - d[:, None] * normal
    np.testing.assert_allclose(distance(spec, foot, 0.0), 0.0, rtol=0, atol=2 * SINGLE)


@each_kind
@FEW
@given(st.data(), seeds)
def test_normals_are_the_gradient_of_the_distance(
    shape: str, data: st.DataObject, seed: int
) -> None:
    """Central differences over 2e-5 m; points whose one-sided differences disagree are on ridges.

    A normal is a quotient by the distance to an edge or centre, where single precision leaves
    1e-6 / 2e-2: points nearer than that to the surface or to a ridge are left to the test above.
    """
    spec = solid(data, shape)
    points = points_around(spec, seed)[125:]
    normal, d, _ = query(ColliderSet([spec]), 0, points)
    h = 1e-5
    gradient, kink = np.empty_like(points), np.zeros(len(points))
    here = distance(spec, points, 0.0)
    for axis, step in enumerate(h * np.eye(3)):
        ahead, behind = (distance(spec, points + s, 0.0) for s in (step, -step))
        gradient[:, axis] = (ahead - behind) / (2.0 * h)
        kink += np.abs(ahead + behind - 2.0 * here) / h
    smooth = (kink < 5e-4) & (np.abs(d) > 2e-2)
    assert np.count_nonzero(smooth) > 100
    np.testing.assert_allclose(np.linalg.norm(gradient[smooth], axis=1), 1.0, rtol=0, atol=1e-6)
    np.testing.assert_allclose(normal[smooth], gradient[smooth], rtol=0, atol=1e-4)


def box_surface(size: Any, n: int) -> Float:
    grid = np.linspace(-0.5, 0.5, n)
    face = np.stack(np.meshgrid(grid, grid), axis=-1).reshape(-1, 2)
    faces = [np.insert(face, axis, side, axis=1) for axis in range(3) for side in (-0.5, 0.5)]
    return np.asarray(np.concatenate(faces) * size)


def revolved(radius: Float, y: Float, n: int) -> Float:
    """The surface that a profile sweeps about the y axis."""
    angle = np.linspace(0.0, 2.0 * np.pi, 6 * n)[:, None]
    rings = [radius * np.cos(angle), y + 0.0 * angle, radius * np.sin(angle)]
    return np.stack(rings, axis=-1).reshape(-1, 3)


def surface_points(spec: Collider, n: int) -> Float:
    """Dense samples of the surface in world space, for shapes that are not rotated."""
    ramp, h = np.linspace(0.0, 1.0, n), half_extent(spec)
    if spec.shape == "box":
        body = box_surface(spec.size, n)
    elif spec.shape == "cylinder":
        radius = h[0] * np.concatenate([ramp, np.ones(n), ramp[::-1]])
        y = h[1] * np.concatenate([np.ones(n), 1.0 - 2.0 * ramp, -np.ones(n)])
        body = revolved(radius, y, n)
    else:
        arc = 0.5 * np.pi * ramp
        radius = h[0] * np.concatenate([np.sin(arc), np.ones(n), np.cos(arc)])
        y = np.concatenate(
            [h[1] + h[0] * np.cos(arc), h[1] - 2 * h[1] * ramp, -h[1] - h[0] * np.sin(arc)]
        )
        body = revolved(radius, y, n)
    return np.asarray(body + ColliderSet([spec]).pose(0, 0.0).position)


@pytest.mark.parametrize(
    "spec",
    [
        make(shape="box", center=(0.1, 0.2, -0.1), size=(0.4, 0.7, 0.2)),
        make(shape="cylinder", center=(0.1, 0.0, 0.2), radius=0.3, height=0.8),
        make(shape="capsule", start=(0.1, -0.3, 0.2), end=(0.1, 0.4, 0.2), radius=0.2),
    ],
    ids=lambda spec: spec.shape,
)
def test_distance_is_that_to_the_nearest_of_many_surface_points(spec: Collider) -> None:
    """No sample is nearer than |d|, and the best is at most the sampling's gap (0.01 m) farther."""
    points = single(np.random.default_rng(3).uniform(-0.8, 0.8, (60, 3)))
    _, d, _ = query(ColliderSet([spec]), 0, points)
    samples = surface_points(spec, 81)
    nearest = np.array([np.linalg.norm(samples - p, axis=1).min() for p in points])
    assert (nearest > np.abs(d) - SINGLE).all()
    assert (nearest < np.abs(d) + 0.01).all()
    assert (d < 0).any() and (d > 0).any()


def test_signs_and_closed_forms() -> None:
    point = np.array([[0.3, 0.0, 0.4]])
    ball = make(shape="sphere", center=(0, 0, 0), radius=0.2)
    rod = make(shape="capsule", start=(0, -1, 0), end=(0, 1, 0), radius=0.2)
    post = make(shape="cylinder", center=(0, -1, 0), radius=1.0, height=1.0)
    block = make(shape="box", center=(0, 0, 0), size=(1, 1, 1))
    floor = make(shape="plane", point=(0, 0.5, 0), normal=(0, 2, 0))
    expected = {ball: 0.3, rod: 0.3, post: 0.5, block: -0.1, floor: -0.5}
    for spec, d in expected.items():
        assert distance(spec, point, 0.0) == pytest.approx(d)


@pytest.mark.parametrize("down", [(0, -1, 0), (0, 1, 0), (1e-200, 0, 0)])
def test_plane_normals_that_no_rotation_axis_or_square_defines(down: Any) -> None:
    spec = make(shape="plane", point=(0, 0, 0), normal=down)
    normal, _, _ = query(ColliderSet([spec]), 0, np.zeros((1, 3)))
    np.testing.assert_allclose(normal[0], np.sign(down), atol=1e-6)


@FEW
@given(sizes, vector, rotation, seeds)
def test_container_is_the_complement_of_a_solid_box(
    size: Any, center: Any, turn: Any, seed: int
) -> None:
    """Within the box its distance is minus that of the solid box; without, the sign agrees."""
    table: dict[str, Any] = {"shape": "box", "center": center, "size": size, "rotation": turn}
    solid, hollow = make(**table), make(**table, container=True)
    colliders = ColliderSet([hollow])
    points = points_around(solid, seed)
    kernel = np.min([query(colliders, k, points)[1] for k in range(colliders.count)], axis=0)
    d = distance(solid, points, 0.0)
    assert colliders.count == 6
    np.testing.assert_allclose(distance(hollow, points, 0.0), kernel, rtol=0, atol=SINGLE)
    np.testing.assert_allclose(kernel[d <= 0], -d[d <= 0], rtol=0, atol=SINGLE)
    assert (kernel[d > SINGLE] < SINGLE).all()
    assert (d < -1e-3).any() and (d > 1e-3).any()


def test_open_faces_of_a_container_have_no_wall() -> None:
    spec = make(shape="box", center=(0, 1, 0), size=(2, 2, 2), container=True, open=["+y", "-x"])
    above, left, below = np.array([[0, 9.0, 0]]), np.array([[-9.0, 1, 0]]), np.array([[0, -1.0, 0]])
    assert ColliderSet([spec]).count == 4
    assert distance(spec, above, 0.0) == pytest.approx(1.0)
    assert distance(spec, left, 0.0) == pytest.approx(1.0)
    assert distance(spec, below, 0.0) == pytest.approx(-1.0)


keyframes = st.lists(
    st.fixed_dictionaries({"translation": vector, "rotation": rotation | st.none()}),
    min_size=2,
    max_size=4,
).map(lambda keys: [{"time": 0.5 * i, **key} for i, key in enumerate(keys)])


@FEW
@given(keyframes, direction, st.floats(0.05, 0.45), st.floats(1e-3, 0.02))
def test_surface_velocity_is_the_motion_of_material_points(
    motion: Any, normal: Any, time: float, dt: float
) -> None:
    """The chord of an arc deviates from the tangent by w^2 r dt / 2 at most; r < 4 m here."""
    spec = make(
        shape="capsule", start=(0, 0, 0), end=normal, radius=0.1, motion=motion, contact="slip"
    )
    colliders = ColliderSet([spec])
    body = np.random.default_rng(1).uniform(-1.0, 1.0, (50, 3))
    now, before = (colliders.pose(0, t).to_world(body) for t in (time, time - dt))
    colliders.move_to(time, dt)
    _, _, velocity = query(colliders, 0, now)
    w = float(np.linalg.norm(colliders.arrays.angular_velocity.to_numpy()[0]))
    error = np.linalg.norm(velocity - (now - before) / dt, axis=1)
    assert error.max() <= 0.5 * w**2 * 4.0 * dt + 1e-4


@FEW
@given(keyframes, st.floats(-0.1, 1.6), st.floats(1e-4, 0.02))
def test_velocities_carry_the_old_pose_to_the_new(motion: Any, time: float, dt: float) -> None:
    spec = make(shape="box", center=(0.1, 0.2, 0.3), size=(1, 1, 1), motion=motion)
    before, after = (ColliderSet([spec]).pose(0, t) for t in (time - dt, time))
    v, w, growth = velocities(before, after, dt)
    assert growth == 0.0
    angle = float(np.linalg.norm(w)) * dt
    turn = quaternions.from_axis_angle(w, angle) if angle > 0.0 else quaternions.IDENTITY
    x = np.eye(3)
    carried = quaternions.rotate(turn, before.to_world(x) - before.position) + before.position
    np.testing.assert_allclose(carried + v * dt, after.to_world(x), rtol=0, atol=1e-9)


def test_surface_velocity_of_a_turning_and_rising_ball() -> None:
    """2 rad/s about z and 3 m/s upwards: the rightmost point, 1 m out, rises at 5 m/s."""
    motion = [
        {"time": 0},
        {"time": 1, "translation": (0, 3, 0), "rotation": {"axis": (0, 0, 1), "angle": 2}},
    ]
    colliders = ColliderSet([make(shape="sphere", center=(7, 0, 0), radius=1, motion=motion)])
    colliders.move_to(0.5, 1e-3)
    _, _, velocity = query(colliders, 0, np.array([[8.0, 1.5, 0.0], [7.0, 2.5, 0.0]]))
    np.testing.assert_allclose(velocity, [[0, 5, 0], [-2, 3, 0]], atol=1e-3)


def test_keyframes_are_linear_and_held() -> None:
    motion = [{"time": 1.0, "translation": (1, 0, 0)}, {"time": 3.0, "translation": (1, 4, 0)}]
    colliders = ColliderSet([make(shape="sphere", center=(0, 0, 5), radius=1, motion=motion)])
    heights = [colliders.pose(0, t).position[1] for t in (-1.0, 0.5, 1.0, 2.0, 3.0, 9.0)]
    assert heights == pytest.approx([0, 0, 0, 2, 4, 4])
    assert colliders.pose(0, 2.0).position == pytest.approx([1, 2, 5])
    colliders.move_to(2.0, 0.1)
    assert colliders.arrays.velocity.to_numpy()[0] == pytest.approx([0, 2, 0], abs=1e-6)
    colliders.move_to(2.0, 0.0)
    assert colliders.arrays.velocity.to_numpy()[0] == pytest.approx([0, 0, 0])


@pytest.mark.parametrize("axis_at_rest", [None, (1, 0, 0), (0, 3, 0), (0, -1, 0)])
def test_several_turns_between_two_keyframes(axis_at_rest: Any) -> None:
    """A stirrer that turns five times in 10 s: pi rad/s at every moment, whatever the axis at 0."""
    rest = None if axis_at_rest is None else {"axis": axis_at_rest, "angle": 0.0}
    motion = [
        {"time": 0.0, "rotation": rest},
        {"time": 10.0, "rotation": {"axis": (0, 2, 0), "angle": 10.0 * np.pi}},
    ]
    spec = make(shape="capsule", start=(1, 0, 0), end=(2, 0, 0), radius=0.1, motion=motion)
    colliders = ColliderSet([spec])
    for time in (0.1, 1.0, 4.9, 10.0):
        colliders.move_to(time, 0.01)
        w = colliders.arrays.angular_velocity.to_numpy()[0]
        assert w == pytest.approx([0, np.pi, 0], abs=1e-4)
    tip = colliders.pose(0, 0.5).to_world(np.array([0.0, 0.5, 0.0]))
    assert tip == pytest.approx([1.5, 0, -0.5]), "a quarter turn from x about y leads to -z"


def test_turns_about_opposite_axes_are_one_motion() -> None:
    motion = [
        {"time": 0.0, "rotation": {"axis": (0, 1, 0), "angle": 3.0}},
        {"time": 1.0, "rotation": {"axis": (0, -1, 0), "angle": 3.0}},
    ]
    colliders = ColliderSet([make(shape="box", center=(0, 0, 0), size=(1, 1, 1), motion=motion)])
    assert colliders.pose(0, 0.5).orientation == pytest.approx([0, 0, 0, 1])
    colliders.move_to(0.5, 0.01)
    assert colliders.arrays.angular_velocity.to_numpy()[0] == pytest.approx([0, -6, 0], rel=1e-5)


@FEW
@given(rotation, rotation)
@example({"axis": (0, 1, 0), "angle": 1e-308}, {"axis": (0, 0, 1), "angle": 1.0})
def test_rotation_between_keyframes_has_constant_speed_and_hits_both(a: Any, b: Any) -> None:
    motion = [{"time": 0.0, "rotation": a}, {"time": 1.0, "rotation": b}]
    spec = make(shape="box", center=(0, 0, 0), size=(1, 1, 1), motion=motion)
    poses = [ColliderSet([spec]).pose(0, t) for t in np.linspace(0.0, 1.0, 21)]
    for key, pose in ((a, poses[0]), (b, poses[-1])):
        expected = quaternions.from_axis_angle(key["axis"], key["angle"])
        assert abs(expected @ pose.orientation) == pytest.approx(1.0)
    rates = [velocities(p, q, 0.05)[1] for p, q in pairwise(poses)]
    np.testing.assert_allclose(rates, np.tile(rates[0], (20, 1)), rtol=0, atol=1e-5)


@FEW
@given(direction, st.floats(-7.0, 7.0))
def test_rotation_vectors_take_the_shorter_way(axis: Any, angle: float) -> None:
    q = quaternions.from_axis_angle(axis, angle)
    turn = quaternions.rotation_vector(q)
    assert np.linalg.norm(turn) <= np.pi + 1e-9
    shorter = (angle + np.pi) % (2.0 * np.pi) - np.pi
    if abs(shorter) < 3.14:
        np.testing.assert_allclose(turn, shorter * quaternions.unit(axis), atol=1e-9)
        np.testing.assert_allclose(quaternions.rotation_vector(-q), turn, atol=1e-9)


def test_walls_of_a_moving_container_move_with_it() -> None:
    """At a quarter turn per second about z, the middle of each wall 1 m away moves at pi/2 m/s."""
    motion = [{"time": 0}, {"time": 4, "rotation": {"axis": (0, 0, 1), "angle": 2 * np.pi}}]
    spec = make(shape="box", center=(5, 0, 0), size=(2, 2, 2), container=True, motion=motion)
    colliders = ColliderSet([spec])
    colliders.move_to(1.0, 1e-3)
    position = colliders.arrays.position.to_numpy() - [5, 0, 0]
    velocity = colliders.arrays.velocity.to_numpy()
    np.testing.assert_allclose(position[0], [0, 1, 0], atol=1e-5)  # was the +x wall
    np.testing.assert_allclose(velocity, 0.5 * np.pi * np.cross([0, 0, 1], position), atol=2e-3)


def test_a_set_without_colliders_has_one_unreachable_entry() -> None:
    colliders = ColliderSet([])
    colliders.move_to(1.0, 0.1)
    _, d, v = query(colliders, 0, np.array([[0.0, -1e6, 0.0]]))
    assert colliders.count == 0
    assert d[0] > 1e20 and not v.any()
    assert colliders.distance(np.zeros((2, 3)), 0.0).tolist() == [np.inf, np.inf]


def test_kinds_contacts_and_friction_reach_the_arrays() -> None:
    colliders = ColliderSet(
        [
            make(shape="plane"),
            make(shape="sphere", center=(0, 0, 0), radius=1, contact="slip"),
            make(shape="box", center=(0, 0, 0), size=(1, 1, 1), container=True, open=["+y", "-y"]),
            make(
                shape="capsule",
                start=(0, 0, 0),
                end=(0, 1, 0),
                radius=1,
                contact="friction",
                friction=0.4,
            ),
        ]
    )
    planes = [Kind.PLANE] * 4
    assert colliders.arrays.kind.to_numpy().tolist() == [
        Kind.PLANE, Kind.SPHERE, *planes, Kind.CAPSULE
    ]  # fmt: skip
    sticky = [Contact.STICKY] * 4
    assert colliders.arrays.contact.to_numpy().tolist() == [
        Contact.STICKY, Contact.SLIP, *sticky, Contact.FRICTION
    ]  # fmt: skip
    assert colliders.arrays.friction.to_numpy() == pytest.approx([0, 0, 0, 0, 0, 0, 0.4])


def test_the_set_is_usable_without_the_compute_backend() -> None:
    program = (
        "import sys, numpy; from viscoil.colliders import ColliderSet; import viscoil.sampling;"
        "ColliderSet([]).distance(numpy.zeros((1, 3)), 0.0); assert 'quadrants' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
