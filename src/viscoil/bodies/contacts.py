"""Where rigid bodies touch each other and other colliders: points of one, distances of the other."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import product

import numpy as np

from viscoil.colliders.primitives import Kind, Primitive, distance_to
from viscoil.geometry.quaternions import Float
from viscoil.scene import Collider

RIM = 12  # points around each end of a cylinder: chords sink in by 1 − cos 15° = 3 % of the radius
EDGE = 4  # parts of a box's edge, against anything that is not flat: 5 points on each edge
INSIDE = 0.05  # of the way from a point to the centre of its solid, where normals are evaluated
AROUND = 200  # directions from a ball in which a mesh is looked for: √(4π/200) = 0.25 rad apart
APART = 0.5  # cosine between two directions from a ball that may both have a contact: 60°
BARE_FRICTION = 0.5  # where neither collider gives a coefficient: wood on wood, 0.25 to 0.5


@dataclass(frozen=True)
class Solid:
    """A collider where it is now."""

    spec: Collider
    parts: Sequence[Primitive]  # with world poses
    center: Float  # (3,) m
    radius: float  # m: of a ball about the centre that holds it; inf if there is none


@dataclass(frozen=True)
class RigidContact:
    """A point at which two colliders touch or may do so within the step."""

    first: int  # index of a dynamic collider
    second: int  # index of the other
    point: Float  # (3,) m, halfway between the surfaces
    normal: Float  # (3,), out of the second
    gap: float  # m, negative where they overlap


def find_contacts(
    solids: Sequence[Solid], dynamic: Sequence[int], reach: Sequence[float]
) -> list[RigidContact]:
    """All contacts of the dynamic colliders with gaps below the sum of both `reach` (m)."""
    found: list[RigidContact] = []
    for a in dynamic:
        for b, other in enumerate(solids):
            margin = reach[a] + reach[b]
            seen = b == a or (b in dynamic and b < a)
            if seen or not _may_touch(solids[a], other, margin):
                continue
            found += _touching(a, b, solids[a], other, margin)
            found += [_turned(c) for c in _touching(b, a, other, solids[a], margin)]
    return found


def friction(a: Collider, b: Collider) -> float:
    """Coulomb's coefficient between two colliders: the geometric mean of those that they give."""
    given = [mu for mu in (_given_friction(a), _given_friction(b)) if mu is not None]
    return float(np.prod(given)) ** (1.0 / len(given)) if given else BARE_FRICTION


def _given_friction(spec: Collider) -> float | None:
    if spec.contact == "sticky":
        return None
    return spec.friction if spec.contact == "friction" else 0.0


def _may_touch(a: Solid, b: Solid, margin: float) -> bool:
    center = a.center[None]
    nearest = min(float(distance_to(part, center)[0]) for part in b.parts)
    return nearest < a.radius + margin


def _touching(a: int, b: int, one: Solid, other: Solid, margin: float) -> Iterator[RigidContact]:
    """Points of collider a against the distance of collider b."""
    for part, wall in product(one.parts, other.parts):
        towards = -normals(wall, part.pose.position[None])[0]
        cores, radius = features(part, towards, flat=wall.kind == Kind.PLANE)
        if wall.distance_field is not None and radius > 0.5 * _band(wall):
            cores, radius = _smaller_balls(cores, radius, wall), 0.5 * _band(wall)
        gaps, out = _facing(wall, cores, part.pose.position)
        gaps -= radius
        near = gaps < margin
        for core, gap, n in zip(cores[near], gaps[near], out[near], strict=True):
            yield RigidContact(a, b, core - (radius + 0.5 * gap) * n, n, float(gap))


def _facing(wall: Primitive, points: Float, center: Float) -> tuple[Float, Float]:
    """Gaps (n,) in m and normals (n, 3) of a solid's points.

    Where a corner lies flush with a corner of the other, the distance has no unique gradient, so that
    of boxes and cylinders is evaluated a little inside the solid that the point belongs to. Beyond its
    band the distance of a mesh is not known and counts as infinite.
    """
    if wall.distance_field is not None:
        gaps = distance_to(wall, points)
        return np.where(gaps < 0.999 * _band(wall), gaps, np.inf), normals(wall, points)
    if wall.kind not in (Kind.BOX, Kind.CYLINDER):
        return distance_to(wall, points), normals(wall, points)
    inside = points + INSIDE * (center - points)
    n = normals(wall, inside)
    return distance_to(wall, inside) + np.einsum("pa,pa->p", n, points - inside), n


