"""Where a picture is taken from, chosen from the scene's description.

The camera stands still over a run: it is placed by what the scene says, not by where particles
are, so that a film does not jump.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from viscoil.colliders.motion import turn
from viscoil.geometry import quaternions
from viscoil.geometry.bricks.openvdb import from_grids
from viscoil.geometry.vdb import read_vdb
from viscoil.sampling.amounts import emitted_volume
from viscoil.sampling.seed_files import seed_file
from viscoil.snapshots.snapshot import Array

Vector = tuple[float, float, float]

FIELD_OF_VIEW = 0.7  # rad, vertical
ASPECT = 16.0 / 9.0
AZIMUTH = 0.45  # rad, from the z axis towards x
ELEVATION = 0.30  # rad
MARGIN = 1.06  # room around the scene


@dataclass(frozen=True)
class Camera:
    """A place to look from.

    `radius` (m) is how far the scene extends about the target. `floor` (m) is the height of a floor
    that is drawn though it is no collider, for scenes that have no ground of their own.
    """

    position: Vector
    target: Vector
    fov: float = FIELD_OF_VIEW  # rad, vertical
    radius: float = 1.0
    floor: float | None = None

    @classmethod
    def frame_scene(cls, scene: Any, aspect: float | None = None) -> "Camera":
        """A camera that sees all of a scene's fluids, emitters and visible finite colliders.

        What the scene's [camera] table gives takes precedence. `aspect` is width / height.
        """
        wanted = getattr(scene, "camera", None)
        if aspect is None:
            aspect = wanted.width / wanted.height if wanted is not None else ASPECT
        fov = wanted.fov if wanted is not None else FIELD_OF_VIEW
        lower, upper = scene_bounds(scene)
        target = (lower + upper) / 2
        if wanted is not None and wanted.target is not None:
            target = np.array(wanted.target)
        radius = max(float(np.linalg.norm(upper - lower)) / 2, 1e-6)
        position = _stand_back(lower, upper, target, fov, aspect)
        if wanted is not None and wanted.position is not None:
            position = np.array(wanted.position)
        return cls(_vector(position), _vector(target), fov, radius, _floor(scene, lower))

    def axes(self) -> tuple[Array, Array, Array]:
        """Unit vectors to the right, up and forward."""
        forward = np.array(self.target) - np.array(self.position)
        return _axes(forward / np.linalg.norm(forward))


def picture_size(scene: Any) -> tuple[int, int]:
    """Width and height (pixels) that the scene asks for."""
    wanted = getattr(scene, "camera", None)
    return (wanted.width, wanted.height) if wanted is not None else (960, 540)


def _floor(scene: Any, lower: Array) -> float | None:
    """A floor under a scene that stands on something finite; falling fluid must stay in view."""
    shapes = {spec.shape for spec in scene.colliders if spec.visible}
    return float(lower[1]) if shapes and "plane" not in shapes else None


def _vector(values: Iterable[float]) -> Vector:
    x, y, z = (float(v) for v in values)
    return x, y, z


def _axes(forward: Array) -> tuple[Array, Array, Array]:
    # Looking straight down or up, "up" in the picture is away along z.
    pole = np.array([0.0, 0.0, -1.0]) if abs(forward[1]) > 0.9999 else np.array([0.0, 1.0, 0.0])
    right = np.cross(forward, pole)
    right /= np.linalg.norm(right)
    return right, np.cross(right, forward), forward


def _stand_back(lower: Array, upper: Array, target: Array, fov: float, aspect: float) -> Array:
    """The nearest place, in the usual direction, from which all corners of a box are in view."""
    back = np.array(
        [
            math.sin(AZIMUTH) * math.cos(ELEVATION),
            math.sin(ELEVATION),
            math.cos(AZIMUTH) * math.cos(ELEVATION),
        ]
    )
    right, up, forward = _axes(-back)
    choice = np.array(list(np.ndindex(2, 2, 2)), dtype=bool)
    corners = np.where(choice, upper, lower) - target
    tangent = math.tan(fov / 2)
    need = np.maximum(np.abs(corners @ up), np.abs(corners @ right) / aspect) / tangent
    distance = float(np.max(need - corners @ forward)) * MARGIN
    return target + max(distance, 1e-6) * back


def scene_bounds(scene: Any) -> tuple[Array, Array]:
    """Lower and upper corner (m) of where a scene is likely to play."""
    boxes = [box for spec in scene.colliders for box in _collider_boxes(spec)]
    containers = [box for spec in scene.colliders for box in _container_boxes(spec)]
    gravity = np.array(scene.simulation.gravity)
    for lower, upper, volume in _sources(scene):
        boxes.append((lower, upper))
        middle = (lower + upper) / 2
        held = any(np.all(a <= middle) and np.all(middle <= b) for a, b in containers)
        if not held:
            boxes.extend(_landing(scene, lower, upper, volume, gravity))
    limits = scene.simulation.kill_bounds
    if not boxes:
        boxes = [(np.array([-1.0] * 3), np.array([1.0] * 3))]
    lower = np.min([box[0] for box in boxes], axis=0)
    upper = np.max([box[1] for box in boxes], axis=0)
    if limits is not None:
        clipped = np.maximum(lower, limits.min), np.minimum(upper, limits.max)
        if np.all(clipped[0] < clipped[1]):
            return clipped
    return lower, upper


def _sources(scene: Any) -> Iterable[tuple[Array, Array, float]]:
    """Boxes around fluids and emitters, with the volume (m³) that comes from each."""
    for fluid in scene.fluids:
        center, half = np.array(fluid.center) + _middle(fluid), _half_size(fluid)
        yield center - half, center + half, float(np.prod(2 * half))
    duration = scene.frames / scene.simulation.fps
    for emitter in scene.emitters:
        center, half = np.array(emitter.center) + _middle(emitter), _half_size(emitter)
        yield center - half, center + half, emitted_volume(emitter, duration)


def _half_size(spec: Any) -> Array:
    """Half the size (m) of the box around a shape, as it is turned at the start."""
    shape = spec.shape
    if shape == "box":
        half = np.array(spec.size) / 2
    elif shape == "cylinder":
        half = np.array([spec.radius, spec.height / 2, spec.radius])
    elif shape == "torus":
        ring = spec.radius + spec.tube_radius
        half = np.array([ring, spec.tube_radius, ring])
    elif shape == "capsule":
        half = np.abs(np.subtract(spec.end, spec.start)) / 2 + spec.radius
    elif shape == "rectangle":
        half = np.full(3, max(spec.size) / 2)
    elif shape in ("mesh", "particles"):
        half = spec.scale * np.ptp(_bounds(spec), axis=0) / 2
    else:
        half = np.full(3, spec.radius)
    rotation = getattr(spec, "rotation", None)
    return half if rotation is None else _turned(half, rotation.axis, rotation.angle)


def _middle(spec: Any) -> Array:
    """Where the middle of a shape is, seen from its centre: for a mesh that is its file's origin."""
    if spec.shape not in ("mesh", "particles"):
        return np.zeros(3)
    middle = spec.scale * _bounds(spec).mean(axis=0)
    return np.asarray(quaternions.rotate(turn(spec.rotation), middle))


