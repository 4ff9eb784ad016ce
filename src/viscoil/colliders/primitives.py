"""Colliders as primitives in their body frames, and their distance in NumPy.

The kernels' twin of the distance is in `arrays`.
"""

import enum
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from viscoil.colliders.motion import Pose, moved, turn
from viscoil.geometry import quaternions
from viscoil.geometry.bricks.brick_field import BrickField
from viscoil.geometry.quaternions import Float
from viscoil.scene import BoxCollider, Collider


class Kind(enum.IntEnum):
    """Primitives and their sizes (m); cached kernels hold the values, so never renumber."""

    PLANE = 0  # none; the solid is below y = 0
    BOX = 1  # half sizes along x, y and z
    SPHERE = 2  # radius, 0
    CYLINDER = 3  # radius, half height along y
    CAPSULE = 4  # radius, half length of the axis along y
    MESH = 5  # none; a distance field says where the solid is


class Contact(enum.IntEnum):
    """How fluid meets a surface; cached kernels hold the values, so never renumber."""

    STICKY = 0
    SLIP = 1
    FRICTION = 2


class Primitive(NamedTuple):
    """One solid; a collider is the union of its primitives."""

    kind: Kind
    params: tuple[float, float, float, float]
    pose: Pose  # in the collider's frame
    distance_field: BrickField | None = None  # distances of a mesh
    points: Float | None = None  # (n, 3) m: some of a mesh's vertices, its outermost among them


FACES: dict[str, tuple[float, float, float]] = {
    "+x": (1.0, 0.0, 0.0),
    "-x": (-1.0, 0.0, 0.0),
    "+y": (0.0, 1.0, 0.0),
    "-y": (0.0, -1.0, 0.0),
    "+z": (0.0, 0.0, 1.0),
    "-z": (0.0, 0.0, -1.0),
}


def primitives(spec: Collider) -> list[Primitive]:
    """What the collider is made of: one primitive, or the walls of a container."""
    match spec.shape:
        case "plane":
            return [_primitive(Kind.PLANE)]
        case "box":
            return _walls(spec) if spec.container else [_primitive(Kind.BOX, *_half(spec.size))]
        case "sphere":
            return [_primitive(Kind.SPHERE, spec.radius)]
        case "cylinder":
            return [_primitive(Kind.CYLINDER, spec.radius, 0.5 * spec.height)]
        case "capsule":
            length = float(np.linalg.norm(np.subtract(spec.end, spec.start)))
            return [_primitive(Kind.CAPSULE, spec.radius, 0.5 * length)]
        case "mesh":
            return [_primitive(Kind.MESH)]


def rest_pose(spec: Collider) -> Pose:
    """The pose before any motion: the collider's reference point and axes.

    The reference point, about which keyframes turn, is a plane's point, the middle of a capsule,
    and the centre of the others. The body's +y is a plane's normal and a capsule's axis.
    """
    match spec.shape:
        case "plane":
            return Pose(np.array(spec.point), quaternions.from_y_axis(spec.normal))
        case "sphere":
            return Pose(np.array(spec.center), quaternions.IDENTITY)
        case "box" | "cylinder" | "mesh":
            return Pose(np.array(spec.center), turn(spec.rotation))
        case "capsule":
            start, end = np.array(spec.start), np.array(spec.end)
            return Pose(0.5 * (start + end), quaternions.from_y_axis(end - start))


def pose(spec: Collider, time: float) -> Pose:
    """The pose of the collider's reference point and axes at `time` (s)."""
    return moved(rest_pose(spec), spec.motion, time, spec.interpolation)


def distance(spec: Collider, points: Float, time: float) -> Float:
    """Signed distance (n,) in m of world points (n, 3) at `time` (s), negative inside the solid.

    Exact for single primitives and outside the walls of a container; within its walls it is the
    largest depth in any of them, which is at most the exact depth. Not for meshes, whose distance a
    `ColliderSet` knows.
    """
    whole = pose(spec, time)
    result = np.full(len(points), np.inf)
    for part in primitives(spec):
        placed = part._replace(pose=whole.then(part.pose))
        result = np.minimum(result, distance_to(placed, np.asarray(points, dtype=np.float64)))
    return result


def distance_to(part: Primitive, points: Float) -> Float:
    """Signed distance (n,) in m of points (n, 3) to a primitive, both in the frame of its pose."""
    return part.pose.scale * _distance(part, part.pose.to_body(points))


def _distance(part: Primitive, p: Float) -> Float:
    """Signed distance of points in the primitive's own frame."""
    match part.kind:
        case Kind.PLANE:
            return np.asarray(p[:, 1])
        case Kind.BOX:
            return _rounded(np.abs(p) - np.array(part.params[:3]))
        case Kind.CYLINDER:
            profile = np.stack([np.hypot(p[:, 0], p[:, 2]), np.abs(p[:, 1])], axis=1)
            return _rounded(profile - np.array(part.params[:2]))
        case Kind.SPHERE | Kind.CAPSULE:
            radius, half_length = part.params[:2]
            nearest = np.clip(p[:, 1], -half_length, half_length)
            axial = np.stack([p[:, 0], p[:, 1] - nearest, p[:, 2]], axis=1)
            return np.asarray(np.linalg.norm(axial, axis=1) - radius)
        case Kind.MESH:
            assert part.distance_field is not None, (
                "only a ColliderSet knows the distance of a mesh"
            )
            return part.distance_field.sample(p)


def _rounded(excess: Float) -> Float:
    """Distance to an upright solid from the excess over its half size along each axis."""
    outside = np.linalg.norm(np.maximum(excess, 0.0), axis=1)
    return np.asarray(outside + np.minimum(excess.max(axis=1), 0.0))


def _primitive(kind: Kind, *sizes: float) -> Primitive:
    a, b, c, d = (*sizes, 0.0, 0.0, 0.0, 0.0)[:4]
    return Primitive(kind, (a, b, c, d), Pose(np.zeros(3), quaternions.IDENTITY))


def _walls(spec: BoxCollider) -> list[Primitive]:
    """A plane for each closed face, at its centre, facing in."""
    closed = [np.array(normal) for face, normal in FACES.items() if face not in spec.open]
    poses = [Pose(n * _half(spec.size), quaternions.from_y_axis(-n)) for n in closed]
    return [_primitive(Kind.PLANE)._replace(pose=pose) for pose in poses]


def _half(size: Sequence[float]) -> Float:
    return 0.5 * np.asarray(size, dtype=np.float64)
