"""The triangle mesh: vertices, faces, what is attached to the vertices, and questions about them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt

from viscoil.core.errors import MeshError
from viscoil.geometry.meshes.topology import equal_points, unmatched_edges
from viscoil.geometry.meshes.triangles import areas

Floats = npt.NDArray[np.float64]
Indices = npt.NDArray[np.int32]
Attributes = Mapping[str, npt.NDArray[Any]]


@dataclass(frozen=True, eq=False)
class TriangleMesh:
    """Triangles whose corners are indices of vertices; counterclockwise seen from outside.

    Degenerate faces, non-manifold edges, any winding and unused vertices are allowed. Vertices that
    are not finite and faces that refer to no vertex are refused when it is made. The arrays cannot
    be written to.
    """

    vertices: Floats
    """Positions [m], shape (n, 3)."""
    faces: Indices
    """Indices of the corners, shape (m, 3)."""
    attributes: Attributes = field(default_factory=dict)
    """Name to numbers on the vertices, shape (n,) or (n, k), such as "friction" or "color"."""

    def __post_init__(self) -> None:
        vertices = _vertices(self.vertices)
        faces = _faces(self.faces, len(vertices))
        kept = {name: _attribute(name, a, len(vertices)) for name, a in self.attributes.items()}
        object.__setattr__(self, "vertices", vertices)
        object.__setattr__(self, "faces", faces)
        object.__setattr__(self, "attributes", MappingProxyType(kept))

    @property
    def bounds(self) -> tuple[Floats, Floats]:
        """Lowest and highest coordinates [m] of what the faces use, each of shape (3,)."""
        used = self.vertices[np.unique(self.faces)]
        if not len(used):
            raise MeshError("a mesh without faces has no bounds")
        return used.min(axis=0), used.max(axis=0)

    @property
    def triangles(self) -> Floats:
        """Corner positions [m] of every face, shape (m, 3, 3): face, corner, coordinate."""
        return self.vertices[self.faces]

    @property
    def area(self) -> float:
        """Sum of the areas of all faces [m²]."""
        return float(areas(self.triangles).sum())

    @cached_property
    def boundary_edges(self) -> Indices:
        """Oriented edges that no opposite one matches, shape (k, 2); none for a closed mesh.

        Vertices at the same place count as one, because many formats split them at seams, and
        an edge that is there n times more often than its opposite is listed n times.
        """
        return unmatched_edges(self.faces, equal_points(self.vertices))

    @property
    def is_closed(self) -> bool:
        """Whether every oriented edge is matched, so that the winding number is piecewise constant.

        The boundary of the triangles, as a chain, is then zero; it says nothing of self-intersections.
        """
        return len(self.boundary_edges) == 0

    def merged(self) -> "TriangleMesh":
        """Vertices at the same place become the first of them, with its attributes."""
        first, number = np.unique(equal_points(self.vertices), return_inverse=True)
        attributes = {name: values[first] for name, values in self.attributes.items()}
        faces = number.astype(np.int32)[self.faces]
        return TriangleMesh(self.vertices[first], faces, attributes)

    def transformed(self, matrix: npt.ArrayLike, offset: npt.ArrayLike) -> "TriangleMesh":
        """x becomes A x + b; a mirroring A turns the faces around, so that outside stays outside."""
        linear = np.asarray(matrix, dtype=np.float64)
        shift = np.asarray(offset, dtype=np.float64)
        if linear.shape != (3, 3) or shift.shape != (3,):
            raise MeshError("a mesh is transformed by a 3×3 matrix and an offset of 3 numbers")
        with np.errstate(all="ignore"):
            vertices = self.vertices @ linear.T + shift
            mirrored = np.linalg.det(linear) < 0
        faces = self.faces[:, ::-1] if mirrored else self.faces
        return TriangleMesh(vertices, faces, self.attributes)


def _vertices(given: npt.ArrayLike) -> Floats:
    vertices = np.array(given, dtype=np.float64, order="C", copy=None)
    if vertices.ndim != 2 or vertices.shape[1] != 3:
        raise MeshError(f"has vertices of shape {vertices.shape} but must have (n, 3)")
    # A sum needs no array and is not finite if any number is not; as it may overflow, check again then.
    with np.errstate(all="ignore"):
        finite = bool(np.isfinite(vertices.sum()))
    if not finite:
        bad = np.flatnonzero(~np.isfinite(vertices).all(axis=1))
        if len(bad):
            where = ", ".join(f"{x:g}" for x in vertices[bad[0]])
            raise MeshError(
                f"vertex {bad[0]} is not finite: it is at ({where}), so repair the mesh"
            )
    return _frozen(vertices)


def _faces(given: npt.ArrayLike, count: int) -> Indices:
    faces = np.asarray(given)
    if faces.ndim != 2 or faces.shape[1] != 3 or faces.dtype.kind not in "iu":
        raise MeshError(f"has faces of shape {faces.shape} but must have whole numbers (m, 3)")
    if faces.size and (int(faces.min()) < 0 or int(faces.max()) >= count):
        bad = np.flatnonzero(((faces < 0) | (faces >= count)).any(axis=1))[0]
        index = next(int(i) for i in faces[bad] if not 0 <= int(i) < count)
        raise MeshError(
            f"triangle {bad} refers to vertex {index} but there are {count} vertices, "
            "counted from 0: repair or export the mesh again"
        )
    return _frozen(np.ascontiguousarray(faces, dtype=np.int32))


def _attribute(name: str, given: npt.ArrayLike, count: int) -> npt.NDArray[Any]:
    values = np.asarray(given)
    if values.ndim not in (1, 2) or len(values) != count or values.dtype.kind not in "iuf":
        raise MeshError(f'has an attribute "{name}" that is not one row of numbers for each vertex')
    return _frozen(np.ascontiguousarray(values))


def _frozen(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """A read-only view: what the caller has stays writable."""
    view = array.view()
    view.flags.writeable = False
    return view
