# mypy: disable-error-code="valid-type,name-defined,attr-defined,index,operator"
# mypy: disable-error-code="no-untyped-def,no-any-return,untyped-decorator"
"""Rays through the fluid's surface and among the colliders."""

import quadrants as qd

from viscoil.preview.distance_grid import DistanceGrid, block_at, block_distance
from viscoil.preview.solids import Kind, Solids, hit_solid, slab, without_zeros

vec2 = qd.types.vector(2, qd.f32)
vec3 = qd.types.vector(3, qd.f32)
vec4 = qd.types.vector(4, qd.f32)


@qd.func
def length_of_empty_blocks(place: vec3, inverse: vec3, gap: qd.i32, width: qd.f32) -> qd.f32:
    """Length (m) of a ray until it is just outside of the empty blocks around a place.

    All blocks nearer than `gap` places are empty; `inverse` is one over the ray's direction.
    """
    # A ten-thousandth of a block farther, or rounding could leave the ray in the block that it is in.
    ahead = qd.select(inverse > 0.0, qd.cast(gap, qd.f32), 1.0 - gap)
    t = (qd.floor(place) + ahead - place) * inverse
    return (qd.max(t.min(), 0.0) + 1e-4) * width


@qd.func
def skip_and_distance(f: DistanceGrid, o: vec3, d: vec3, inverse: vec3, t: qd.f32) -> vec2:
    """Length (m) that a ray may skip at its length t, and the distance (m) to the fluid there.

    One of them is 0: the first in blocks with distances, the second in empty ones.
    """
    width = f.frame[1].x
    place = (o + t * d - f.frame[0]) / width
    b = block_at(f, place)
    seen = qd.Vector([0.0, 0.0])
    if b < 0:
        seen.x = length_of_empty_blocks(place, inverse, -b, width)
    else:
        seen.y = block_distance(f, b, (place - qd.floor(place)) * 8.0)
    return seen


@qd.func
def trace_fluid(f: DistanceGrid, o: vec3, d: vec3, longest: qd.f32) -> qd.f32:
    """Ray length (m) at which a ray enters the fluid, or 1e30."""
    span = slab(o, d, f.frame[2], f.frame[3])
    inverse = 1.0 / without_zeros(d)
    cell = f.frame[1].y
    t = qd.max(span.x, 0.0)
    end = qd.min(span.y, longest)
    before_t = t
    before = cell
    hit = 1e30
    steps = 0
    # Steps within blocks are at least 0.3 cells: a ray that grazes the surface for 180 cells misses it.
    while t < end and steps < 600:
        steps += 1
        seen = skip_and_distance(f, o, d, inverse, t)
        if seen.x > 0.0:
            t += seen.x
        else:
            distance = seen.y
            if distance < 0.0:
                hit = before_t + (t - before_t) * before / (before - distance)
                break
            before_t = t
            before = distance
            # Blended distances may be too long: measured near random surfaces, 0.1 % of full steps end
            # inside of the fluid, and 0.02 % of these.
            t += qd.max(0.8 * distance, 0.3 * cell)
    return hit


@qd.func
def thickness(f: DistanceGrid, o: vec3, d: vec3, longest: qd.f32, enough: qd.f32) -> qd.f32:
    """Length (m) of fluid along a ray, counted up to about `enough`."""
    span = slab(o, d, f.frame[2], f.frame[3])
    inverse = 1.0 / without_zeros(d)
    # At most 16 steps through fluid that counts, each of at least 0.6 spacings.
    stride = qd.max(0.6 * f.frame[1].z, enough / 16.0)
    t = qd.max(span.x, 0.0)
    end = qd.min(span.y, longest)
    total = 0.0
    steps = 0
    while t < end and steps < 64 and total < enough:
        steps += 1
        seen = skip_and_distance(f, o, d, inverse, t)
        if seen.x > 0.0:
            t += seen.x
        else:
            distance = seen.y
            # A soft threshold keeps the sum continuous when a step crosses the surface.
            inside = qd.min(qd.max(0.5 - distance / stride, 0.0), 1.0)
            step = qd.min(stride, end - t)
            total += inside * step
            t += step
    return total


@qd.func
def trace_solids(s: Solids, o: vec3, d: vec3, casters: qd.i32) -> qd.types.vector(5, qd.f32):
    """Nearest collider: world normal, ray length (1e30: none), its number.

    With `casters`, only those that cast shadows: planes would shade the whole world behind them,
    and containers are drawn as if of glass.
    """
    best = qd.Vector([0.0, 1.0, 0.0, 1e30, -1.0])
    for k in range(s.count[0]):
        kind = s.kind[k]
        if casters == 0 or (kind != Kind.PLANE and kind != Kind.CONTAINER):
            h = hit_solid(s, k, o, d)
            if h.w < best[3]:
                best = qd.Vector([h.x, h.y, h.z, h.w, qd.cast(k, qd.f32)])
    return best
