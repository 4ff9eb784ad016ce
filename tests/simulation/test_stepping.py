"""Time steps: never past the end of a frame, never farther than asked for."""

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from viscoil.scene import SimulationSettings
from viscoil.simulation.stepping import adaptive_step, next_step

speeds = st.floats(0.0, 1e4)


def settings(**values: Any) -> SimulationSettings:
    return SimulationSettings(**{"spacing": 0.01, "frames": 10, **values})


@given(fps=st.floats(1.0, 240.0), step=st.floats(1e-4, 0.1), frame=st.integers(0, 1000))
def test_fixed_steps_divide_the_frame_evenly(fps: float, step: float, frame: int) -> None:
    """The fewest equal steps that are not longer than asked for."""
    s = settings(fps=fps, time_step=step)
    dt = next_step(s, frame / fps, frame, 0.0)
    left = (frame + 1) / fps - frame / fps
    count = round(left / dt)
    assert dt == pytest.approx(left / count, rel=1e-12)
    assert dt <= step * (1.0 + 1e-6)
    assert count == 1 or left / (count - 1) > step * (1.0 - 1e-6)


@given(speed=speeds, fps=st.floats(1.0, 240.0))
def test_every_frame_is_met(speed: float, fps: float) -> None:
    """However the speed changes, steps sum up to the frame and none is a mere remainder."""
    s = settings(fps=fps, min_time_step=1e-3)
    time, count = 0.0, 0
    while time < 1.0 / fps * (1.0 - 1e-9):
        dt = next_step(s, time, 0, speed * (1.0 + 0.3 * math.sin(count)))
        assert dt > 0.0
        time += dt
        count += 1
        assert count < 10_000
    assert time == pytest.approx(1.0 / fps, rel=1e-9)


@given(speed=speeds, cfl=st.floats(0.05, 1.0), g=st.floats(0.0, 100.0))
def test_adaptive_steps_move_no_farther_than_cfl(speed: float, cfl: float, g: float) -> None:
    """u Δt + g Δt² = cfl d between the limits."""
    s = settings(cfl=cfl, min_time_step=1e-7, max_time_step=0.05, gravity=(0.0, -g, 0.0))
    dt = adaptive_step(s, speed)
    assert 1e-7 <= dt <= 0.05
    if 1e-7 < dt < 0.05:
        assert speed * dt + g * dt * dt == pytest.approx(cfl * 0.01, rel=1e-9)


def test_limits_of_adaptive_steps() -> None:
    s = settings(gravity=(0.0, 0.0, 0.0))
    assert adaptive_step(s, 0.0) == s.max_time_step
    assert adaptive_step(s, 1e9) == s.min_time_step
    assert adaptive_step(s, math.inf) == s.min_time_step


def test_a_remainder_of_rounding_is_no_step() -> None:
    """Three steps of 1/90 s fill a frame of 1/30 s although they miss it by an ulp."""
    assert next_step(settings(time_step=1.0 / 90.0), 0.0, 0, 0.0) == pytest.approx(1.0 / 90.0)
    assert next_step(settings(time_step=1.0 / 30.0), 0.0, 0, 0.0) == pytest.approx(1.0 / 30.0)
