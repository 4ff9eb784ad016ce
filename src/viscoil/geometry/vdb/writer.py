"""Writes files that OpenVDB 9 and newer read."""

import hashlib
import struct
import uuid
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import BinaryIO

import numpy as np

from viscoil.core.files import write_whole
from viscoil.geometry.vdb.grid import MetaValue, VdbGrid, check
from viscoil.geometry.vdb.layout import (
    ACTIVE_MASK,
    LIBRARY_VERSION,
    MAGIC,
    NAME_SEPARATOR,
    WRITTEN_VERSION,
    ZIP,
    Bools,
    Coords,
    Longs,
)
from viscoil.geometry.vdb.metadata import metadata_bytes, text_bytes
from viscoil.geometry.vdb.transform import transform_bytes
from viscoil.geometry.vdb.write_tree import TreeWriter


def write_vdb(path: Path | str, grids: Sequence[VdbGrid], zipped: bool = False) -> None:
    """Writes grids to one file, which is whole or not there; the same grids give the same bytes.

    Zipping makes level sets and noise only a little smaller, smooth or constant values much.
    Raises VdbError for a grid that cannot be written, RunError if the disk does not take the file.
    """
    for grid in grids:
        check(grid)
    trees = [TreeWriter(grid, zipped) for grid in grids]
    heads = [_head(grid, zipped) for grid in grids]
    with write_whole(Path(path)) as file:
        file.write(_header(grids))
        for name, grid, head, tree in zip(unique_names(grids), grids, heads, trees, strict=True):
            kind = "Tree_vec3s_5_4_3" if grid.is_vector else "Tree_float_5_4_3"
            file.write(text_bytes(name) + text_bytes(kind) + text_bytes(""))
            _write_grid(file, head, tree)


def _header(grids: Sequence[VdbGrid]) -> bytes:
    seekable = 1
    head = struct.pack("<Q3IB", MAGIC, WRITTEN_VERSION, *LIBRARY_VERSION, seekable)
    return head + _tag(grids).encode() + metadata_bytes({}) + struct.pack("<I", len(grids))


def _tag(grids: Sequence[VdbGrid]) -> str:
    """The UUID by which OpenVDB tells files apart, made from the content, so that it is reproducible."""
    digest = hashlib.blake2b(digest_size=16)
    for grid in grids:
        digest.update(repr((grid.name, grid.background, grid.voxel_size, grid.origin)).encode())
        for array in (grid.origins, grid.values, grid.active, *grid.tiles):
            digest.update(np.ascontiguousarray(array).data)
    return str(uuid.UUID(bytes=digest.digest(), version=4))


def unique_names(grids: Sequence[VdbGrid]) -> list[str]:
    """Names by which grids can be told apart: equal or missing ones get a number."""
    counts = Counter(grid.name for grid in grids)
    seen: Counter[str] = Counter()
    names = []
    for grid in grids:
        alone = grid.name and counts[grid.name] == 1
        names.append(grid.name if alone else f"{grid.name}{NAME_SEPARATOR}{seen[grid.name]}")
        seen[grid.name] += 1
    return names


def _head(grid: VdbGrid, zipped: bool) -> bytes:
    compression = struct.pack("<I", ACTIVE_MASK | (ZIP if zipped else 0))
    place = transform_bytes(grid.voxel_size, grid.origin)
    return compression + metadata_bytes(_metadata(grid, zipped)) + place


def _metadata(grid: VdbGrid, zipped: bool) -> dict[str, MetaValue]:
    """What the user gave, and what lets programs show a grid without reading it."""
    own: dict[str, MetaValue] = {
        "name": grid.name,
        "class": grid.grid_class,
        "file_compression": "zip + active values" if zipped else "active values",
        "file_voxel_count": np.int64(_active_count(grid)),
    }
    bounds = active_bounds(grid)
    if bounds is not None:
        own |= {"file_bbox_min": bounds[0], "file_bbox_max": bounds[1]}
    return {**grid.metadata, **own}


def _active_count(grid: VdbGrid) -> int:
    sizes = grid.tiles.sizes[grid.tiles.active.astype(np.bool_)].astype(np.int64)
    return int(np.count_nonzero(grid.active)) + int((sizes**3).sum())


def active_bounds(grid: VdbGrid) -> tuple[Coords, Coords] | None:
    """Lowest and highest index of active voxels, or nothing if there are none."""
    some = np.flatnonzero(grid.active.any(axis=(1, 2, 3)))
    tiles = np.flatnonzero(grid.tiles.active)
    if not len(some) and not len(tiles):
        return None
    low, high = _within_leaves(grid.active[some])
    tile_origins = grid.tiles.origins[tiles]
    lows = np.concatenate((grid.origins[some] + low, tile_origins))
    tops = tile_origins + (grid.tiles.sizes[tiles, None] - 1)
    highs = np.concatenate((grid.origins[some] + high, tops))
    return lows.min(axis=0).astype(np.int32), highs.max(axis=0).astype(np.int32)


def _within_leaves(active: Bools) -> tuple[Longs, Longs]:
    """Lowest and highest place (k, 3) of active voxels in leaves that have some."""
    lines = np.stack([active.any(axis=axes) for axes in ((2, 3), (1, 3), (1, 2))], axis=1)
    return np.argmax(lines, axis=2), 7 - np.argmax(lines[..., ::-1], axis=2)


def _write_grid(file: BinaryIO, head: bytes, tree: TreeWriter) -> None:
    """The grid behind the bytes where it begins, where its leaves begin, and where it ends."""
    offsets = file.tell()
    file.write(bytes(24))
    start = file.tell()
    file.write(head)
    tree.write_nodes(file)
    leaves = file.tell()
    tree.write_leaves(file)
    end = file.tell()
    file.seek(offsets)
    file.write(struct.pack("<3q", start, leaves, end))
    file.seek(end)
