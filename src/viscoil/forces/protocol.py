"""What a force sees of a step, and when it acts.

A force is a class that derives from `Force` and has a line in `forces/registry.py`. It knows no solver:
it sees where particles are, how fast and heavy they are, what they are made of, which their neighbours
are, and which walls they meet.
"""

from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any, ClassVar

from viscoil.core.timing import PhaseClock
from viscoil.forces.drive import Drive, joined
from viscoil.materials.table import Materials
from viscoil.neighbors.arrays import ParticleArrays
from viscoil.neighbors.scale import Scale
from viscoil.particles.store import Particles
from viscoil.walls.protocol import Walls


@dataclass
class StepView:
    """A step as forces see it; arrays are those of its start."""

    n: int
    time: float  # s: at the start of the step
    gravity: tuple[float, float, float]  # m/s²
    scale: Scale  # with the length of the step, `scale.dt`
    near: ParticleArrays
    materials: Materials
    walls: Walls
    particles: Particles

    @property
    def capacity(self) -> int:
        """How many particles their arrays have room for."""
        return int(self.near.position.shape[0])


class Force:
    """Something that acts on velocities; a subclass overrides the moments at which it does."""

    name: ClassVar[str] = "force"
    """Under which its time, and how long it lets steps be, is reported."""

    given: float = 0.0
    """m/s²: the largest acceleration of the last step, of a force that does not know it beforehand."""

    def begin(self, step: StepView) -> None:
        """Before the solver prepares its constraints: what changes materials."""

    def act(self, step: StepView, velocity: Any) -> None:
        """u* ← u⁰ + Δt a, in place, when the walls of the step are known."""

    def finish(self, step: StepView, velocity: Any) -> None:
        """On the velocities that the step ended with, in place."""

    def drive(self, time: float, longest: float) -> Drive:
        """What it can do to a particle at most within the longest step (s) from `time` (s) on."""
        return Drive()

    def longest_step(self, materials: Materials) -> float:
        """The longest step that it can take, s."""
        return float("inf")


class Forces:
    """The forces of a simulation, in the order in which they act."""

    def __init__(self, forces: Sequence[Force], clock: PhaseClock | None = None) -> None:
        self._forces = list(forces)
        self._clock = clock

    def __iter__(self) -> Iterator[Force]:
        return iter(self._forces)

    def add(self, force: Force) -> None:
        """It acts after those that are there."""
        self._forces.append(force)

    def remove(self, force: Force) -> None:
        """It acts no more."""
        self._forces.remove(force)

    def begin(self, step: StepView) -> None:
        """Before the solver prepares its constraints."""
        for force in self._forces:
            with self._timed(force):
                force.begin(step)

    def act(self, step: StepView, velocity: Any) -> None:
        """u* from u⁰, in place."""
        for force in self._forces:
            with self._timed(force):
                force.act(step, velocity)

    def finish(self, step: StepView, velocity: Any) -> None:
        """On the velocities that the step ended with, in place."""
        for force in self._forces:
            with self._timed(force):
                force.finish(step, velocity)

    def drive(self, time: float, longest: float) -> Drive:
        """What all of them can do to a particle at most."""
        return joined([force.drive(time, longest) for force in self._forces])

    def _timed(self, force: Force) -> Any:
        return nullcontext() if self._clock is None else self._clock(force.name)
