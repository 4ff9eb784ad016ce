"""Meshes put together, moved, turned and scaled; every function returns a new mesh."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from viscoil.geometry.meshes.mesh import TriangleMesh

Float = NDArray[np.float64]
Index = NDArray[np.int64]
Vector = Sequence[float] | Float


def mesh(vertices: ArrayLike, faces: ArrayLike) -> TriangleMesh:
    """A mesh of arrays of any number type."""
    return TriangleMesh(np.asarray(vertices, np.float64), np.asarray(faces, np.int32), {})


def join(*parts: TriangleMesh) -> TriangleMesh:
    """All parts in one mesh; they may overlap and stay apart where they touch."""
    starts = np.cumsum([0, *(len(part.vertices) for part in parts[:-1])])
    faces = [part.faces + start for part, start in zip(parts, starts, strict=True)]
    return mesh(np.concatenate([part.vertices for part in parts]), np.concatenate(faces))


def moved(part: TriangleMesh, offset: Vector) -> TriangleMesh:
    """The part shifted by an offset (m)."""
    return mesh(part.vertices + np.asarray(offset, np.float64), part.faces)


def flipped(part: TriangleMesh) -> TriangleMesh:
    """The part turned inside out."""
    return mesh(part.vertices, part.faces[:, ::-1])


def scaled(part: TriangleMesh, factors: float | Vector) -> TriangleMesh:
    """The part stretched about the origin; a mirror image still has its outside outside."""
    vector = np.broadcast_to(np.asarray(factors, np.float64), 3)
    stretched = mesh(part.vertices * vector, part.faces)
    return flipped(stretched) if np.prod(vector) < 0.0 else stretched


def mirrored(part: TriangleMesh) -> TriangleMesh:
    """The part and its mirror image in the plane z = 0."""
    return join(part, scaled(part, (1.0, 1.0, -1.0)))


def rotation(axis: Vector, angle: float) -> Float:
    """The matrix that turns by an angle (rad, right hand) about an axis (Rodrigues)."""
    x, y, z = np.asarray(axis, np.float64) / np.linalg.norm(axis)
    cross = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    return np.asarray(np.eye(3) + np.sin(angle) * cross + (1.0 - np.cos(angle)) * cross @ cross)


def rotated(part: TriangleMesh, matrix: Float) -> TriangleMesh:
    """The part turned by a rotation matrix.

    Not by the BLAS: starting its threads takes longer than so few numbers.
    """
    columns = (part.vertices[:, k : k + 1] * matrix[:, k] for k in range(3))
    return mesh(sum(columns, start=np.zeros(3)), part.faces)


def turned(part: TriangleMesh, axis: Vector, degrees: float) -> TriangleMesh:
    """The part turned about an axis through the origin (right hand)."""
    return rotated(part, rotation(axis, np.radians(degrees)))


def fitted(part: TriangleMesh, length: float, axis: int) -> TriangleMesh:
    """The part of the given length (m) along an axis, with the middle of its base at the origin."""
    low, high = part.vertices.min(axis=0), part.vertices.max(axis=0)
    base = 0.5 * (low + high)
    base[1] = low[1]
    return scaled(moved(part, -base), length / (high[axis] - low[axis]))
