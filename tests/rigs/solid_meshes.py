"""Boxes and pipes as closed meshes."""

import numpy as np
from numpy.typing import ArrayLike

from viscoil.geometry.meshes import TriangleMesh


def box(low: ArrayLike, high: ArrayLike) -> TriangleMesh:
    """Twelve triangles between two corners, m."""
    corners = np.array(list(np.ndindex(2, 2, 2)))
    quads = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    faces = [t for a, b, c, d in quads for t in ((a, b, c), (a, c, d))]
    vertices = np.asarray(low) + corners * (np.asarray(high) - np.asarray(low))
    return TriangleMesh(vertices, np.array(faces, dtype=np.int32), {})


def pipe(radius: float, length: float, sides: int) -> TriangleMesh:
    """A closed pipe along y from the origin; its wall is two slivers a side."""
    angle = 2.0 * np.pi * np.arange(sides) / sides
    ring = np.stack([radius * np.cos(angle), 0.0 * angle, radius * np.sin(angle)], axis=1)
    lid = np.array([[0.0, length, 0.0]])
    k = np.arange(sides)
    m = np.roll(k, -1)
    low, high = np.full(sides, 2 * sides), np.full(sides, 2 * sides + 1)
    corners = [
        (k, k + sides, m),
        (m, k + sides, m + sides),
        (k, m, low),
        (k + sides, high, m + sides),
    ]
    faces = np.concatenate([np.stack(c, axis=1) for c in corners])
    return TriangleMesh(np.vstack([ring, ring + lid, 0.0 * lid, lid]), faces.astype(np.int32), {})
