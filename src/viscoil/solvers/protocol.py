"""What a solver is: the channels it needs, the figures it reports, how far it can step, and the step.

A solver is a class that derives from `Solver`, a settings model (`scene/solvers/`), and a line in
`solvers/registry.py`. Simulation, checkpoints, statistics, progress, plots, the estimate of memory,
starting relaxation and instruments work for any solver through what is declared here.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from viscoil.core.errors import ResumeError
from viscoil.core.figures import Figure
from viscoil.core.timing import PhaseClock
from viscoil.forces.protocol import Forces, StepView
from viscoil.materials.table import Materials
from viscoil.neighbors.arrays import StepArrays, set_masses
from viscoil.neighbors.pairs import Neighbors
from viscoil.neighbors.scale import make_scale
from viscoil.neighbors.smoothing import Smoothing
from viscoil.particles.store import ChannelKind, Particles
from viscoil.scene import Material, Scene, SolverSettings
from viscoil.walls.protocol import Walls

# Bytes of a particle at the peak of a step without any channel of its solver: base channels and their
# spares, sort keys and the pair list, as measured on water.
BYTES_OF_NEIGHBORS = 330


@dataclass
class State:
    """What a solver moves on, and what acts on it."""

    particles: Particles
    materials: Materials
    walls: Walls
    forces: Forces
    gravity: tuple[float, float, float] = (0.0, 0.0, 0.0)  # m/s²
    time: float = 0.0  # s


class Solver(ABC):
    """Advances particles by one time step at a time."""

    settings_model: ClassVar[type[SolverSettings]]
    """Whose `method` is the solver's name."""
    figures: ClassVar[tuple[Figure, ...]] = ()
    """What `step` reports."""
    advice: ClassVar[str] = ""
    """What to try when a simulation diverges, beside shorter steps, such as "more solver.KEY"."""

    def __init__(
        self, settings: Any, spacing: float, neighbors: Neighbors, clock: PhaseClock
    ) -> None:
        """For particles of this spacing (m); `clock` times the phases of a step."""
        self.settings = settings
        self.smoothing = Smoothing[settings.smoothing.upper()]
        mixed = neighbors.sizes != (1.0,)
        self.scale = make_scale(spacing, settings.support, self.smoothing, mixed)
        self.neighbors = neighbors
        self.clock = clock
        self._step_arrays = StepArrays()

    @classmethod
    def channels(
        cls, materials: Iterable[Material], wanted: Iterable[str] = ()
    ) -> Mapping[str, ChannelKind]:
        """Channels that particles need beside the base ones; `wanted` are some that outputs name."""
        return {}

    @classmethod
    def bytes_per_particle(cls, materials: Iterable[Material], wanted: Iterable[str] = ()) -> float:
        """At the peak of a step, channels included."""
        own = cls.channels(list(materials), wanted)
        return BYTES_OF_NEIGHBORS + 4.0 * sum(kind.width for kind in own.values())

    @classmethod
    def kernels(cls, scene: Scene) -> tuple[tuple[str, ...], dict[str, Any]]:
        """Kernels that its first step calls, and values of what is compiled into them, by name.

        Those that are named, as MODULE.FUNCTION, the longest first, are compiled on all cores before a
        run starts; others when they are called.
        """
        return (), {}

    @abstractmethod
    def step(self, state: State, dt: float) -> Mapping[str, float]:
        """Advances the particles by `dt` (s); the figures that it declares."""

    def longest_step(self, state: State) -> float:
        """The longest step that it can take from here, s."""
        return math.inf

    def save(self) -> Mapping[str, npt.NDArray[np.generic]]:
        """What it remembers beside channels, for a checkpoint."""
        return {}

    def load(self, arrays: Mapping[str, npt.NDArray[np.generic]]) -> None:
        """Takes back what `save` gave; raises ResumeError for what it does not know."""
        if arrays:
            raise ResumeError(
                f"the checkpoint holds {', '.join(arrays)}, which the solver "
                f"{self.settings.method} does not know: go on with the version of it that wrote "
                "the checkpoint, or start anew"
            )

    def find_neighbors(self, state: State, margin: float = 0.0) -> None:
        """Sorts the particles, drops the dead, and lists pairs up to a margin (of h) beyond h."""
        with self.clock("neighbors"):
            self.neighbors.update(state.particles, (1.0 + margin) * self.scale.support)

    def view(self, state: State, dt: float) -> StepView:
        """The step as forces see it, with masses; after `find_neighbors`."""
        self.scale.dt = dt
        particles = state.particles
        self.scale.parted = "body" in particles
        near = self._step_arrays.of(particles, self.neighbors)
        set_masses(particles.count, self.scale, state.materials.table.density, near)
        return StepView(
            n=particles.count,
            time=state.time,
            gravity=state.gravity,
            scale=self.scale,
            near=near,
            materials=state.materials,
            walls=state.walls,
            particles=particles,
        )
