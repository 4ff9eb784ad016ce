# mypy: disable-error-code="valid-type,name-defined,attr-defined,index,operator"
# mypy: disable-error-code="no-untyped-def,no-any-return,untyped-decorator"
"""Colliders as a ray sees them: exact intersections with the primitives, and their distances."""

import dataclasses
import enum

import quadrants as qd

from viscoil.geometry.bricks.arrays import BrickArrays, distance_in_bricks

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
    MESH = 6


@dataclasses.dataclass
class Solids:
    """Colliders on the device. Arrays have at least one entry; `count` says how many are real."""

    count: qd.types.NDArray[qd.i32, 1]  # one entry
    kind: qd.types.NDArray[qd.i32, 1]
    size: qd.types.NDArray[vec3, 1]  # m: half sizes; or radius, half height
    position: qd.types.NDArray[vec3, 1]  # m
    orientation: qd.types.NDArray[vec4, 1]  # quaternion (x, y, z, w), own axes to world
    scale: qd.types.NDArray[qd.f32, 1]  # size in the world over its own
    distance_field: qd.types.NDArray[qd.i32, 1]  # a mesh's place in the bricks
    bricks: BrickArrays


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
def without_zeros(v: vec3) -> vec3:
    """A direction without zeros, so that one can divide by it."""
    r = v
    for i in qd.static(range(3)):
        if qd.abs(r[i]) < 1e-9:
            r[i] = 1e-9
    return r


@qd.func
def slab(o: vec3, d: vec3, lower: vec3, upper: vec3) -> qd.types.vector(2, qd.f32):
    """Where a ray enters and leaves a box; it misses if it enters after it leaves."""
    inverse = 1.0 / without_zeros(d)
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
def smooth_normal(b: BrickArrays, f: qd.i32, p: vec3) -> vec3:
    """Normal of a distance field, over two cells, so that its cells are not seen."""
    n = qd.Vector([0.0, 0.0, 0.0])
    for side in range(6):
        axis, sign = side // 2, 1.0 - 2.0 * (side % 2)
        step = qd.Vector([0.0, 0.0, 0.0])
        for a in qd.static(range(3)):
            if a == axis:
                step[a] = sign
        n += distance_in_bricks(b, f, p + b.cell[f] * step).w * step
    return n.normalized(1e-20)


@qd.func
def hit_mesh(b: BrickArrays, f: qd.i32, o: vec3, d: vec3) -> vec4:
    """Where a ray enters the solid of a distance field, in steps as long as the distance allows."""
    cell = b.cell[f]
    size = qd.Vector([b.blocks[3 * f], b.blocks[3 * f + 1], b.blocks[3 * f + 2]])
    span = slab(o, d, b.origin[f], b.origin[f] + 64.0 * cell * size)
    t = qd.max(span.x, 0.0)
    before = -1.0
    stride = 0.0
    hit = 1e30
    steps = 0
    while t < span.y and steps < 1000:
        steps += 1
        distance = distance_in_bricks(b, f, o + t * d).w
        if distance <= 0.0 and before > 0.0:
            hit = t - stride * distance / (distance - before)
            break
        before = distance
        stride = qd.max(0.9 * qd.abs(distance), 0.1 * cell)
        t += stride
    n = qd.Vector([0.0, 1.0, 0.0])
    if hit < 1e29:
        n = smooth_normal(b, f, o + hit * d)
    return qd.Vector([n.x, n.y, n.z, hit])


@qd.func
def hit_solid(s: Solids, k: qd.i32, origin: vec3, direction: vec3) -> vec4:
    """Outward world normal and ray length (1e30: none) of the first hit with collider `k`."""
    q = s.orientation[k]
    o = turn_back(q, origin - s.position[k]) / s.scale[k]
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
    elif kind == Kind.MESH:
        h = hit_mesh(s.bricks, s.distance_field[k], o, d)
    else:
        h = hit_edges(o, d, size)
    n = turn(q, qd.Vector([h.x, h.y, h.z]))
    return qd.Vector([n.x, n.y, n.z, s.scale[k] * h.w])


@qd.func
def solid_distance(s: Solids, k: qd.i32, point: vec3) -> qd.f32:
    """Distance (m) of a point from collider `k`; containers, being thin, are infinitely far."""
    p = turn_back(s.orientation[k], point - s.position[k]) / s.scale[k]
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
    elif kind == Kind.MESH:
        result = distance_in_bricks(s.bricks, s.distance_field[k], p).w
    return s.scale[k] * result
