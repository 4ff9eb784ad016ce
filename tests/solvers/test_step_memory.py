"""What is kept of steps that were longer: how fast their errors are undone, and which pressures count."""

import numpy as np
import pytest

from viscoil.solvers.dcpbd.position_projection import RECALLED_SHARE, StepMemory


def test_steps_of_one_length_undo_all_that_the_last_one_left() -> None:
    steps = StepMemory()
    for _ in range(5):
        undone, recalled, kept = steps.take(1.0 / 120.0)
    assert (undone, recalled, kept) == (1.0, RECALLED_SHARE, 1.0)


@pytest.mark.parametrize("short", [1e-3, 1e-4, 1e-5])
def test_short_steps_undo_an_error_at_the_pace_of_the_long_one(short: float) -> None:
    """Never faster than 1/Δt of the long step while a tenth of it is left, and a thousandth in three.

    With the memory Δt − t/3, what is left falls as (1 − t/(3 Δt))³; steps of a finite length do a
    little better.
    """
    long = 1.0 / 120.0
    steps = StepMemory()
    steps.take(long)
    left, time = 1.0, 0.0
    while time < 3.0 * long:
        before = left
        left *= 1.0 - steps.take(short)[0]
        time += short
        assert (before - left) / short <= 1.6 / long
    assert left < 2e-3


def test_pressures_of_shorter_steps_are_recalled_as_their_impulses() -> None:
    steps = StepMemory()
    steps.take(1e-3)
    assert steps.take(4e-3)[1:] == pytest.approx((0.25 * RECALLED_SHARE, 0.25))
    assert steps.take(1e-3)[1:] == (RECALLED_SHARE, 1.0)


@pytest.mark.parametrize(("unsolved", "kept"), [(0.0, 1.0), (0.02, 0.8), (0.3, RECALLED_SHARE)])
def test_what_was_not_solved_is_not_recalled_in_full(unsolved: float, kept: float) -> None:
    steps = StepMemory()
    steps.take(1e-2)
    steps.unsolved = unsolved
    assert steps.take(1e-2)[2] == pytest.approx(kept)


def test_memory_is_saved_and_loaded() -> None:
    steps, other = StepMemory(), StepMemory()
    for dt in (1e-2, 1e-3):
        steps.take(dt)
    steps.unsolved = 0.01
    other.load(steps.save())
    assert other.take(2e-3) == steps.take(2e-3)


def test_memory_of_earlier_versions_is_loaded() -> None:
    steps = StepMemory()
    steps.load(np.array([0.01, 0.002]))
    assert (steps.longest, steps.last, steps.unsolved) == (0.01, 0.002, 0.0)


def growth(share: float, solved: float) -> float:
    """The largest factor by which (P, R, C) of a wave grow in a step (see `RECALLED_SHARE`)."""
    kept = share * (1.0 - solved)
    pressure = np.array([kept, solved, solved])
    rate = np.array([0.0, 1.0, 0.0]) - pressure
    error = np.array([0.0, 0.0, 1.0]) + rate
    return float(np.abs(np.linalg.eigvals(np.stack([pressure, rate, error]))).max())


def test_the_recalled_share_is_the_most_that_is_stable() -> None:
    """For every share that the iterations solve; with a little more, waves that they hardly see grow."""
    solved = np.logspace(-4, -0.01, 60)
    assert max(growth(RECALLED_SHARE, kappa) for kappa in solved) <= 1.0 + 1e-9
    assert max(growth(1.1 * RECALLED_SHARE, kappa) for kappa in solved) > 1.0 + 1e-5
