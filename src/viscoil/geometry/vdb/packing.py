"""Writes the values of nodes: only active ones, as long as the others can be told from a rule.

Values count as equal when they are the same bits, so that -0 and NaN survive.
"""

import struct
import zlib
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from viscoil.geometry.vdb.layout import (
    ALL_VALUES,
    BACKGROUND,
    HAS_MASK,
    MASK_AND_ONE_VALUE,
    MASK_AND_TWO_VALUES,
    MASK_OF_BACKGROUNDS,
    MINUS_BACKGROUND,
    ONE_VALUE,
    STORED_VALUES,
    Bools,
    Bytes,
    Floats,
    Numbers,
    bits,
    pack_bits,
    same,
)

ZIP_LEVEL = 1  # higher ones take three times as long and save a few percent


@dataclass(frozen=True)
class Packer:
    """What is the same for all nodes of a grid."""

    background: Floats  # (channels,)
    zipped: bool

    def nodes(self, values: Floats, active: Bools, children: Bools | None = None) -> list[bytes]:
        """Each node as bytes; values (n, entries, channels), masks (n, entries)."""
        plan = _plan(values, active, children, self.background)
        stored = active | (plan.codes == ALL_VALUES)[:, None]
        runs = values[stored].tobytes()
        value_size = values.itemsize * values.shape[-1]
        ends = (np.cumsum(np.count_nonzero(stored, axis=1)) * value_size).tolist()
        nodes, start = [], 0
        for i, (code, end) in enumerate(zip(plan.codes.tolist(), ends, strict=True)):
            rule = plan.inactive[i, : STORED_VALUES[code]].tobytes()
            mask = plan.choices[i].tobytes() if code in HAS_MASK else b""
            nodes.append(bytes((code,)) + rule + mask + self.run(runs[start:end]))
            start = end
        return nodes

    def run(self, run: bytes) -> bytes:
        """A run of values, packed where that makes it shorter."""
        if not self.zipped:
            return run
        packed = zlib.compress(run, ZIP_LEVEL)
        if len(packed) < len(run):
            return struct.pack("<q", len(packed)) + packed
        return struct.pack("<q", -len(run)) + run

    def empty(self) -> bytes:
        """A node all of whose entries are children or the inactive background."""
        return bytes((BACKGROUND,)) + self.run(b"")


class _Plan(NamedTuple):
    codes: Bytes  # (n,)
    inactive: Numbers  # (n, 2, channels) bits of the two values that a mask chooses from
    choices: Bytes  # (n, entries / 8) where it is the second one


def _plan(values: Floats, active: Bools, children: Bools | None, background: Floats) -> _Plan:
    """How the inactive values of each node can be told; children have none."""
    raw, plus, minus = bits(values), bits(background), bits(-background)
    inactive = ~active if children is None else ~(active | children)
    first, some = _first(raw, inactive)
    others = inactive & ~same(raw, first[:, None])
    second, two = _first(raw, others)
    more = (others & ~same(raw, second[:, None])).any(axis=1)
    swap = (two & same(first, plus))[:, None]
    first, second = np.where(swap, second, first), np.where(swap, plus, second)
    one = np.where(same(first, minus), MINUS_BACKGROUND, ONE_VALUE)
    one = np.where(same(first, plus) | ~some, BACKGROUND, one)
    with_background = np.where(same(first, minus), MASK_OF_BACKGROUNDS, MASK_AND_ONE_VALUE)
    pair = np.where(same(second, plus), with_background, MASK_AND_TWO_VALUES)
    codes = np.where(more, ALL_VALUES, np.where(two, pair, one)).astype(np.uint8)
    choices = pack_bits(inactive & same(raw, second[:, None]))
    return _Plan(codes, np.stack((first, second), axis=1), choices)


def _first(raw: Numbers, where: Bools) -> tuple[Numbers, Bools]:
    """The first value of each node's marked ones (n, channels), and whether there is one."""
    at = np.argmax(where, axis=1)
    rows = np.arange(len(raw))
    return raw[rows, at], where[rows, at]
