"""DYVERSO's table 1 beside ours: its scenes, filled to its particle counts, on two cores.

The built-in scenes run for minutes of simulated flow until they hold that many particles. Here they
start filled: a block of fluid takes the place of what would have collected, at a spacing that gives the
paper's count. Each runs in a process of its own, largest last: paper_scenes.py [NAME] for one.
"""

import subprocess
import sys
import time
from statistics import median
from typing import Any, NamedTuple

from measure import note, report
from scaling import memory

from viscoil import Scene, Simulation
from viscoil.colliders import ColliderSet
from viscoil.core import compute
from viscoil.sampling.seeding import seed

WARM_UP, STEPS = 2, 5
MOST_SECONDS = 600.0  # for one scene


class Paper(NamedTuple):
    """A row of the paper's table 1, and the block that fills the scene here."""

    particles: int
    milliseconds: float  # per step
    megabytes: float
    center: tuple[float, float, float]
    size: tuple[float, float, float]


TABLE = {
    "idols": Paper(947_000, 649, 465, (0.0, 0.55, 0.0), (3.0, 0.9, 0.9)),
    "wine": Paper(1_452_000, 1158, 585, (0.0, 0.18, 0.0), (0.36, 0.08, 0.1)),
    "drain": Paper(1_594_000, 2338, 921, (0.0, 0.25, 0.0), (1.9, 0.35, 1.8)),
    "waterfall": Paper(2_049_000, 1839, 959, (0.3, 0.9, 0.0), (2.0, 0.7, 1.2)),
    "dragon-splash": Paper(6_390_000, 3868, 1833, (0.0, 0.315, 0.0), (2.8, 0.63, 1.82)),
}


def filled(name: str, row: Paper) -> Scene:
    """The scene at the spacing at which its block, without what lies in colliders, has the count."""
    table = Scene.load(name).to_dict()
    material = next(iter(table["materials"]))
    block = {"material": material, "shape": "box", "center": row.center, "size": row.size}
    table["fluids"] = [block]
    x, y, z = row.size
    spacing = (x * y * z / row.particles) ** (1.0 / 3.0)
    for _ in range(2):
        table["simulation"]["spacing"] = spacing
        # a coarse field is enough to see how much of the block is free
        coarse = Scene.model_validate(
            {**table, "simulation": {**table["simulation"], "spacing": 4.0 * spacing}}
        )
        free = len(seed(coarse, ColliderSet(coarse.colliders, 4.0 * spacing)).position) * 64
        spacing *= (free / row.particles) ** (1.0 / 3.0)
    table["simulation"]["spacing"] = spacing
    return Scene.model_validate(table)


def measure(name: str) -> None:
    row = TABLE[name]
    compute.initialize()
    scene = filled(name, row)
    started = memory("VmRSS")
    begin = time.perf_counter()
    simulation = Simulation(scene)
    figures: list[dict[str, Any]] = []
    while len(figures) < WARM_UP + STEPS and time.perf_counter() - begin < MOST_SECONDS:
        at = time.perf_counter()
        figures.append({**simulation.step(), "seconds": time.perf_counter() - at})
    steps = figures[WARM_UP:]
    n = steps[-1]["particles"]
    seconds = median(f["seconds"] for f in steps)
    iterations = median(f["position_iterations"] + f["velocity_iterations"] for f in steps)
    peak = memory("VmHWM") - started
    print(f"{name}: {n} particles (paper {row.particles})")
    note("time of a step", seconds * 1e3, f"ms (paper {row.milliseconds:g}, on its workstation)")
    note("iterations of a step", iterations, "")
    note("memory", peak / 1e6, f"MB (paper {row.megabytes:g})")
    each = seconds / n / iterations * 1e6
    if name == "idols":
        report("idols: time", each, "µs per particle and iteration", 0.7)
        report("idols: memory", peak / n, "bytes per particle", 600)
    else:
        note("time", each, "µs per particle and iteration")
        note("memory", peak / n, "bytes per particle")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        measure(sys.argv[1])
    else:
        for scene_name in TABLE:
            subprocess.run([sys.executable, __file__, scene_name], check=True)
