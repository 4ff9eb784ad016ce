"""A closed pipe as a mesh."""

import numpy as np

from viscoil.meshes import TriangleMesh


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
