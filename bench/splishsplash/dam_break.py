"""SPlisHSPlasH's side of bench/peer.py; runs in the virtual environment that has it.

dam_break.py SETTINGS prints one line of JSON. SETTINGS is JSON too: see bench/peer.py.
"""

import json
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import pysplishsplash as sph


def scene(settings: dict[str, Any]) -> dict[str, Any]:
    """Its dam break, with the tank, the block and the solver that we are asked for."""
    tank, block = settings["tank"], settings["block"]
    left, back = -0.5 * tank[0], -0.5 * tank[2]
    return {
        "Configuration": {
            "particleRadius": 0.5 * settings["spacing"],
            "simulationMethod": 2,  # PBF
            "gravitation": [0, -9.81, 0],
            "timeStepSize": settings["time_step"],
            "cflMethod": 0,
            "boundaryHandlingMethod": 2,  # volume maps, as in its own dam break
            "PBF": {
                "minIterations": settings["iterations"],
                "maxIterations": settings["iterations"],
            },
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
        "FluidBlocks": [
            {
                "denseMode": 0,
                "start": [left + settings["spacing"], settings["spacing"], -0.5 * block[2]],
                "end": [left + settings["spacing"] + block[0], settings["spacing"] + block[1], 0.5 * block[2]],
            }
        ],
    }


def main() -> None:
    print(json.dumps(scene(json.loads(sys.argv[1]))))
    s = json.loads(sys.argv[1])
    with tempfile.TemporaryDirectory() as folder:
        f = Path(folder) / "scene.json"
        f.write_text(json.dumps(scene(s)))
        base = sph.Exec.SimulatorBase()
        base.init(sceneFile=str(f), useGui=False, initialPause=False, useCache=False, outputDir=folder)
        base.initSimulation()
        sim = sph.Simulation.getCurrent()
        K = sph.Simulation
        sim.setValueInt(K.KERNEL_METHOD, K.ENUM_KERNEL_CUBIC); sim.setValueInt(K.GRAD_KERNEL_METHOD, K.ENUM_GRADKERNEL_CUBIC)
        print(sim.getValueInt(K.KERNEL_METHOD), K.ENUM_KERNEL_CUBIC, K.ENUM_KERNEL_PRECOMPUTED_CUBIC)
        ts = sim.getTimeStep(); print(type(ts), [a for a in dir(ts) if a.isupper()], dir(ts))
        m = sim.getFluidModel(0); print(dir(m), m.numActiveParticles(), m.getMass(0), 1000*s["spacing"]**3)
        print([m.getField(i).name for i in range(m.numberOfFields())], sim.getSupportRadius())
        x = np.array(m.getPosition0(0)); print(x.dtype, x)
        times = []
        def cb():
            now = time.perf_counter(); times.append(now)
            n = m.numActiveParticles()
            if len(times) % 10 == 0:
                print(type(sim.getTimeStep()), sim.getTimeStep().getNumIterations(), sim.getTimeStep().getValueUInt(sim.getTimeStep().MAX_ITERATIONS), sim.getValueInt(K.KERNEL_METHOD), sim.getValueInt(K.GRAD_KERNEL_METHOD), m.getMass(0)/1000/s['spacing']**3, sph.TimeManager.getCurrent().getTimeStepSize(), sim.zSortEnabled())
                rho = np.array([m.getDensity(i) for i in range(n)])
                X = np.array([m.getPosition(i) for i in range(0,n,10)])
                print(len(times), np.maximum(rho/1000-1,0).mean(), rho.min(), rho.max(), X.min(0), X.max(0), (times[-1]-times[-2])/n*1e9, flush=True)
                times[-1] = time.perf_counter()
        base.setTimeStepCB(cb)
        base.setValueFloat(base.STOP_AT, s["steps"] * s["time_step"])
        base.runSimulation()
        base.cleanup()

main()
