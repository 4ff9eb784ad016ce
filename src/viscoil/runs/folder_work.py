"""Work that fills a folder with files: alone in it, tidy afterwards, and stopped with a sentence."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from viscoil.core.errors import Stopped
from viscoil.core.files import is_partial, reporting
from viscoil.runs.lock import FolderLock


@contextmanager
def alone_in(folder: Path) -> Iterator[None]:
    """Makes a folder ours while files are written to it; it is made if it is not there.

    Neither the lock nor unfinished files are left behind. Raises RunError if another process writes
    to it.
    """
    with reporting(folder):
        folder.mkdir(parents=True, exist_ok=True)
    with FolderLock(folder, lasting=False) as lock:
        lock.take()
        _sweep(folder)
        try:
            yield
        finally:
            _sweep(folder)


def _sweep(folder: Path) -> None:
    """Removes files that a process that was ended had begun."""
    with reporting(folder):
        for path in folder.glob(".*"):
            if is_partial(path):
                path.unlink(missing_ok=True)


@contextmanager
def stoppable(sentence: str) -> Iterator[None]:
    """Ctrl-C ends the work with a sentence, which says what is there and how it goes on."""
    try:
        yield
    except KeyboardInterrupt:
        raise Stopped(f"stopped: {sentence}", code=130) from None


def goes_on(what: str, overwrite: bool) -> str:
    """The sentence for work that keeps what is there, such as "pictures"."""
    command = "the same command without --overwrite" if overwrite else "the same command"
    return f"the {what} that are there are whole, and {command} makes the rest"
