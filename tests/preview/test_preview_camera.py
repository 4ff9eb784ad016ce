"""Where the preview looks from: everything that matters is in view."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from preview_rigs import SCENE, cube, draw, redness, snap

from viscoil.preview import Camera
from viscoil.preview.camera import _stand_back, scene_bounds
from viscoil.scene import Scene, builtin_scenes


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
