"""Faces inside of a solid, where parts of a mesh overlap: they are not part of its surface."""

import numpy as np
from numpy.typing import NDArray

from viscoil.geometry.bricks.brick_field import SIDE, Float, Int32
from viscoil.geometry.bricks.layout import Layout
from viscoil.geometry.bricks.winding import Winding
from viscoil.geometry.meshes.triangles import unit_normals

LARGE = 4.0  # cells: longer triangles are cut first, as half a brick may be hidden and half not
CUTS = (
    2.0,
    1.0,
    0.4,
)  # cells: edges to which parts that are hidden in part are cut, one after another
ASIDE = 1.0  # cells from a face at which corners are checked first: that costs no winding number
CLOSE = 0.02  # cells from a face at which the winding number decides; what is thinner counts as one face
PROBES = 4  # of a triangle: its middle and its corners
INSET = 0.02  # of the way from a corner to the middle: on an edge the winding number is undefined


def without_hidden(
    triangles: Float,
    face: Int32,
    layout: Layout,
    within: NDArray[np.bool_],
    winding: Winding,
    cut: bool,
) -> tuple[Float, Int32]:
    """The triangles (m, 3, 3) in cells that bound the solid; in parts, if some are hidden.

    Without `cut` those that are hidden only in part stay whole.
    """
    parts, owner = _parts(triangles, LARGE)
    suspect = _suspects(parts, layout, within)
    if not suspect.any():
        return triangles, face
    if cut:
        suspect |= _close_to(parts[suspect], parts)
    candidates = np.flatnonzero(suspect)
    seen, whose = _seen(parts[candidates], winding, CUTS if cut else ())
    owner = np.concatenate([owner[~suspect], owner[candidates][whose]])
    return np.concatenate([parts[~suspect], seen]), face[owner]


def _seen(
    parts: Float, winding: Winding, cuts: tuple[float, ...]
) -> tuple[Float, NDArray[np.int64]]:
    """What is not hidden of triangles, and whose part each piece is.

    What is hidden only in part is cut into smaller and smaller pieces: dropped whole it would leave
    a gap, and kept whole it would be a wall within the solid.
    """
    owner = np.arange(len(parts))
    kept: list[tuple[Float, NDArray[np.int64]]] = []
    for longest in cuts:
        hidden = _hidden_probes(parts, winding)
        kept.append((parts[hidden == 0], owner[hidden == 0]))
        mixed = (hidden > 0) & (hidden < PROBES)
        parts, piece = _parts(parts[mixed], longest)
        owner = owner[mixed][piece]
    some = _hidden_probes(parts, winding) < PROBES
    kept.append((parts[some], owner[some]))
    return np.concatenate([k[0] for k in kept]), np.concatenate([k[1] for k in kept])


def _suspects(parts: Float, layout: Layout, within: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Which triangles have corners of the field on both sides that are inside."""
    normal = unit_normals(parts)
    middle = parts.mean(axis=1)
    return np.asarray(
        normal.any(axis=1)
        & _inside_at(middle + ASIDE * normal, layout, within)
        & _inside_at(middle - ASIDE * normal, layout, within)
    )


def _close_to(some: Float, parts: Float) -> NDArray[np.bool_]:
    """Which of `parts` are within a few cells of `some`, and so may be hidden in part."""
    blocks = [np.floor(t.mean(axis=1) / 2.0).astype(np.int64) + 1 for t in (some, parts)]
    shape = tuple(int(n) for n in np.maximum(*(b.max(axis=0, initial=0) for b in blocks)) + 2)
    around = np.stack([*np.ndindex(3, 3, 3)]) - 1
    near = np.clip(blocks[0][:, None] + around, 0, np.array(shape) - 1).reshape(-1, 3)
    keys = [np.ravel_multi_index(tuple(b.T), shape) for b in (near, np.maximum(blocks[1], 0))]
    return np.isin(keys[1], keys[0])


def _hidden_probes(parts: Float, winding: Winding) -> NDArray[np.int64]:
    """For each triangle, at how many of its probes both sides are inside; 0 without an area."""
    normal = unit_normals(parts)
    middle = parts.mean(axis=1, keepdims=True)
    probes = np.concatenate([middle, (1.0 - INSET) * parts + INSET * middle], axis=1)
    aside = CLOSE * normal[:, None]
    sides = np.stack([probes + aside, probes - aside])
    above, below = winding.inside(sides.reshape(-1, 3)).reshape(2, -1, PROBES)
    hidden = above & below & (normal != 0.0).any(axis=1, keepdims=True)
    return np.asarray(hidden.sum(axis=1))


def _parts(triangles: Float, longest: float) -> tuple[Float, NDArray[np.int64]]:
    """Triangles halved until no edge is over `longest` (cells), and the index of each one's original."""
    owner = np.arange(len(triangles))
    while True:
        edges = np.roll(triangles, -1, axis=1) - triangles
        lengths = np.linalg.norm(edges, axis=2)
        large = lengths.max(axis=1) > longest
        if not large.any():
            return triangles, owner
        edge = lengths[large].argmax(axis=1)
        rows = np.arange(len(edge))
        a, b, c = (triangles[large][rows, (edge + k) % 3] for k in range(3))
        m = 0.5 * (a + b)
        halves = [np.stack([a, m, c], axis=1), np.stack([m, b, c], axis=1)]
        triangles = np.concatenate([triangles[~large], *halves])
        owner = np.concatenate([owner[~large], owner[large], owner[large]])


def _inside_at(points: Float, layout: Layout, within: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Whether the corner nearest to each point is inside; False where there is no brick."""
    index = np.full(layout.shape, -1, dtype=np.int64)
    index[tuple(layout.places.T)] = np.arange(len(layout.places))
    cell = np.clip(np.rint(points).astype(np.int64), 0, 8 * np.array(layout.shape) - 1)
    brick = index[tuple((cell >> 3).T)]
    x, y, z = (cell & 7).T
    return np.asarray((brick >= 0) & within[brick, x + SIDE * (y + SIDE * z)])
