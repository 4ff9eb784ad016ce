"""Numbers of the file format, and the standard tree: root, 32³ nodes, 16³ nodes, 8³ leaves."""

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Bools: TypeAlias = NDArray[np.bool_]
Bytes: TypeAlias = NDArray[np.uint8]
Floats: TypeAlias = NDArray[np.float32]
Coords: TypeAlias = NDArray[np.int32]
Longs: TypeAlias = NDArray[np.int64]
Numbers: TypeAlias = NDArray[Any]

MAGIC = 0x56444220  # " BDV", as 8 bytes
WRITTEN_VERSION = 224
OLDEST_VERSION = 222  # before it, nodes were laid out in another way
LIBRARY_VERSION = (9, 0)  # of the OpenVDB whose conventions the files follow
UUID_LENGTH = 36

ZIP, ACTIVE_MASK, BLOSC = 1, 2, 4  # compression flags of a grid

# What a node says about its inactive values, of which it stores as few as possible.
BACKGROUND = 0
MINUS_BACKGROUND = 1
ONE_VALUE = 2
MASK_OF_BACKGROUNDS = 3  # a mask chooses between minus and plus background
MASK_AND_ONE_VALUE = 4  # a mask chooses between a value and the background
MASK_AND_TWO_VALUES = 5
ALL_VALUES = 6
HAS_MASK = (MASK_OF_BACKGROUNDS, MASK_AND_ONE_VALUE, MASK_AND_TWO_VALUES)
STORED_VALUES = (0, 0, 1, 0, 1, 2, 0)  # how many inactive values follow each code

HALF_SUFFIX = "_HalfFloat"  # of the type of a grid whose values are stored in 16 bits
NAME_SEPARATOR = "\x1e"  # between a name and the number that makes it unique


@dataclass(frozen=True)
class Level:
    """One kind of node: how many entries it has along an edge, and how wide each is."""

    edge: int  # entries along an edge
    width: int  # voxels along an entry's edge

    @property
    def entries(self) -> int:
        return self.edge**3

    @property
    def mask_bytes(self) -> int:
        return self.entries // 8

    @property
    def span(self) -> int:
        """Voxels along the edge of the whole node."""
        return self.edge * self.width

    def places(self, index: Longs) -> Longs:
        """From entries to where they begin within the node, (n, 3); z runs fastest."""
        return np.stack(np.unravel_index(index, (self.edge,) * 3), axis=-1) * self.width

    def index(self, origins: Longs) -> Longs:
        """From positions (n, 3) to the entries of the nodes that hold them."""
        x, y, z = np.moveaxis(origins % self.span // self.width, -1, 0)
        entry: Longs = (x * self.edge + y) * self.edge + z
        return entry


LEAF = Level(edge=8, width=1)
LOWER = Level(edge=16, width=8)
UPPER = Level(edge=32, width=128)


@dataclass(frozen=True)
class ValueType:
    """How the values of a grid lie in the file."""

    dtype: np.dtype[Any]  # of one channel of a value that stands alone
    channels: int  # 1, or 3 of a vector
    half: bool = False  # whether runs of values have 16 bits a channel

    @property
    def packed(self) -> np.dtype[Any]:
        """Of one channel of a value within a run."""
        return np.dtype("<f2") if self.half else self.dtype

    @property
    def size(self) -> int:
        """Bytes of a value that stands alone."""
        return self.dtype.itemsize * self.channels

    @property
    def packed_size(self) -> int:
        return self.packed.itemsize * self.channels


SCALAR = ValueType(np.dtype("<f4"), 1)
VECTOR = ValueType(np.dtype("<f4"), 3)
TREES = {
    "Tree_float_5_4_3": SCALAR,
    "Tree_vec3s_5_4_3": VECTOR,
    "Tree_double_5_4_3": ValueType(np.dtype("<f8"), 1),
    "Tree_vec3d_5_4_3": ValueType(np.dtype("<f8"), 3),
}


def unpack_bits(masks: bytes | bytearray, entries: int) -> Bools:
    """Masks of nodes one after the other, as (n, entries)."""
    packed = np.frombuffer(masks, np.uint8).reshape(-1, entries // 8)
    return np.unpackbits(packed, axis=1, bitorder="little").view(np.bool_)


def pack_bits(masks: Bools) -> Bytes:
    """Masks (n, entries) as (n, entries / 8) bytes."""
    return np.packbits(masks, axis=-1, bitorder="little")


def bits(values: Numbers) -> Numbers:
    """Values as integers, which are equal exactly when the values are the same bits."""
    return values.view(f"u{values.dtype.itemsize}")


def same(a: Numbers, b: Numbers) -> Bools:
    """Whether values given as bits, whose channels are the last axis, are equal."""
    equal: Bools = a[..., 0] == b[..., 0]
    for channel in range(1, a.shape[-1]):
        equal = equal & (a[..., channel] == b[..., channel])
    return equal
