"""Whether a million particles cost as much each as a hundred thousand, and how much memory.

Each size runs in a process of its own: scaling.py SIDE prints its figures as JSON.
"""

import json
import subprocess
import sys
import time
from pathlib import Path
from statistics import median

from measure import note, report

from viscoil import Scene, Simulation
from viscoil.core import compute

SMALL, LARGE = 46, 100  # particles along an edge
WARM_UP, STEPS = 1, 4
SPACING = 0.01


def block(side: int) -> Scene:
    """A cube of viscous fluid that lies on a floor; each step does the same work."""
    edge = side * SPACING
    center = [0.0, 0.5 * edge, 0.0]
    fluid = {"material": "thick", "shape": "box", "center": center, "size": [edge] * 3}
    return Scene.model_validate(
        {
            "simulation": {"spacing": SPACING, "frames": 1, "time_step": 1 / 240, "fps": 30},
            "solver": {
                "velocity_iterations": 10,
                "velocity_tolerance": 0.0,
                "position_iterations": 4,
                "max_position_iterations": 4,
            },
            "materials": {"thick": {"density": 1000.0, "viscosity": 100.0}},
            "fluids": [fluid],
            "colliders": [{"shape": "plane", "contact": "sticky"}],
        }
    )


def memory(field: str) -> int:
    """VmRSS (now) or VmHWM (at most so far) of this process, bytes. Linux only."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(field + ":"):
            return int(line.split()[1]) * 1024
    raise SystemExit(f"/proc/self/status has no {field}")


def measure(side: int) -> dict[str, float]:
    """Runs a block for a few steps."""
    compute.initialize()
    started = memory("VmRSS")
    Simulation(block(8)).step()
    loaded = memory("VmRSS")
    simulation = Simulation(block(side))
    seconds, processor = [], []
    for _ in range(WARM_UP + STEPS):
        begin, cpu_begin = time.perf_counter(), time.process_time()
        simulation.step()
        seconds.append(time.perf_counter() - begin)
        processor.append((time.process_time() - cpu_begin) / compute.backend()[1])
    n = simulation.particles.count
    return {
        "particles": n,
        "nanoseconds": median(seconds[WARM_UP:]) / n * 1e9,
        "processor": median(processor[WARM_UP:]) / n * 1e9,
        "bytes": (memory("VmHWM") - started) / n,
        "kernel_bytes": (loaded - started) / n,
    }


def apart(side: int) -> dict[str, float]:
    """`measure` in a new process."""
    command = [sys.executable, __file__, str(side)]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    return dict(json.loads(done.stdout.splitlines()[-1]))


def main() -> None:
    small, large = apart(SMALL), apart(LARGE)
    for run in (small, large):
        name = f"a step of {run['particles']} particles"
        note(name, run["nanoseconds"], f"ns per particle, median of {STEPS}")
        note("  processor time / threads", run["processor"], "ns per particle")
    ratio = large["nanoseconds"] / small["nanoseconds"]
    report("cost per particle, 1 000 000 against 100 000", ratio, "", 1.3)
    note("the same in processor time", large["processor"] / small["processor"], "")
    report("peak memory at 1 000 000", large["bytes"], "bytes per particle", 700)
    note("of it compiled kernels", large["kernel_bytes"], "bytes per particle")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        print(json.dumps(measure(int(sys.argv[1]))))
    else:
        main()
