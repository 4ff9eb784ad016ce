"""Runs on a disk that is full, or will be."""

import errno
import io
import os
from pathlib import Path
from typing import Any

import pytest
from fakes import make
from run_rigs import TEXT, Capture, notes, positions, simulate, stat_steps

from viscoil.core import files
from viscoil.core.errors import RunError
from viscoil.outputs import stats
from viscoil.running import disk
from viscoil.running.recording import Recorder
from viscoil.running.runner import run
from viscoil.runs.folder import RunFolder
from viscoil.scene import Scene


@pytest.fixture
def scene() -> Scene:
    return Scene.from_toml(TEXT)


class LimitedDisk:
    """A disk with so many bytes left, for what is written through `open` in our modules."""

    def __init__(self, room: int, monkeypatch: pytest.MonkeyPatch) -> None:
        self.room = room
        for module in (files, stats):
            monkeypatch.setattr(module, "open", self.open, raising=False)

    def open(self, path: Path, mode: str, buffering: int = -1) -> Any:
        if "r" in mode:
            return open(path, mode)
        raw = LimitedFile(path, mode)
        raw.disk = self
        return raw if buffering == 0 else io.BufferedWriter(raw)


class LimitedFile(io.FileIO):
    disk: LimitedDisk

    def write(self, data: Any) -> int:
        data = memoryview(data)[: self.disk.room]
        if not len(data):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        self.disk.room -= len(data)
        return super().write(data)


def test_a_full_disk_at_any_byte_keeps_what_there_was(
    scene: Scene, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A run writes 21 kB; wherever the room ends, a resume gives the same bits."""
    monkeypatch.setattr(os, "fsync", lambda handle: None)
    simulate(scene, tmp_path / "whole", quiet=True)
    full = 0
    for room in range(1, 30_000, 1103):
        out = tmp_path / str(room)
        with monkeypatch.context() as patch:
            LimitedDisk(room, patch)
            try:
                simulate(scene, out, quiet=True)
            except RunError as error:
                full += 1
                assert str(error).startswith("the disk is full, so ")
                assert "free some space, then use --resume" in str(error)
        simulate(scene, out, resume=True, quiet=True)
        assert positions(out) == positions(tmp_path / "whole")
        assert stat_steps(out) == list(range(1, 13))
        assert not list(out.rglob(".*.part*"))
    assert 15 < full < 27


@pytest.mark.parametrize("plan", [{}, {"nan_at": 8}])
def test_outputs_are_closed_when_the_state_cannot_be_written(
    scene: Scene, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, plan: dict[str, int]
) -> None:
    closed = []
    write, close = Recorder.state, Recorder.close

    def refuse(recorder: Recorder, state: str) -> None:
        if state != "running":
            raise RunError("the disk is full")
        write(recorder, state)

    def note(recorder: Recorder) -> None:
        closed.append(True)
        close(recorder)

    monkeypatch.setattr(Recorder, "state", refuse)
    monkeypatch.setattr(Recorder, "close", note)
    with pytest.raises(RunError, match="diverged" if plan else "the disk is full"):
        run(scene, tmp_path, quiet=True, make=make(**plan))
    assert closed == [True]


def test_room_is_checked_before(
    scene: Scene, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    monkeypatch.setattr(RunFolder, "free_bytes", lambda self: 100)
    with pytest.raises(RunError, match=r"has 100 bytes left and a single state .* takes"):
        simulate(scene, tmp_path / "out")
    assert not (tmp_path / "out" / "run.json").exists()
    monkeypatch.setattr(RunFolder, "free_bytes", lambda self: 5000)
    simulate(scene, tmp_path / "out")
    (note,) = notes(capsys)
    assert note.startswith("the run will write about ") and "4.9 KiB left" in note


def test_the_room_of_a_run_is_known() -> None:
    """1000 particles of 24 bytes in 5 frames, and 2 states of 132 bytes, with stress."""
    text = TEXT.replace('shape = "sphere"', 'shape = "box"').replace(
        "radius = 1", "size = [1, 1, 1]"
    )
    scene = Scene.from_toml(text.replace('["position", "id"]', '["position", "velocity"]'))
    assert disk.run_bytes(scene, 0, 1000, 2) == 5 * 1000 * 24 + 2 * 1000 * 132


@pytest.mark.parametrize(
    ("count", "text"),
    [(0, "0 bytes"), (1023, "1023 bytes"), (1536, "1.5 KiB"), (2**40, "1024.0 GiB")],
)
def test_sizes_are_readable(count: int, text: str) -> None:
    assert disk.size_text(count) == text
