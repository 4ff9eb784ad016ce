# mypy: disable-error-code="valid-type,no-untyped-def,no-untyped-call,misc"
"""Distances from triangles to the corners of bricks, and the nearest triangle (DYVERSO, section 4.2).

The paper expands both fields voxel by voxel from the surface. Here each corner looks at every
triangle within the band: as fast, and exact.
"""

from typing import Any

import numpy as np
import quadrants as qd

from viscoil.core.compute import (
    Floats,
    Ints,
    Vec3s,
    initialize,
    scalars,
    vec3,
    vectors,
    view,
    write,
)
from viscoil.geometry.bricks.brick_field import CORNERS, Float, Float32, Int32
from viscoil.geometry.bricks.layout import Layout
from viscoil.geometry.bricks.triangle import closest_weights


@qd.kernel(fastcache=True)
def _rasterize(
    bricks: qd.i32,
    reach: qd.f32,
    place: Ints,
    start: Ints,
    triangle: Ints,
    corners: Vec3s,
    distance: Floats,
    nearest: Ints,
):
    """Unsigned distances in cells, at most `reach`; -1 is nearest where nothing is nearer."""
    for brick in range(bricks):
        base = vec3(place[3 * brick], place[3 * brick + 1], place[3 * brick + 2]) * 8.0
        for k in range(729):
            distance[729 * brick + k] = reach * reach
            nearest[729 * brick + k] = -1
        for pair in range(start[brick], start[brick + 1]):
            t = triangle[pair]
            a, b, c = corners[3 * t] - base, corners[3 * t + 1] - base, corners[3 * t + 2] - base
            middle = (a + b + c) / 3.0
            radius = qd.sqrt(
                qd.max(
                    (a - middle).dot(a - middle),
                    (b - middle).dot(b - middle),
                    (c - middle).dot(c - middle),
                )
            )
            low = qd.max(qd.ceil(qd.min(a, b, c) - reach), 0.0)
            high = qd.min(qd.floor(qd.max(a, b, c) + reach), 8.0)
            for z in range(qd.cast(low[2], qd.i32), qd.cast(high[2], qd.i32) + 1):
                for y in range(qd.cast(low[1], qd.i32), qd.cast(high[1], qd.i32) + 1):
                    for x in range(qd.cast(low[0], qd.i32), qd.cast(high[0], qd.i32) + 1):
                        p = vec3(x, y, z)
                        k = 729 * brick + x + 9 * (y + 9 * z)
                        best = distance[k]
                        bound = radius + qd.sqrt(best)
                        if (p - middle).dot(p - middle) < bound * bound:
                            w = closest_weights(p, a, b, c)
                            apart = p - (w[0] * a + w[1] * b + w[2] * c)
                            if apart.dot(apart) < best:
                                distance[k] = apart.dot(apart)
                                nearest[k] = t
        for k in range(729):
            distance[729 * brick + k] = qd.sqrt(distance[729 * brick + k])


def rasterize(layout: Layout, triangles: Float, reach: float) -> tuple[Float32, Int32]:
    """Distance (bricks, 729) in cells, at most `reach`, to triangles (m, 3, 3), and the nearest."""
    initialize_if_needed()
    count = len(layout.places)
    place, start, triangle = (
        as_array(a) for a in (layout.places.ravel(), layout.start, layout.triangles)
    )
    corners = vectors(3, 3 * len(triangles))
    write(corners, triangles.reshape(-1, 3))
    distance, nearest = scalars(qd.f32, count * CORNERS), scalars(qd.i32, count * CORNERS)
    _rasterize(count, reach, place, start, triangle, corners, distance, nearest)
    return (
        np.array(view(distance, count * CORNERS)).reshape(-1, CORNERS),
        np.array(view(nearest, count * CORNERS)).reshape(-1, CORNERS),
    )


def initialize_if_needed() -> None:
    """Starts the backend on the CPU unless it runs already."""
    from viscoil.core import compute

    if not compute.is_running():
        initialize()


def as_array(numbers: np.ndarray[Any, Any]) -> Any:
    """A backend's array of integers or floats with these numbers."""
    array = scalars(qd.i32 if numbers.dtype.kind == "i" else qd.f32, len(numbers))
    write(array, numbers)
    return array
