"""From a snapshot to a picture: fills the kernels' inputs and runs the passes."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import quadrants as qd

from viscoil.core.compute import view as seen_from_numpy
from viscoil.geometry.bricks.arrays import pack_bricks
from viscoil.preview import kernels
from viscoil.preview.camera import Camera
from viscoil.preview.distance_grid import (
    DistanceGrid,
    build_distance_grid,
    device_array,
    empty_distance_grid,
)
from viscoil.preview.shading import Row
from viscoil.preview.solids import Kind, Solids
from viscoil.snapshots.snapshot import Array, ColliderPose, Snapshot

vec3 = qd.types.vector(3, qd.f32)
vec4 = qd.types.vector(4, qd.f32)

LIGHT_MAP = 640  # texels a side
LIT_WIDTH = 1.6  # half width of the light map in scene radii, so that a texel is 1/200 of a radius
EDGE = 0.02  # step in brightness (of 0..1) that is worth more rays: 5 of 255 levels
VIEW_LIMIT = 6.0  # particles farther from the target than this, in scene radii, are left out
CLEAR_DEPTH = 0.10  # depth over which fluids lose their clearness, in scene radii; by eye
LAMP = (
    -0.80,
    1.15,
    -0.20,
)  # direction of the lamp: right, up, and level away from the camera; by eye


def draw(snapshot: Snapshot, camera: Camera, width: int, height: int) -> Array:
    """The picture of a snapshot, (height, width, 3) uint8."""
    grid = _distance_grid(snapshot, camera)
    solids = _solids(snapshot.colliders, camera.floor)
    view = device_array(_view(camera, width / height), vec3)
    lamp = qd.ndarray(vec4, shape=(LIGHT_MAP, LIGHT_MAP))
    draft = qd.ndarray(vec3, shape=(height, width))
    picture = qd.ndarray(vec3, shape=(height, width))
    kernels.draw_light_map(grid, solids, view, lamp)
    kernels.draw_picture(grid, solids, view, lamp, -1.0, picture, draft)
    kernels.draw_picture(grid, solids, view, lamp, EDGE, draft, picture)
    shades: Array = seen_from_numpy(picture)
    return (shades * 255.0 + 0.5).astype(np.uint8)


def _distance_grid(snapshot: Snapshot, camera: Camera) -> DistanceGrid:
    position = np.asarray(snapshot.channels["position"], dtype=np.float32).reshape(-1, 3)
    offset = position - np.array(camera.target, dtype=np.float32)
    # A comparison with NaN is false: broken particles are left out too.
    seen = np.all(np.abs(offset) < VIEW_LIMIT * camera.radius, axis=1)
    if not seen.any():
        return empty_distance_grid()
    paint = _paint(snapshot, seen)
    if "size" not in snapshot.channels:
        return build_distance_grid(position[seen], paint, snapshot.spacing)
    size = np.asarray(snapshot.channels["size"], dtype=np.float32)[seen]
    smallest = float(size.min())
    return build_distance_grid(position[seen], paint, smallest * snapshot.spacing, size / smallest)


def _paint(snapshot: Snapshot, seen: Array) -> Array:
    """Red, green, blue and transmission of the particles that are seen; one row if all are alike."""
    looks = np.array([(*look.color, look.transmission) for look in snapshot.materials])
    paint = looks[:1]
    if len(looks) > 1:
        material = np.asarray(snapshot.channels["material"])[seen]
        first = material[0]
        paint = looks[first : first + 1] if np.all(material == first) else looks[material]
    if "color" in snapshot.channels:
        color = np.asarray(snapshot.channels["color"], dtype=np.float64)[seen]
        clear = np.broadcast_to(paint[:, 3:], (len(color), 1))
        paint = np.hstack([color, clear])
        paint = paint[:1] if np.all(paint == paint[0]) else paint
    return np.asarray(paint)


def _solids(poses: Sequence[ColliderPose], floor: float | None) -> Solids:
    shown = [pose for pose in poses if _is_drawn(pose)]
    fields = [pose.distance_field for pose in shown if pose.distance_field is not None]
    shapes = [_primitive(pose.spec) for pose in shown]
    position = [pose.position for pose in shown]
    orientation = [pose.orientation for pose in shown]
    if floor is not None:
        shapes.append((Kind.PLANE, (0.0, 0.0, 0.0)))
        position.append((0.0, floor, 0.0))
        orientation.append((0.0, 0.0, 0.0, 1.0))
    scales = np.ones(max(len(shapes), 1), dtype=np.float32)
    scales[: len(shown)] = [pose.scale for pose in shown]
    kinds = np.zeros(max(len(shapes), 1), dtype=np.int32)
    kinds[: len(shapes)] = [kind for kind, _ in shapes]
    numbers = np.cumsum(kinds == Kind.MESH, dtype=np.int32) - 1
    return Solids(
        count=device_array(np.array([len(shapes)], dtype=np.int32), qd.i32),
        kind=device_array(kinds, qd.i32),
        size=_rows([size for _, size in shapes], 3),
        position=_rows(position, 3),
        orientation=_rows(orientation, 4),
        scale=device_array(scales, qd.f32),
        distance_field=device_array(numbers.astype(np.int32), qd.i32),
        bricks=pack_bricks(fields),
    )


def _is_drawn(pose: ColliderPose) -> bool:
    """Not what the user hides, nor a mesh that is all around the fluid."""
    return pose.spec.visible and not (pose.spec.shape == "mesh" and pose.spec.mode == "container")


def _rows(values: Sequence[Any], width: int) -> Any:
    """Vectors on the device; a row of zeros if there are none."""
    rows = np.zeros((max(len(values), 1), width), dtype=np.float32)
    if values:
        rows[:] = values
    return device_array(rows, vec3 if width == 3 else vec4)


def _primitive(spec: Any) -> tuple[Kind, tuple[float, float, float]]:
    """Kind and size (m) of a collider for the kernels."""
    if spec.shape == "box":
        x, y, z = spec.size
        return (Kind.CONTAINER if spec.container else Kind.BOX), (x / 2, y / 2, z / 2)
    if spec.shape == "sphere":
        return Kind.SPHERE, (spec.radius, 0.0, 0.0)
    if spec.shape == "cylinder":
        return Kind.CYLINDER, (spec.radius, spec.height / 2, 0.0)
    if spec.shape == "capsule":
        return Kind.CAPSULE, (spec.radius, math.dist(spec.start, spec.end) / 2, 0.0)
    return (Kind.MESH if spec.shape == "mesh" else Kind.PLANE), (0.0, 0.0, 0.0)


def _view(camera: Camera, aspect: float) -> Array:
    """The rows that `Row` names."""
    right, up, forward = camera.axes()
    tangent = math.tan(camera.fov / 2)
    away = np.array([right[2], 0.0, -right[0]])  # level, from the camera to the scene
    # The lamp hangs high on the left, a little nearer than the scene.
    light = LAMP[0] * right + LAMP[1] * np.array([0.0, 1.0, 0.0]) + LAMP[2] * away
    light /= np.linalg.norm(light)
    light_right = np.cross([0.0, 1.0, 0.0], light)
    light_right /= np.linalg.norm(light_right)
    rows = np.zeros((Row.COUNT, 3), dtype=np.float32)
    rows[Row.EYE] = camera.position
    rows[Row.RIGHT] = right * tangent * aspect
    rows[Row.UP] = up * tangent
    rows[Row.FORWARD] = forward
    rows[Row.TARGET] = camera.target
    rows[Row.LIGHT] = light
    rows[Row.LIGHT_RIGHT] = light_right
    rows[Row.LIGHT_UP] = np.cross(light, light_right)
    rows[Row.SCALE] = camera.radius, CLEAR_DEPTH * camera.radius, LIT_WIDTH * camera.radius
    rows[Row.TILE] = _tile(camera.radius), 0.0, 0.0
    return rows


def _tile(radius: float) -> float:
    """Side of the ground's tiles (m): a power of ten, or two or five of them, near the radius/3."""
    wanted = math.log10(radius / 3)
    whole = 10.0 ** math.floor(wanted)
    steps = (1.0, 2.0, 5.0, 10.0)
    return whole * min(steps, key=lambda s: abs(math.log10(s) + math.floor(wanted) - wanted))
