"""What the formats share: the numbers of the particles, and rows of them in blocks."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from math import prod
from typing import Any, BinaryIO, NamedTuple

import numpy as np

from viscoil.core.errors import RunError
from viscoil.snapshots.snapshot import Array, Snapshot

BLOCK = 16384  # rows that are put together at a time: small enough for the cache
RADIUS = "radius"  # m; half the spacing of a particle, which is what most programs draw


class Column(NamedTuple):
    """Numbers of all particles, and how a file names and stores them."""

    name: str
    values: Array  # (n,) or (n, k)
    stored: np.dtype[Any]

    @property
    def width(self) -> int:
        """Numbers per particle."""
        return 1 if self.values.ndim == 1 else self.values.shape[1]


def radii(snapshot: Snapshot) -> Array:
    """(n,) Half the spacing of each particle, m, single precision."""
    half = np.float32(0.5 * snapshot.spacing)
    sizes = snapshot.channels.get("size")
    if sizes is None:
        return np.full(len(snapshot.channels["position"]), half)
    return half * np.asarray(sizes, np.float32)


def channel(snapshot: Snapshot, name: str) -> Array:
    """A channel as (n,) or (n, k); RunError if the frame lacks it."""
    if name not in snapshot.channels:
        known = ", ".join(sorted(snapshot.channels))
        raise RunError(f"frame {snapshot.frame} has no channel {name!r}: it has {known}")
    values = np.asarray(snapshot.channels[name])
    return values if values.ndim == 1 else values.reshape(len(values), prod(values.shape[1:]))


def fitting(column: Column, frame: int, format_name: str) -> Column:
    """The same column; RunError if its whole numbers do not fit into what they are stored as."""
    name, values, stored = column
    if stored.kind not in "iu" or values.dtype.kind not in "iu" or not values.size:
        return column
    if not np.can_cast(values.dtype, stored):
        limits = np.iinfo(stored)
        if values.min() < limits.min or values.max() > limits.max:
            raise RunError(
                f"channel {name!r} of frame {frame} has numbers beyond {limits.min} to "
                f'{limits.max}, which is all that "{format_name}" can hold: use "vtp" or "npz"'
            )
    return column


def check_names(names: Iterable[str], format_name: str) -> None:
    """Raises RunError if a channel is called what the format calls something else."""
    for name, count in Counter(names).items():
        if count > 1:
            raise RunError(
                f'"{format_name}" has two things named {name!r}: leave that channel out with '
                "--channels, or give it another name in the scene"
            )


def write_rows(file: BinaryIO, columns: Sequence[Column]) -> None:
    """Writes the numbers of one particle after those of another, a block at a time."""
    count = len(columns[0].values)
    kinds = [(f"f{i}", c.stored, c.values.shape[1:]) for i, c in enumerate(columns)]
    block = np.empty(min(count, BLOCK), np.dtype(kinds))
    for rows in _blocks(count):
        part = block[: rows.stop - rows.start]
        for (field, _, _), column in zip(kinds, columns, strict=True):
            part[field] = column.values[rows]
        file.write(part.data)


def write_column(file: BinaryIO, column: Column) -> None:
    """Writes one channel of all particles, without a copy where memory holds it that way already."""
    values, stored = column.values, column.stored
    if values.dtype == stored and values.flags.c_contiguous:
        file.write(values.data)
        return
    for rows in _blocks(len(values)):
        file.write(np.ascontiguousarray(values[rows], stored).data)


def _blocks(count: int) -> Iterator[slice]:
    for start in range(0, count, BLOCK):
        yield slice(start, min(start + BLOCK, count))
