"""From an empty folder to a film and a USD stage, by the commands that each end names."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from printed import printed_commands

from viscoil.runs.run import Run

FRAMES = 30


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("stranger")


def viscoil(folder: Path, *arguments: str) -> str:
    """What the command prints, which must be no error."""
    command = [sys.executable, "-m", "viscoil", *arguments]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return done.stdout


def named(said: str) -> set[str]:
    """The commands that a text names, each of which the command line takes as it is printed."""
    return {words[0] for words in printed_commands(said)}


def test_the_whole_path(folder: Path) -> None:
    coarse = ("--set", "simulation.spacing=0.004")
    said = viscoil(folder, "run", "cream", "--frames", str(FRAMES), *coarse)
    assert "runs/cream" in said and "viscoil mesh runs/cream" in said
    assert named(said) >= {"mesh", "render", "export"}
    said = viscoil(folder, "mesh", "runs/cream")
    assert "runs/cream/surface" in said and "viscoil render runs/cream" in said
    small = ("--draft", "--size", "96x54")
    said = viscoil(folder, "render", "runs/cream", "--frames", "-1", *small)
    assert "runs/cream/render" in said and "viscoil video runs/cream" in said
    said = viscoil(folder, "video", "runs/cream", "--pictures", "render")
    assert ".mp4" in said
    said = viscoil(folder, "export", "runs/cream", "--to", "usd")
    assert "runs/cream/export/usd/cream.usda" in said and "Blender" in said
    said = viscoil(folder, "info", "runs/cream")
    assert "finished" in said
    assert named(said) >= {"mesh", "render", "export", "plot"}
    _check_stage(folder)


def _check_stage(folder: Path) -> None:
    from pxr import Usd, UsdGeom

    run = Run(folder / "runs" / "cream")
    stage = Usd.Stage.Open(str(folder / "runs/cream/export/usd/cream.usda"))
    assert (stage.GetStartTimeCode(), stage.GetEndTimeCode()) == (0, FRAMES)
    assert (UsdGeom.GetStageUpAxis(stage), UsdGeom.GetStageMetersPerUnit(stage)) == ("Y", 1.0)
    points = [UsdGeom.Points(p) for p in stage.Traverse() if p.IsA(UsdGeom.Points)]
    for frame in (0, FRAMES // 2, FRAMES):
        channels = run.snapshot(frame).channels
        order = np.argsort(channels["id"])
        for name, get in (
            ("position", UsdGeom.Points.GetPointsAttr),
            ("velocity", UsdGeom.Points.GetVelocitiesAttr),
            ("id", UsdGeom.Points.GetIdsAttr),
        ):
            found = np.concatenate([np.array(get(p).Get(frame)) for p in points])
            np.testing.assert_array_equal(found, channels[name][order])
        box = (
            channels["position"].min(axis=0, initial=0),
            channels["position"].max(axis=0, initial=0),
        )
        extents = [np.array(p.GetExtentAttr().Get(frame)) for p in points if len(order)]
        for low, high in extents:
            np.testing.assert_allclose((low, high), box, atol=0.004)
    _check_surface(stage)


def _check_surface(stage: Any) -> None:
    """The nozzle starts empty, and so does the surface; later it is there."""
    from pxr import UsdGeom

    mesh = UsdGeom.Mesh(stage.GetPrimAtPath("/World/Surface"))
    assert len(mesh.GetPointsAttr().Get(0)) == 0
    assert len(mesh.GetPointsAttr().Get(FRAMES)) > 100
    assert len(mesh.GetVelocitiesAttr().Get(FRAMES)) == len(mesh.GetPointsAttr().Get(FRAMES))
