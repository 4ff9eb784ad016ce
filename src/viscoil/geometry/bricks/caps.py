"""Where an open mesh is closed by the surface on which its winding number is one half.

Across a hole the sign changes where no triangle is. There the surface is known by the points at which
the edges between corners cross it; distances to these points join those to the triangles.
"""

import numpy as np
from numpy.typing import NDArray

from viscoil.geometry.bricks.brick_field import SIDE, Float, Float32, Int32, corner_offsets
from viscoil.geometry.bricks.layout import Layout, pack, unpack
from viscoil.geometry.bricks.winding import INSIDE, Winding


def missing_bricks(layout: Layout, winding: Winding) -> Int32:
    """(n, 3) Bricks that the closing surface passes and the mesh does not, with those around them."""
    shape = np.array(layout.shape)
    grid = np.stack(np.meshgrid(*(np.arange(s + 1) for s in shape), indexing="ij"), axis=-1)
    w = winding.inside(8.0 * grid.reshape(-1, 3)).reshape(shape + 1)
    low = np.ones(shape, dtype=bool)
    high = np.zeros(shape, dtype=bool)
    for corner in corner_offsets()[[0, 1, 9, 10, 81, 82, 90, 91]]:
        part = w[tuple(slice(c, c + s) for c, s in zip(corner, shape, strict=True))]
        low &= part
        high |= part
    mixed = np.pad(high & ~low, 1)
    near = np.zeros(shape, dtype=bool)
    for offset in np.ndindex(3, 3, 3):
        near |= mixed[tuple(slice(o, o + s) for o, s in zip(offset, shape, strict=True))]
    near[tuple(layout.places.T)] = False
    return np.argwhere(near).astype(np.int32)


def extended(layout: Layout, places: Int32) -> Layout:
    """The layout with more bricks, which have no triangles."""
    keys = np.concatenate([pack(layout.places, layout.shape), pack(places, layout.shape)])
    counts = np.concatenate([np.diff(layout.start), np.zeros(len(places), dtype=np.int32)])
    order = np.argsort(keys, kind="stable")
    start = np.concatenate([[0], np.cumsum(counts[order])]).astype(np.int32)
    return layout._replace(places=unpack(keys[order], layout.shape), start=start)


def closing_points(
    layout: Layout, distance: Float32, inside: NDArray[np.bool_], winding: Winding
) -> Float:
    """(n, 3) Where edges cross the closing surface, in cells."""
    starts, ends = [], []
    corners = corner_offsets()
    d = distance.reshape(-1, SIDE, SIDE, SIDE)
    s = inside.reshape(-1, SIDE, SIDE, SIDE)
    for axis in range(3):
        before = [slice(None)] * 4
        after = [slice(None)] * 4
        before[3 - axis], after[3 - axis] = slice(0, 8), slice(1, 9)
        b, a = tuple(before), tuple(after)
        crossing = (s[b] != s[a]) & (d[b] + d[a] > 1.001)
        brick, z, y, x = np.nonzero(crossing)
        first = 8.0 * layout.places[brick].astype(np.float64)
        starts.append(first + corners[x + SIDE * (y + SIDE * z)])
        ends.append(starts[-1] + np.eye(3)[axis])
    start, end = np.concatenate(starts), np.concatenate(ends)
    w = winding(np.concatenate([start, end]))
    w0, change = w[: len(start)], w[len(start) :] - w[: len(start)]
    share = np.clip((INSIDE - w0) / np.where(change == 0.0, 1.0, change), 0.0, 1.0)
    return np.unique(start + share[:, None] * (end - start), axis=0)