def _band(wall: Primitive) -> float:
    """Distance (m) up to which that of a mesh is known."""
    assert wall.distance_field is not None
    return wall.pose.scale * wall.distance_field.band


def _smaller_balls(cores: Float, radius: float, wall: Primitive) -> Float:
    """Centres (n, 3) of balls of radius band / 2 inside larger ones, which they touch towards a mesh.

    They replace balls whose centres are farther from the mesh than its distances are known.
    """
    inner = radius - 0.5 * _band(wall)
    ways = _directions()
    found: list[Float] = []
    for core in cores:
        gaps, out = _facing(wall, core + inner * ways, core)
        while np.isfinite(gaps).any():
            nearest = int(np.argmin(gaps))
            found.append(core - inner * out[nearest])
            gaps[ways @ ways[nearest] > APART] = np.inf
    return np.array(found).reshape(-1, 3)


@cache
def _directions() -> Float:
    """Unit vectors (AROUND, 3), evenly spread along a spiral."""
    y = 1.0 - (2.0 * np.arange(AROUND) + 1.0) / AROUND
    angle = np.pi * (3.0 - np.sqrt(5.0)) * np.arange(AROUND)
    r = np.sqrt(1.0 - y * y)
    return np.stack([r * np.cos(angle), y, r * np.sin(angle)], axis=1)


def _turned(c: RigidContact) -> RigidContact:
    return RigidContact(c.second, c.first, c.point, -c.normal, c.gap)


def normals(part: Primitive, points: Float) -> Float:
    """The gradient (n, 3) of the distance, by differences, so that it serves any shape."""
    step = 1e-6
    ends = np.concatenate([points + step * e for e in (*np.eye(3), *-np.eye(3))])
    values = distance_to(part, ends).reshape(2, 3, len(points))
    slopes = (values[0] - values[1]).T
    lengths = np.linalg.norm(slopes, axis=1, keepdims=True)
    # in the middle of a solid the gradient vanishes: any direction will do, so up
    return np.where(lengths > step, slopes / np.maximum(lengths, 1e-30), [0.0, 1.0, 0.0])


def features(part: Primitive, towards: Float, flat: bool) -> tuple[Float, float]:
    """World points (n, 3) of the solid, and the radius (m) of the balls about them.

    Spheres and capsules are balls about points of their axis; one of the points on a cylinder's rims
    is `towards` the other solid.
    """
    match part.kind:
        case Kind.SPHERE | Kind.CAPSULE:
            radius, half = part.params[:2]
            ends = np.array([[0.0, -half, 0.0], [0.0, half, 0.0]])
            body = ends[:1] if half == 0.0 else np.concatenate([ends, np.zeros((1, 3))])
            return part.pose.to_world(body), radius
        case Kind.BOX:
            return part.pose.to_world(_box_points(flat) * np.array(part.params[:3])), 0.0
        case Kind.CYLINDER:
            local = part.pose.to_body(part.pose.position + towards)
            angles = np.arctan2(local[2], local[0]) + 2.0 * np.pi * np.arange(RIM) / RIM
            radius, half = part.params[:2]
            rim = np.stack([radius * np.cos(angles), 0.0 * angles, radius * np.sin(angles)], 1)
            up = np.array([0.0, half, 0.0])
            return part.pose.to_world(np.concatenate([rim + up, rim - up])), 0.0
        case Kind.MESH:
            points = np.zeros((0, 3)) if part.points is None else part.points
            return part.pose.to_world(points), 0.0
        case _:
            return np.zeros((0, 3)), 0.0


@cache
def _box_points(flat: bool) -> Float:
    """Corners and, unless the other is flat, points along the edges of the cube from -1 to 1."""
    corners = list(product((-1.0, 1.0), repeat=3))
    if flat:
        return np.array(corners)
    inner = np.linspace(-1.0, 1.0, EDGE + 1)[1:-1]
    edges = [
        np.insert(np.array(ends), axis, t)
        for axis in range(3)
        for ends in product((-1.0, 1.0), repeat=2)
        for t in inner
    ]
    return np.array([*corners, *edges])
