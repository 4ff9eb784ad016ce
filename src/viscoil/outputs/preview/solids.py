# mypy: disable-error-code="valid-type,name-defined,attr-defined,index,operator"
# mypy: disable-error-code="no-untyped-def,no-any-return,untyped-decorator"
"""Colliders as a ray sees them: exact intersections with the primitives, and their distances."""

import dataclasses
import enum

import quadrants as qd

vec3 = qd.types.vector(3, qd.f32)
vec4 = qd.types.vector(4, qd.f32)


class Kind(enum.IntEnum):
    """Shapes that are drawn; a container is a box of which only the edges are drawn."""

    PLANE = 0
    BOX = 1
    SPHERE = 2
    CYLINDER = 3
    CAPSULE = 4
    CONTAINER = 5


@dataclasses.dataclass
class Solids:
    """Colliders on the device. Arrays have at least one entry; `count` says how many are real."""

    count: qd.types.NDArray[qd.i32, 1]  # one entry
    kind: qd.types.NDArray[qd.i32, 1]
    size: qd.types.NDArray[vec3, 1]  # m: half sizes; or radius, half height
    position: qd.types.NDArray[vec3, 1]  # m
    orientation: qd.types.NDArray[vec4, 1]  # quaternion (x, y, z, w), own axes to world


@qd.func
def turn(q: vec4, v: vec3) -> vec3:
    """Rotates a vector by a unit quaternion (x, y, z, w)."""
    u = qd.Vector([q.x, q.y, q.z])
    return v + 2.0 * u.cross(u.cross(v) + q.w * v)


@qd.func
def turn_back(q: vec4, v: vec3) -> vec3:
    """Rotates a vector by the inverse of a unit quaternion."""
    return turn(qd.Vector([-q.x, -q.y, -q.z, q.w]), v)


@qd.func
def safe(v: vec3) -> vec3:
    """A direction without zeros, so that one can divide by it."""
    r = v
    for i in qd.static(range(3)):
        if qd.abs(r[i]) < 1e-9:
            r[i] = 1e-9
    return r


@qd.func
def slab(o: vec3, d: vec3, lower: vec3, upper: vec3) -> qd.types.vector(2, qd.f32):
    """Where a ray enters and leaves a box; it misses if it enters after it leaves."""
    inverse = 1.0 / safe(d)
    a = (lower - o) * inverse
    b = (upper - o) * inverse
    return qd.Vector([qd.min(a, b).max(), qd.max(a, b).min()])


@qd.func
def hit_plane(o: vec3, d: vec3) -> vec4:
    """The plane y = 0 seen from above only, so that it never stands in the way of the camera."""
    t = 1e30
    if d.y < -1e-9 and o.y > 0.0:
        t = -o.y / d.y
    return qd.Vector([0.0, 1.0, 0.0, t])


@qd.func
def hit_box(o: vec3, d: vec3, half: vec3) -> vec4:
    span = slab(o, d, -half, half)
    result = qd.Vector([0.0, 1.0, 0.0, 1e30])
    if span.x < span.y and span.x > 0.0:
        p = (o + span.x * d) / half
        a = qd.abs(p)
        n = qd.Vector([0.0, 0.0, 0.0])
        if a.x >= a.y and a.x >= a.z:
            n.x = qd.math.sign(p.x)
        elif a.y >= a.z:
            n.y = qd.math.sign(p.y)
        else:
            n.z = qd.math.sign(p.z)
        result = qd.Vector([n.x, n.y, n.z, span.x])
    return result


@qd.func
def hit_sphere(o: vec3, d: vec3, radius: qd.f32) -> vec4:
    b = o.dot(d)
    # The distance of the centre from the ray, not |o|^2 - b^2, which loses its digits far away.
    c = (o - b * d).norm_sqr()
    result = qd.Vector([0.0, 1.0, 0.0, 1e30])
    if c < radius * radius:
        t = -b - qd.sqrt(radius * radius - c)
        if t > 0.0:
            n = (o + t * d) / radius
            result = qd.Vector([n.x, n.y, n.z, t])
    return result


@qd.func
def hit_tube(o: vec3, d: vec3, radius: qd.f32, half: qd.f32) -> vec4:
    """The side of a cylinder about the y axis, between -half and half."""
    a = d.x * d.x + d.z * d.z
    result = qd.Vector([0.0, 1.0, 0.0, 1e30])
    if a > 1e-12:
        b = (o.x * d.x + o.z * d.z) / a
        x = o.x - b * d.x
        z = o.z - b * d.z
        c = radius * radius - x * x - z * z
        if c > 0.0:
            t = -b - qd.sqrt(c / a)
            p = o + t * d
            if t > 0.0 and qd.abs(p.y) <= half:
                result = qd.Vector([p.x / radius, 0.0, p.z / radius, t])
    return result


