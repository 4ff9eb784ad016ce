"""Particles that pass through: what creation, sorting, compaction and resizing cost beside solving.

Layers of water leave a nozzle, one a step, and are removed at the end of a window; then the nozzle
closes and the window drains. Five million particles pass, half a million at a time. Another size can
be given: management.py SIDE DEPTH LAYERS.
"""

import sys
import time
from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy as np
from measure import note, report
from scaling import memory

from viscoil import Scene, Simulation
from viscoil.core import compute
from viscoil.neighbors.pairs import Neighbors
from viscoil.neighbors.zorder import ZSort
from viscoil.particles.store import PATIENCE, ChannelKind, Particles

SIDE, DEPTH, LAYERS = 100, 50, 500  # of a layer, of the window, and in all
SPACING = 0.01
STEP = 1 / 240
MOST_SHARE = 0.1  # of the time, for all that is not neighbours and projections
MOST_BYTES = 600  # per particle, at the peak


class Stopwatch:
    """Adds up the seconds that methods take, without those of other watched methods inside."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._inside = [0.0]

    def watch(self, owner: type, method: str, label: str) -> None:
        work: Callable[..., Any] = getattr(owner, method)

        @wraps(work)
        def timed(*args: Any, **options: Any) -> Any:
            self._inside.append(0.0)
            begin = time.perf_counter()
            try:
                return work(*args, **options)
            finally:
                spent = time.perf_counter() - begin
                own = spent - self._inside.pop()
                self._inside[-1] += spent
                self.seconds[label] = self.seconds.get(label, 0.0) + own

        setattr(owner, method, timed)


def stream(side: int, depth: int, layers: int) -> Scene:
    """A nozzle of side × side particles that opens for so many layers, and a box behind it."""
    edge, speed = side * SPACING, SPACING / STEP
    window = {"min": [-edge] * 3, "max": [edge, edge, depth * SPACING]}
    nozzle = {
        "material": "water",
        "shape": "rectangle",
        "center": [0.0, 0.0, 0.0],
        "direction": [0.0, 0.0, 1.0],
        "size": [edge, edge],
        "speed": speed,
        "stop": layers * STEP,
    }
    return Scene.model_validate(
        {
            "simulation": {
                "spacing": SPACING,
                "frames": 10**6,
                "time_step": STEP,
                "gravity": [0.0, 0.0, 0.0],
                "kill_bounds": window,
                "max_particles": 2 * side * side * depth,
            },
            "materials": {"water": {"density": 1000.0, "viscosity": 0.0}},
            "emitters": [nozzle],
        }
    )


def watched() -> Stopwatch:
    watch = Stopwatch()
    watch.watch(Simulation, "step", "projections and all else")
    watch.watch(Simulation, "_emit", "emission")
    watch.watch(Particles, "append", "append")
    watch.watch(Particles, "_resize", "resize")
    watch.watch(Simulation, "_remove", "marking the dead")
    watch.watch(Neighbors, "update", "cells and pairs")
    watch.watch(ZSort, "sort", "sort")
    watch.watch(Particles, "reorder", "reorder and compaction")
    return watch


def run(simulation: Simulation, steps: int) -> list[tuple[int, int, int]]:
    """(step, particles, capacity) wherever the capacity changed, checking what a user marked."""
    particles = simulation.particles
    particles.add_channel("mark", ChannelKind("i32"))
    history = [(0, particles.count, particles.capacity)]
    marked = 0
    for step in range(1, steps + 1):
        simulation.step()
        fresh = particles["id"] >= marked
        particles["mark"][fresh] = particles["id"][fresh]
        marked = particles.next_id
        if particles.capacity != history[-1][2]:
            history.append((step, particles.count, particles.capacity))
    assert np.array_equal(particles["mark"], particles["id"]), "a channel of a user got mixed up"
    return history


def main(side: int, depth: int, layers: int) -> None:
    compute.initialize()
    started = memory("VmRSS")
    watch = watched()
    simulation = Simulation(stream(side, depth, layers))
    window = side * side * depth
    history = run(simulation, layers + depth + 2 * PATIENCE)
    born, total = simulation.particles.next_id, sum(watch.seconds.values())
    note("particles that passed", born, f"through a window of {window}, {total:.0f} s")
    for label, seconds in sorted(watch.seconds.items(), key=lambda item: -item[1]):
        note(label, 100.0 * seconds / total, f"% of the time, {seconds / born * 1e9:.3g} ns each")
    solving = watch.seconds["projections and all else"] + watch.seconds["cells and pairs"]
    report("management: share of the time", 1.0 - solving / total, "", MOST_SHARE)
    peak = (memory("VmHWM") - started) / window
    report("management: peak memory", peak, "bytes per particle", MOST_BYTES)
    print("  step, particles and capacity wherever it changed:")
    print("  " + ", ".join(f"{step}: {n}/{room}" for step, n, room in history))


if __name__ == "__main__":
    sizes = [int(text) for text in sys.argv[1:4]]
    main(*(sizes or (SIDE, DEPTH, LAYERS)))
