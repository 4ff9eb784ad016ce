"""The same work on many frames: in several processes, with a bar, to the first error."""

import os
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context
from typing import TypeVar

from viscoil import progress
from viscoil.errors import RunError

Result = TypeVar("Result")


def each_frame(
    work: Callable[[int], Result],
    frames: Sequence[int],
    *,
    what: str,
    processes: int | None = None,
    quiet: bool = False,
) -> list[Result]:
    """The results of `work(frame)` in the order of the frames; `what` names the work on the bar.

    `work` must be a function of a module, or a `functools.partial` of one, because other processes
    import it. The first error ends the rest and is raised here. One process works right here.
    """
    count = min(processes or os.cpu_count() or 1, len(frames))
    with progress.counting(what, len(frames), quiet) as done:
        if count <= 1:
            results = []
            for frame in frames:
                results.append(work(frame))
                done()
            return results
        return _in_processes(work, frames, count, done)


def _in_processes(
    work: Callable[[int], Result], frames: Sequence[int], count: int, done: Callable[[], None]
) -> list[Result]:
    # spawn: a forked copy of a process with compute threads may hang
    pool = ProcessPoolExecutor(count, mp_context=get_context("spawn"))
    try:
        futures: dict[Future[Result], int] = {pool.submit(work, f): f for f in frames}
        results = {}
        for future in as_completed(futures):
            results[futures[future]] = future.result()
            done()
    except BrokenProcessPool as error:
        raise RunError(
            "a process that worked on frames was ended from outside, as a system does that runs out "
            "of memory: try fewer with --processes 1"
        ) from error
    finally:
        pool.shutdown(wait=True, cancel_futures=True)
    return [results[frame] for frame in frames]
