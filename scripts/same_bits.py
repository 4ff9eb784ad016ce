"""Whether two trees of the source compute the same: `same_bits.py OLD/src NEW/src [CASE ...]`.

For changes that are to move code and not physics. Each case is a built-in scene, some steps long, some
of them saved and resumed half way; the channels that both trees have are compared to the last bit.
Kernels are compiled without fast mathematics: with it the compiler may group sums and products
differently whenever code around them moves, and last bits differ although the arithmetic is the same.
"""

import hashlib
import json
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Case:
    """A scene, how many steps of it, and what is changed in it."""

    scene: str
    steps: int
    resumed: bool = False
    overrides: tuple[str, ...] = ()


CASES = {
    "emitter, resumed": Case("honey", 60, resumed=True),
    "bodies, resumed": Case("floating", 24, resumed=True),
    "heat, resumed": Case("melting", 24, resumed=True),
    "mixed sizes, resumed": Case("oil-on-water", 16, True, ("simulation.scale=0.5",)),
    "surface tension": Case("drops", 20),
    "moving colliders": Case("stirring", 20),
    "meshes": Case("cream-waffle", 60),
    "three materials": Case("palette", 30),
    "water": Case("dam-break", 30),
    "positions only": Case("palette", 8, overrides=("solver.projection=position",)),
    "Jacobi": Case(
        "palette", 8, overrides=("solver.velocity_solver=jacobi", "solver.gradients=plain")
    ),
    "prototype": Case(
        "palette", 8, overrides=("solver.stiffness=prototype", "solver.smoothing=wendland_c2")
    ),
}


def fingerprints(case: Case) -> dict[str, str]:
    """Of all channels at the end, in the order of ids."""
    import numpy as np

    from viscoil import Scene, Simulation

    scene = Scene.load(case.scene, list(case.overrides))
    simulation = Simulation(scene)
    for step in range(case.steps):
        if case.resumed and step == case.steps // 2:
            with tempfile.TemporaryDirectory() as folder:
                path = Path(folder) / "half.npz"
                simulation.save(path)
                simulation = Simulation(scene, checkpoint=path)
        simulation.step()
    channels = simulation.snapshot().channels
    order = np.argsort(channels["id"])
    return {
        name: hashlib.sha256(values[order].tobytes()).hexdigest()
        for name, values in channels.items()
    }


def run(source: str, name: str) -> dict[str, str]:
    """The fingerprints of a case in a tree, in a process of its own."""
    done = subprocess.run(
        [sys.executable, __file__, "--case", name],
        env={**os.environ, "PYTHONPATH": source, "QD_FAST_MATH": "0"},
        capture_output=True,
        text=True,
    )
    if done.returncode:
        raise SystemExit(f"{source} fails in {name}: {done.stderr.strip().splitlines()[-1]}")
    found: dict[str, str] = json.loads(done.stdout.splitlines()[-1])
    return found


def main(arguments: list[str]) -> int:
    """Prints a line for each case; 1 if any differs."""
    if len(arguments) == 2 and arguments[0] == "--case":
        print(json.dumps(fingerprints(CASES[arguments[1]])))
        return 0
    if len(arguments) < 2:
        raise SystemExit(__doc__)
    old, new = (str(Path(source).resolve()) for source in arguments[:2])
    different = 0
    for name in arguments[2:] or CASES:
        before, after = run(old, name), run(new, name)
        changed = [c for c in before if c in after and before[c] != after[c]]
        different += bool(changed)
        print(f"{name:24} {'differs in ' + ', '.join(changed) if changed else 'same bits'}")
    return int(different > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
