# mypy: disable-error-code="valid-type,no-untyped-def,no-untyped-call,misc"
"""Conjugate gradients for any system: a chain of masses on springs against its dense solution."""

import dataclasses
from typing import Any

import numpy as np
import pytest
import quadrants as qd
from numpy.typing import NDArray

from viscoil.core.compute import Flag, Floats, scalars, view, write
from viscoil.core.reductions import block_count
from viscoil.solvers.linear.conjugate_gradients import Limits, conjugate_gradient_step
from viscoil.solvers.linear.iterations import Loop, LoopArrays

N = 1500  # elements: two blocks of the sums
TOLERANCE = 1e-6

pytestmark = pytest.mark.usefixtures("compute")


@dataclasses.dataclass
class Chain:
    """A x = b with A = S T S: T has 3 on its diagonal and −`coupling` beside it."""

    coupling: qd.f32
    scale: Floats  # S
    x: Floats
    r: Floats
    p: Floats
    image: Floats  # A p
    term: Floats
    overlap: Floats


@qd.func
def apply(n: qd.i32, s: Chain, loop: LoopArrays):
    for i in range(n):
        w = 3.0 * s.scale[i] * s.p[i]
        if i > 0:
            w -= s.coupling * s.scale[i - 1] * s.p[i - 1]
        if i < n - 1:
            w -= s.coupling * s.scale[i + 1] * s.p[i + 1]
        s.image[i] = s.scale[i] * w
        s.term[i] = s.p[i] * s.image[i]


@qd.func
def advance_rest(n: qd.i32, s: Chain, loop: LoopArrays):
    pass


@qd.func
def advance(s: Chain, length: qd.f32, i: qd.i32):
    s.x[i] = s.x[i] + length * s.p[i]
    s.r[i] = s.r[i] - length * s.image[i]


@qd.func
def by_diagonal(s: Chain, i: qd.i32) -> qd.f32:
    return s.r[i] / (3.0 * s.scale[i] * s.scale[i])


@qd.func
def product(s: Chain, z: qd.f32, i: qd.i32) -> qd.f32:
    return s.r[i] * z


@qd.func
def along(s: Chain, i: qd.i32) -> qd.f32:
    return s.r[i] * s.p[i]


@qd.func
def turn(s: Chain, z: qd.f32, keep: qd.f32, i: qd.i32):
    s.p[i] = z + keep * s.p[i]


_step = conjugate_gradient_step(Chain)


@qd.kernel(graph=True)
def iterate(go: Flag, n: qd.i32, limits: Limits, s: Chain, loop: LoopArrays):
    while qd.graph.do_while(go):
        _step(
            apply, advance_rest, advance, by_diagonal, product, along, turn,
            go, n, limits, s, s.term, s.overlap, loop,
        )  # fmt: skip


@dataclasses.dataclass
class Problem:
    """A chain whose scales differ by up to a factor of 100, with a random right side."""

    chain: Chain
    matrix: NDArray[np.float64]
    right: NDArray[np.float64]
    loop: Loop

    def solve(
        self, most: int, usual: int | None = None, tolerable: float = 0.0
    ) -> NDArray[np.float64]:
        """x, after at most so many iterations; after the usual ones a residual is tolerable."""
        z = self.right / np.diag(self.matrix)
        write(self.chain.x, np.zeros(N))
        write(self.chain.r, self.right)
        write(self.chain.p, z)
        write(self.chain.overlap, self.right * z)
        size = float(self.right @ z)
        self.loop.reserve(N)
        self.loop.start({0: size})
        limits = Limits(
            enough=TOLERANCE**2 * size,
            tolerable=tolerable**2 * size,
            usual=most if usual is None else usual,
            most=most,
        )
        iterate(self.loop.go, N, limits, self.chain, self.loop.arrays)
        return np.array(view(self.chain.x, N), np.float64)


def problem(coupling: float) -> Problem:
    rng = np.random.default_rng(3)
    scale = (10.0 ** rng.uniform(-1.0, 1.0, N)).astype(np.float32)
    arrays: list[Any] = [scalars(qd.f32, N) for _ in range(7)]
    write(arrays[0], scale)
    beside = np.full(N - 1, -coupling)
    plain = 3.0 * np.eye(N) + np.diag(beside, 1) + np.diag(beside, -1)
    s = scale.astype(np.float64)
    right = (s * rng.normal(size=N)).astype(np.float32).astype(np.float64)
    return Problem(Chain(coupling, *arrays), s[:, None] * plain * s, right, Loop())


def test_it_solves_a_known_system() -> None:
    """x against `numpy.linalg.solve`, within the iterations that theory allows.

    With y = S x the system is T y = S⁻¹ b. The eigenvalues of T lie between 1 and 5, and the
    preconditioner is 3 S², so κ = 5 whatever S is: √(r·z) is at most 2 √κ ((√κ − 1)/(√κ + 1))ᵏ of that
    at the start, 1e-6 after 16 iterations (without the preconditioner κ would be 5e4). What is left of
    the residual, 1e-6 |T y| ≤ 5e-6 |y|, is the error of y at most, for |T⁻¹| ≤ 1. Each iteration rounds
    r by some 10 ε |T| |y| = 50 ε |y| more, with ε = 6e-8.
    """
    p = problem(coupling=1.0)
    assert block_count(N) == 2
    x = p.solve(most=100)
    assert p.loop.iterations <= 16
    scale = np.array(view(p.chain.scale, N), np.float64)
    y, expected = scale * x, scale * np.linalg.solve(p.matrix, p.right)
    bar = (5.0 * TOLERANCE + 16 * 50.0 * 6e-8) * np.linalg.norm(expected)
    assert np.linalg.norm(y - expected) <= bar


def test_the_preconditioner_is_the_one_that_is_given() -> None:
    """A diagonal matrix is its own preconditioner: one iteration, to the rounding of four operations."""
    p = problem(coupling=0.0)
    x = p.solve(most=100)
    assert p.loop.iterations == 1
    np.testing.assert_allclose(x, p.right / np.diag(p.matrix), rtol=4 * 1.2e-7)


def test_it_stops_and_tells_what_is_left() -> None:
    """After as many iterations as it may use; r·z is the sum of what the elements then have."""
    p = problem(coupling=1.0)
    p.solve(most=3)
    assert p.loop.iterations == 3
    r = np.array(view(p.chain.r, N), np.float64)
    assert p.loop.number(0) == pytest.approx(float(r @ (r / np.diag(p.matrix))), rel=1e-5)


def test_after_the_usual_iterations_a_residual_that_is_tolerable_is_enough() -> None:
    """Not before them, and no longer than the most of them; r·z falls to 0.15 in one."""
    used = []
    for usual, tolerable in ((0, 1e-2), (8, 1e-2), (8, 0.0)):
        p = problem(coupling=1.0)
        p.solve(most=20, usual=usual, tolerable=tolerable)
        used.append(p.loop.iterations)
        left = p.loop.number(0) / float(p.right @ (p.right / np.diag(p.matrix)))
        if tolerable:
            assert left <= tolerable**2
    assert used[0] < used[1] == 8 < used[2] <= 20
