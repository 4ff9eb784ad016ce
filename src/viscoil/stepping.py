"""How long the next step is: fixed or by the speed of the flow, and never past the end of a frame."""

import math
from dataclasses import dataclass

from viscoil.scene import SimulationSettings

ROUNDING = 1e-9  # of a step: a remainder this small is not worth a step of its own


@dataclass(frozen=True)
class Drive:
    """The most that fields, gravity aside, can do to a particle."""

    acceleration: float = 0.0  # m/s², whatever its velocity
    drag: float = 0.0  # m/s²: by the winds on a particle at rest
    wind: float = 0.0  # m/s: the fastest velocity that it is dragged to


def next_step(
    settings: SimulationSettings,
    time: float,
    frame: int,
    max_speed: float,
    drive: Drive | None = None,
    spacing: float | None = None,
    capillary: float = math.inf,
) -> float:
    """Δt in s: an equal share of what is left of the frame, no longer than asked for.

    `spacing` (m) is that of the smallest particles, if not the one of the settings; `capillary` is
    the longest step that surface tension allows an adaptive step, s.
    """
    left = (frame + 1) / settings.fps - time
    adaptive = min(adaptive_step(settings, max_speed, drive, spacing), capillary)
    longest = settings.time_step or adaptive
    return left / max(1, math.ceil(left / longest - ROUNDING))


def overlap(start: float, stop: float | None, time: float, dt: float) -> float:
    """The share of the step of `dt` from `time` on that lies between start and stop (s)."""
    end = time + dt if stop is None else min(stop, time + dt)
    return min(max((end - max(start, time)) / dt, 0.0), 1.0)


def adaptive_step(
    settings: SimulationSettings,
    max_speed: float,
    drive: Drive | None = None,
    spacing: float | None = None,
) -> float:
    """The step in which nothing moves farther than `cfl` spacings, gravity and fields included.

    A wind accelerates by no more than its drag, and to no more than its own speed: whichever
    allows for the longer step.
    """
    drive = drive or Drive()
    reach = settings.cfl * (spacing or settings.spacing)
    g = math.hypot(*settings.gravity) + drive.acceleration
    pushed = _step_over(reach, max_speed, g + drive.drag)
    carried = _step_over(reach, max(max_speed, drive.wind), g)
    return min(max(pushed, carried, settings.min_time_step), settings.max_time_step)


def _step_over(reach: float, speed: float, acceleration: float) -> float:
    """u Δt + a Δt² = reach, solved without cancellation."""
    return 2.0 * reach / max(speed + math.sqrt(speed**2 + 4.0 * acceleration * reach), 1e-30)
