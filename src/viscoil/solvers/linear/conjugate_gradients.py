# mypy: disable-error-code="valid-type,no-untyped-def,no-untyped-call,misc"
"""Preconditioned conjugate gradients over particles, for any operator and any preconditioner.

    length ← r·p / p·A p;  x += length p;  r −= length A p;  z' ← P⁻¹ r;  p ← z' + r·(z' − z)/(r·z) p

In exact arithmetic r·p is r·z and r·z is 0 with the new r, as textbooks have it; written like this
(Polak and Ribière 1969) it also serves systems that are not quite linear, such as those with contacts.

The operator A, the preconditioner P, the scalar product and the updates are compile-time arguments:
functions of a `system`, a dataclass of whatever arrays they need. They are inlined, so that the loop
costs what it would cost written out for one system. P must be local to an element, because z is not
kept: it is taken anew where it is needed, which costs less than an array. How a solve starts (r, and
p = z with r·p) is the caller's, as are preconditioners that are solves themselves.

An iteration is three loops over the elements, and two single threads that add up what these leave.
"""

import dataclasses
from typing import Any

import quadrants as qd

from viscoil.core.compute import Doubles, Flag, Floats, on_cpu
from viscoil.core.reductions import block_begin, block_end, blocks
from viscoil.solvers.linear.iterations import LoopArrays


@dataclasses.dataclass
class Limits:
    """A solve ends with r·z ≤ `enough`, or `tolerable` after `usual` iterations, or after the `most`."""

    enough: qd.f64
    tolerable: qd.f64
    usual: qd.i32
    most: qd.i32


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
        limits: Limits,
        system: system_type,
        term: Floats,
        overlap: Floats,
        loop: LoopArrays,
    ):
        """The loop ends when r·z is within the `limits`; number 0 is r·z.

        `overlap` starts with what each element adds to r·p.
        `apply(n, system, loop)` leaves A p, in `term` what each element adds to p·A p, and in number 4
        what is added by unknowns that are no elements.
        `advance_rest(n, system, loop)` may change what `apply` left, which `advance` is about to take
        by the length in number 3: where the system is not quite linear, and for unknowns that are
        no elements.
        `advance(system, length, i)` moves x and r of element i.
        `precondition(system, i)` is z of element i, a number or a vector.
        `product(system, z, i)` is what element i adds to r·z, `along(system, i)` to r·p.
        `turn(system, z, keep, i)` gives element i its new direction z + keep p.
        """
        apply(n, system, loop)
        _set_length(n, term, overlap, loop)
        advance_rest(n, system, loop)
        for i in range(n):
            length = qd.cast(loop.numbers[3], qd.f32)
            before = precondition(system, i)
            advance(system, length, i)
            term[i] = product(system, precondition(system, i), i)
            overlap[i] = product(system, before, i)
        _go_on_or_stop(go, n, limits, term, overlap, loop)
        for i in range(n):
            turn(system, precondition(system, i), qd.cast(loop.numbers[3], qd.f32), i)
            overlap[i] = along(system, i)

    return iterate


@qd.func
def _set_length(n: qd.i32, term: Floats, overlap: Floats, loop: LoopArrays):
    """Number 3 ← r·p / p·A p."""
    _sum_both_elsewhere(n, term, overlap, loop.sums)
    qd.loop_config(serialize=True)
    for _ in range(1):
        curvature, slope = _sums_of_both(n, term, overlap, loop.sums)
        curvature += loop.numbers[4]
        loop.numbers[3] = 0.0
        if curvature > 0.0:
            loop.numbers[3] = slope / curvature


@qd.func
def _go_on_or_stop(
    go: Flag,
    n: qd.i32,
    limits: Limits,
    term: Floats,
    overlap: Floats,
    loop: LoopArrays,
):
    """Number 0 ← the new r·z; number 3 ← what is kept of p, r·(z' − z)/(r·z)."""
    _sum_both_elsewhere(n, term, overlap, loop.sums)
    qd.loop_config(serialize=True)
    for _ in range(1):
        product, common = _sums_of_both(n, term, overlap, loop.sums)
        loop.numbers[3] = qd.max((product - common) / qd.max(loop.numbers[0], 1e-300), 0.0)
        loop.numbers[0] = product
        loop.used[0] = loop.used[0] + 1
        tolerable = loop.used[0] >= limits.usual and product <= limits.tolerable
        if loop.used[0] >= limits.most or product <= limits.enough or tolerable:
            go[None] = 0


@qd.func
def _sum_both_elsewhere(n: qd.i32, first: Floats, second: Floats, sums: Doubles):
    """Per block, interleaved, on other backends than the CPU: see `_sums_of_both`."""
    if qd.static(not on_cpu()):
        for b in range(blocks(n)):
            sums[2 * b] = _sum_block(n, b, first)
            sums[2 * b + 1] = _sum_block(n, b, second)


@qd.func
def _sums_of_both(n: qd.i32, first: Floats, second: Floats, sums: Doubles):
    """The sums of two terms. A CPU takes them at once: it is done before a second thread has woken up."""
    one, other = qd.f64(0.0), qd.f64(0.0)
    for b in range(blocks(n)):
        if qd.static(on_cpu()):
            one += _sum_block(n, b, first)
            other += _sum_block(n, b, second)
        else:
            one += sums[2 * b]
            other += sums[2 * b + 1]
    return one, other


@qd.func
def _sum_block(n: qd.i32, b: qd.i32, term: Floats) -> qd.f64:
    total = qd.f64(0.0)
    for i in range(block_begin(b), block_end(b, n)):
        total += term[i]
    return total


@qd.func
def sum_terms(n: qd.i32, term: Floats, sums: Doubles):
    """Per block: the sum of the terms. On a CPU it is over before a second thread has woken up."""
    qd.loop_config(serialize=qd.static(on_cpu()))
    for b in range(blocks(n)):
        sums[b] = _sum_block(n, b, term)
