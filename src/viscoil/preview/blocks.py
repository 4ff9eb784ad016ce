"""Where the surface grid is: blocks of 8 x 8 x 8 cells, around particles only."""

import dataclasses

import numpy as np

from viscoil.snapshots.snapshot import Array

CELLS = 8  # cells per block side
NODES = CELLS + 1  # blocks share their outer nodes by value, so that lookups stay inside a block
CELL = 0.7  # side of a cell, in particle spacings
REACH = 1.7  # blocks exist where a particle is nearer than this, in spacings
LARGE_CELL = 0.43  # least side of a cell in spacings of the largest: a block is wider than 2 REACH
MAX_MAP = 1 << 22  # places in the dense map of blocks
MAX_SKIP = 6  # places that a ray may leap at once
MAX_BLOCKS = 100_000  # about 290 MB of distances


@dataclasses.dataclass(frozen=True)
class Blocks:
    """Particles sorted by block, and the blocks that the surface may cross; plain NumPy."""

    origin: Array  # (3,) m
    cell: float  # m
    lower: Array  # (3,) m, bounds of the particles and their reach
    upper: Array
    slot: Array  # (x, y, z) int32
    place: Array  # (blocks, 3) int32, where each block is in `slot`
    start: Array  # (x, y, z + 1) flattened int32: first particle of each place
    order: Array  # (n,) particles sorted by place


def sort_into_blocks(position: Array, spacing: float, size: Array | None = None) -> Blocks:
    """Bins particles (n, 3) and finds the blocks near them, coarser where there would be many.

    Particles may have spacings `size` (n,) times `spacing`, size >= 1.
    """
    largest = 1.0 if size is None else float(size.max())
    reach = REACH * spacing * (1.0 if size is None else size[:, None])
    lower = position.min(axis=0).astype(np.float64) - REACH * spacing * largest
    upper = position.max(axis=0).astype(np.float64) + REACH * spacing * largest
    cell = spacing * max(CELL, LARGE_CELL * largest)
    while True:
        blocks = _blocks_of_cell(position, lower, upper, reach, cell)
        if blocks is not None:
            return blocks
        cell *= 1.5


def _blocks_of_cell(
    position: Array, lower: Array, upper: Array, reach: Array | float, cell: float
) -> Blocks | None:
    """The blocks for one cell size, or nothing if they would be too many."""
    width = CELLS * cell
    # Whole blocks from the world's origin: the grid stands still while the fluid moves through it.
    origin = np.floor(lower / width) * width
    shape = np.floor((upper - origin) / width).astype(np.int64) + 1
    if np.prod(shape.astype(float)) > MAX_MAP:
        return None
    local = ((position - origin.astype(np.float32)) / np.float32(width)).astype(np.float32)
    near = np.zeros(shape, dtype=bool)
    ends = [_places(local + side * reach / width, shape) for side in (-1.0, 1.0)]
    for i, j, k in np.ndindex(2, 2, 2):
        near[ends[i][0], ends[j][1], ends[k][2]] = True
    place = np.argwhere(near).astype(np.int32)
    if len(place) > MAX_BLOCKS:
        return None
    slot = _gaps(near)
    slot[near] = np.arange(len(place), dtype=np.int32)
    x, y, z = _places(local, shape)
    flat = (x * shape[1] + y) * shape[2] + z
    start = np.concatenate([[0], np.cumsum(np.bincount(flat, minlength=int(np.prod(shape))))])
    order = np.argsort(flat, kind="stable")
    return Blocks(origin, cell, lower, upper, slot, place, start.astype(np.int32), order)


def _gaps(near: Array) -> Array:
    """-k where the nearest block is k places away along some axis, at most -MAX_SKIP."""
    gaps = np.full(near.shape, -MAX_SKIP, dtype=np.int32)
    reached = near
    for k in range(1, MAX_SKIP):
        for axis in range(3):
            grown = reached.copy()
            low = tuple(slice(None, -1) if a == axis else slice(None) for a in range(3))
            high = tuple(slice(1, None) if a == axis else slice(None) for a in range(3))
            grown[high] |= reached[low]
            grown[low] |= reached[high]
            reached = grown
        gaps[reached & (gaps == -MAX_SKIP)] = -k
    return gaps


def _places(local: Array, shape: Array) -> list[Array]:
    """Block coordinates along x, y and z of points in block units."""
    return [np.clip(local[:, a].astype(np.int64), 0, shape[a] - 1) for a in range(3)]
