# mypy: disable-error-code="valid-type,misc"
"""The state of a loop of iterations inside one kernel, which costs less than a launch for each."""

import dataclasses
from collections.abc import Mapping
from typing import Any

import quadrants as qd

from viscoil.core.compute import Doubles, Ints, scalars, view, write
from viscoil.core.reductions import block_count, sum_doubles

NUMBERS = 9  # that a loop may report


@dataclasses.dataclass
class LoopArrays:
    """What kernels see of a loop."""

    sums: Doubles  # (blocks) partial sums
    used: Ints  # (1) iterations so far
    numbers: Doubles  # (NUMBERS) whose meaning is the loop's own


class Loop:
    """The state of a loop. Kernels that loop take `go` as their first argument.

    The place of `go` among the compiled arguments must not depend on which others a variant of the
    kernel uses: Quadrants 1.3 remembers one place for all variants.
    """

    def __init__(self) -> None:
        self.go: Any = qd.ndarray(qd.i32, ())  # the loop repeats while it is not 0
        self.arrays = LoopArrays(scalars(qd.f64, 1), scalars(qd.i32, 1), scalars(qd.f64, NUMBERS))

    def reserve(self, n: int) -> None:
        """Room for the partial sums of `n` particles, up to six for each block."""
        if self.arrays.sums.shape[0] < 6 * block_count(n):
            self.arrays.sums = scalars(qd.f64, 6 * block_count(n) + 16)

    def start(self, numbers: Mapping[int, float]) -> None:
        """With these numbers at their places, and 0 elsewhere."""
        self.go.fill(1)
        write(self.arrays.used, [0])
        write(self.arrays.numbers, [numbers.get(k, 0.0) for k in range(NUMBERS)])

    @property
    def iterations(self) -> int:
        """How many were used."""
        return int(view(self.arrays.used)[0])

    def number(self, k: int) -> float:
        """What the loop reports at a place."""
        return float(view(self.arrays.numbers)[k])

    def total(self, n: int) -> float:
        """Of the partial sums over `n` particles."""
        return float(sum_doubles(block_count(n), self.arrays.sums))

    def totals(self, n: int, count: int) -> tuple[float, ...]:
        """Of as many sums that lie interleaved."""
        rows = view(self.arrays.sums, count * block_count(n)).reshape(-1, count)
        return tuple(float(total) for total in rows.sum(axis=0))
