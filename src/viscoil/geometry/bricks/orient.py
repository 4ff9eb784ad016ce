"""Faces turned the same way, as far as a mesh lets them."""

import numpy as np
from numpy.typing import NDArray

from viscoil.geometry.bricks.brick_field import Float
from viscoil.geometry.meshes.triangles import areas

Faces = NDArray[np.int64]


def oriented(vertices: Float, faces: NDArray[np.integer]) -> Faces:
    """The faces with those flipped that disagree with most of their part of the mesh, by area.

    Where a whole mesh encloses a negative volume all are flipped, so that a solid whose normals
    point inwards is still a solid. A part that is meant to be hollow keeps its own orientation.
    """
    import igl

    place = np.unique(vertices, axis=0, return_inverse=True)[1].reshape(-1)
    welded = np.ascontiguousarray(place[faces], dtype=np.int64)
    result = np.array(faces, dtype=np.int64)
    sound = np.flatnonzero(
        (welded[:, 0] != welded[:, 1])
        & (welded[:, 1] != welded[:, 2])
        & (welded[:, 2] != welded[:, 0])
    )
    if len(sound):
        turned, part = igl.bfs_orient(np.ascontiguousarray(welded[sound]))
        flipped = ~_same_turn(turned, welded[sound])
        area = areas(vertices[result[sound]])
        against = np.bincount(part, np.where(flipped, area, -area))[part] > 0.0
        result[sound[flipped != against]] = result[sound[flipped != against]][:, ::-1]
    return result[:, ::-1] if volume(vertices, result) < 0.0 else result


def volume(vertices: Float, faces: NDArray[np.integer]) -> float:
    """Signed volume (m³) that faces enclose; of open ones, with a cone to their middle."""
    a, b, c = np.moveaxis(vertices[faces] - vertices.mean(axis=0), 1, 0)
    return float(np.einsum("ij,ij->", a, np.cross(b, c)) / 6.0)


def _same_turn(a: Faces, b: Faces) -> NDArray[np.bool_]:
    """Whether triangles with the same corners go around the same way."""
    return np.asarray(np.any([(np.roll(a, k, axis=1) == b).all(axis=1) for k in range(3)], axis=0))
