"""SPlisHSPlasH's side of bench/peer.py; runs in the virtual environment that has it.

    dam_break.py SETTINGS FOLDER

SETTINGS is JSON, as bench/peer.py writes it. After each chunk of steps a line of JSON goes to
standard output and a line is awaited on standard input, so that both programs can take turns.
"""

import json
import os
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pysplishsplash as sph

Settings = dict[str, Any]
PBF, VOLUME_MAPS = 2, 2  # numbers of methods in its scene files


def scene(s: Settings) -> dict[str, Any]:
    """Its own dam break with our tank, block and solver; the block starts a spacing off the walls."""
    tank, counts, d = s["tank"], s["counts"], s["spacing"]
    start = [d - 0.5 * tank[0], d, -0.5 * (counts[2] + 1) * d]
    end = [a + (count + 1.1) * d for a, count in zip(start, counts, strict=True)]
    iterations = {"minIterations": s["iterations"], "maxIterations": s["iterations"]}
    return {
        "Configuration": {
            "particleRadius": 0.5 * d,
            "simulationMethod": PBF,
            "gravitation": [0, -9.81, 0],
            "timeStepSize": s["time_step"],
            "cflMethod": 0,
            "boundaryHandlingMethod": VOLUME_MAPS,
            "PBF": iterations,
        },
        "Materials": [{"id": "Fluid", "density0": 1000, "viscosityMethod": 0}],
        "RigidBodies": [
            {
                "geometryFile": str(Path(sys.prefix) / "bin/data/models/UnitBox.obj"),
                "translation": [0, 0.5 * tank[1], 0],
                "scale": tank,
                "isDynamic": False,
                "isWall": True,
                "mapInvert": True,
                "mapThickness": 0.0,
                "mapResolution": [40, 20, 20],
            }
        ],
        "FluidBlocks": [{"denseMode": 0, "start": start, "end": end}],
    }


def open_scene(s: Settings, folder: Path) -> Any:
    """The simulator, ready to run, with the cubic spline, which choosing PBF has replaced."""
    path = folder / "scene.json"
    path.write_text(json.dumps(scene(s)))
    base = sph.Exec.SimulatorBase()
    base.init(sceneFile=str(path), useGui=False, initialPause=False, outputDir=str(folder))
    base.initSimulation()
    simulation, kinds = sph.Simulation.getCurrent(), sph.Simulation
    simulation.setValueInt(kinds.KERNEL_METHOD, kinds.ENUM_KERNEL_CUBIC)
    simulation.setValueInt(kinds.GRAD_KERNEL_METHOD, kinds.ENUM_GRADKERNEL_CUBIC)
    base.setValueFloat(base.STOP_AT, 1e9)  # bench/peer.py ends it
    return base


def check(s: Settings) -> None:
    """Its parameters are easily overridden by one another, so they are read back."""
    simulation, kinds = sph.Simulation.getCurrent(), sph.Simulation
    assert isinstance(simulation.getTimeStep(), sph.TimeStepPBF)
    assert simulation.getTimeStep().getNumIterations() == s["iterations"]
    assert simulation.getValueInt(kinds.KERNEL_METHOD) == kinds.ENUM_KERNEL_CUBIC
    assert simulation.getValueInt(kinds.GRAD_KERNEL_METHOD) == kinds.ENUM_GRADKERNEL_CUBIC
    assert abs(sph.TimeManager.getCurrent().getTimeStepSize() - s["time_step"]) < 1e-6


def main() -> None:
    s, folder = json.loads(sys.argv[1]), Path(sys.argv[2])
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # its own messages go elsewhere
    base = open_scene(s, folder)
    fluid = sph.Simulation.getCurrent().getFluidModel(0)
    seconds: list[float] = []
    begin = time.perf_counter()

    def after_step() -> None:
        nonlocal begin
        seconds.append(time.perf_counter() - begin)
        if len(seconds) == s["chunk"]:
            check(s)
            n = fluid.numActiveParticles()
            density = np.array([fluid.getDensity(i) for i in range(n)]) / 1000.0
            chunk = {
                "particles": n,
                "mass": fluid.getMass(0),
                "seconds": seconds,
                "density_error": float(np.maximum(density - 1.0, 0.0).mean()),
            }
            print(json.dumps(chunk), file=answers, flush=True)
            seconds.clear()
            if not sys.stdin.readline():
                os._exit(0)  # its own way out takes as long as its way in
        begin = time.perf_counter()

    base.setTimeStepCB(after_step)
    base.runSimulation()


if __name__ == "__main__":
    main()
