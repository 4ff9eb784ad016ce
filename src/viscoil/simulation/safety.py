"""Where a simulation goes back to when a step went wrong, and how fast anything can sanely be."""

import math
from collections.abc import Callable
from typing import Any

from viscoil.particles.diagnostics import Diagnosis
from viscoil.scene import Scene
from viscoil.simulation.stepping import followed_speeds

# Particles of which copies are kept to go back to; larger runs have their checkpoints.
MOST_REMEMBERED = 500_000
HALVINGS = 4  # of a step that goes wrong, before the run is stopped
# How many times faster than a fall through the height of the scene, and than what drives it, a particle
# may be. Where a wave breaks or a cavity closes, jets are faster than what they come from. A choice, on
# the safe side: what diverges is soon faster by orders of magnitude.
JETS = 8.0
# Likewise, what makes a step doubtful, unless particles were nearly as fast before it: what two plates
# squeeze is faster than these, as much as the gap is narrow. The tip of a dam break has 1.4.
UNUSUAL = 2.0

Saved = tuple[dict[str, Any], dict[str, Any]]


class Safety:
    """Copies of the state before the present step and of the last finished frame."""

    def __init__(
        self, save: Callable[[], Saved], load: Callable[[Saved], None], scene: Scene
    ) -> None:
        """`save` gives a copy of the state, which `load` takes back."""
        self._save, self._load = save, load
        self._frame: Saved | None = None
        self._step: Saved | None = None
        self.halvings = 0  # of the present step
        self._doubted: float | None = None  # s: how long it was when it was doubtful and no worse
        # whether the last step was taken though it was doubtful, or the start may be
        self.in_doubt = any(fluid.relax is False for fluid in scene.fluids)

    def remember_frame(self, count: int) -> None:
        """Keeps the state of a finished frame, unless so many particles would take too much memory."""
        self._frame = None  # before the copy, so that there are never two
        if count <= MOST_REMEMBERED:
            self._frame = self._save()

    def remember_step(self, count: int) -> None:
        """Keeps the state before a step, likewise."""
        self._step = self._save() if count <= MOST_REMEMBERED else None
        self.halvings, self._doubted = 0, None

    def back_to_frame(self) -> bool:
        """To the last finished frame, likewise."""
        return self._back(self._frame)

    def try_again(self, dt: float, wrong: bool, doubtful: bool) -> float | None:
        """Goes back to before the step; how long it should be now, s, or None if it is to stay as it is.

        A doubtful one is not tried again after one that no halving helped: a run through a state that
        stays doubtful goes on at its usual pace. And if shorter ones go wrong, it is taken after all.
        """
        if not wrong and (not doubtful or self.in_doubt):
            return None
        after_all = self._doubted if wrong else None
        if self.halvings == HALVINGS and after_all is None:
            return None
        if not self._back(self._step):
            return None
        if after_all is not None:
            self.halvings, self._doubted, self.in_doubt = 0, None, True
            return after_all
        if not wrong and self._doubted is None:
            self._doubted = dt
        self.halvings += 1
        return 0.5 * dt

    def _back(self, saved: Saved | None) -> bool:
        if saved is not None:
            self._load(saved)
        return saved is not None


class SpeedLimit:
    """How fast a particle can be by the energy that there is; what is faster has gone wrong."""

    def __init__(self) -> None:
        self._driven = 0.0  # m/s: the fastest that anything was made to move
        self._highest = -math.inf  # m²/s²: where particles have been, as −g·x
        self._lowest = math.inf
        self._fastest = 0.0  # m/s
        self._last_usual = math.inf  # m/s

    def admit(self, speed: float) -> None:
        """Something is made to move with this speed (m/s): at the start, by a user, wall or emitter."""
        self._driven = max(self._driven, speed)

    def push(self, acceleration: float, dt: float) -> None:
        """Forces beside gravity (m/s²) act for a step of `dt` (s)."""
        self._driven += acceleration * dt

    def see(self, diagnosis: Diagnosis) -> None:
        """Particles are at the heights of this diagnosis."""
        self._highest = max(self._highest, diagnosis.highest)
        self._lowest = min(self._lowest, diagnosis.lowest)
        self._fastest = diagnosis.max_speed

    def speed(self, gravity: float, scene: Scene) -> float:
        """The limit (m/s) in this scene; `gravity` (m/s²) also acts over a few spacings.

        No less than what the longest step can follow: a start that is crowded flies apart with that.
        And no more than what the shortest step can.
        """
        least, most = followed_speeds(scene.simulation, scene.spacings[0])
        self._last_usual = self._usual(gravity, scene)
        return min(max(JETS * self._last_usual, least), most)

    def is_exceeded(self, share: float, before: float) -> bool:
        """Whether a particle was faster than this many times what is usual, when last asked.

        And than as many times the fastest `before` the step (m/s).
        """
        return self._fastest > share * max(self._last_usual, before)

    def _usual(self, gravity: float, scene: Scene) -> float:
        """m/s: what falls through all heights there are, and is driven too."""
        fall = max(self._highest - self._lowest, 0.0) + 8.0 * gravity * scene.spacings[0]
        return math.sqrt(2.0 * fall + self._driven**2)


def too_fast(who: str, speed: float, limit: float) -> str | None:
    """What is wrong with something that is faster than the limit (m/s)."""
    return f"{who} moves at {speed:.3g} m/s" if speed > limit else None
