"""Reads a tree: its nodes from the root down, then the values of all leaves."""

import numpy as np

from viscoil.geometry.vdb.cursor import Cursor
from viscoil.geometry.vdb.grid import Tiles
from viscoil.geometry.vdb.layout import (
    LEAF,
    LOWER,
    UPPER,
    Bools,
    Coords,
    Floats,
    Level,
    Longs,
    Numbers,
    ValueType,
    bits,
    same,
    unpack_bits,
)
from viscoil.geometry.vdb.unpacking import Encoding, NodeBatch

BATCHES = {LEAF: 2048, LOWER: 256, UPPER: 16}  # nodes that are decoded together: some megabytes


class Branches:
    """The internal nodes of one level, and what was found in them."""

    def __init__(self, cursor: Cursor, encoding: Encoding, level: Level) -> None:
        self.level = level
        self.child_origins: list[Longs] = []
        self.tiles: list[Tiles] = []
        self._cursor = cursor
        self._background = encoding.background
        self._batch = NodeBatch(cursor, encoding, level.entries)
        self._origins: list[Longs] = []
        self._children = bytearray()

    def read(self, origin: Longs) -> bytes:
        """Reads the next node, without its children, and returns the mask of these."""
        children = self._cursor.take(self.level.mask_bytes)
        self._batch.read(self._cursor.take(self.level.mask_bytes))
        self._origins.append(origin)
        self._children += children
        if len(self._batch) == BATCHES[self.level]:
            self.flush()
        return children

    def flush(self) -> None:
        """Decodes the nodes read so far."""
        active, values = self._batch.decode()
        children = unpack_bits(self._children, self.level.entries)
        origins = np.array(self._origins, np.int64).reshape(-1, 3)
        self.child_origins.append(_at(origins, children, self.level))
        self._origins, self._children = [], bytearray()
        keep = ~children & (active | ~same(bits(values), bits(self._background)))
        self.tiles.append(
            _tiles(_at(origins, keep, self.level), self.level.width, values[keep], active[keep])
        )


def _at(origins: Longs, where: Bools, level: Level) -> Longs:
    """Where marked entries (n, entries) of nodes begin."""
    nodes, entries = np.nonzero(where)
    place: Longs = origins[nodes] + level.places(entries)
    return place


def _tiles(origins: Longs, size: int, values: Numbers, active: Bools) -> Tiles:
    sizes = np.full(len(origins), size, np.int32)
    return Tiles(origins.astype(np.int32), sizes, narrow(values), active)


def narrow(values: Numbers) -> Floats:
    """Single precision, whatever was stored; what is too large becomes infinite."""
    with np.errstate(over="ignore", invalid="ignore"):
        return values.astype(np.float32)


def read_background(cursor: Cursor, kind: ValueType) -> Numbers:
    """The value of everything that the tree does not hold, with which it begins."""
    if cursor.number("I") != 1:
        raise cursor.damaged("a tree has more than one buffer")
    background: Numbers = np.frombuffer(cursor.take(kind.size), kind.dtype)
    return background


def read_nodes(cursor: Cursor, encoding: Encoding) -> tuple[Coords, Tiles]:
    """Where leaves begin, in the order of their values in the file, and all tiles."""
    upper, lower = (Branches(cursor, encoding, level) for level in (UPPER, LOWER))
    tile_count, child_count = cursor.numbers("2I")
    tiles = _root_tiles(cursor, encoding.values, tile_count)
    taken = set(map(tuple, tiles.origins.tolist()))
    for _ in range(child_count):
        origin = cursor.numbers("3i")
        if origin in taken or any(place % UPPER.span for place in origin):
            raise cursor.damaged(f"a node begins at {origin}")
        taken.add(origin)
        _read_upper(cursor, np.array(origin, np.int64), upper, lower)
    upper.flush()
    lower.flush()
    tiles = Tiles(
        *(np.concatenate(parts) for parts in zip(tiles, *upper.tiles, *lower.tiles, strict=True))
    )
    return np.concatenate(lower.child_origins).astype(np.int32), tiles


def _root_tiles(cursor: Cursor, kind: ValueType, count: int) -> Tiles:
    layout = np.dtype(
        [("origin", "<i4", 3), ("value", kind.dtype, (kind.channels,)), ("active", "u1")]
    )
    stored = np.frombuffer(cursor.take(count * layout.itemsize), layout)
    origins = stored["origin"].astype(np.int64)
    if np.any(origins % UPPER.span) or len(np.unique(origins, axis=0)) < count:
        raise cursor.damaged("tiles begin where none can")
    return _tiles(origins, UPPER.span, stored["value"], stored["active"] != 0)


def _read_upper(cursor: Cursor, origin: Longs, upper: Branches, lower: Branches) -> None:
    """A node with all that is below it; the masks of leaves come again with their values."""
    children = unpack_bits(upper.read(origin), UPPER.entries)
    for child in _at(origin[None], children, UPPER):
        leaves = int.from_bytes(lower.read(child), "little").bit_count()
        cursor.take(leaves * LEAF.mask_bytes)


def read_leaves(cursor: Cursor, encoding: Encoding, count: int) -> tuple[Floats, Bools]:
    """Values (count, 512, channels) and active voxels (count, 512)."""
    if count * (LEAF.mask_bytes + 1) > cursor.left:
        raise cursor.damaged("it ends too early")
    values = np.empty((count, LEAF.entries, encoding.values.channels), np.float32)
    active = np.empty((count, LEAF.entries), np.bool_)
    batch = NodeBatch(cursor, encoding, LEAF.entries)
    for start in range(0, count, BATCHES[LEAF]):
        end = min(start + BATCHES[LEAF], count)
        for _ in range(start, end):
            batch.read(cursor.take(LEAF.mask_bytes))
        active[start:end], decoded = batch.decode()
        values[start:end] = narrow(decoded)
    return values, active
