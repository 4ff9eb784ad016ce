"""A million particles of water under continuous creation and deletion: time and memory of each.

A block of water slides over a floor, rain falls onto it, and what goes past a side of the box that it
started in is removed. The size can be given: water.py SIDE, in particles along an edge.
"""

import sys
import time
from statistics import median
from typing import Any

from measure import note, report
from scaling import memory

from viscoil import Scene, Simulation
from viscoil.core import compute

SIDE = 100  # particles along an edge
SPACING = 0.01
SPEED = 2.0  # m/s, of the rain and of the block to one side: as much leaves as arrives
WARM_UP, STEPS = 3, 12
MOST_MICROSECONDS = 0.7  # per particle and iteration, of whole steps
MOST_BYTES = 600  # per particle, at the peak


def rain(side: int) -> Scene:
    """A block of side³ particles, a nozzle as wide as it, and a box that ends at its sides."""
    edge = side * SPACING
    out = 0.5 * edge
    return Scene.model_validate(
        {
            "simulation": {
                "spacing": SPACING,
                "frames": 60,
                "time_step": 1 / 480,
                "kill_bounds": {"min": [-out, -edge, -out], "max": [out, 2.0 * edge, out]},
            },
            "materials": {"water": {"density": 1000.0, "viscosity": 0.0}},
            "fluids": [
                {
                    "material": "water",
                    "shape": "box",
                    "center": [0.0, 0.5 * edge, 0.0],
                    "size": [edge] * 3,
                    "velocity": [SPEED, 0.0, 0.0],
                }
            ],
            "emitters": [
                {
                    "material": "water",
                    "shape": "rectangle",
                    "center": [0.0, edge + 4.0 * SPACING, 0.0],
                    "direction": [0.0, -1.0, 0.0],
                    "size": [edge, edge],
                    "speed": SPEED,
                }
            ],
            "colliders": [{"shape": "plane", "contact": "slip"}],
        }
    )


def run(simulation: Simulation) -> list[dict[str, Any]]:
    """Steps, each with its wall-clock time in `seconds` and processor time over threads."""
    figures = []
    for _ in range(WARM_UP + STEPS):
        begin, cpu_begin = time.perf_counter(), time.process_time()
        step = simulation.step()
        seconds = time.perf_counter() - begin
        processor = (time.process_time() - cpu_begin) / compute.backend()[1]
        figures.append({**step, "seconds": seconds, "processor": processor})
    return figures[WARM_UP:]


def cost(step: dict[str, Any], seconds: float) -> float:
    """Microseconds per particle and iteration."""
    return float(seconds / step["particles"] / step["position_iterations"] * 1e6)


def main(side: int) -> None:
    compute.initialize()
    started = memory("VmRSS")
    simulation = Simulation(rain(side))
    first = simulation.particles.count
    figures = run(simulation)
    last = figures[-1]
    born = simulation.particles.next_id
    note("particles", last["particles"], f"of {first} at first and {born} in all")
    note("iterations of a step", median(f["position_iterations"] for f in figures), "")
    projecting = [cost(f, f["milliseconds"]["position projection"] / 1e3) for f in figures]
    note("position projection", median(projecting), "µs per particle and iteration")
    unit = "µs per particle and iteration"
    whole = median(cost(f, f["seconds"]) for f in figures)
    report("water: a whole step", whole, unit, MOST_MICROSECONDS)
    note("  processor time / threads", median(cost(f, f["processor"]) for f in figures), unit)
    peak = (memory("VmHWM") - started) / last["particles"]
    report("water: peak memory", peak, "bytes per particle", MOST_BYTES)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else SIDE)
