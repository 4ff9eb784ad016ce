# mypy: disable-error-code="valid-type,index,no-untyped-def,no-untyped-call,misc,untyped-decorator"
"""Colliders as kernels see them: state arrays, and distance, normal and velocity at a point."""

import dataclasses

import quadrants as qd

from viscoil.colliders.primitives import Kind
from viscoil.core.compute import Floats, Ints, Vec3s, scalars, vec3, vec4, vectors
from viscoil.geometry.bricks.arrays import (
    BrickArrays,
    distance_in_bricks,
    friction_in_bricks,
    pack_bricks,
    velocity_in_bricks,
)

Vec4s = qd.types.NDArray[vec4, 1]


@dataclasses.dataclass
class ColliderArrays:
    """World-space state of the primitives at the end of a step; one entry per primitive.

    What is called `before` is the pose at the start of the step.

    kind: a `Kind`
    params: sizes, m; see `Kind` for what they mean
    position: reference point (plane point, centre, middle of the capsule's axis), m
    orientation: quaternion (x, y, z, w), body to world
    velocity: of the reference point over the step, m/s
    angular_velocity: rad/s, world axes
    scale: size over that of the params or the mesh
    growth: relative rate of change of the scale, 1/s
    moves: 1 if the pose or the mesh may change
    distance_field: index of a mesh's distance field in the bricks, -1 for other kinds
    contact: a `Contact`
    friction: Coulomb coefficient, used when the contact is FRICTION
    adhesion: factor of the materials' adhesion
    """

    kind: Ints
    params: Vec4s
    position: Vec3s
    orientation: Vec4s
    velocity: Vec3s
    angular_velocity: Vec3s
    scale: Floats
    growth: Floats
    position_before: Vec3s
    orientation_before: Vec4s
    scale_before: Floats
    moves: Ints
    distance_field: Ints
    contact: Ints
    friction: Floats
    adhesion: Floats
    bricks: BrickArrays


def allocate(count: int) -> ColliderArrays:
    """Zeroed arrays for `count` primitives, at least one (the backend must be running)."""
    return ColliderArrays(
        kind=scalars(qd.i32, count),
        params=vectors(4, count),
        position=vectors(3, count),
        orientation=vectors(4, count),
        velocity=vectors(3, count),
        angular_velocity=vectors(3, count),
        scale=scalars(qd.f32, count),
        growth=scalars(qd.f32, count),
        position_before=vectors(3, count),
        orientation_before=vectors(4, count),
        scale_before=scalars(qd.f32, count),
        moves=scalars(qd.i32, count),
        distance_field=scalars(qd.i32, count),
        contact=scalars(qd.i32, count),
        friction=scalars(qd.f32, count),
        adhesion=scalars(qd.f32, count),
        bricks=pack_bricks([]),
    )


@qd.func
def _rotate(q, v):
    """The vector v turned by the unit quaternion q."""
    u = qd.Vector([q[0], q[1], q[2]])
    t = 2.0 * u.cross(v)
    return v + q[3] * t + u.cross(t)


@qd.func
def _rotate_back(q, v):
    """The vector v turned by the inverse of the unit quaternion q."""
    return _rotate(qd.Vector([-q[0], -q[1], -q[2], q[3]]), v)


@qd.func
def _sign(a):
    """1 or -1, and 1 at zero, so that a normal built from it never vanishes."""
    return qd.select(a < 0.0, -1.0, 1.0)


@qd.func
def _box(p, h):
    """Normal and signed distance of the box of half sizes h at p, body frame."""
    e = qd.Vector([qd.abs(p[0]) - h[0], qd.abs(p[1]) - h[1], qd.abs(p[2]) - h[2]])
    w = qd.max(e, 0.0)
    square = w.dot(w)
    d = qd.max(e[0], e[1], e[2])
    n = qd.Vector([0.0, 0.0, 0.0])
    # Below 1e-15 m the direction w has no digits left: use the face, as inside.
    if square > 1e-30:
        d = qd.sqrt(square)
        n = w / d
    elif e[0] >= e[1] and e[0] >= e[2]:
        n[0] = 1.0
    elif e[1] >= e[2]:
        n[1] = 1.0
    else:
        n[2] = 1.0
    return qd.Vector([_sign(p[0]) * n[0], _sign(p[1]) * n[1], _sign(p[2]) * n[2], d])


