"""The preview: geometry against closed forms, pictures against what must be seen in them."""

import hashlib
import math
import os
import subprocess
import sys
from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from viscoil.outputs.frames import FramesOutput
from viscoil.outputs.png import read_png
from viscoil.outputs.preview import Camera, render
from viscoil.outputs.preview.blocks import CELLS, sort_into_blocks
from viscoil.outputs.preview.camera import _stand_back, scene_bounds
from viscoil.outputs.preview.output import PreviewOutput
from viscoil.outputs.protocol import ColliderPose, MaterialLook, Snapshot
from viscoil.outputs.run_folder import RunFolder
from viscoil.outputs.stats import StatsOutput
from viscoil.outputs.video import VideoOutput
from viscoil.running.outputs import create_outputs
from viscoil.scene import (
    BoxCollider,
    CapsuleCollider,
    CylinderCollider,
    PlaneCollider,
    Rotation,
    Scene,
    SphereCollider,
    builtin_scenes,
)

D = 0.1  # particle spacing of most tests, m
RED = MaterialLook("red", (0.8, 0.05, 0.05), 0.0)
BLUE = MaterialLook("blue", (0.05, 0.1, 0.8), 0.0)
FRONT = Camera((0.0, 0.5, 6.0), (0.0, 0.5, 0.0), 0.5, 1.0)
GROUND = PlaneCollider(shape="plane", point=(0.0, 0.0, 0.0), normal=(0.0, 1.0, 0.0))


def cube(center, side, spacing=D):
    axis = (np.arange(round(side / spacing)) + 0.5) * spacing - side / 2
    grid = np.stack(np.meshgrid(axis, axis, axis, indexing="ij"), axis=-1).reshape(-1, 3)
    return (grid + center).astype(np.float32)


def pose(spec):
    from viscoil.colliders.primitives import rest_pose

    return ColliderPose(spec, *rest_pose(spec))


def snap(position, looks=(RED,), material=None, colliders=()):
    n = len(position)
    material = np.zeros(n, dtype=np.int32) if material is None else material
    channels = {"position": np.asarray(position, dtype=np.float32), "material": material}
    return Snapshot(0, 0.0, channels, looks, [pose(spec) for spec in colliders], D)


def draw(snapshot, camera=FRONT, width=96, height=54):
    picture = render(snapshot, camera, width, height)
    assert picture.shape == (height, width, 3)
    assert picture.dtype == np.uint8
    return picture.astype(int)


# Blocks


@given(st.integers(0, 2**32 - 1), st.floats(0.02, 3.0))
def test_every_particle_is_in_its_block_once(seed, extent):
    rng = np.random.default_rng(seed)
    position = rng.uniform(-extent, extent, (200, 3)).astype(np.float32)
    blocks = sort_into_blocks(position, D)
    assert sorted(blocks.order) == list(range(200))
    width = CELLS * blocks.cell
    counts = np.diff(blocks.start).reshape(blocks.slot.shape)
    # Rounding may put a particle that is on a block's face on either side of it.
    place = np.repeat(np.argwhere(counts >= 0), counts.ravel(), axis=0)
    local = (position[blocks.order] - blocks.origin) / width - place
    assert local.min() > -1e-4
    assert local.max() < 1 + 1e-4
    assert np.all(blocks.slot[counts > 0] >= 0)
    np.testing.assert_array_equal(np.argwhere(blocks.slot >= 0), blocks.place)


def test_leaps_never_pass_a_block():
    """A place marked -k has no block within k - 1 places of it along all axes."""
    rng = np.random.default_rng(3)
    blocks = sort_into_blocks(rng.uniform(-4, 4, (30, 3)).astype(np.float32), D)
    assert blocks.slot.min() < -2
    for at in np.argwhere(blocks.slot < 0):
        k = -blocks.slot[tuple(at)]
        gaps = np.abs(blocks.place - at).max(axis=1)
        assert gaps.min() >= k


def test_far_apart_particles_do_not_exhaust_memory():
    position = np.array([[0, 0, 0], [1e4, 1e4, 1e4]], dtype=np.float32)
    blocks = sort_into_blocks(position, D)
    assert blocks.slot.size <= 1 << 22
    assert np.all(blocks.slot[tuple(blocks.place.T)] >= 0)


# The surface


