"""Generalised winding numbers of triangle soups (Jacobson 2013), by libigl (Barill 2018).

How often a mesh winds around a point: 1 inside and 0 outside of a closed one, and something between,
smooth away from the faces, where it is open. Overlaps, wrong topology and doubled faces do no harm.
"""

import numpy as np
from numpy.typing import NDArray

from viscoil.geometry.bricks.brick_field import Float
from viscoil.geometry.meshes.triangles import area_vectors

INSIDE = 0.5  # points with a larger winding number are inside
QUERIES = 2**20  # at once, which bounds memory


class Winding:
    """Winding numbers of one mesh; points are in the unit of its vertices."""

    def __init__(self, vertices: Float, faces: NDArray[np.integer]) -> None:
        self._vertices = np.ascontiguousarray(vertices, dtype=np.float64)
        doubled = np.linalg.norm(area_vectors(self._vertices[faces]), axis=1)
        self._faces = np.ascontiguousarray(faces[doubled > 0.0], dtype=np.int64)
        self.asked = 0
        """Number of points evaluated so far."""

    def __call__(self, points: Float) -> Float:
        """The winding number at points (n, 3)."""
        self.asked += len(points)
        if not len(self._faces) or not len(points):
            return np.zeros(len(points))
        import igl

        return np.concatenate(
            [
                igl.fast_winding_number(self._vertices, self._faces, np.ascontiguousarray(part))
                for part in np.array_split(points, -(-len(points) // QUERIES))
            ]
        )

    def inside(self, points: Float) -> NDArray[np.bool_]:
        """Whether points (n, 3) are inside."""
        return np.asarray(self(points) > INSIDE)
