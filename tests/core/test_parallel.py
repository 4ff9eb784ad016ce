"""The same work on many frames, in several processes."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from frame_work import squared

from viscoil.core import parallel
from viscoil.core.errors import RunError
from viscoil.core.parallel import each_frame


@pytest.mark.parametrize("processes", [1, 2])
def test_results_come_in_order(processes: int, capsys: pytest.CaptureFixture[str]) -> None:
    assert each_frame(squared, [3, 1, 2], what="square", processes=processes) == [9, 1, 4]
    assert capsys.readouterr().out.splitlines()[-1] == "square 3/3  left 0:00"


@pytest.mark.parametrize("processes", [1, 2])
def test_the_first_error_ends_the_work(processes: int) -> None:
    with pytest.raises(RunError, match="thirteen"):
        each_frame(squared, range(10, 20), what="square", processes=processes, quiet=True)


def test_a_process_that_is_killed_is_told() -> None:
    with pytest.raises(RunError, match=r"ended from outside.*--processes 1"):
        each_frame(squared, [1, 99, 2], what="square", processes=2, quiet=True)


def test_results_are_told_as_they_come() -> None:
    """In the main process, also those before an error."""
    told: list[int] = []
    with pytest.raises(RunError, match="thirteen"):
        each_frame(
            squared, [11, 12, 13, 14], what="s", processes=1, quiet=True, finished=told.append
        )
    assert told == [121, 144]
    told.clear()
    each_frame(squared, [3, 1, 2], what="s", processes=2, quiet=True, finished=told.append)
    assert sorted(told) == [1, 4, 9]


INTERRUPTED = """
import os, signal, sys, time
from viscoil.core.parallel import each_frame

def work(frame):
    if frame:
        time.sleep(100)
    return os.getpid()

if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background job ignores it
    tell = lambda process: print(process, flush=True)
    try:
        each_frame(work, [0, 1, 2], what="w", processes=2, quiet=True, finished=tell)
    except KeyboardInterrupt:
        sys.exit(130)
"""


@pytest.mark.skipif(os.name != "posix", reason="sends a signal as a terminal does")
def test_an_interrupt_ends_the_processes_without_a_trace(tmp_path: Path) -> None:
    """Ctrl-C on a terminal goes to all of them; those that work for 100 s are not waited for."""
    script = tmp_path / "script.py"
    script.write_text(INTERRUPTED)
    process = subprocess.Popen(
        [sys.executable, script],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert process.stdout is not None
    worker = int(process.stdout.readline())
    os.killpg(process.pid, signal.SIGINT)
    _, errors = process.communicate(timeout=50)
    assert (process.returncode, errors) == (130, "")
    with pytest.raises(ProcessLookupError):
        os.kill(worker, 0)


def test_how_many_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    """The default is what this process may use; Windows cannot wait for more than 61."""
    monkeypatch.setattr(parallel, "cores", lambda: 100)
    assert [parallel.process_count(n) for n in (0, 7, 500)] == [1, 7, 100]
    assert parallel.process_count(500, 3) == 3
    monkeypatch.setattr(sys, "platform", "win32")
    assert parallel.process_count(500) == parallel.process_count(500, 80) == 61


@pytest.mark.skipif(sys.platform != "linux", reason="no such notion elsewhere")
def test_cores_are_those_that_we_may_use() -> None:
    mine = os.sched_getaffinity(0)
    try:
        os.sched_setaffinity(0, {min(mine)})
        assert parallel.cores() == 1
    finally:
        os.sched_setaffinity(0, mine)
    assert parallel.cores() == len(mine)
