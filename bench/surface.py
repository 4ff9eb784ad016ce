"""How long `viscoil mesh` takes for 100 000 particles: smoothing, velocities and file included."""

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

import numpy as np
from measure import note, report

from viscoil.outputs.frames import FramesOutput
from viscoil.runs.folder import RunFolder
from viscoil.scene import Scene
from viscoil.snapshots.snapshot import Snapshot

REPETITIONS = 3
SPACING = 0.01
VISCOIL = [sys.executable, "-m", "viscoil"]
SCENE = f"""
[simulation]
spacing = {SPACING}
frames = 1
[[fluids]]
material = "water"
shape = "box"
center = [0, 0.1, 0]
size = [1, 0.2, 0.5]
[[colliders]]
shape = "plane"
"""


def made_run(folder: Path, count: int = 100_000) -> None:
    """A run of one frame: a pool with waves and drops above it, of so many particles."""
    rng = np.random.default_rng(1)
    axes = [
        np.arange(-0.5, 0.5, SPACING),
        np.arange(0, 0.6, SPACING),
        np.arange(-0.25, 0.25, SPACING),
    ]
    x, y, z = (a.ravel() for a in np.meshgrid(*axes, indexing="ij"))
    level = 0.16 + 0.05 * np.sin(12 * x) * np.cos(9 * z)
    drops = np.sin(40 * x) * np.sin(40 * y) * np.sin(40 * z) > 0.9
    order = np.argsort(np.where((y < level) | drops, y - level, 10.0 + y), kind="stable")
    position = np.stack([x, y + 0.005, z], axis=1)[order[:count]]
    position += rng.normal(0.0, 0.1 * SPACING, position.shape)
    channels = {
        "position": position.astype(np.float32),
        "velocity": rng.normal(0.0, 1.0, position.shape).astype(np.float32),
        "material": np.zeros(count, np.int32),
    }
    place = RunFolder(folder)
    place.write_run(Scene.from_toml(SCENE).to_toml(), "cpu", 1)
    FramesOutput(place.frames, tuple(channels)).frame(Snapshot(0, 0.0, channels, (), (), SPACING))


def timed(*arguments: str) -> tuple[float, float]:
    """Medians of the seconds that a command takes, and that its threads work."""
    wall, work = [], []
    for _ in range(REPETITIONS):
        before, begin = os.times(), time.perf_counter()
        subprocess.run([*VISCOIL, *arguments], check=True, stdout=subprocess.DEVNULL)
        after = os.times()
        wall.append(time.perf_counter() - begin)
        work.append(after.children_user - before.children_user)
    return median(wall), median(work)


def main() -> None:
    """Measure the command, from its start to its end."""
    with tempfile.TemporaryDirectory() as name:
        made_run(Path(name))
        wall, work = timed("mesh", name, "--overwrite", "--quiet")
    report("surface of 100 000 particles, with attributes", wall, "s", 8.0)
    note("work of all threads", work, "s")


if __name__ == "__main__":
    main()
