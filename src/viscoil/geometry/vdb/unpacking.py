"""Reads the values of nodes: a run of stored ones, and a rule for those that were left out."""

import zlib
from dataclasses import dataclass
from typing import Any

import numpy as np

from viscoil.geometry.vdb import blosc
from viscoil.geometry.vdb.cursor import Cursor
from viscoil.geometry.vdb.layout import (
    ACTIVE_MASK,
    ALL_VALUES,
    BACKGROUND,
    BLOSC,
    HAS_MASK,
    STORED_VALUES,
    ZIP,
    Bools,
    Numbers,
    ValueType,
    unpack_bits,
)


@dataclass(frozen=True)
class Encoding:
    """What is the same for all nodes of a grid."""

    values: ValueType
    compression: int  # flags
    background: Numbers  # (channels,)

    @property
    def masked(self) -> bool:
        return bool(self.compression & ACTIVE_MASK)


class NodeBatch:
    """Nodes of one level, collected one by one and decoded together."""

    def __init__(self, cursor: Cursor, encoding: Encoding, entries: int) -> None:
        self._cursor = cursor
        self._encoding = encoding
        self._entries = entries
        self._background = encoding.background.tobytes()
        self._minus = np.negative(encoding.background).tobytes()
        self._clear()

    def _clear(self) -> None:
        self._masks = bytearray()
        self._codes = bytearray()
        self._choices = bytearray()
        self._inactive = bytearray()
        self._runs: list[bytes] = []

    def __len__(self) -> int:
        return len(self._codes)

    def read(self, mask: bytes) -> None:
        """Reads the next node, whose active entries are known."""
        cursor, encoding = self._cursor, self._encoding
        code = cursor.take(1)[0]
        if code > ALL_VALUES:
            raise cursor.damaged(f"a node has the code {code}")
        self._masks += mask
        self._codes.append(code)
        self._inactive += self._inactive_values(code)
        mask_bytes = self._entries // 8
        self._choices += cursor.take(mask_bytes) if code in HAS_MASK else bytes(mask_bytes)
        some = encoding.masked and code != ALL_VALUES
        count = int.from_bytes(mask, "little").bit_count() if some else self._entries
        self._runs.append(_run(cursor, encoding, count * encoding.values.packed_size))

    def _inactive_values(self, code: int) -> bytes:
        """Both values between which the node's mask chooses."""
        size = self._encoding.values.size
        stored = self._cursor.take(STORED_VALUES[code] * size)
        first = stored[:size] or (self._background if code == BACKGROUND else self._minus)
        return first + (stored[size:] or self._background)

    def decode(self) -> tuple[Bools, Numbers]:
        """Active entries (n, entries) and all values (n, entries, channels); begins anew."""
        kind = self._encoding.values
        active = unpack_bits(self._masks, self._entries)
        inactive = np.frombuffer(self._inactive, kind.dtype).reshape(-1, 2, 1, kind.channels)
        chosen = unpack_bits(self._choices, self._entries)[..., None]
        values: Numbers = np.where(chosen, inactive[:, 1], inactive[:, 0])
        stored = active
        if not self._encoding.masked:
            stored = np.ones_like(active)
        elif ALL_VALUES in self._codes:
            whole = np.frombuffer(self._codes, np.uint8) == ALL_VALUES
            stored = active | whole[:, None]
        run: np.ndarray[Any, Any] = np.frombuffer(b"".join(self._runs), kind.packed)
        values[stored] = run.reshape(-1, kind.channels)
        self._clear()
        return active, values


def _run(cursor: Cursor, encoding: Encoding, size: int) -> bytes:
    """The next run of values, `size` bytes once unpacked."""
    if not encoding.compression & (ZIP | BLOSC):
        return cursor.take(size)
    if not size and encoding.values.half:
        return b""
    packed = cursor.number("q")
    if packed <= 0:
        if packed != -size:
            raise cursor.damaged("a run of values has another length")
        return cursor.take(size)
    try:
        if encoding.compression & BLOSC:
            return blosc.unpack(cursor.take(packed), size)
        return unzip(cursor.take(packed), size)
    except ValueError as error:
        raise cursor.damaged(str(error)) from None
    except zlib.error:
        raise cursor.damaged("a zipped run of values cannot be unpacked") from None


def unzip(packed: bytes, size: int) -> bytes:
    """Unpacks to the expected size and no further, however much there may be."""
    inflate = zlib.decompressobj()
    run = inflate.decompress(packed, size + 1)
    if len(run) != size or not inflate.eof:
        raise ValueError("a zipped run of values has another length")
    return run
