"""How long the next step is: fixed or by the speed of the flow, and never past the end of a frame."""

import math

from viscoil.scene import SimulationSettings

ROUNDING = 1e-9  # of a step: a remainder this small is not worth a step of its own


def next_step(
    settings: SimulationSettings,
    time: float,
    frame: int,
    max_speed: float,
    capillary: float = math.inf,
) -> float:
    """Δt in s: an equal share of what is left of the frame, no longer than asked for.

    `capillary` is the longest step that surface tension allows an adaptive step, s.
    """
    left = (frame + 1) / settings.fps - time
    longest = settings.time_step or min(adaptive_step(settings, max_speed), capillary)
    return left / max(1, math.ceil(left / longest - ROUNDING))


def adaptive_step(settings: SimulationSettings, max_speed: float) -> float:
    """The step in which nothing moves farther than `cfl` spacings, gravity included."""
    reach = settings.cfl * settings.spacing
    g = math.hypot(*settings.gravity)
    # u Δt + g Δt² = reach, solved without cancellation
    step = 2.0 * reach / max(max_speed + math.sqrt(max_speed**2 + 4.0 * g * reach), 1e-30)
    return min(max(step, settings.min_time_step), settings.max_time_step)
