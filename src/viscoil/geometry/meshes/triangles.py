"""Normals and areas of triangles that are given by their corners: face, corner, coordinate."""

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]


def area_vectors(triangles: Floats) -> Floats:
    """Normals (m, 3) of triangles (m, 3, 3), each twice as long as its triangle is large."""
    a, b, c = np.moveaxis(triangles, 1, 0)
    return np.asarray(np.cross(b - a, c - a))


def areas(triangles: Floats) -> Floats:
    """Areas (m,) of triangles (m, 3, 3), in the square of their unit."""
    return np.asarray(0.5 * np.linalg.norm(area_vectors(triangles), axis=1))


def unit_normals(triangles: Floats) -> Floats:
    """Normals (m, 3) of triangles (m, 3, 3); zero for those without an area."""
    vectors = area_vectors(triangles)
    length = np.linalg.norm(vectors, axis=1, keepdims=True)
    some = length > 0.0
    return np.asarray(np.where(some, vectors / np.where(some, length, 1.0), 0.0))
