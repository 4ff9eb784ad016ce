# mypy: disable-error-code="valid-type,no-untyped-def,no-untyped-call,misc"
"""How a loop of pressures goes: what is summed up over the particles after each of its iterations."""

import enum

import quadrants as qd

from viscoil.core.compute import on_cpu
from viscoil.core.reductions import block_begin, block_end, blocks
from viscoil.solvers.dcpbd.arrays import Unknowns
from viscoil.solvers.linear.iterations import LoopArrays


class Tally(enum.IntEnum):
    """Places in the numbers that tell how a position projection goes; cached kernels hold them."""

    MEAN_ERROR = 0  # of the compression max(C, 0)
    LARGEST_ERROR = 1
    UNBALANCED = 2  # mean error of C ≤ 0, p ≥ 0, p C = 0: also pressure that pulls apart
    NESTEROV = 3
    MOMENTUM = 4
    RESIDUAL = 5  # r·z of the conformation constraint
    OUTRAN = 6  # particles that moved farther against a neighbour than the pair list allows for
    EXCESS = 7  # C that no pressure can undo (`SealedFluid`), which the caller sets
    CLOSED = 8  # mean of what C exceeds that by, if all pressures are above 0; else 0


@qd.func
def sum_tallies(n: qd.i32, unknowns: Unknowns, loop: LoopArrays):
    """Sums up what `change_pressure` left, and sets the momentum of the next step.

    Nesterov's weights start again when they carried too far (O'Donoghue and Candès 2015).
    """
    qd.loop_config(serialize=qd.static(on_cpu()))
    for b in range(blocks(n)):
        total = qd.f64(0.0)
        largest = 0.0
        unbalanced = qd.f64(0.0)
        overshoot = qd.f64(0.0)
        owed = qd.f64(0.0)
        least = qd.f64(unknowns.pressure[block_begin(b)])
        for i in range(block_begin(b), block_end(b, n)):
            terms = unknowns.tally[i]
            total += terms[0]
            largest = qd.max(largest, terms[0])
            unbalanced += terms[1]
            overshoot += terms[2]
            owed += unknowns.compression[i] - unknowns.allowance[i]
            least = qd.min(least, unknowns.pressure[i])
        loop.sums[6 * b] = total
        loop.sums[6 * b + 1] = largest
        loop.sums[6 * b + 2] = unbalanced
        loop.sums[6 * b + 3] = overshoot
        loop.sums[6 * b + 4] = owed
        loop.sums[6 * b + 5] = least
    qd.loop_config(serialize=True)
    for _ in range(1):
        total = qd.f64(0.0)
        largest = qd.f64(0.0)
        unbalanced = qd.f64(0.0)
        overshoot = qd.f64(0.0)
        owed = qd.f64(0.0)
        least = loop.sums[5]
        for b in range(blocks(n)):
            total += loop.sums[6 * b]
            largest = qd.max(largest, loop.sums[6 * b + 1])
            unbalanced += loop.sums[6 * b + 2]
            overshoot += loop.sums[6 * b + 3]
            owed += loop.sums[6 * b + 4]
            least = qd.min(least, loop.sums[6 * b + 5])
        loop.numbers[Tally.CLOSED] = 0.0
        if least > 0.0:
            loop.numbers[Tally.CLOSED] = qd.max(owed / n - loop.numbers[Tally.EXCESS], 0.0)
        loop.numbers[Tally.MEAN_ERROR] = total / n
        loop.numbers[Tally.LARGEST_ERROR] = largest
        loop.numbers[Tally.UNBALANCED] = unbalanced / n
        before = loop.numbers[Tally.NESTEROV]
        if overshoot > 0.0:
            before = qd.f64(1.0)
        after = 0.5 * (1.0 + qd.sqrt(1.0 + 4.0 * before * before))
        loop.numbers[Tally.NESTEROV] = after
        loop.numbers[Tally.MOMENTUM] = (before - 1.0) / after
