"""Surfaces that a row of points sweeps: sheets, lofts, tubes, and surfaces of revolution."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from viscoil.geometry.meshes.builtin.transforms import Float, Vector, mesh
from viscoil.geometry.meshes.mesh import TriangleMesh


def stitch(
    rows: Sequence[Float], columns_close: bool = True, rows_close: bool = False
) -> TriangleMesh:
    """Triangles between consecutive rows of points, each (n, 3), or (1, 3) for a pole.

    The front side is the one on which rows run to the left of the way from row to row.
    """
    starts = np.cumsum([0, *(len(row) for row in rows)])
    count = max(len(row) for row in rows)
    here = np.arange(count if columns_close else count - 1)
    there = (here + 1) % count
    faces = []
    for k in range(len(rows) if rows_close else len(rows) - 1):
        after = (k + 1) % len(rows)
        a, b = starts[k], starts[after]
        if len(rows[after]) == 1:
            faces.append(np.stack([a + here, a + there, b + 0 * here], axis=1))
        elif len(rows[k]) == 1:
            faces.append(np.stack([a + 0 * here, b + there, b + here], axis=1))
        else:
            faces.append(np.stack([a + here, a + there, b + here], axis=1))
            faces.append(np.stack([a + there, b + there, b + here], axis=1))
    return mesh(np.concatenate(rows), np.concatenate(faces))


def sheet(points: Float) -> TriangleMesh:
    """An open surface of no thickness through a grid of points (rows, columns, 3)."""
    return stitch(list(points), columns_close=False)


def lathe(profile: ArrayLike, segments: int = 48, rows_close: bool = False) -> TriangleMesh:
    """The surface of revolution of a profile (n, 2) of radius and height (m) about the y axis.

    Going up the profile, the outside is to the right. A profile that starts and ends on the axis,
    or one that closes, gives a closed surface, and one that does not an open surface.
    """
    angle = 2.0 * np.pi * np.arange(segments) / segments
    circle = np.stack([np.cos(angle), np.zeros(segments), -np.sin(angle)], axis=1)
    rows = [
        (radius * circle if radius > 0.0 else np.zeros((1, 3))) + [0.0, height, 0.0]
        for radius, height in np.asarray(profile, np.float64)
    ]
    return stitch(rows, rows_close=rows_close)


def frames(centers: Float, reference: Vector) -> tuple[Float, Float, Float]:
    """Along a path: its direction, the reference made square to it, and the third axis.

    The reference (3,) or (n, 3) must nowhere be parallel to the path. A fixed one, unlike parallel
    transport, does not let the far end of an animated path twist.
    """
    along = np.gradient(centers, axis=0)
    along /= np.linalg.norm(along, axis=1, keepdims=True)
    side = np.broadcast_to(np.asarray(reference, np.float64), centers.shape)
    side = side - np.sum(side * along, axis=1, keepdims=True) * along
    side /= np.linalg.norm(side, axis=1, keepdims=True)
    return along, side, np.cross(along, side)


def tube(
    centers: ArrayLike, radii: ArrayLike, segments: int = 16, reference: Vector = (0.0, 0.0, 1.0)
) -> TriangleMesh:
    """A closed tube about a path (n, 3), with radii (n,), or (n, 2) along the reference and square.

    A radius of zero at an end makes a tip, any other is capped flat.
    """
    path = np.asarray(centers, np.float64)
    widths = np.asarray(radii, np.float64)
    widths = np.stack([widths, widths], axis=1) if widths.ndim == 1 else widths
    _, side, up = frames(path, reference)
    angle = 2.0 * np.pi * np.arange(segments) / segments
    cosine, sine = np.cos(angle)[:, None], np.sin(angle)[:, None]
    rings = [
        c + w[0] * cosine * s + w[1] * sine * u
        for c, w, s, u in zip(path, widths, side, up, strict=True)
        if w.min() > 0.0
    ]
    return stitch([path[:1], *rings, path[-1:]])


def ring_prism(outer: Float, inner: Float, height: float) -> TriangleMesh:
    """A plate with a hole: between two outlines (n, 2) of x and z, from y = 0 up to a height (m).

    Both run from +x to -z, and pair up point by point.
    """
    loops = [(outer, 0.0), (outer, height), (inner, height), (inner, 0.0)]
    rows = [np.insert(outline, 1, y, axis=1) for outline, y in loops]
    return stitch(rows, rows_close=True)
