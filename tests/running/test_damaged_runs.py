"""Runs whose checkpoints or frames are damaged or gone: what a resume keeps, and what it says."""

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fakes import make
from run_rigs import TEXT, Capture, checkpoints, mark, notes, positions, simulate, stat_steps, tree

from viscoil.core.checkpoint import save_checkpoint
from viscoil.core.errors import DivergedError, ResumeError
from viscoil.inspection.about import about
from viscoil.running.recording import CheckpointPlan
from viscoil.running.runner import run
from viscoil.runs.run import Run
from viscoil.scene import Scene


@pytest.fixture
def scene() -> Scene:
    return Scene.from_toml(TEXT)


def test_a_truncated_checkpoint_is_told_and_the_one_before_taken(
    scene: Scene, tmp_path: Path, capsys: Capture
) -> None:
    simulate(scene, tmp_path)
    whole = positions(tmp_path)
    path = tmp_path / "checkpoints" / "step_000000012.npz"
    path.write_bytes(path.read_bytes()[:-1])
    simulate(scene, tmp_path, resume=True)
    assert notes(capsys) == [f"the checkpoint {path} is damaged, so an earlier one is taken"]
    assert (positions(tmp_path), stat_steps(tmp_path)) == (whole, list(range(1, 13)))
    assert checkpoints(tmp_path) == [3, 6, 9, 12]


@pytest.mark.parametrize(("words", "damage"), [("all damaged", True), ("gone", False)])
def test_without_its_checkpoints_a_run_stays_as_it_is(
    scene: Scene, tmp_path: Path, words: str, damage: bool
) -> None:
    simulate(scene, tmp_path)
    for path in (tmp_path / "checkpoints").iterdir():
        path.write_bytes(b"") if damage else path.unlink()
    before = tree(tmp_path)
    with pytest.raises(ResumeError, match=f"are {words}, so the run cannot go on; .*--overwri"):
        simulate(scene, tmp_path, resume=True)
    assert tree(tmp_path) == before
    assert not about(Run(tmp_path))["resume"]["possible"]
    simulate(scene, tmp_path, overwrite=True)
    assert about(Run(tmp_path))["resume"]["possible"]
    assert checkpoints(tmp_path) == [3, 6, 9, 12]


def test_checkpoints_that_a_killed_run_had(scene: Scene, tmp_path: Path) -> None:
    """run.json says so after the first of them, also when it was killed."""
    simulate(scene, tmp_path)
    mark(tmp_path, state="running")
    shutil.rmtree(tmp_path / "checkpoints")
    before = tree(tmp_path)
    with pytest.raises(ResumeError, match="are gone"):
        simulate(scene, tmp_path, resume=True)
    assert tree(tmp_path) == before


def test_a_run_that_was_killed_too_early_starts_again_and_says_so(
    scene: Scene, tmp_path: Path, capsys: Capture
) -> None:
    never = CheckpointPlan(seconds=1e9)
    with pytest.raises(DivergedError):
        run(scene, tmp_path, quiet=True, make=make(nan_at=8), checkpoints=never)
    simulate(scene, tmp_path, resume=True)
    assert notes(capsys) == [
        "the run was not far enough to save its state: it starts from the beginning, 2 frames "
        "are removed"
    ]
    assert stat_steps(tmp_path) == list(range(1, 13))


@pytest.mark.parametrize("cut", [0, 1, 500, None])
def test_a_broken_last_frame_is_done_again(
    scene: Scene, tmp_path: Path, capsys: Capture, cut: int | None
) -> None:
    simulate(scene, tmp_path)
    whole = positions(tmp_path)
    path = tmp_path / "frames" / "frame_000004.npz"
    data = path.read_bytes()
    path.unlink() if cut is None else path.write_bytes(data[: len(data) - cut - 1])
    simulate(scene, tmp_path, resume=True)
    assert notes(capsys) == [
        "frame 4 is missing or damaged: the run goes back from frame 4 to the checkpoint at "
        "frame 3 to do it again"
    ]
    assert (positions(tmp_path), stat_steps(tmp_path)) == (whole, list(range(1, 13)))


def test_whole_frames_after_a_missing_one_stay(
    scene: Scene, tmp_path: Path, capsys: Capture
) -> None:
    """And once they are removed as well, as the note says, all are done again."""
    simulate(scene, tmp_path)
    whole = positions(tmp_path)
    Run(tmp_path).frame_path(2).unlink()
    (tmp_path / "surface").mkdir()
    surface = tmp_path / "surface" / "frame_000004.ply"
    surface.write_text("made of frame 4")
    record: dict[str, Any] = {"settings": {}, "frames": {"4": {}}}
    (tmp_path / "surface" / "surface.json").write_text(json.dumps(record))
    before = tree(tmp_path / "frames")
    simulate(scene, tmp_path, resume=True)
    assert notes(capsys) == [
        "frame 2 is missing or damaged and left out, because whole frames follow: to have all "
        "of them done again, remove these too and give --resume once more"
    ]
    assert tree(tmp_path / "frames") == before
    assert surface.exists()
    for frame in (3, 4):
        Run(tmp_path).frame_path(frame).unlink()
    simulate(scene, tmp_path, resume=True)
    assert positions(tmp_path) == whole
    assert not surface.exists()


def test_frames_that_no_checkpoint_is_before(scene: Scene, tmp_path: Path, capsys: Capture) -> None:
    simulate(scene, tmp_path)
    for frame in (0, 1, 4):
        Run(tmp_path).frame_path(frame).unlink()
    simulate(scene, tmp_path, resume=True, force=True)
    assert Run(tmp_path).frames == (2, 3)
    assert notes(capsys) == ["frames 0, 1, 4 are missing or damaged and left out (--force)"]
    simulate(scene, tmp_path, resume=True)
    assert notes(capsys) == [
        "frames 0, 1 are missing or damaged and lost: no checkpoint is from before",
        "frame 4 is missing or damaged: the run goes back from frame 4 to the checkpoint at "
        "frame 3 to do it again",
    ]
    assert Run(tmp_path).frames == (2, 3, 4)


def test_a_checkpoint_of_another_version(scene: Scene, tmp_path: Path) -> None:
    simulate(scene, tmp_path)
    save_checkpoint(tmp_path / "checkpoints" / "step_000000013.npz", {"a": np.zeros(3)}, {})
    with pytest.raises(ResumeError, match=r"step_000000013\.npz was written by another version"):
        simulate(scene, tmp_path, resume=True)
    assert len(positions(tmp_path)) == 5
