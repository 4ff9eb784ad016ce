# mypy: disable-error-code="valid-type,no-untyped-def,no-untyped-call,misc"
"""Fields that follow from the nearest primitive: velocities, friction, any vertex attribute.

At each corner the point of the nearest triangle is found again, and values of its vertices are
interpolated there with barycentric coordinates (DYVERSO, section 4.2).
"""

import dataclasses

import numpy as np
import quadrants as qd
from numpy.typing import NDArray

from viscoil.core.compute import Floats, Ints, Vec3s, vec3, vectors, view, write
from viscoil.geometry.bricks.brick_field import CORNERS, BrickField, Float, Float32
from viscoil.geometry.bricks.rasterize import as_array, initialize_if_needed
from viscoil.geometry.bricks.triangle import closest_weights


@qd.kernel(fastcache=True)
def _weigh(
    count: qd.i32,
    cell: qd.f32,
    place: Ints,
    nearest: Ints,
    face: Ints,
    vertex: Vec3s,
    offset: Floats,
    weights: Vec3s,
):
    """Barycentric coordinates of the nearest point of the nearest triangle of each corner."""
    for k in range(count):
        weights[k] = vec3(0.0)
        t = nearest[k]
        if t >= 0:
            brick, corner = k // 729, k % 729
            at = vec3(corner % 9, corner // 9 % 9, corner // 81)
            base = vec3(place[3 * brick], place[3 * brick + 1], place[3 * brick + 2])
            p = cell * (8.0 * base + at) + vec3(offset[0], offset[1], offset[2])
            a, b, c = vertex[face[3 * t]], vertex[face[3 * t + 1]], vertex[face[3 * t + 2]]
            weights[k] = closest_weights(p, a, b, c)


def with_vertex_values(
    field: BrickField, name: str, vertices: Float, faces: NDArray[np.integer], values: Float
) -> BrickField:
    """The field with the values of vertices (n,) or (n, 3) at its corners under `name`.

    Where no triangle is within the band the value is zero.
    """
    initialize_if_needed()
    count = len(field.places) * CORNERS
    weights, vertex = vectors(3, count), vectors(3, len(vertices))
    middle = vertices.mean(axis=0)  # subtracted, so that 32-bit floats are exact enough
    write(vertex, vertices - middle)
    nearest = field.primitive.reshape(-1)
    _weigh(
        count, field.cell, as_array(field.places.reshape(-1)), as_array(nearest),
        as_array(np.asarray(faces, dtype=np.int32).reshape(-1)), vertex,
        as_array((field.origin - middle).astype(np.float32)), weights,
    )  # fmt: skip
    shares = view(weights, count)
    interpolated = np.einsum("kc,kc...->k...", shares, values[faces[np.maximum(nearest, 0)]])
    shape = (len(field.places), CORNERS, *values.shape[1:])
    found: Float32 = interpolated.astype(np.float32).reshape(shape)
    return dataclasses.replace(field, secondary={**field.secondary, name: found})
