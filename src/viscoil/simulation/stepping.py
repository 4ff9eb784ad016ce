"""How long the next step is: fixed or by the speed of the flow, and never past the end of a frame."""

import math

from viscoil.forces.drive import Drive
from viscoil.scene import SimulationSettings
from viscoil.solvers.protocol import Solver, State

ROUNDING = 1e-9  # of a step: a remainder this small is not worth a step of its own
# By how much an adaptive step may differ from the one before: it follows a flow that changes, and does
# not jump when single particles do. What forces and the solver can take at most always holds.
LARGEST_RISE = 1.25
LARGEST_FALL = 0.5
# Spacings per step beyond which a step cannot follow a flow: with a fixed step, and, for an adaptive one
# that asked for `cfl` spacings, how many times that.
FASTEST = 50.0
FASTEST_ADAPTIVE = 12.0


def next_step(
    settings: SimulationSettings,
    time: float,
    frame: int,
    max_speed: float,
    drive: Drive | None = None,
    spacing: float | None = None,
    limit: float = math.inf,
    last: float = 0.0,
) -> float:
    """Δt in s: an equal share of what is left of the frame, no longer than asked for.

    `spacing` (m) is that of the smallest particles, if not the one of the settings; `limit` is
    the longest adaptive step that forces and the solver allow, s, and `last` the step before, s, 0 if
    there was none.
    """
    left = (frame + 1) / settings.fps - time
    adaptive = adaptive_step(settings, max_speed, drive, spacing)
    if last > 0.0:
        adaptive = min(max(adaptive, LARGEST_FALL * last), LARGEST_RISE * last)
    adaptive = min(adaptive, limit)
    return equal_share(left, settings.time_step or adaptive)


def equal_share(left: float, longest: float) -> float:
    """`left` (s) in the fewest equal steps that are no longer than `longest` (s): one of them."""
    return left / max(1, math.ceil(left / longest - ROUNDING))


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
    drifting = _step_over(reach, max(max_speed, drive.wind), g)
    return min(max(pushed, drifting, settings.min_time_step), settings.max_time_step)


def followed_speeds(settings: SimulationSettings, spacing: float) -> tuple[float, float]:
    """The speeds (m/s) that the longest and the shortest step can follow; `spacing` as in `next_step`."""
    if settings.time_step:
        fixed = FASTEST * spacing / settings.time_step
        return fixed, fixed
    reach = FASTEST_ADAPTIVE * settings.cfl * spacing
    return reach / settings.max_time_step, reach / settings.min_time_step


def step_limit(solver: Solver, state: State) -> tuple[float, str]:
    """The longest step that the solver and all forces can take from here (s), and who sets it."""
    limits = [(solver.longest_step(state), f"the solver {solver.settings.method}")]
    limits += [(force.longest_step(state.materials), force.name) for force in state.forces]
    return min(limits)


def step_note(settings: SimulationSettings, longest: float, who: str) -> list[str]:
    """A sentence if a fixed step is longer than the limit of `step_limit`."""
    step = settings.time_step
    if step is None or step <= longest:
        return []
    return [
        f"simulation.time_step ({step:g} s) is longer than {who} allows ({longest:.3g} s): "
        "the fluid may break up; leave it out or make it shorter"
    ]


def _step_over(reach: float, speed: float, acceleration: float) -> float:
    """u Δt + a Δt² = reach, solved without cancellation."""
    return 2.0 * reach / max(speed + math.sqrt(speed**2 + 4.0 * acceleration * reach), 1e-30)
