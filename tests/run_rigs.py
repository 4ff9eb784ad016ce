"""Runs of fake simulations, and what is left of them."""

import json
from pathlib import Path
from typing import Any

import pytest
from fakes import make
from test_runner import TEXT

from viscoil.running.recording import CheckpointPlan
from viscoil.running.runner import run
from viscoil.scene import Scene

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
