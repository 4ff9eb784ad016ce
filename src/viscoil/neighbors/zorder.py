# mypy: disable-error-code="valid-type,no-untyped-def,no-untyped-call,misc"
"""64-bit Z-indices with 21 bits per axis (DYVERSO, section 5.2), and a sort by them.

Cells are counted from `origin()`, a pattern of alternating bits. Around it no run of cells crosses a
boundary between far-apart high bits, so the keys of a scene differ only in their low bits, and the
radix sort needs few passes although the domain is unbounded.
"""

from typing import Any

import quadrants as qd

from viscoil.core.compute import Ints, Longs, Vec3s, scalars
from viscoil.core.reductions import block_begin, block_count, block_end, blocks

DIGITS = 256  # the radix sort takes eight bits at a time


@qd.func
def origin() -> qd.i64:
    """The cell of the coordinate 0 along an axis: 0b01010..., a third of the 2^21 cells."""
    return qd.i64(0x0AAAAA)


@qd.func
def last_cell() -> qd.i64:
    return qd.i64(0x1FFFFF)


@qd.func
def dead_key() -> qd.i64:
    """Sorts behind every cell."""
    return qd.i64(0x7FFFFFFFFFFFFFFF)


@qd.func
def spread(v: qd.i64) -> qd.i64:
    """Puts two zero bits between the 21 bits of v."""
    v = v & qd.i64(0x1FFFFF)
    v = (v | (v << 32)) & qd.i64(0x1F00000000FFFF)
    v = (v | (v << 16)) & qd.i64(0x1F0000FF0000FF)
    v = (v | (v << 8)) & qd.i64(0x100F00F00F00F00F)
    v = (v | (v << 4)) & qd.i64(0x10C30C30C30C30C3)
    v = (v | (v << 2)) & qd.i64(0x1249249249249249)
    return v


@qd.func
def squeeze(v: qd.i64) -> qd.i64:
    """Undoes `spread`."""
    v = v & qd.i64(0x1249249249249249)
    v = (v | (v >> 2)) & qd.i64(0x10C30C30C30C30C3)
    v = (v | (v >> 4)) & qd.i64(0x100F00F00F00F00F)
    v = (v | (v >> 8)) & qd.i64(0x1F0000FF0000FF)
    v = (v | (v >> 16)) & qd.i64(0x1F00000000FFFF)
    v = (v | (v >> 32)) & qd.i64(0x1FFFFF)
    return v


@qd.func
def encode(x: qd.i64, y: qd.i64, z: qd.i64) -> qd.i64:
    return spread(x) | (spread(y) << 1) | (spread(z) << 2)


@qd.func
def cell_along(coordinate: qd.f32, cells_per_metre: qd.f32) -> qd.i64:
    cell = qd.cast(qd.floor(coordinate * cells_per_metre), qd.i64) + origin()
    return qd.max(qd.i64(0), qd.min(cell, last_cell()))


@qd.kernel(fastcache=True)
def _make_keys(
    n: qd.i32,
    per_metre_x: qd.f32,
    per_metre_y: qd.f32,
    per_metre_z: qd.f32,
    position: Vec3s,
    alive: Ints,
    keys: Longs,
    order: Ints,
):
    for i in range(n):
        x = position[i]
        order[i] = i
        if alive[i] == 0:
            keys[i] = dead_key()
        else:
            keys[i] = encode(
                cell_along(x[0], per_metre_x),
                cell_along(x[1], per_metre_y),
                cell_along(x[2], per_metre_z),
            )


@qd.kernel(fastcache=True)
def _survey(
    n: qd.i32,
    keys: Longs,
    block_ones: Longs,
    block_zeros: Longs,
    block_dead: Ints,
    block_disorder: Ints,
):
    """Per block: which bits are 1, and which 0, in some living key; how many are dead, and descend."""
    for b in range(blocks(n)):
        ones = qd.i64(0)
        zeros = qd.i64(0)
        dead = 0
        descents = 0
        for i in range(block_begin(b), block_end(b, n)):
            key = keys[i]
            if key == dead_key():
                dead += 1
            else:
                ones = ones | key
                zeros = zeros | (key ^ dead_key())
            if i > 0:
                descents += qd.cast(keys[i - 1] > key, qd.i32)
        block_ones[b] = ones
        block_zeros[b] = zeros
        block_dead[b] = dead
        block_disorder[b] = descents