def test_a_lone_drop_keeps_its_volume(compute):
    """Its radius is 0.62 spacings, but for the error of linear cells.

    The distance from a point is convex, with curvature 1/r in two directions: between nodes h apart
    it is at most 2 h^2 / 8r = 0.2 spacings too large (h = 0.7, r = 0.62), and never too small.
    """
    center = np.array([0.33, 0.21, -0.4])
    directions = np.random.default_rng(0).normal(size=(50, 3))
    directions /= np.linalg.norm(directions, axis=1)[:, None]
    points = center + 0.62 * D * directions
    distance, normal = sample_surface(points, center[None])
    assert distance.min() > -1e-5
    assert distance.max() < 0.2 * D
    assert np.min(np.sum(normal * directions, axis=1)) > 0.85


def test_a_flat_surface_is_where_it_is(compute):
    """Half a spacing above the outermost particles, with a normal that points straight up."""
    position = cube((0.0, -1.0, 0.0), 2.0)
    x = np.linspace(-0.3, 0.3, 21)
    points = np.stack([x, np.zeros(21), 0.7 * x], axis=1)
    distance, normal = sample_surface(points, position)
    assert np.abs(distance).max() < 0.1 * D
    assert normal[:, 1].min() > 0.98
    step = np.array([0, 0.5 * D, 0])
    above, _ = sample_surface(points + step, position)
    below, _ = sample_surface(points - step, position)
    assert above.min() > 0.2 * D
    assert below.max() < -0.2 * D


def sample_surface(points, position, size=None):
    import quadrants as qd

    from viscoil.outputs.preview.field import (
        Field,
        build_field,
        device_array,
        distance_at,
        normal_at,
    )

    vec3, vec4 = qd.types.vector(3, qd.f32), qd.types.vector(4, qd.f32)

    @qd.kernel
    def sample(f: Field, x: qd.types.NDArray[vec3, 1], out: qd.types.NDArray[vec4, 1]):
        for i in range(x.shape[0]):
            n = normal_at(f, x[i])
            out[i] = qd.Vector([n.x, n.y, n.z, distance_at(f, x[i])])

    field = build_field(np.asarray(position, dtype=np.float32), np.ones((1, 4)), D, size)
    out = device_array(np.full((len(points), 4), np.nan, dtype=np.float32), vec4)
    sample(field, device_array(np.asarray(points, dtype=np.float32), vec3), out)
    result = out.to_numpy()
    return result[:, 3], result[:, :3]


# Colliders

TURN = Rotation(axis=(1.0, 2.0, 0.5), angle=0.7)
SOLIDS = [
    BoxCollider(center=(0.1, 0.2, 0.0), size=(0.6, 0.3, 0.9), rotation=TURN),
    SphereCollider(center=(0.1, -0.2, 0.3), radius=0.5),
    CylinderCollider(center=(0.0, 0.1, 0.0), radius=0.4, height=0.7, rotation=TURN),
    CapsuleCollider(start=(-0.3, 0.0, 0.1), end=(0.4, 0.3, -0.2), radius=0.25),
    PlaneCollider(point=(0.0, -0.1, 0.0), normal=(0.2, 1.0, -0.3)),
]


@cache
def hit_kernel():
    """One for all tests, because it takes seconds to compile."""
    import quadrants as qd

    from viscoil.outputs.preview.solids import Solids, hit_solid, solid_distance

    vec3, vec4 = qd.types.vector(3, qd.f32), qd.types.vector(4, qd.f32)

    @qd.kernel
    def hit(
        s: Solids,
        o: qd.types.NDArray[vec3, 1],
        d: qd.types.NDArray[vec3, 1],
        hits: qd.types.NDArray[vec4, 1],
        distances: qd.types.NDArray[qd.f32, 1],
    ):
        for i in range(o.shape[0]):
            hits[i] = hit_solid(s, 0, o[i], d[i])
            distances[i] = solid_distance(s, 0, o[i])

    return hit


def hit_rays(spec, origins, directions):
    """Normal and length of the first hit of each ray, and the distance of each origin."""
    import quadrants as qd

    from viscoil.outputs.preview.field import device_array
    from viscoil.outputs.preview.picture import _solids

    vec3, vec4 = qd.types.vector(3, qd.f32), qd.types.vector(4, qd.f32)
    n = len(origins)
    hits = device_array(np.full((n, 4), np.nan, dtype=np.float32), vec4)
    distances = device_array(np.full(n, np.nan, dtype=np.float32), qd.f32)
    rays = [device_array(a.astype(np.float32), vec3) for a in (origins, directions)]
    hit_kernel()(_solids([pose(spec)], None), *rays, hits, distances)
    result = hits.to_numpy()
    return result[:, :3], result[:, 3], distances.to_numpy()