@qd.func
def hit_cylinder(o: vec3, d: vec3, radius: qd.f32, half: qd.f32) -> vec4:
    result = hit_tube(o, d, radius, half)
    side = -qd.math.sign(d.y)
    if qd.abs(d.y) > 1e-9:
        t = (side * half - o.y) / d.y
        p = o + t * d
        if t > 0.0 and t < result.w and p.x * p.x + p.z * p.z <= radius * radius:
            result = qd.Vector([0.0, side, 0.0, t])
    return result


@qd.func
def hit_capsule(o: vec3, d: vec3, radius: qd.f32, half: qd.f32) -> vec4:
    result = hit_tube(o, d, radius, half)
    for end in range(2):
        cap = hit_sphere(o - qd.Vector([0.0, (2 * end - 1) * half, 0.0]), d, radius)
        if cap.w < result.w:
            result = cap
    return result


@qd.func
def on_edge(p: vec3, half: vec3, width: qd.f32) -> qd.i32:
    """Whether a point on a box's surface lies on the strip along one of its edges."""
    near = qd.cast(half - qd.abs(p) < width, qd.i32)
    return qd.cast(near.sum() >= 2, qd.i32)


@qd.func
def hit_edges(o: vec3, d: vec3, half: vec3) -> vec4:
    """Thin strips along the edges of a box, on the side where the ray enters or leaves."""
    width = 0.012 * half.max()
    # A little outside of the box, or fluid that touches a wall would cover them here and there.
    frame = half + 0.3 * width
    span = slab(o, d, -frame, frame)
    result = qd.Vector([0.0, 1.0, 0.0, 1e30])
    if span.x < span.y:
        for i in qd.static(range(2)):
            t = span[1 - i]
            if t > 0.0 and on_edge(o + t * d, frame, width) == 1:
                result = qd.Vector([0.0, 1.0, 0.0, t])
    return result


@qd.func
def hit_solid(s: Solids, k: qd.i32, origin: vec3, direction: vec3) -> vec4:
    """Outward world normal and ray length (1e30: none) of the first hit with collider `k`."""
    q = s.orientation[k]
    o = turn_back(q, origin - s.position[k])
    d = turn_back(q, direction)
    size = s.size[k]
    kind = s.kind[k]
    h = qd.Vector([0.0, 1.0, 0.0, 1e30])
    if kind == Kind.PLANE:
        h = hit_plane(o, d)
    elif kind == Kind.BOX:
        h = hit_box(o, d, size)
    elif kind == Kind.SPHERE:
        h = hit_sphere(o, d, size.x)
    elif kind == Kind.CYLINDER:
        h = hit_cylinder(o, d, size.x, size.y)
    elif kind == Kind.CAPSULE:
        h = hit_capsule(o, d, size.x, size.y)
    else:
        h = hit_edges(o, d, size)
    n = turn(q, qd.Vector([h.x, h.y, h.z]))
    return qd.Vector([n.x, n.y, n.z, h.w])


@qd.func
def solid_distance(s: Solids, k: qd.i32, point: vec3) -> qd.f32:
    """Distance (m) of a point from collider `k`; containers, being thin, are infinitely far."""
    p = turn_back(s.orientation[k], point - s.position[k])
    size = s.size[k]
    kind = s.kind[k]
    result = 1e30
    if kind == Kind.PLANE:
        result = p.y
    elif kind == Kind.BOX:
        e = qd.abs(p) - size
        result = qd.max(e, 0.0).norm() + qd.min(e.max(), 0.0)
    elif kind == Kind.SPHERE:
        result = p.norm() - size.x
    elif kind == Kind.CYLINDER:
        r = qd.Vector([p.x, p.z]).norm() - size.x
        y = qd.abs(p.y) - size.y
        outside = qd.Vector([qd.max(r, 0.0), qd.max(y, 0.0)]).norm()
        result = outside + qd.min(qd.max(r, y), 0.0)
    elif kind == Kind.CAPSULE:
        y = qd.max(qd.abs(p.y) - size.y, 0.0)
        result = qd.Vector([p.x, y, p.z]).norm() - size.x
    return result
