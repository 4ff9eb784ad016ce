"""Runs that are killed go on to the same bits; verify/test_killed_runs.py does it a hundred times."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from fakes import ENVIRONMENT, RIGS
from killing import contents, finish, is_readable, kill_at, needs_kill


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs to fork")
def test_a_run_may_end_at_any_event(tmp_path: Path) -> None:
    """Every moment between two events of files: start, frames, checkpoints, cutting back, clearing.

    The counts make sure that there were such moments; they may change with what is written.
    """
    program = RIGS / "crashes.py"
    done = subprocess.run(
        [sys.executable, str(program), str(tmp_path)],
        capture_output=True, text=True, env=ENVIRONMENT, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    kills = json.loads(done.stdout)
    assert set(kills) == {
        "nothing",
        "finished",
        "with_damaged_checkpoint",
        "with_missing_frame",
    }
    assert min(kills.values()) > 20


@needs_kill
def test_a_real_run_is_killed_twice_and_resumed(tmp_path: Path) -> None:
    """Frames, pictures, film, statistics, run.json and the last checkpoint, byte for byte.

    The second kill is in the middle of the film, whose encoder is left without its run.
    """
    finish(tmp_path / "whole")
    out = tmp_path / "out"
    for place, count in (("checkpoints/.step", 4), ("preview/frame_000003.png", 1)):
        kill_at(out, place, count)
        assert is_readable(out)
    finish(out)
    assert contents(out) == contents(tmp_path / "whole")
