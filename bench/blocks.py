"""The Blocks scene of Barreiro et al. 2017: how long a frame of one viscous block takes."""

import time
from statistics import median

from measure import note, report

from viscoil import Scene, Simulation
from viscoil.core.compute import backend

SIDE, SPACING = 22, 0.02
FRAMES = 10
EDGE = SIDE * SPACING
SCENE = {
    "simulation": {"spacing": SPACING, "frames": FRAMES + 1, "fps": 30, "time_step": 1 / 240},
    "solver": {
        "velocity_iterations": 20,
        "velocity_tolerance": 0.0,
        "position_iterations": 20,
        "max_position_iterations": 20,
    },
    "materials": {"viscous": {"density": 1000.0, "viscosity": 2e4}},
    "fluids": [
        {
            "material": "viscous",
            "shape": "box",
            "center": [0.0, 0.5 * EDGE + 0.1, 0.0],
            "size": [EDGE, EDGE, EDGE],
        }
    ],
    "colliders": [{"shape": "plane", "contact": "friction", "friction": 0.5}],
}


def main() -> None:
    simulation = Simulation(Scene.model_validate(SCENE))
    simulation.next_frame()  # loads kernels
    frames, processor, phases = [], [], []
    for _ in range(FRAMES):
        begin, cpu_begin = time.perf_counter(), time.process_time()
        steps = [simulation.step() for _ in range(8)]
        frames.append(time.perf_counter() - begin)
        processor.append((time.process_time() - cpu_begin) / backend()[1])
        assert all(s["position_iterations"] == 20 for s in steps)
        phases += [s["milliseconds"] for s in steps]
    print(f"{simulation.particles.count} particles, {backend()[1]} threads, median of {FRAMES}")
    report("Blocks, a frame of 8 steps", median(frames), "s", 0.8)
    note("processor time / threads", median(processor), "s")
    note("slowest frame", max(frames), "s")
    for phase in phases[0]:
        note(f"of it {phase}", 8e-3 * median(p.get(phase, 0.0) for p in phases), "s")
    note("iterations of the last step", steps[-1]["velocity_iterations"], "of 20 (velocity)")
    print("  the paper: 0.16 s on a GPU")


if __name__ == "__main__":
    main()
