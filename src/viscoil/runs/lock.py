"""A lock on a run folder, so that two processes never write to it at once.

The lock is the system's, on a small file in the folder. It ends with the process that holds it, in
whatever way that ends, so a file that is left behind locks nothing.
"""

import errno
import os
from pathlib import Path
from types import TracebackType
from typing import IO

from viscoil.core.errors import RunError
from viscoil.core.files import is_partial, reporting

LOCK_NAME = ".lock"
TAKEN = (errno.EACCES, errno.EAGAIN, errno.EDEADLK)


class FolderLock:
    """Held from `take` to the end of the `with` block; taking it again changes nothing.

    The file itself stays, or goes with the lock if it is not `lasting`.
    """

    def __init__(self, folder: Path, lasting: bool = True) -> None:
        self.folder = folder
        self.path = folder / LOCK_NAME
        self._lasting = lasting
        self._file: IO[bytes] | None = None

    @property
    def held(self) -> bool:
        """Whether the folder is ours."""
        return self._file is not None

    def take(self) -> None:
        """Makes the folder ours, or raises RunError if another process writes to it."""
        while self._file is None:
            file = self._locked()
            if file is None:
                return
            if _is_at(file.fileno(), self.path):
                self._file = file
            else:  # removed by its last holder after we opened it: the next process would lock another
                file.close()

    def _locked(self) -> IO[bytes] | None:
        """The file, locked; None on a disk without locks, where it cannot be told who else is there."""
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
            self._tidy()
            return None
        return file

    def _tidy(self) -> None:
        if not self._lasting and os.name != "nt":  # there an open file cannot be removed
            self.path.unlink(missing_ok=True)

    def __enter__(self) -> "FolderLock":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._file is not None:
            self._tidy()  # while it is ours: afterwards it may be another's
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


def _is_at(handle: int, path: Path) -> bool:
    """Whether an open file is the one that has this name now."""
    try:
        return os.path.samestat(os.fstat(handle), path.stat())
    except FileNotFoundError:
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
