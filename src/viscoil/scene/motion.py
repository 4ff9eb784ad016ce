"""How a shape moves: poses at given times, and what is between them."""

from collections.abc import Iterator
from itertools import pairwise
from typing import Literal

from viscoil.scene._base import ZERO, Model, Number, Positive, Problem, Vec3
from viscoil.scene.geometry import Rotation


class Keyframe(Model):
    """A pose relative to the initial one."""

    time: Number
    """When the pose is reached, s."""
    translation: Vec3 = ZERO
    """Displacement from the initial place, m."""
    rotation: Rotation | None = None
    """Turn from the initial orientation."""
    scale: Positive = 1.0
    """Size relative to the initial one."""


class Moving(Model):
    """What may be moved by keyframes."""

    motion: tuple[Keyframe, ...] = ()
    """Keyframes of the motion; the first and last pose are held before and after."""
    interpolation: Literal["linear", "smooth"] = "linear"
    """How poses between keyframes are found: along straight lines, or along a smooth curve."""

    def _problems(self) -> Iterator[Problem]:
        yield from super()._problems()
        for i, (a, b) in enumerate(pairwise(self.motion), start=1):
            if b.time <= a.time:
                text = f"must be later than the keyframe before it ({a.time:g})"
                yield ("motion", i, "time"), text, b.time
