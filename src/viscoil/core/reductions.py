# mypy: disable-error-code="valid-type,no-untyped-def,no-untyped-call,misc"
"""Sums, extremes and prefix sums that give the same bits for any number of threads.

Work is cut into blocks of fixed length. Each block is added up by one thread, and the block results
are added up by one thread. The compiler may add several numbers of a block at once (SIMD), but the
order of additions depends on nothing but their number, and never on how many threads there are.
"""

import quadrants as qd

from viscoil.core.compute import Doubles, Ints


def block_count(n: int) -> int:
    return (n + 1023) // 1024


# Kernels may not read module constants (their compiled form would outlive a change), so the length
# of a block stands as a number in these functions and nowhere else.
@qd.func
def blocks(n: qd.i32) -> qd.i32:
    return (n + 1023) // 1024


@qd.func
def block_begin(block: qd.i32) -> qd.i32:
    return block * 1024


@qd.func
def block_end(block: qd.i32, n: qd.i32) -> qd.i32:
    return qd.min((block + 1) * 1024, n)


@qd.kernel(fastcache=True)
def _sum_blocks(n: qd.i32, counts: Ints, block_sums: Ints):
    for b in range(blocks(n)):
        total = 0
        for i in range(block_begin(b), block_end(b, n)):
            total += counts[i]
        block_sums[b] = total


@qd.kernel(fastcache=True)
def _scan_in_place(n: qd.i32, values: Ints) -> qd.i32:
    total = 0
    qd.loop_config(serialize=True)
    for i in range(n):
        value = values[i]
        values[i] = total
        total += value
    return total


@qd.kernel(fastcache=True)
def _scan_blocks(n: qd.i32, counts: Ints, block_sums: Ints, offsets: Ints):
    for b in range(blocks(n)):
        running = block_sums[b]
        for i in range(block_begin(b), block_end(b, n)):
            value = counts[i]
            offsets[i] = running
            running += value
        if b == blocks(n) - 1:
            offsets[n] = running


def exclusive_scan(n: int, counts, sums, offsets) -> int:
    """offsets[i] = counts[0] + ... + counts[i-1] for i <= n; returns the total.

    `sums` is scratch of at least `block_count(n)` integers; `offsets` needs n + 1 elements and may
    be the same array as `counts`.
    """
    if n == 0:
        offsets[0] = 0
        return 0
    _sum_blocks(n, counts, sums)
    total = int(_scan_in_place(block_count(n), sums))
    _scan_blocks(n, counts, sums, offsets)
    return total


@qd.func
def total_blocks(n: qd.i32, sums: Doubles, target: Doubles, place: qd.template()):
    """target[place] ← the sum over the blocks of n elements, in order."""
    qd.loop_config(serialize=True)
    for b in range(blocks(n)):
        if b == 0:
            target[place] = 0.0
        target[place] = target[place] + sums[b]


@qd.kernel(fastcache=True)
def sum_doubles(n: qd.i32, values: Doubles) -> qd.f64:
    """The sum of the first n values, in an order that depends on n alone."""
    total = qd.f64(0.0)
    qd.loop_config(serialize=True)
    for i in range(n):
        total += values[i]
    return total
