"""Faces inside of a solid, where parts of a mesh overlap: they are not part of its surface."""

import numpy as np
from numpy.typing import NDArray

from viscoil.bricks.field import SIDE, Float, Int32
from viscoil.bricks.layout import Layout
from viscoil.bricks.winding import Winding
from viscoil.meshes.triangles import unit_normals

LARGE = 4.0  # cells: longer triangles are looked at in parts
ASIDE = 1.0  # cells from a face, where corners are looked at first
CLOSE = 0.02  # cells from a face, where the winding number decides


def without_hidden(
    triangles: Float,
    face: Int32,
    layout: Layout,
    within: NDArray[np.bool_],
    winding: Winding,
) -> tuple[Float, Int32]:
    """The triangles (m, 3, 3) in cells that bound the solid; large ones in parts if some are hidden."""
    small, owner = _parts(triangles)
    normal = unit_normals(small)
    middle = small.mean(axis=1)
    hidden = (
        normal.any(axis=1)
        & _inside_at(middle + ASIDE * normal, layout, within)
        & _inside_at(middle - ASIDE * normal, layout, within)
    )
    # A triangle that is hidden only in part stays whole: without it the surface would have a gap.
    suspect = np.flatnonzero(hidden)
    corners = 0.98 * small[suspect] + 0.02 * middle[suspect, None]
    probes = np.concatenate([middle[suspect, None], corners], axis=1)
    aside = CLOSE * normal[suspect, None]
    sides = np.concatenate([probes + aside, probes - aside], axis=1)
    hidden[suspect] = winding.inside(sides.reshape(-1, 3)).reshape(-1, 8).all(axis=1)
    if not hidden.any():
        return triangles, face
    return small[~hidden], face[owner[~hidden]]


def _parts(triangles: Float) -> tuple[Float, NDArray[np.int64]]:
    """Triangles cut at the middle of their longest edges until all are small, and whose part each is."""
    owner = np.arange(len(triangles))
    while True:
        edges = np.roll(triangles, -1, axis=1) - triangles
        lengths = np.linalg.norm(edges, axis=2)
        large = lengths.max(axis=1) > LARGE
        if not large.any():
            return triangles, owner
        longest = lengths[large].argmax(axis=1)
        rows = np.arange(len(longest))
        a, b, c = (triangles[large][rows, (longest + k) % 3] for k in range(3))
        m = 0.5 * (a + b)
        halves = [np.stack([a, m, c], axis=1), np.stack([m, b, c], axis=1)]
        triangles = np.concatenate([triangles[~large], *halves])
        owner = np.concatenate([owner[~large], owner[large], owner[large]])


def _inside_at(points: Float, layout: Layout, within: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Whether the corner nearest to each point is inside; no where there is no brick."""
    index = np.full(layout.shape, -1, dtype=np.int64)
    index[tuple(layout.places.T)] = np.arange(len(layout.places))
    cell = np.clip(np.rint(points).astype(np.int64), 0, 8 * np.array(layout.shape) - 1)
    brick = index[tuple((cell >> 3).T)]
    x, y, z = (cell & 7).T
    return np.asarray((brick >= 0) & within[brick, x + SIDE * (y + SIDE * z)])
