"""A lock on a run folder, so that two processes never write to it at once.

The lock is the system's, on a small file in the folder. It ends with the process that holds it, in
whatever way that ends, so nothing stale can be left behind; the file itself stays.
"""

import errno
import os
from pathlib import Path
from types import TracebackType
from typing import IO

from viscoil.errors import RunError
from viscoil.outputs.files import is_partial, reporting

LOCK_NAME = ".lock"
TAKEN = (errno.EACCES, errno.EAGAIN, errno.EDEADLK)


class FolderLock:
    """Held from `take` to the end of the `with` block; taking it again changes nothing."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.path = folder / LOCK_NAME
        self._file: IO[bytes] | None = None

    @property
    def held(self) -> bool:
        """Whether the folder is ours."""
        return self._file is not None

    def take(self) -> None:
        """Makes the folder ours, or raises RunError if another process writes to it."""
        if self._file is not None:
            return
        with reporting(self.path):
            file = open(self.path, "ab")  # noqa: SIM115
        try:
            _lock(file.fileno())
        except OSError as error:
            file.close()
            if error.errno in TAKEN:
                raise RunError(
                    f"another process writes to {self.folder} (it holds {self.path}): wait for "
                    "it or stop it, or give another folder with --out"
                ) from None
            return  # a disk without locks: it cannot be told who else is there
        self._file = file

    def __enter__(self) -> "FolderLock":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None


def is_locked(folder: Path) -> bool:
    """Whether a process writes to the folder just now; it is left as it is.

    Others may ask at the same time: a lock that is shared is taken for the moment, if one can be.
    """
    try:
        file = open(folder / LOCK_NAME, "rb")  # noqa: SIM115
    except OSError:
        return False
    with file:
        try:
            _lock(file.fileno(), shared=True)
        except OSError as error:
            return error.errno in TAKEN
    return False


def _lock(handle: int, shared: bool = False) -> None:
    """Locks an open file, for this process alone or shared; OSError if another has it."""
    if os.name == "nt":
        import msvcrt

        msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined,unused-ignore]
    else:
        import fcntl

        kind = fcntl.LOCK_SH if shared else fcntl.LOCK_EX
        fcntl.flock(handle, kind | fcntl.LOCK_NB)


def has_files(folder: Path) -> bool:
    """Whether there is anything in a folder but what work leaves that was ended as it began."""
    found = folder.iterdir() if folder.is_dir() else ()
    return any(path.name != LOCK_NAME and not is_partial(path) for path in found)