@qd.kernel(fastcache=True)
def _survey_total(
    count: qd.i32,
    block_ones: Longs,
    block_zeros: Longs,
    block_dead: Ints,
    block_disorder: Ints,
):
    qd.loop_config(serialize=True)
    for b in range(1, count):
        block_ones[0] = block_ones[0] | block_ones[b]
        block_zeros[0] = block_zeros[0] | block_zeros[b]
        block_dead[0] = block_dead[0] + block_dead[b]
        block_disorder[0] = block_disorder[0] + block_disorder[b]


@qd.kernel(fastcache=True)
def _count_digits(n: qd.i32, shift: qd.i32, keys: Longs, histogram: Ints):
    stride = blocks(n)
    for b in range(stride):
        for place in range(256):
            histogram[place * stride + b] = 0
        for i in range(block_begin(b), block_end(b, n)):
            digit = qd.cast((keys[i] >> shift) & qd.i64(255), qd.i32)
            # not `+=`, which would be an atomic operation beside the plain store above
            count = histogram[digit * stride + b]
            histogram[digit * stride + b] = count + 1


@qd.kernel(fastcache=True)
def _scan_histogram(n: qd.i32, histogram: Ints):
    running = 0
    qd.loop_config(serialize=True)
    for i in range(n):
        value = histogram[i]
        histogram[i] = running
        running += value


@qd.kernel(fastcache=True)
def _scatter(
    n: qd.i32,
    shift: qd.i32,
    keys: Longs,
    order: Ints,
    histogram: Ints,
    sorted_keys: Longs,
    sorted_order: Ints,
):
    stride = blocks(n)
    for b in range(stride):
        for i in range(block_begin(b), block_end(b, n)):
            digit = qd.cast((keys[i] >> shift) & qd.i64(255), qd.i32)
            place = histogram[digit * stride + b]
            histogram[digit * stride + b] = place + 1
            sorted_keys[place] = keys[i]
            sorted_order[place] = order[i]


class ZSort:
    """Stable radix sort of particles by the Z-index of their cell; the dead go last."""

    def __init__(self) -> None:
        self._capacity = 0

    def reserve(self, capacity: int) -> None:
        """Makes room for the keys of `capacity` particles."""
        if capacity <= self._capacity:
            return
        self._capacity = capacity
        count = block_count(capacity)
        self.keys = scalars(qd.i64, capacity)
        self.order = scalars(qd.i32, capacity)
        self._other_keys = scalars(qd.i64, capacity)
        self._other_order = scalars(qd.i32, capacity)
        self._histogram = scalars(qd.i32, count * DIGITS)
        self._ones = scalars(qd.i64, count)
        self._zeros = scalars(qd.i64, count)
        self._dead = scalars(qd.i32, count)
        self._descents = scalars(qd.i32, count)

    def sort(
        self, n: int, cells_per_metre: list[float], position: Any, alive: Any
    ) -> tuple[int, bool]:
        """Sorts; returns how many particles live, and whether any has to move.

        Afterwards `keys` are in ascending order and `order[i]` is the old place of particle i.
        """
        if n == 0:
            return 0, False
        self.reserve(position.shape[0])
        _make_keys(n, *cells_per_metre, position, alive, self.keys, self.order)
        return self.sort_keys(n)

    def sort_keys(self, n: int) -> tuple[int, bool]:
        """The same for n > 0 particles whose `keys` and `order` (0, 1, 2...) are already made."""
        found = (self._ones, self._zeros, self._dead, self._descents)
        _survey(n, self.keys, *found)
        _survey_total(block_count(n), *found)
        dead = int(self._dead[0])
        if int(self._descents[0]) == 0:
            return n - dead, dead > 0
        bits = self._bits_to_sort_by(dead > 0)
        for shift in range(0, bits.bit_length(), 8):
            if not bits >> shift & (DIGITS - 1):
                continue  # nothing to tell apart by this digit
            _count_digits(n, shift, self.keys, self._histogram)
            _scan_histogram(DIGITS * block_count(n), self._histogram)
            _scatter(
                n, shift, self.keys, self.order, self._histogram,
                self._other_keys, self._other_order,
            )  # fmt: skip
            self.keys, self._other_keys = self._other_keys, self.keys
            self.order, self._other_order = self._other_order, self.order
        return n - dead, True

    def _bits_to_sort_by(self, any_dead: bool) -> int:
        """The bits in which living keys differ and, if any are dead, one more that tells them apart.

        Above those in which they differ all living keys agree; the dead have a 1 at every place, so
        the lowest at which the living have a 0 will do.
        """
        ones, zeros = int(self._ones[0]), int(self._zeros[0])
        differing = ones & zeros
        if not any_dead:
            return differing
        above = differing.bit_length()
        apart = zeros >> above << above
        return differing | (apart & -apart)
