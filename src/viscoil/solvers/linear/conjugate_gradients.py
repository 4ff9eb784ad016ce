# mypy: disable-error-code="valid-type,no-untyped-def,no-untyped-call,misc"
"""Preconditioned conjugate gradients over particles, for any operator and any preconditioner.

    length ← r·p / p·A p;  x += length p;  r −= length A p;  z' ← P⁻¹ r;  p ← z' + r·(z' − z)/(r·z) p

In exact arithmetic r·p is r·z and r·z is 0 with the new r, as textbooks have it; written like this
(Polak and Ribière 1969) it also serves systems that are not quite linear, such as those with contacts.

The operator A, the preconditioner P, the scalar product and the updates are compile-time arguments:
functions of a `system`, a dataclass of whatever arrays they need. They are inlined, so that the loop
costs what it would cost written out for one system. P must be local to an element, because z is not
kept: it is taken anew where it is needed, which costs less than an array. How a solve starts (r, and
p = z) is the caller's, as are preconditioners that are solves themselves.
"""

from typing import Any

import quadrants as qd

from viscoil.core.compute import Doubles, Flag, Floats, on_cpu
from viscoil.core.reductions import block_begin, block_end, blocks, total_blocks
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
        along: qd.template(),
        turn: qd.template(),
        go: Flag,
        n: qd.i32,
        most: qd.i32,
        enough: qd.f64,
        system: system_type,
        term: Floats,
        overlap: Floats,
        loop: LoopArrays,
    ):
        """The loop ends when r·z ≤ `enough` or `most` iterations are used; number 0 is r·z.

        `apply(n, system, loop)` leaves A p, and in the sums the parts of p·A p.
        `advance_rest(n, system, loop)` may change what `apply` left, which `advance` is about to take
        by the length in number 3: where the system is not quite linear, and for unknowns that are
        no elements.
        `advance(system, length, i)` moves x and r of element i.
        `precondition(system, i)` is z of element i, a number or a vector.
        `product(system, z, i)` is what element i adds to r·z, `along(system, i)` to r·p.
        `turn(system, z, keep, i)` gives element i its new direction z + keep p.
        """
        apply(n, system, loop)
        total_blocks(n, loop.sums, loop.numbers, 1)
        for i in range(n):
            term[i] = along(system, i)
        sum_terms(n, term, loop.sums)
        total_blocks(n, loop.sums, loop.numbers, 2)
        _set_length(loop)
        advance_rest(n, system, loop)
        for i in range(n):
            length = qd.cast(loop.numbers[3], qd.f32)
            before = precondition(system, i)
            advance(system, length, i)
            term[i] = product(system, precondition(system, i), i)
            overlap[i] = product(system, before, i)
        sum_terms(n, term, loop.sums)
        total_blocks(n, loop.sums, loop.numbers, 1)
        sum_terms(n, overlap, loop.sums)
        total_blocks(n, loop.sums, loop.numbers, 2)
        for i in range(n):
            gained = loop.numbers[1] - loop.numbers[2]
            keep = qd.cast(qd.max(gained / qd.max(loop.numbers[0], 1e-300), 0.0), qd.f32)
            turn(system, precondition(system, i), keep, i)
        _go_on_or_stop(go, most, enough, loop)

    return iterate


@qd.func
def _set_length(loop: LoopArrays):
    """Number 3 ← r·p / p·A p, of numbers 2 and 1."""
    qd.loop_config(serialize=True)
    for _ in range(1):
        loop.numbers[3] = 0.0
        if loop.numbers[1] > 0.0:
            loop.numbers[3] = loop.numbers[2] / loop.numbers[1]


@qd.func
def _go_on_or_stop(go: Flag, most: qd.i32, enough: qd.f64, loop: LoopArrays):
    """Number 0 ← the new r·z, number 1."""
    qd.loop_config(serialize=True)
    for _ in range(1):
        loop.numbers[0] = loop.numbers[1]
        loop.used[0] = loop.used[0] + 1
        if loop.used[0] >= most or loop.numbers[0] <= enough:
            go[None] = 0


@qd.func
def sum_terms(n: qd.i32, term: Floats, sums: Doubles):
    """Per block: the sum of the terms. On a CPU it is over before a second thread has woken up."""
    qd.loop_config(serialize=qd.static(on_cpu()))
    for b in range(blocks(n)):
        total = qd.f64(0.0)
        for i in range(block_begin(b), block_end(b, n)):
            total += term[i]
        sums[b] = total
