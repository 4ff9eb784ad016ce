"""The same simulation on another backend: software Vulkan against the CPU."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

D = 0.02  # m
# Positions of some tenths of a metre are rounded by 1e-8 m each step, and sums are taken in another
# order. Stiff bodies amplify that where contacts open and close; a hundred times it is allowed. Where
# friction just holds, or just does not, rounding decides, so that only short runs with it agree.
TOLERANCE = 1e-6  # m
STEPS = {"sticky": 12, "friction": 8}
SCRIPT = f"""
import sys
import numpy as np
from viscoil import Scene, Simulation

CONTACTS = {{"sticky": {{"contact": "sticky"}}, "friction": {{"contact": "friction", "friction": 0.5}}}}
box = {{"shape": "box", "size": [{5 * D}, {5 * D}, {5 * D}]}}
ends = {{}}
for contact, steps in {STEPS}.items():
    scene = Scene.model_validate({{
        "simulation": {{"spacing": {D}, "frames": 9, "time_step": 1 / 240}},
        "solver": {{"max_position_iterations": 10}},
        "materials": {{
            "dough": {{"density": 1000.0, "modulus": 5e3, "relaxation_time": 0.2}},
            "thick": {{"density": 1000.0, "viscosity": 50.0}},
        }},
        "fluids": [
            {{"material": "dough", "center": [0.0, {2.6 * D}, 0.0], **box}},
            {{"material": "thick", "center": [{6 * D}, {2.6 * D}, 0.0], **box}},
            {{"material": "water", "center": [{-6 * D}, {2.6 * D}, 0.0], **box}},
        ],
        "colliders": [{{"shape": "plane", **CONTACTS[contact]}}],
    }})
    simulation = Simulation(scene, arch=sys.argv[1])
    for _ in range(steps):
        simulation.step()
    frame = simulation.snapshot().channels
    order = np.argsort(frame["id"])
    for name in ("position", "conformation"):
        ends[f"{{contact}} {{name}}"] = frame[name][order]
np.savez(sys.argv[2], **ends)
"""


@pytest.fixture(scope="module")
def ends(
    tmp_path_factory: pytest.TempPathFactory, software_vulkan: dict[str, str]
) -> dict[str, dict[str, np.ndarray]]:
    """Positions and conformations after the steps of each contact, on each backend."""
    folder = tmp_path_factory.mktemp("backends")
    return {arch: run(arch, folder, software_vulkan) for arch in ("cpu", "vulkan")}


def run(arch: str, folder: Path, environment: dict[str, str]) -> dict[str, np.ndarray]:
    target = folder / f"{arch}.npz"
    command = [sys.executable, "-c", SCRIPT, arch, str(target)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    with np.load(target) as arrays:
        return {name: np.asarray(arrays[name], np.float64) for name in arrays}


@pytest.mark.parametrize("contact", STEPS)
def test_vulkan_agrees_with_the_cpu(contact: str, ends: dict[str, dict[str, np.ndarray]]) -> None:
    cpu, vulkan = ends["cpu"], ends["vulkan"]
    apart, strain = (
        np.abs(cpu[name] - vulkan[name]).max()
        for name in (f"{contact} position", f"{contact} conformation")
    )
    print(f"\nCPU against Vulkan, {contact}: {apart:.2g} m, conformation {strain:.2g}")
    assert len(cpu[f"{contact} position"]) == 375
    assert apart <= TOLERANCE
    assert strain <= 5.0 * TOLERANCE / D  # a gradient of displacements over a spacing
