"""Writes a tree: its nodes from the root down, then the values of all leaves."""

import struct
from dataclasses import dataclass
from typing import BinaryIO

import numpy as np

from viscoil.core.errors import VdbError
from viscoil.geometry.vdb.grid import TILE_SIZES, Tiles, VdbGrid, value_type
from viscoil.geometry.vdb.layout import (
    LEAF,
    LOWER,
    UPPER,
    Bools,
    Bytes,
    Coords,
    Floats,
    Level,
    Longs,
    bits,
    pack_bits,
    same,
)
from viscoil.geometry.vdb.packing import Packer

LEAF_BATCH = 2048
# Entries are numbered in the order of the file: the 32³ node's rank, then its entry (15 bits), then
# the 16³ node's entry (12 bits).
UPPER_BITS, LOWER_BITS = 15, 12
ROOT_BITS = 20  # of each coordinate of a 32³ node, of which 2³² voxels hold 2²⁰


@dataclass(frozen=True)
class Entries:
    """Tiles of one size, in the order of the file."""

    keys: Longs  # (t,) numbers of entries
    values: Floats  # (t, channels)
    active: Bools  # (t,)

    def within(self, node: int, level: Level) -> tuple[Longs, Floats, Bools]:
        """Entry, value and activity of the tiles of one node."""
        start, end = np.searchsorted(self.keys, [node * level.entries, (node + 1) * level.entries])
        part = slice(start, end)
        return self.keys[part] % level.entries, self.values[part], self.active[part]


class TreeWriter:
    """The order in which a grid's leaves and tiles go to a file."""

    def __init__(self, grid: VdbGrid, zipped: bool) -> None:
        self._grid = grid
        self._channels = value_type(grid).channels
        background = np.array(grid.background, np.float32).reshape(self._channels)
        self._packer = Packer(background, zipped)
        tiles = _unlike_background(grid.tiles, background)
        places = {size: tiles.origins[tiles.sizes == size] for size in TILE_SIZES}
        self._roots = np.unique(
            np.concatenate([_root_key(at) for at in (grid.origins, places[8], places[128])])
        )
        keys = self._keys(grid.origins)
        self._order: Longs = np.argsort(keys)
        self._leaves: Longs = keys[self._order]
        self._small = _entries(tiles, 8, self._keys(places[8]))
        self._middle = _entries(tiles, 128, self._keys(places[128]) >> LOWER_BITS)
        self._large = _entries(tiles, 4096, _root_key(places[4096]))
        self._lowers = np.unique(np.concatenate((self._leaves, self._small.keys)) >> LOWER_BITS)
        self._check_overlap()

    def _keys(self, origins: Coords) -> Longs:
        """Numbers of the entries, 8 voxels wide, that begin at `origins`."""
        rank = np.searchsorted(self._roots, _root_key(origins))
        wide = origins.astype(np.int64)
        key: Longs = (rank << UPPER_BITS | UPPER.index(wide)) << LOWER_BITS | LOWER.index(wide)
        return key

    def _check_overlap(self) -> None:
        eights = np.concatenate((self._leaves, self._small.keys))
        middles = np.concatenate((self._lowers, self._middle.keys))
        larges = np.concatenate((self._roots, self._large.keys))
        if any(len(np.unique(keys)) < len(keys) for keys in (eights, middles, larges)):
            raise VdbError(f"grid {self._grid.name!r}: two leaves or tiles overlap: keep one")

    def write_nodes(self, file: BinaryIO) -> None:
        """All but the values of leaves."""
        background = self._packer.background
        file.write(struct.pack("<I", 1) + background.tobytes())
        file.write(struct.pack("<2I", len(self._large.keys), len(self._roots)))
        large = zip(self._large.keys, self._large.values, self._large.active, strict=True)
        for key, value, active in large:
            file.write(_root_origin(key) + value.tobytes() + struct.pack("<?", active))
        masks = pack_bits(self._active(self._order))
        for rank, root in enumerate(self._roots):
            file.write(_root_origin(root))
            start, end = np.searchsorted(self._lowers >> UPPER_BITS, [rank, rank + 1])
            lowers = self._lowers[start:end]
            file.write(self._node(rank, UPPER, lowers % UPPER.entries, self._middle))
            self._write_lowers(file, lowers, masks)

    def _write_lowers(self, file: BinaryIO, lowers: Longs, masks: Bytes) -> None:
        edges = np.stack((lowers, lowers + 1)) << LOWER_BITS
        starts, ends = np.searchsorted(self._leaves, edges).tolist()
        for lower, start, end in zip(lowers.tolist(), starts, ends, strict=True):
            leaves = self._leaves[start:end] % LOWER.entries
            file.write(self._node(lower, LOWER, leaves, self._small))
            file.write(masks[start:end].tobytes())

    def _node(self, key: int, level: Level, children: Longs, tiles: Entries) -> bytes:
        """An internal node: which entries are children, which are active, and its tiles."""
        places, tile_values, tile_active = tiles.within(key, level)
        child = np.zeros((1, level.entries), np.bool_)
        active = np.zeros_like(child)
        child[0, children] = True
        active[0, places] = tile_active
        head = pack_bits(child).tobytes() + pack_bits(active).tobytes()
        if not len(places):
            return head + self._packer.empty()
        values = np.zeros((1, level.entries, self._channels), np.float32)
        values[~child] = self._packer.background
        values[0, places] = tile_values
        return head + self._packer.nodes(values, active, child)[0]

    def write_leaves(self, file: BinaryIO) -> None:
        """The values of leaves, each with the mask of its active ones again."""
        for start in range(0, len(self._order), LEAF_BATCH):
            order = self._order[start : start + LEAF_BATCH]
            active = self._active(order)
            values = self._grid.values[order].astype(np.float32, copy=False)
            nodes = self._packer.nodes(values.reshape(-1, LEAF.entries, self._channels), active)
            masks = pack_bits(active)
            for mask, node in zip(masks, nodes, strict=True):
                file.write(mask.tobytes() + node)

    def _active(self, order: Longs) -> Bools:
        return self._grid.active[order].astype(np.bool_, copy=False).reshape(-1, LEAF.entries)


def _unlike_background(tiles: Tiles, background: Floats) -> Tiles:
    """Tiles that differ from where there is nothing, with values (t, channels)."""
    values = tiles.values.astype(np.float32).reshape(-1, len(background))
    active = tiles.active.astype(np.bool_)
    keep = active | ~same(bits(values), bits(background))
    return Tiles(tiles.origins[keep], tiles.sizes[keep], values[keep], active[keep])


def _entries(tiles: Tiles, size: int, keys: Longs) -> Entries:
    """The tiles of one size, whose entries have these numbers."""
    order = np.argsort(keys)
    at = np.flatnonzero(tiles.sizes == size)[order]
    return Entries(keys[order], tiles.values[at], tiles.active[at])


def _root_key(origins: Coords) -> Longs:
    """One number for each 32³ node, sorted as OpenVDB sorts them: by x, then y, then z."""
    half = 1 << ROOT_BITS - 1
    x, y, z = (origins.astype(np.int64) // UPPER.span + half).T
    key: Longs = (x << ROOT_BITS | y) << ROOT_BITS | z
    return key


def _root_origin(key: int) -> bytes:
    ones, half = (1 << ROOT_BITS) - 1, 1 << ROOT_BITS - 1
    places = (int(key) >> 2 * ROOT_BITS, int(key) >> ROOT_BITS & ones, int(key) & ones)
    return struct.pack("<3i", *((place - half) * UPPER.span for place in places))
