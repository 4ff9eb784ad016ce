"""Shows how a run is getting on: a bar on a terminal, plain lines elsewhere, or nothing."""

import math
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Protocol

from viscoil.core.figures import Figure

if TYPE_CHECKING:
    from rich.progress import Progress as RichProgress
    from rich.progress import TaskID


class Progress(Protocol):
    """Is told of every step; `frame` counts finished frames."""

    def step(self, frame: int, stats: Mapping[str, Any]) -> None:
        """A step was taken, which may have finished a frame."""

    def compiled(self, how_far: str) -> None:
        """A kernel had to be compiled, which happens once on a machine."""

    def close(self) -> None:
        """The run has ended, well or badly."""


COMPILING = "compiling kernels (once):"
SECONDS = 5.0  # between plain lines


def choose(first: int, frames: int, quiet: bool, figures: Sequence[Figure] = ()) -> Progress:
    """The progress display for this run, which goes from frame `first` to frame `frames`.

    `figures` are those that the solver reports.
    """
    if quiet:
        return Silent()
    if sys.stdout.isatty():
        return Bar(first, frames, figures)
    return Lines(first, frames, figures)


class Silent:
    """Shows nothing."""

    def step(self, frame: int, stats: Mapping[str, Any]) -> None:
        """Nothing."""

    def compiled(self, how_far: str) -> None:
        """Nothing."""

    def close(self) -> None:
        """Nothing."""


class Lines:
    """One plain line a frame, for logs."""

    def __init__(self, first: int, frames: int, figures: Sequence[Figure] = ()) -> None:
        self._figures = figures
        self._first = self._shown = first
        self._frames = frames
        self._begin = time.monotonic()
        self._told = -math.inf

    def step(self, frame: int, stats: Mapping[str, Any]) -> None:
        """Print a line if the step finished a frame."""
        if frame == self._shown:
            return
        self._shown = frame
        per_frame = (time.monotonic() - self._begin) / (frame - self._first)
        left = clock_text(per_frame * (self._frames - frame))
        shown = line(stats, self._figures)
        print(f"frame {frame}/{self._frames}  {shown}  left {left}", flush=True)

    def compiled(self, how_far: str) -> None:
        """Print a line now and then."""
        if time.monotonic() - self._told >= SECONDS:
            self._told = time.monotonic()
            print(COMPILING, how_far, flush=True)

    def close(self) -> None:
        """Nothing is left open."""


class Bar:
    """A bar with the time left and the figures that matter, redrawn at every step."""

    def __init__(self, first: int, frames: int, figures: Sequence[Figure] = ()) -> None:
        self._figures = figures
        self._progress, self._task = _rich_bar(first, frames)
        self._progress.start()

    def step(self, frame: int, stats: Mapping[str, Any]) -> None:
        """Move the bar and show the newest figures."""
        self._progress.update(self._task, completed=frame, figures=line(stats, self._figures))

    def compiled(self, how_far: str) -> None:
        """Say so in the place of the figures, until the next step; drawn now, as work goes on."""
        self._progress.update(self._task, figures=f"{COMPILING} {how_far}", refresh=True)

    def close(self) -> None:
        """Leave the last state of the bar on the terminal."""
        self._progress.stop()


def _rich_bar(first: int, frames: int) -> "tuple[RichProgress, TaskID]":
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as RichProgress

    progress = RichProgress(
        TextColumn("frame"),
        MofNCompleteColumn(),
        BarColumn(bar_width=None),
        TimeRemainingColumn(elapsed_when_finished=True),
        TextColumn("{task.fields[figures]}"),
        expand=True,
    )
    return progress, progress.add_task("frame", total=frames, completed=first, figures="")


@contextmanager
def counting(what: str, total: int, quiet: bool) -> Iterator[Callable[[], None]]:
    """Counts equal pieces of work: a bar on a terminal, else a line at most every five seconds.

    Yields what is to be called when a piece is done.
    """
    if quiet:
        yield lambda: None
    elif sys.stdout.isatty():
        progress = _counting_bar()
        with progress:
            task = progress.add_task(what, total=total)
            yield lambda: progress.advance(task)
    else:
        yield _CountedLines(what, total).done


class _CountedLines:
    """One plain line now and then, and at the end."""

    def __init__(self, what: str, total: int) -> None:
        self._what, self._total, self._count = what, total, 0
        self._begin = self._shown = time.monotonic()

    def done(self) -> None:
        self._count += 1
        now = time.monotonic()
        if now - self._shown < SECONDS and self._count < self._total:
            return
        self._shown = now
        left = clock_text((now - self._begin) / self._count * (self._total - self._count))
        print(f"{self._what} {self._count}/{self._total}  left {left}", flush=True)


def _counting_bar() -> "RichProgress":
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as RichProgress

    return RichProgress(
        TextColumn("{task.description}"),
        MofNCompleteColumn(),
        BarColumn(bar_width=None),
        TimeRemainingColumn(elapsed_when_finished=True),
        expand=True,
    )


def line(stats: Mapping[str, Any], figures: Sequence[Figure]) -> str:
    """Particle count, what the solver wants to be shown, what was lost, and step size of a step."""
    own = [
        figure.progress.format(stats[figure.key])
        for figure in figures
        if figure.progress is not None and figure.key in stats
    ]
    lost = sum(stats.get("lost_connections", {}).values())
    if lost:
        own.append(f"connections without room: {lost}")
    parts = [f"{stats['particles']} particles", *own, f"step {1000 * stats['dt']:.2f} ms"]
    return "  ".join(parts)


@contextmanager
def compiling(total: int, quiet: bool) -> Iterator[Callable[[], None]]:
    """Counts kernels: a bar on a terminal, else a line at once and at most every five seconds.

    The time that is left is not told, because kernels differ by a factor of a thousand.
    """
    if quiet:
        yield lambda: None
    elif sys.stdout.isatty():
        progress = _compiling_bar()
        with progress:
            task = progress.add_task(COMPILING, total=total)
            yield lambda: progress.advance(task)
    else:
        lines = _CompilingLines(total)
        lines.show()
        yield lines.done


class _CompilingLines:
    """One plain line now and then, and at the end."""

    def __init__(self, total: int) -> None:
        self._total, self._count, self._shown = total, 0, 0.0

    def show(self) -> None:
        self._shown = time.monotonic()
        print(f"{COMPILING} {self._count}/{self._total}", flush=True)

    def done(self) -> None:
        self._count += 1
        if time.monotonic() - self._shown >= SECONDS or self._count == self._total:
            self.show()


def _compiling_bar() -> "RichProgress":
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as RichProgress

    return RichProgress(
        TextColumn("{task.description}"),
        MofNCompleteColumn(),
        BarColumn(bar_width=None),
        TimeElapsedColumn(),
        expand=True,
        transient=True,
    )


def clock_text(seconds: float) -> str:
    """Seconds as h:mm:ss, or m:ss below an hour."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def counted(number: int, what: str, kept: int = 0) -> str:
    """Such as "3 pictures (2 were there already)"."""
    old = f" ({kept} {'was' if kept == 1 else 'were'} there already)" if kept else ""
    return f"{number} {what}{'' if number == 1 else 's'}{old}"
