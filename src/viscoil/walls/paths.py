# mypy: disable-error-code="valid-type,no-untyped-def,no-untyped-call,misc"
"""What a particle meets on its way through a step: walls that are thin, fast, or both."""

import quadrants as qd

from viscoil.bodies.arrays import body_velocity
from viscoil.colliders.arrays import ColliderArrays, carried, distance_and_normal
from viscoil.colliders.primitives import Contact
from viscoil.core.compute import vec3, vec4
from viscoil.neighbors.scale import Scale
from viscoil.walls.arrays import WallArrays


@qd.func
def resting_distance(c: qd.i32, k: qd.i32, walls: WallArrays) -> qd.f32:
    """How near to wall k the particle with contact c may come: d/2, and a little more the higher it was.

    Thin fluid that slips may come twice as near: its images keep it d/2 away where pressure is even, and
    let its first layer move to and from the wall as the flow does. Held at d/2, it is too thick for fluid
    that is drawn out along the wall, and a wave loses two thirds of its energy in a period instead of
    one. Nearer than d/4 an image would push less the nearer it is (w' is largest at d/2 to 2 d/3).

    When several layers are about to cross a wall in one step they keep their order instead of
    landing on top of each other: a twentieth of their distances is left to them, which was tried and
    is not derived.
    """
    order = 0.05
    spacing = walls.contacts.spacing[c]
    rest = 0.5 * spacing
    if walls.colliders.contact[k] == Contact.SLIP:
        rest -= 0.25 * walls.contacts.thinness[c] * spacing
    return rest + order * qd.max(walls.contacts.height[c] - rest, 0.0)


@qd.func
def same_side() -> qd.f32:
    """The cosine of two normals above which they belong to one side of a body: 37 degrees.

    Tried, not derived: below it a body has turned too far, or the particle has come around an edge.
    """
    return 0.8


@qd.func
def shortest_look(spacing: qd.f32) -> qd.f32:
    """The least step along a way, m: a twentieth of a spacing, so that 64 looks reach three spacings."""
    return 0.05 * spacing


@qd.func
def follow(colliders: ColliderArrays, k: qd.i32, least: qd.f32, start: vec3, end: vec3):
    """What a way meets of collider k: normal and distance at both its ends, and where it touches first.

    The third result is normal and distance at the last place before that, and the fourth the share
    of the way up to there, 2 if it touches nothing; a way that starts inside never does. Steps along
    the way are as long as the distance allows, and at least `least` (m). To touch is to come nearer
    than half of that: inside a plate as thin as a cell the distances of a mesh are hardly negative,
    and their normals mean nothing. One loop for all, because every place that asks for a distance is
    compiled on its own.
    """
    way = end - start
    length = qd.max(way.norm(), 1e-20)
    at_end = vec4(0.0)
    at_start = vec4(0.0)
    before = vec4(0.0)
    skin = 0.0
    share = 0.0
    last = 0.0
    met = 2.0
    looks = 2
    look = 0
    while look < looks:
        x = end
        if look > 0:
            x = start + share * way
        at = distance_and_normal(colliders, k, x)
        if look == 0:
            at_end = at
        elif look == 1:
            at_start = at
            skin = 0.5 * qd.min(least, at[3])
            if at[3] > 0.0 and length > at[3] - skin:
                looks = 64
        elif at[3] <= skin:
            met = last
            looks = 0
        if look > 0 and looks > 0:
            before = at
            last = share
            share += qd.max(at[3], least) / length
            if share > 1.0:
                looks = 0
        look += 1
    if looks == 64:  # it ran out of looks, closely along a wall: go no farther than was seen
        met = last
    return at_start, at_end, before, met


@qd.func
def wall_ahead(
    colliders: ColliderArrays,
    k: qd.i32,
    dt: qd.f32,
    spacing: qd.f32,
    start: vec3,
    end: vec3,
):
    """What collider k is to a particle that goes from `start` to `end` in a step.

    Returns normal and distance, and `end`, or if the way passes a wall the place where it would.
    A particle that was outside and ends inside, or beyond, is held by the side it came from: the
    nearest side may be the far one of a thin plate. Its way is seen from the collider, which
    may itself have run over the particle.
    """
    begin = carried(colliders, k, dt, start)
    way = end - begin
    least = shortest_look(spacing)
    _origin, at, outside, share = follow(colliders, k, least, begin, end)
    safe = end
    if share <= 1.0:
        safe = begin + share * way
        n = vec3(outside[0], outside[1], outside[2])
        turned = n.dot(vec3(at[0], at[1], at[2])) <= 0.0
        if turned or at[3] < 0.5 * least:
            flat = outside[3] + n.dot((1.0 - share) * way)
            at = vec4(n[0], n[1], n[2], qd.min(flat, 0.0))
    return at, safe


@qd.func
def body_ahead(
    c: qd.i32, slot: qd.i32, scale: Scale, walls: WallArrays, start: vec3, end: vec3
) -> vec4:
    """`wall_ahead` for a dynamic body, which moves too; the normal is that of the start.

    Unless the particle has come around an edge, and not through it: then it is the present one.
    """
    at = distance_and_normal(walls.colliders, walls.bodies.primitive[slot], end)
    origin = walls.contacts.start[c * walls.body_count + slot]
    n = vec3(origin[0], origin[1], origin[2])
    moved = end - start - scale.dt * body_velocity(walls.bodies, slot, start)
    flat = origin[3] + n.dot(moved)
    along = n.dot(vec3(at[0], at[1], at[2]))
    around = along < same_side()
    through = along < 0.0 or at[3] < -walls.contacts.spacing[c] or (around and at[3] < 0.0)
    if origin[3] > 0.0 and flat < 0.0 and through:
        at = vec4(n[0], n[1], n[2], flat)
    elif along > same_side():
        at = vec4(n[0], n[1], n[2], at[3])
    return at
