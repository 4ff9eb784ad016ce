"""What the benchmarks share: a body of particles, medians of timings, figures beside their bars."""

import json
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from viscoil.colliders import ColliderSet
from viscoil.core import compute
from viscoil.core.timing import PhaseClock
from viscoil.forces.registry import bare_forces
from viscoil.materials.table import Materials
from viscoil.neighbors.pairs import Neighbors
from viscoil.particles.store import Particles
from viscoil.scene import Collider, Material
from viscoil.scene.solvers import settings_model
from viscoil.solvers.dcpbd.context import StepContext
from viscoil.solvers.protocol import State
from viscoil.solvers.registry import make_solver
from viscoil.walls.contact_walls import ContactWalls

ROOT = Path(__file__).parent.parent
FIGURES = ROOT / "build/bench/figures.jsonl"


@dataclass(frozen=True)
class Timing:
    """Medians over repetitions, s."""

    wall: float
    cpu: float  # of all threads, divided by their number: what an idle machine would need at least


def timed(work: Callable[[], Any], repetitions: int, before: Callable[[], Any] = int) -> Timing:
    """Times `work`; `before` comes ahead of each repetition, untimed. The first one is dropped."""
    wall, cpu = [], []
    for _ in range(repetitions + 1):
        before()
        wall_begin, cpu_begin = time.perf_counter(), time.process_time()
        work()
        cpu.append((time.process_time() - cpu_begin) / compute.backend()[1])
        wall.append(time.perf_counter() - wall_begin)
    return Timing(median(wall[1:]), median(cpu[1:]))


def report(name: str, value: float, unit: str, bar: float, *, least: bool = False) -> None:
    """Prints a figure beside its bar, which is the most it may be (or the least), and keeps it."""
    met = value >= bar if least else value <= bar
    limit = f"bar: at {'least' if least else 'most'} {bar:g}"
    print(f"{name}: {value:.4g} {unit} ({limit}, {'met' if met else 'MISSED'})", flush=True)
    FIGURES.parent.mkdir(parents=True, exist_ok=True)
    with FIGURES.open("a", encoding="utf-8") as file:
        file.write(json.dumps({"name": name, "value": value, "unit": unit, "bar": bar}) + "\n")


def note(name: str, value: float, unit: str) -> None:
    """Prints a figure that has no bar."""
    print(f"  {name}: {value:.4g} {unit}", flush=True)


def lattice(shape: Sequence[int], spacing: float) -> np.ndarray:
    """Points (n, 3) of a cubic lattice whose lowest corner is the origin, m."""
    axes = [np.arange(count) * spacing for count in shape]
    return np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 3)


class Body:
    """Particles with all that a solver needs, without scene or outputs."""

    def __init__(
        self,
        position: np.ndarray,
        spacing: float,
        material: Material,
        colliders: Sequence[Collider] = (),
        **solver: Any,
    ) -> None:
        self.particles = Particles(len(position))
        self.particles.append({"position": position})
        self.neighbors = Neighbors()
        settings = settings_model(solver).model_validate(solver)
        # Any: benchmarks of single phases know what theirs is made of
        self.solver: Any = make_solver(settings, spacing, self.neighbors, PhaseClock())
        around = ColliderSet(colliders)
        walls = ContactWalls(
            around.arrays, around.count, self.solver.smoothing, settings.support
        )  # fmt: skip
        self.state = State(
            self.particles, Materials([material]), walls, bare_forces(spacing, settings)
        )

    def step(self, dt: float, gravity: tuple[float, float, float] = (0.0, -9.81, 0.0)) -> Any:
        """One step; what it reports."""
        self.state.gravity = gravity
        return self.solver.step(self.state, dt)

    def context(self) -> StepContext:
        """What the projections of the last step were given."""
        step = self.solver.view(self.state, self.solver.scale.dt)
        context: StepContext = self.solver._context(step)
        return context
