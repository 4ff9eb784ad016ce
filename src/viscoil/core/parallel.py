"""The same work on many frames, in several processes, with a progress bar; the first error ends it."""

import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing import active_children, get_context
from typing import TypeVar

from viscoil.core import progress
from viscoil.core.errors import RunError

MOST_ON_WINDOWS = 61  # processes, which is what that system can wait for at once

Result = TypeVar("Result")


def cores() -> int:
    """How many processors this process may use, which on a shared machine may be few of them."""
    if sys.platform == "linux":
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def process_count(frames: int, wanted: int | None = None) -> int:
    """How many processes work on so many frames: as many as are wanted, or as there are cores."""
    most = MOST_ON_WINDOWS if sys.platform == "win32" else frames
    return max(1, min(wanted or cores(), frames, most))


def each_frame(
    work: Callable[[int], Result],
    frames: Sequence[int],
    *,
    what: str,
    processes: int | None = None,
    quiet: bool = False,
    finished: Callable[[Result], None] | None = None,
) -> list[Result]:
    """The results of `work(frame)` in the order of the frames; `what` names the work on the bar.

    `work` must be a function of a module, or a `functools.partial` of one, because other processes
    import it. The first error ends the rest and is raised here. One process works right here.
    `finished` is told each result here, as it comes.
    """
    count = process_count(len(frames), processes)
    results = {}
    with progress.counting(what, len(frames), quiet) as done:

        def take(frame: int, result: Result) -> None:
            results[frame] = result
            if finished is not None:
                finished(result)
            done()

        if count > 1:
            _in_processes(work, frames, count, take)
        else:
            for frame in frames:
                take(frame, work(frame))
    return [results[frame] for frame in frames]


def _in_processes(
    work: Callable[[int], Result],
    frames: Sequence[int],
    count: int,
    take: Callable[[int, Result], None],
) -> None:
    """Gives `take` the frames with their results, in the order in which they are done."""
    before = active_children()
    # spawn: a forked copy of a process with compute threads may hang
    pool = ProcessPoolExecutor(count, get_context("spawn"), initializer=_ignore_interrupts)
    try:
        with _interrupts_ignored():
            futures: dict[Future[Result], int] = {pool.submit(work, f): f for f in frames}
        for future in as_completed(futures):
            take(futures[future], future.result())
    except BrokenProcessPool as error:
        raise RunError(
            "a process that worked on frames was ended from outside, as a system does that runs out "
            "of memory: try fewer with --processes 1"
        ) from error
    except KeyboardInterrupt:  # without waiting for frames under way, which may take minutes
        for process in active_children():
            if process not in before:
                process.terminate()
        raise
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _ignore_interrupts() -> None:
    """Ignores Ctrl-C, which a terminal sends to all its processes: only the parent handles it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


@contextmanager
def _interrupts_ignored() -> Iterator[None]:
    """Makes processes that start meanwhile ignore Ctrl-C from their start, where that is inherited."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
