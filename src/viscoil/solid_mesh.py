"""The inside of a mesh: how much it holds, and how deep in it a point is."""

from functools import lru_cache

import numpy as np

from viscoil.bricks.orient import oriented, volume
from viscoil.bricks.winding import Winding
from viscoil.colliders.mesh_source import open_source
from viscoil.colliders.quaternions import Float


class SolidMesh:
    """A mesh in m, about its file's origin, seen as the solid that its winding numbers say it is."""

    def __init__(self, vertices: Float, faces: "np.typing.NDArray[np.int32]") -> None:
        self._vertices = vertices
        self._faces = oriented(vertices, faces)
        self._winding = Winding(vertices, self._faces)
        low, high = vertices.min(axis=0), vertices.max(axis=0)
        self.middle: Float = 0.5 * (low + high)
        """Of the bounding box, m."""
        self.extent: Float = high - low
        """Edges of the bounding box, m."""

    @property
    def volume(self) -> float:
        """What the faces enclose, m³; where parts overlap it counts more than once."""
        return abs(volume(self._vertices, self._faces))

    def depth(self, points: Float) -> Float:
        """How far (m) points (n, 3) are inside; negative outside."""
        import igl

        faces = np.ascontiguousarray(self._faces)
        square = igl.point_mesh_squared_distance(
            np.ascontiguousarray(points, dtype=np.float64), self._vertices, faces
        )[0]
        side = np.where(self._winding.inside(points), 1.0, -1.0)
        return np.asarray(side * np.sqrt(square))


@lru_cache(maxsize=16)
def solid_mesh(file: str, scale: float) -> SolidMesh:
    """The solid of a mesh that a scene names; files are read once."""
    mesh = open_source(file).mesh
    return SolidMesh(scale * mesh.vertices, mesh.faces)