@qd.func
def _cylinder(p, radius, half_height):
    """Normal and signed distance of the cylinder about y at p, body frame."""
    r = qd.sqrt(p[0] * p[0] + p[2] * p[2])
    # On the axis every radial direction is as near: take x.
    cx, cz = 1.0, 0.0
    if r > 1e-15:
        cx, cz = p[0] / r, p[2] / r
    er, ey = r - radius, qd.abs(p[1]) - half_height
    wr, wy = qd.max(er, 0.0), qd.max(ey, 0.0)
    square = wr * wr + wy * wy
    d = qd.max(er, ey)
    nr, ny = 0.0, 0.0
    if square > 1e-30:
        d = qd.sqrt(square)
        nr, ny = wr / d, wy / d
    elif er >= ey:
        nr = 1.0
    else:
        ny = 1.0
    return qd.Vector([nr * cx, ny * _sign(p[1]), nr * cz, d])


@qd.func
def _capsule(p, radius, half_length):
    """Normal and signed distance of the capsule (or sphere) about y at p, body frame."""
    v = qd.Vector([p[0], p[1] - qd.min(qd.max(p[1], -half_length), half_length), p[2]])
    r = v.norm()
    n = qd.Vector([1.0, 0.0, 0.0])
    if r > 1e-15:
        n = v / r
    return qd.Vector([n[0], n[1], n[2], r - radius])


@qd.func
def distance_and_normal(c: ColliderArrays, k: qd.i32, x: vec3):
    """Outward unit normal (xyz) and signed distance (w, m) of primitive k at the point x.

    The distance is exact, and negative inside the solid. Where several surface points are equally
    near (centres, axes, edges from inside) the normal is that of one of them.
    """
    kind = c.kind[k]
    q = c.orientation[k]
    r = x - c.position[k]
    result = qd.Vector([0.0, 1.0, 0.0, 0.0])
    if kind == Kind.PLANE:
        n = _rotate(q, qd.Vector([0.0, 1.0, 0.0]))
        result = qd.Vector([n[0], n[1], n[2], n.dot(r)])
    else:
        p = _rotate_back(q, r) / c.scale[k]
        s = c.params[k]
        if kind == Kind.BOX:
            result = _box(p, s)
        elif kind == Kind.CYLINDER:
            result = _cylinder(p, s[0], s[1])
        elif kind == Kind.MESH:
            result = distance_in_bricks(c.bricks, c.distance_field[k], p)
        else:
            result = _capsule(p, s[0], s[1])
        n = _rotate(q, qd.Vector([result[0], result[1], result[2]]))
        result = qd.Vector([n[0], n[1], n[2], c.scale[k] * result[3]])
    return result


@qd.func
def surface_velocity(c: ColliderArrays, k: qd.i32, x: vec3):
    """Velocity (m/s) of the material point of primitive k that is at x, or nearest to it."""
    r = x - c.position[k]
    velocity = c.velocity[k] + c.angular_velocity[k].cross(r) + c.growth[k] * r
    if c.kind[k] == Kind.MESH:
        q = c.orientation[k]
        p = _rotate_back(q, r) / c.scale[k]
        own = velocity_in_bricks(c.bricks, c.distance_field[k], p)
        velocity += c.scale[k] * _rotate(q, own)
    return velocity


@qd.func
def surface_friction(c: ColliderArrays, k: qd.i32, x: vec3) -> qd.f32:
    """Friction coefficient of the point of primitive k that is nearest to x."""
    friction = c.friction[k]
    if c.kind[k] == Kind.MESH:
        p = _rotate_back(c.orientation[k], x - c.position[k]) / c.scale[k]
        friction = friction_in_bricks(c.bricks, c.distance_field[k], p, friction)
    return friction


@qd.func
def carried(c: ColliderArrays, k: qd.i32, dt: qd.f32, x: vec3) -> vec3:
    """Where x is at the end of a step if it has moved with primitive k, or with its surface nearby."""
    end = x
    if c.moves[k] == 1:
        body = _rotate_back(c.orientation_before[k], x - c.position_before[k])
        body *= c.scale[k] / c.scale_before[k]
        end = c.position[k] + _rotate(c.orientation[k], body)
        if c.kind[k] == Kind.MESH:
            f = c.distance_field[k]
            start = body / c.scale[k]
            moved = start
            for _ in range(2):
                moved = start + dt * velocity_in_bricks(c.bricks, f, moved)
            end += c.scale[k] * _rotate(c.orientation[k], moved - start)
    return end
