"""Two processes never write to one folder at once, and none is kept out by one that is gone."""

import errno
import json
import os
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from fakes import ENVIRONMENT, RIGS, make
from run_rigs import TEXT, positions, simulate, stat_steps, state

from viscoil.core.errors import RunError
from viscoil.running.runner import run
from viscoil.runs import lock as locks
from viscoil.runs.folder_work import alone_in
from viscoil.runs.lock import FolderLock, is_locked
from viscoil.scene import Scene

NO_FLOCK = "locks files as POSIX does, by fcntl.flock"


def test_one_process_at_a_time(tmp_path: Path) -> None:
    """And a process that was killed holds nothing back."""
    (tmp_path / "drop.toml").write_text(TEXT)
    fake = str(RIGS / "fakes.py")
    command = [sys.executable, fake, json.dumps({"seconds": 0.3}), "run", "drop.toml"]
    pipe = subprocess.PIPE
    first = subprocess.Popen(
        [*command, "--out", "o"], cwd=tmp_path, env=ENVIRONMENT, stdout=pipe, text=True
    )
    assert first.stdout is not None
    first.stdout.readline()  # it is under way
    out = tmp_path / "o"
    assert is_locked(out)
    with pytest.raises(RunError, match=r"another process writes to .* \(it holds .*\.lock\)"):
        simulate(Scene.from_toml(TEXT), out, resume=True)
    first.kill()
    first.communicate()
    assert not is_locked(out)
    simulate(Scene.from_toml(TEXT), out, resume=True)
    assert stat_steps(out) == list(range(1, 13))


def test_those_who_only_look_do_not_see_each_other(tmp_path: Path) -> None:
    fcntl = pytest.importorskip("fcntl", reason=NO_FLOCK)
    with FolderLock(tmp_path) as lock:
        lock.take()
        assert is_locked(tmp_path)
    with open(tmp_path / ".lock", "rb") as another:
        fcntl.flock(another, fcntl.LOCK_SH)
        assert not is_locked(tmp_path)


@pytest.mark.parametrize("resume", [False, True])
def test_a_new_folder_that_becomes_anothers(tmp_path: Path, resume: bool) -> None:
    """While one run prepares, another begins and ends there."""

    def slow(scene: Scene, **how: Any) -> Any:
        simulate(scene, tmp_path)
        return make()(scene, **how)

    words = "another process has written to" if resume else "holds a run already"
    with pytest.raises(RunError, match=words):
        run(Scene.from_toml(TEXT), tmp_path, resume=resume, make=slow)
    assert (len(positions(tmp_path)), state(tmp_path)) == (5, "finished")


def test_it_ends_with_its_block(tmp_path: Path) -> None:
    with FolderLock(tmp_path) as lock:
        lock.take()
        lock.take()
        with pytest.raises(RunError), FolderLock(tmp_path) as another:
            another.take()
    with FolderLock(tmp_path) as lock:
        lock.take()


@pytest.mark.parametrize("taken", [False, True])
def test_a_file_that_its_holder_removes_just_now(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, taken: bool
) -> None:
    """After another has opened it, which must not take it for the folder's lock.

    A third may have the folder by then, or finds that the second has it.
    """
    lock_file, holder, moments = locks._lock, ExitStack(), []
    second, third = FolderLock(tmp_path), FolderLock(tmp_path)

    def leave(handle: int, shared: bool = False) -> None:
        moments.append(handle)
        if len(moments) == 1:  # the second has opened the file, and not locked it yet
            holder.close()
            if taken:
                third.take()
        lock_file(handle, shared)

    holder.enter_context(alone_in(tmp_path))
    monkeypatch.setattr(locks, "_lock", leave)
    with second, third:
        if taken:
            with pytest.raises(RunError, match="another process writes to"):
                second.take()
        else:
            second.take()
            with pytest.raises(RunError, match="another process writes to"):
                third.take()
        assert (second.held, third.held) == (not taken, taken)


def test_a_disk_without_locks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fcntl = pytest.importorskip("fcntl", reason=NO_FLOCK)

    def refuse(handle: int, how: int) -> None:
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr(fcntl, "flock", refuse)
    simulate(Scene.from_toml(TEXT), tmp_path)
    assert not is_locked(tmp_path)
    with alone_in(tmp_path / "surface"):
        pass
    assert list((tmp_path / "surface").iterdir()) == []