@pytest.mark.parametrize("spec", SOLIDS, ids=lambda spec: spec.shape)
def test_rays_hit_colliders_where_they_are(compute, spec):
    """Checked against the distance that the solver uses: zero at the hit, never negative before.

    float32 over rays of length 3 leaves a few 1e-6; 1e-4 is generous and far below a pixel.
    """
    from viscoil.colliders.primitives import distance

    rng = np.random.default_rng(5)
    origins = rng.normal(size=(400, 3))
    origins *= 3.0 / np.linalg.norm(origins, axis=1)[:, None]
    aim = rng.uniform(-0.6, 0.6, (400, 3)) - origins
    directions = aim / np.linalg.norm(aim, axis=1)[:, None]
    outside = distance(spec, origins, 0.0) > 0
    origins, directions = origins[outside], directions[outside]
    normal, length, near = hit_rays(spec, origins, directions)
    np.testing.assert_allclose(near, distance(spec, origins, 0.0), atol=1e-4)

    found = length < 1e29
    assert 0.1 * len(found) < found.sum()
    at = origins[found] + length[found, None] * directions[found]
    np.testing.assert_allclose(distance(spec, at, 0.0), 0.0, atol=1e-4)
    ahead = distance(spec, at + 1e-2 * normal[found], 0.0)
    np.testing.assert_allclose(ahead, 1e-2, atol=2e-4)
    for share in np.linspace(0.0, 0.999, 40):
        stop = np.where(found, length, 8.0)[:, None]
        before = origins + share * stop * directions
        assert distance(spec, before, 0.0).min() > -1e-4


# Pictures


def redness(picture):
    return picture[..., 0] - picture[..., 2]


def test_fluid_is_seen_where_it_is(compute):
    """A cube of side 1 at distance 6 - 0.5 fills 1 / (2 * 5.5 * tan(0.25)) = 0.36 of the height."""
    red = redness(draw(snap(cube((0, 0.5, 0), 1.0)))) > 60
    rows, columns = np.flatnonzero(red.any(axis=1)), np.flatnonzero(red.any(axis=0))
    expected = 0.356 * 54
    assert abs(np.ptp(rows) + 1 - expected) <= 2
    assert abs(np.ptp(columns) + 1 - expected) <= 2
    assert abs(rows.mean() - 26.5) <= 1.5
    assert abs(columns.mean() - 47.5) <= 1.5


def test_right_is_right_and_up_is_up(compute):
    picture = redness(draw(snap(cube((0.8, 0.9, 0), 0.4)))) > 60
    rows, columns = np.nonzero(picture)
    assert len(rows) > 0
    assert rows.max() < 27
    assert columns.min() > 48


def test_nearer_things_hide_farther_ones(compute):
    fluid = cube((0, 0.5, 0), 0.4)
    front = SphereCollider(center=(0.0, 0.5, 1.0), radius=0.5)
    behind = SphereCollider(center=(0.0, 0.5, -1.0), radius=0.5)
    assert not np.any(redness(draw(snap(fluid, colliders=[front]))) > 60)
    assert np.sum(redness(draw(snap(fluid, colliders=[behind]))) > 60) > 30
    hidden = front.model_copy(update={"visible": False})
    np.testing.assert_array_equal(
        draw(snap(fluid, colliders=[hidden])), draw(snap(fluid, colliders=[]))
    )


def test_one_sees_into_a_container(compute):
    fluid = cube((0, 0.5, 0), 0.4)
    box = BoxCollider(center=(0.0, 0.5, 0.0), size=(1.2, 0.8, 1.0), container=True)
    bare, boxed = draw(snap(fluid)), draw(snap(fluid, colliders=[box]))
    inside = (slice(20, 34), slice(41, 55))
    assert np.abs(bare[inside] - boxed[inside]).mean() < 12
    assert np.any(boxed.sum(axis=2) < bare.sum(axis=2) - 60)


def test_fluid_casts_a_shadow(compute):
    """The lamp is on the left, so the shadow falls to the right of what is above the ground."""
    above = Camera((0.0, 3.0, 5.0), (0.0, 0.2, 0.0), 0.5, 1.0)
    empty = draw(snap(np.zeros((0, 3)), colliders=[GROUND]), above)
    full = draw(snap(cube((0, 0.6, 0), 0.5), colliders=[GROUND]), above)
    darker = (empty - full).min(axis=2) > 25
    darker &= redness(full) < 40
    rows, columns = np.nonzero(darker)
    assert len(rows) > 40
    assert np.median(columns) > 50


