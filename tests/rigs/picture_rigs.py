"""Run folders with particles that are known, for surfaces and pictures."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from viscoil.outputs.frames import FramesOutput
from viscoil.runs.folder import RunFolder
from viscoil.runs.run import Run
from viscoil.scene import Scene
from viscoil.snapshots.snapshot import Array, Snapshot

Float = NDArray[np.float64]
SPACING = 0.01

SCENE = f"""
[simulation]
name = "seen"
spacing = {SPACING}
frames = 3

[[fluids]]
shape = "sphere"
material = "ketchup"
center = [0, 0.06, 0]
radius = 0.05

[[fluids]]
shape = "sphere"
material = "toothpaste"
center = [0.2, 0.06, 0]
radius = 0.05

[[colliders]]
shape = "plane"

[[colliders]]
shape = "box"
container = true
open = ["+y"]
center = [0.1, 0.1, 0]
size = [0.5, 0.2, 0.3]

[camera]
position = [0.1, 0.25, 0.5]
target = [0.1, 0.05, 0.0]
"""


def lattice(low: Sequence[float], high: Sequence[float], spacing: float = SPACING) -> Float:
    """Particles (n, 3) that fill a box, half a spacing from its faces."""
    ticks = [np.arange(a + 0.5 * spacing, b, spacing) for a, b in zip(low, high, strict=True)]
    return np.stack(np.meshgrid(*ticks, indexing="ij"), axis=-1).reshape(-1, 3)


def ball(radius: float, center: Sequence[float] = (0.0, 0.0, 0.0)) -> Float:
    """Particles that fill a ball, a little disordered as in a run."""
    side = radius + SPACING
    whole = lattice([-side] * 3, [side] * 3)
    inside = whole[np.linalg.norm(whole, axis=1) < radius]
    noise = np.random.default_rng(1).normal(0.0, 0.1 * SPACING, inside.shape)
    return np.asarray(inside + noise + np.asarray(center))


def snapshot(position: Float, frame: int = 0, **channels: Array) -> Snapshot:
    """A frame of particles at rest, or with the given channels."""
    count = len(position)
    usual: Mapping[str, Array] = {
        "velocity": np.zeros((count, 3), np.float32),
        "id": np.arange(count, dtype=np.int32),
        "material": np.zeros(count, np.int32),
    }
    all_of_them = {"position": position.astype(np.float32), **usual, **channels}
    return Snapshot(frame, frame / 30, all_of_them, (), (), SPACING)


def written(folder: Path, frames: Mapping[int, Snapshot], scene: str = SCENE) -> Run:
    """A run folder with these frames."""
    place = RunFolder(folder)
    place.write_run(Scene.from_toml(scene).to_toml(), "cpu", 1, state="finished")
    for shot in frames.values():
        FramesOutput(place.frames, tuple(shot.channels)).frame(shot)
    return Run(folder)


def two_balls(frame: int = 0) -> Snapshot:
    """Ketchup, and toothpaste to the right of it."""
    red, mint = ball(0.05, (0.0, 0.055, 0.0)), ball(0.05, (0.2, 0.055, 0.0))
    material = np.repeat([0, 1], [len(red), len(mint)]).astype(np.int32)
    return snapshot(np.concatenate([red, mint]), frame, material=material)
