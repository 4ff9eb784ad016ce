"""Runs of fake simulations, and what is left of them."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fakes import make

from viscoil.running.recording import CheckpointPlan
from viscoil.running.runner import run
from viscoil.scene import Scene

TEXT = """\
[simulation]
name = "drop"
spacing = 0.1
frames = 4

[materials.a]
density = 1
viscosity = 1

[materials.b]
density = 2
viscosity = 2

[[fluids]]
material = "a"
shape = "sphere"
center = [0, 0, 0]
radius = 1

[[outputs]]
type = "frames"
channels = ["position", "id"]
"""

EVERY_FRAME = CheckpointPlan(frames=1, keep=9)
Capture = pytest.CaptureFixture[str]


def simulate(scene: Scene, out: Path, **how: Any) -> None:
    run(scene, out, make=make(), **{"checkpoints": EVERY_FRAME, **how})


def notes(capsys: Capture) -> list[str]:
    lines = capsys.readouterr().out.splitlines()
    return [line.removeprefix("note: ") for line in lines if line.startswith("note: ")]


def tree(folder: Path) -> dict[str, bytes]:
    """Every file but the lock, and what is in it."""
    paths = [p for p in sorted(folder.rglob("*")) if p.is_file() and p.name != ".lock"]
    return {str(p.relative_to(folder)): p.read_bytes() for p in paths}


def mark(folder: Path, **changes: Any) -> None:
    """Changes what run.json says."""
    path = folder / "run.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **changes}))


def other(old: str, new: str) -> Scene:
    return Scene.from_toml(TEXT.replace(old, new))


def positions(folder: Path) -> dict[str, bytes]:
    return {
        path.name: np.load(path)["position"].tobytes()
        for path in sorted((folder / "frames").glob("*.npz"))
    }


def stat_steps(folder: Path) -> list[int]:
    lines = (folder / "stats.jsonl").read_text().splitlines()
    return [json.loads(line)["step"] for line in lines]


def checkpoints(folder: Path) -> list[int]:
    names = sorted((folder / "checkpoints").iterdir())
    return [int(path.stem.removeprefix("step_")) for path in names]


def state(folder: Path) -> Any:
    return json.loads((folder / "run.json").read_text())["state"]