def test_materials_have_their_colours(compute):
    left, right = cube((-0.6, 0.5, 0), 0.5), cube((0.6, 0.5, 0), 0.5)
    material = np.repeat([0, 1], [len(left), len(right)])
    picture = draw(snap(np.concatenate([left, right]), (RED, BLUE), material))
    # Cubes of side 0.5 at 0.6 from the middle: their centres are 10 pixels off the middle.
    assert redness(picture)[27, 36] > 80
    assert redness(picture)[27, 60] < -80
    only_blue = draw(snap(right, (RED, BLUE), np.ones(len(right), dtype=np.int32)))
    assert redness(only_blue)[27, 60] < -80


def test_clear_fluid_shows_what_is_behind(compute):
    """A dark collider behind a layer of fluid is seen through clear fluid, not through opaque."""
    layer = cube((0, 0.5, 0), 0.3)
    white = (0.95, 0.95, 0.95)
    solid = SphereCollider(center=(0.0, 0.5, -0.7), radius=0.4)

    def change(transmission):
        look = (MaterialLook("glass", white, transmission),)
        with_it = draw(snap(layer, look, colliders=[solid]))
        return np.abs(with_it - draw(snap(layer, look)))[26:28, 47:49].mean()

    assert change(0.0) < 2
    assert change(0.95) > 20


def test_lost_particles_are_left_out(compute):
    fluid = cube((0, 0.5, 0), 0.5)
    lost = [[np.nan, 0, 0], [np.inf, 0, 0], [1e30, 0, 0], [0, -500.0, 0]]
    picture = draw(snap(np.concatenate([fluid, np.array(lost, dtype=np.float32)])))
    np.testing.assert_array_equal(picture, draw(snap(fluid)))
    draw(snap(lost))


def test_edges_are_smooth(compute):
    """Along the edge of a turned box some pixels lie between the two colours."""
    turned = BoxCollider(
        center=(0.0, 0.5, 0.0), size=(1.0, 1.0, 0.1), rotation=Rotation(axis=(0, 0, 1), angle=0.3)
    )
    row = draw(snap(np.zeros((0, 3)), colliders=[turned]))[27, :, 1]
    low, high = row[48], row[5]
    between = (np.abs(row - low) > 15) & (np.abs(row - high) > 15)
    assert between.any()


HASH = """
import sys, hashlib
sys.path[:0] = [{tests!r}]
from viscoil import compute
compute.initialize("cpu", {threads})
import test_preview as t
import numpy as np
x = np.concatenate([t.cube((-0.3, 0.4, 0), 0.7), t.cube((0.5, 0.3, 0.2), 0.5)])
material = (np.arange(len(x)) % 2).astype(np.int32)
picture = t.render(t.snap(x, (t.RED, t.BLUE), material, [t.GROUND, *t.SOLIDS[:2]]), t.FRONT, 96, 54)
print(hashlib.sha256(picture.tobytes()).hexdigest())
"""


def test_the_same_bytes_for_any_number_of_threads():
    digests = set()
    for threads in (1, 5):
        code = HASH.format(tests=os.path.dirname(__file__), threads=threads)
        path = os.pathsep.join(p for p in sys.path if p)
        env = {**os.environ, "PYTHONPATH": path}
        run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=env)
        assert run.returncode == 0, run.stderr
        digests.add(run.stdout.split()[-1])
    assert len(digests) == 1
    assert len(digests.pop()) == len(hashlib.sha256().hexdigest())


# Cameras


def project(camera, points, aspect):
    right, up, forward = camera.axes()
    offset = np.asarray(points) - camera.position
    depth = offset @ forward
    scale = depth * math.tan(camera.fov / 2)
    return offset @ right / scale / aspect, offset @ up / scale, depth


coordinate = st.floats(-10, 10)
extent = st.floats(0.01, 10)


@given(
    st.tuples(coordinate, coordinate, coordinate),
    st.tuples(extent, extent, extent),
    st.floats(0.2, 2.5),
    st.floats(0.4, 3.0),
)
def test_a_framed_box_is_in_view_and_fills_the_picture(center, size, fov, aspect):
    lower, upper = np.subtract(center, size), np.add(center, size)
    position = _stand_back(lower, upper, np.array(center), fov, aspect)
    camera = Camera(tuple(position), center, fov)
    corners = np.where(np.array(list(np.ndindex(2, 2, 2)), dtype=bool), upper, lower)
    x, y, depth = project(camera, corners, aspect)
    assert depth.min() > 0
    reach = max(np.abs(x).max(), np.abs(y).max())
    assert 0.5 < reach <= 1.0


@pytest.mark.parametrize("name", [getattr(s, "name", s) for s in builtin_scenes()])
def test_builtin_scenes_are_in_view(name):
    scene = Scene.load(name)
    camera = Camera.frame_scene(scene)
    starts = [f.center for f in scene.fluids] + [e.center for e in scene.emitters]
    x, y, depth = project(camera, starts, 16 / 9)
    assert np.abs(x).max() < 1
    assert np.abs(y).max() < 1
    assert depth.min() > 0
    lower, upper = scene_bounds(scene)
    assert np.all(lower < upper)


