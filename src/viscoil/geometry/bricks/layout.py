"""Which bricks a surface needs, and which triangles matter to each."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from viscoil.core.errors import SceneError
from viscoil.geometry.bricks.brick_field import Float, Int32
from viscoil.geometry.meshes.triangles import unit_normals

MOST_PLACES = 2**27  # bricks along the three axes multiplied: their dense table is 0.5 GiB
MOST_BRICKS = 2**20  # 6 GiB while a field is built
MOST_PAIRS = 2e8  # of triangles and bricks: a minute of work
CHUNK = 2**22  # pairs looked at together


class Layout(NamedTuple):
    """Bricks in the order of their place, with the triangles near each."""

    shape: tuple[int, int, int]  # bricks along each axis
    places: Int32  # (bricks, 3)
    start: Int32  # (bricks + 1) first triangle of each
    triangles: Int32  # (pairs)


def lay_out(triangles: Float, shape: tuple[int, int, int], reach: float) -> Layout:
    """The bricks within `reach` cells of triangles (m, 3, 3), which are given in cells."""
    if np.prod(np.array(shape, dtype=np.float64)) > MOST_PLACES:
        raise SceneError(
            f"a distance field of {' x '.join(str(8 * s) for s in shape)} cells is too fine: "
            "use a larger cell_size or a narrower band"
        )
    pairs = [_near(triangles, chunk, shape, reach) for chunk in _chunks(triangles, shape, reach)]
    keys = np.concatenate([np.zeros(0, dtype=np.int64), *(key for key, _ in pairs)])
    owners = np.concatenate([np.zeros(0, dtype=np.int32), *(owner for _, owner in pairs)])
    order = np.argsort(keys, kind="stable")
    found, start = np.unique(keys[order], return_index=True)
    if len(found) > MOST_BRICKS:
        raise SceneError(
            f"a distance field of {len(found)} bricks is too fine: use a larger cell_size "
            "or a narrower band"
        )
    ends = np.append(start, len(keys)).astype(np.int32)
    return Layout(shape, unpack(found, shape), ends, owners[order])


def pack(places: NDArray[np.integer], shape: tuple[int, int, int]) -> NDArray[np.int64]:
    """One number per brick place (..., 3)."""
    p = np.asarray(places, dtype=np.int64)
    return np.asarray((p[..., 0] * shape[1] + p[..., 1]) * shape[2] + p[..., 2])


def unpack(keys: NDArray[np.int64], shape: tuple[int, int, int]) -> Int32:
    """The brick places (n, 3) of their numbers."""
    return np.stack(np.unravel_index(keys, shape), axis=-1).astype(np.int32)


def tables(states: Int32, beyond: int) -> tuple[Int32, Int32]:
    """Top table and block tables of a dense table: an index, FREE or SOLID per brick place."""
    size = [-(-s // 8) for s in states.shape]
    padded = np.full([8 * s for s in size], beyond, dtype=np.int32)
    padded[tuple(slice(s) for s in states.shape)] = states
    blocks = padded.reshape(size[0], 8, size[1], 8, size[2], 8).transpose(0, 2, 4, 5, 3, 1)
    blocks = blocks.reshape(-1, 512)  # x fastest within a block
    even = (blocks == blocks[:, :1]).all(axis=1) & (blocks[:, 0] < 0)
    top = np.where(even, blocks[:, 0], np.cumsum(~even) - 1).astype(np.int32)
    return top.reshape(size), np.ascontiguousarray(blocks[~even])


def _ranges(
    triangles: Float, shape: tuple[int, int, int], reach: float
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """First brick and number of bricks along each axis that a triangle's box, widened, touches."""
    most = np.array(shape) - 1
    low = np.floor((triangles.min(axis=1) - reach) / 8.0 - 1e-9).astype(np.int64)
    high = np.floor((triangles.max(axis=1) + reach) / 8.0 + 1e-9).astype(np.int64)
    low, high = np.clip(low, 0, most), np.clip(high, 0, most)
    return low, high - low + 1


def _chunks(triangles: Float, shape: tuple[int, int, int], reach: float) -> list[NDArray[np.int64]]:
    """Triangles in portions that make about CHUNK pairs each."""
    if not len(triangles):
        return []
    _, counts = _ranges(triangles, shape, reach)
    if counts.prod(axis=1, dtype=np.float64).sum() > MOST_PAIRS:
        raise SceneError(
            "a distance field reaches over too many cells: use a larger cell_size, a narrower band "
            "or a smaller offset"
        )
    portion = np.cumsum(counts.prod(axis=1)) // CHUNK
    return np.split(np.arange(len(triangles)), np.flatnonzero(np.diff(portion)) + 1)


def _near(
    triangles: Float, chosen: NDArray[np.int64], shape: tuple[int, int, int], reach: float
) -> tuple[NDArray[np.int64], Int32]:
    """(brick number, triangle) of the pairs that may be nearer than `reach`."""
    corners = triangles[chosen]
    low, counts = _ranges(corners, shape, reach)
    number = counts.prod(axis=1)
    owner = np.repeat(np.arange(len(chosen)), number)
    k = np.arange(len(owner)) - np.repeat(np.cumsum(number) - number, number)
    c = counts[owner]
    place = low[owner] + np.stack(
        [k % c[:, 0], k // c[:, 0] % c[:, 1], k // (c[:, 0] * c[:, 1])], axis=1
    )
    # A large triangle's box holds many bricks that its plane is far from.
    normal = unit_normals(corners)
    height = np.abs(np.einsum("ij,ij->i", normal[owner], 8.0 * place + 4.0 - corners[owner, 0]))
    spread = 4.0 * np.abs(normal).sum(axis=1)
    near = height <= reach + spread[owner] + 1e-6
    return pack(place[near], shape), chosen[owner[near]].astype(np.int32)
