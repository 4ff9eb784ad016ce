# mypy: disable-error-code="valid-type,no-untyped-def,no-untyped-call,misc"
"""Preconditioned conjugate gradients over particles, for any operator and any preconditioner.

    length ← r·z / p·A p;  x += length p;  r −= length A p;  z ← P⁻¹ r;  p ← z + (r·z)'/(r·z) p

The operator A, the preconditioner P, the scalar product and the updates are compile-time arguments:
functions of a `system`, a dataclass of whatever arrays they need. They are inlined, so that the loop
costs what it would cost written out for one system. P must be local to an element, because z is not
kept: it is taken anew where it is needed, which costs less than an array. How a solve starts (r, and
p = z) is the caller's, as are preconditioners that are solves themselves.
"""

from typing import Any

import quadrants as qd

from viscoil.core.compute import Doubles, Flag, Floats, on_cpu
from viscoil.core.reductions import block_begin, block_end, blocks, sum_blocks
from viscoil.solvers.linear.iterations import LoopArrays


def conjugate_gradient_step(system_type: Any) -> Any:
    """The function of one iteration for systems of this dataclass, to be called in a kernel's loop."""

    @qd.func
    def iterate(
        apply: qd.template(),
        advance_rest: qd.template(),
        advance: qd.template(),
        precondition: qd.template(),
        product: qd.template(),
        turn: qd.template(),
        go: Flag,
        n: qd.i32,
        most: qd.i32,
        enough: qd.f64,
        system: system_type,
        term: Floats,
        loop: LoopArrays,
    ):
        """The loop ends when r·z ≤ `enough` or `most` iterations are used; number 0 is r·z.

        `apply(n, system, loop)` leaves A p, and in the sums the parts of p·A p.
        `advance_rest(system, loop)` moves unknowns that are no elements by 1/sums[1].
        `advance(system, length, i)` moves x and r of element i.
        `precondition(system, i)` is z of element i, a number or a vector.
        `product(system, z, i)` is what element i adds to r·z.
        `turn(system, z, keep, i)` gives element i its new direction z + keep p.
        """
        apply(n, system, loop)
        sum_blocks(n, loop.numbers, loop.sums)
        advance_rest(system, loop)
        for i in range(n):
            length = 1.0 / qd.cast(loop.sums[1], qd.f32)
            advance(system, length, i)
            term[i] = product(system, precondition(system, i), i)
        sum_terms(n, term, loop.sums)
        sum_blocks(n, loop.numbers, loop.sums)
        for i in range(n):
            keep = qd.cast(loop.sums[1], qd.f32)
            turn(system, precondition(system, i), keep, i)
        qd.loop_config(serialize=True)
        for _ in range(1):
            loop.numbers[0] = loop.sums[0]
            loop.used[0] = loop.used[0] + 1
            if loop.used[0] >= most or loop.sums[0] <= enough:
                go[None] = 0

    return iterate


@qd.func
def sum_terms(n: qd.i32, term: Floats, sums: Doubles):
    """Per block: the sum of the terms. On a CPU it is over before a second thread has woken up."""
    qd.loop_config(serialize=qd.static(on_cpu()))
    for b in range(blocks(n)):
        total = qd.f64(0.0)
        for i in range(block_begin(b), block_end(b, n)):
            total += term[i]
        sums[b] = total