SCENE = """
[simulation]
spacing = 0.05
duration = 1.0
[[fluids]]
material = "water"
shape = "box"
center = [0.0, 3.0, 0.0]
size = [1.0, 1.0, 1.0]
"""


def test_fluid_that_falls_stays_in_view():
    floor = '[[colliders]]\nshape = "plane"\npoint = [0.0, -1.0, 0.0]\n'
    lower, upper = scene_bounds(Scene.from_toml(SCENE + floor))
    assert lower[1] == pytest.approx(-1.0)
    assert upper[1] == pytest.approx(3.5)
    assert lower[0] < -0.5
    box = '[[colliders]]\nshape = "box"\ncenter = [0, 3, 0]\nsize = [2, 2, 2]\n'
    container = box + "container = true\n"
    lower, upper = scene_bounds(Scene.from_toml(SCENE + container + floor))
    np.testing.assert_allclose(lower, [-1, 2, -1])
    np.testing.assert_allclose(upper, [1, 4, 1])


def test_the_floor_is_drawn_only_under_finite_colliders():
    plate = '[[colliders]]\nshape = "cylinder"\ncenter = [0, 0, 0]\nradius = 2\nheight = 0.2\n'
    plane = '[[colliders]]\nshape = "plane"\n'
    assert Camera.frame_scene(Scene.from_toml(SCENE)).floor is None
    assert Camera.frame_scene(Scene.from_toml(SCENE + plane)).floor is None
    assert Camera.frame_scene(Scene.from_toml(SCENE + plate)).floor == pytest.approx(-0.1)
    assert Camera.frame_scene(Scene.from_toml(SCENE + plate + plane)).floor is None


def test_the_scene_may_place_the_camera():
    table = "[camera]\nposition = [1.0, 2.0, 3.0]\nfov = 0.5\nwidth = 320\nheight = 200\n"
    camera = Camera.frame_scene(Scene.from_toml(SCENE + table))
    assert camera.position == (1.0, 2.0, 3.0)
    assert camera.target == (0.0, 3.0, 0.0)
    assert camera.fov == 0.5


def test_a_turning_plate_keeps_its_bounds_and_a_turning_box_does_not():
    motion = "motion = [{time = 0}, {time = 1, rotation = {axis = [0, 1, 0], angle = 1.5}}]\n"
    plate = '[[colliders]]\nshape = "cylinder"\ncenter = [0, 0, 0]\nradius = 2\nheight = 0.2\n'
    box = '[[colliders]]\nshape = "box"\ncenter = [0, 0, 0]\nsize = [4, 0.2, 4]\n'
    assert scene_bounds(Scene.from_toml(SCENE + plate + motion))[1][0] == pytest.approx(2.0)
    assert scene_bounds(Scene.from_toml(SCENE + box + motion))[1][0] > 2.7


def test_straight_down_is_a_direction_too(compute):
    camera = Camera((0.0, 6.0, 0.0), (0.0, 0.5, 0.0), 0.5, 1.0)
    right, up, forward = camera.axes()
    np.testing.assert_allclose(np.cross(right, up), -forward, atol=1e-12)
    assert np.sum(redness(draw(snap(cube((0, 0.5, 0), 1.0)), camera)) > 60) > 100


# As outputs of a run


def test_the_outputs_of_a_scene(tmp_path):
    outputs = create_outputs(Scene.from_toml(SCENE), RunFolder(tmp_path))
    assert [type(o) for o in outputs] == [StatsOutput, FramesOutput, PreviewOutput, VideoOutput]
    only = '[[outputs]]\ntype = "video"\n'
    outputs = create_outputs(Scene.from_toml(SCENE + only), RunFolder(tmp_path))
    assert [type(o) for o in outputs] == [StatsOutput, PreviewOutput, VideoOutput]
    for output in outputs:
        output.close()


def test_the_preview_writes_its_pictures(compute, tmp_path):
    output = PreviewOutput(tmp_path / "preview", tmp_path / "preview.png", FRONT, 96, 54)
    snapshot = snap(cube((0, 0.5, 0), 1.0))
    output.frame(snapshot)
    output.close()
    picture = read_png(tmp_path / "preview" / "frame_000000.png")
    np.testing.assert_array_equal(picture, render(snapshot, FRONT, 96, 54))
    np.testing.assert_array_equal(picture, read_png(tmp_path / "preview.png"))
