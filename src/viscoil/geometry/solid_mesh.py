"""The inside of a mesh: how much it holds, and how deep in it a point is."""

from functools import lru_cache

import numpy as np

from viscoil.geometry.bricks.orient import oriented, volume
from viscoil.geometry.bricks.winding import Winding
from viscoil.geometry.mesh_source import open_source
from viscoil.geometry.meshes.triangles import areas
from viscoil.geometry.quaternions import Float


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

    @property
    def radius(self) -> float:
        """Of the ball about the file's origin that holds the mesh, m."""
        return float(np.linalg.norm(self._vertices, axis=1).max())

    def filled(self) -> tuple[float, Float, Float]:
        """Volume (m³), centre of mass (m) and inertia per mass (m²) about it, of the solid.

        By the tetrahedra between the faces and the origin; those that overlap count twice.
        """
        corners = self._vertices[self._faces]
        six = np.einsum("ij,ij->i", corners[:, 0], np.cross(corners[:, 1], corners[:, 2]))
        total = float(six.sum()) / 6.0
        if abs(total) < 1e-30:
            return 0.0, np.zeros(3), np.eye(3)
        # ∫ x of a tetrahedron with one corner at the origin: Σ x 6V/24
        # ∫ x xᵀ of it: (Σ x xᵀ + (Σ x)(Σ x)ᵀ) 6V/120
        first, second = _moments(six, corners)
        center = first / 24.0 / total
        return total, center, _inertia(second / 120.0 / total, center)

    def spread(self) -> tuple[float, Float, Float]:
        """Area (m²), centre of mass (m) and inertia per mass (m²) about it, of the faces."""
        corners = self._vertices[self._faces]
        area = areas(corners)
        total = float(area.sum())
        if total == 0.0:
            return 0.0, np.zeros(3), np.eye(3)
        # ∫ x of a triangle: Σ x A/3; ∫ x xᵀ of it: (Σ x xᵀ + (Σ x)(Σ x)ᵀ) A/12
        first, second = _moments(area, corners)
        center = first / 3.0 / total
        return total, center, _inertia(second / 12.0 / total, center)

    def depth(self, points: Float) -> Float:
        """How far (m) points (n, 3) are inside; negative outside."""
        import igl

        faces = np.ascontiguousarray(self._faces)
        square = igl.point_mesh_squared_distance(
            np.ascontiguousarray(points, dtype=np.float64), self._vertices, faces
        )[0]
        side = np.where(self._winding.inside(points), 1.0, -1.0)
        return np.asarray(side * np.sqrt(square))


def _moments(weight: Float, corners: Float) -> tuple[Float, Float]:
    """Σ w Σ x (3,) and Σ w (Σ x xᵀ + (Σ x)(Σ x)ᵀ) (3, 3) over faces of weight w with corners x."""
    first = np.einsum("i,ija->a", weight, corners)
    summed = corners.sum(axis=1)
    second = np.einsum("i,ija,ijb->ab", weight, corners, corners)
    second += np.einsum("i,ia,ib->ab", weight, summed, summed)
    return np.asarray(first), np.asarray(second)


def _inertia(second: Float, center: Float) -> Float:
    """From the mean of x xᵀ about the origin, m², that per mass about the centre."""
    about = second - np.outer(center, center)
    return np.asarray(np.trace(about) * np.eye(3) - about)


@lru_cache(maxsize=16)
def solid_mesh(file: str, scale: float) -> SolidMesh:
    """The solid of a mesh that a scene names; files are read once."""
    mesh = open_source(file).mesh
    return SolidMesh(scale * mesh.vertices, mesh.faces)