def _bounds(spec: Any) -> Array:
    """(2, 3) Lowest and highest corner of what is in a file, in the unit of the file."""
    if spec.shape == "mesh":
        return _mesh_bounds(spec.file)
    position = seed_file(spec.file).position
    return np.stack([position.min(axis=0), position.max(axis=0)])


@lru_cache
def _mesh_bounds(file: str) -> Array:
    """(2, 3) Lowest and highest corner of a mesh, in the unit of its file."""
    from viscoil.colliders.mesh_shapes import LEVEL_SET
    from viscoil.geometry.mesh_source import open_source

    if file.lower().endswith(LEVEL_SET):
        return np.stack(from_grids(read_vdb(file), file, "solid", 0.0).bounds)
    vertices = open_source(file).vertices(0.0)
    return np.stack([vertices.min(axis=0), vertices.max(axis=0)])


def _turned(half: Array, axis: Vector, angle: float) -> Array:
    """Half the size of the box around a box that is turned (Rodrigues' formula)."""
    x, y, z = np.array(axis) / np.linalg.norm(axis)
    k = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    matrix = np.eye(3) + math.sin(angle) * k + (1.0 - math.cos(angle)) * k @ k
    return np.asarray(np.abs(matrix) @ half)


def _swept(spec: Any, half: Array) -> Array:
    """Half the size of the box around a shape on all of its way through its keyframes."""
    rotations = [key.rotation for key in spec.motion if key.rotation is not None]
    if spec.shape in ("cylinder", "sphere"):
        rotations = [r for r in rotations if r.axis[0] or r.axis[2]]
    for rotation in rotations:
        for angle in np.linspace(0.0, rotation.angle, 17):
            half = np.maximum(half, _turned(_half_size(spec), rotation.axis, angle))
    return half


def _landing(
    scene: Any, lower: Array, upper: Array, volume: float, gravity: Array
) -> Iterable[tuple[Array, Array]]:
    """Where fluid that falls from a box will spread on the planes below it."""
    middle = (lower + upper) / 2
    for spec in scene.colliders:
        if spec.shape != "plane":
            continue
        normal = np.array(spec.normal) / np.linalg.norm(spec.normal)
        fall = float(gravity @ normal)
        height = float((middle - np.array(spec.point)) @ normal)
        if fall >= -0.5 * float(np.linalg.norm(gravity)) or height <= 0.0:
            continue
        spot = middle - gravity * (height / fall)
        spread = (upper - lower) / 2 + 0.35 * volume ** (1 / 3)
        spread = spread * (1.0 - np.abs(normal))
        yield spot - spread, spot + spread


def _container_boxes(spec: Any) -> Iterable[tuple[Array, Array]]:
    if spec.shape == "box" and spec.container:
        yield from _moving_boxes(spec)


def _collider_boxes(spec: Any) -> Iterable[tuple[Array, Array]]:
    """Boxes of a visible finite collider at its keyframes."""
    if spec.visible and spec.shape != "plane":
        yield from _moving_boxes(spec)


def _moving_boxes(spec: Any) -> Iterable[tuple[Array, Array]]:
    capsule = spec.shape == "capsule"
    center = np.add(spec.start, spec.end) / 2 if capsule else np.array(spec.center)
    half = _swept(spec, _half_size(spec))
    center = center + _middle(spec)
    shifts = [np.array(key.translation) for key in spec.motion] or [np.zeros(3)]
    for shift in shifts:
        yield center + shift - half, center + shift + half
