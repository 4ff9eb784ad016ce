"""Files that are either whole or not there, and sentences for when they cannot be written."""

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from viscoil.core.errors import RunError

PARTIAL = ".part"  # what an unfinished file's name ends in


@contextmanager
def write_whole(path: Path) -> Iterator[BinaryIO]:
    """A binary file that takes its name only once its content is safe on the disk.

    It is written beside, so that a crash or a full disk leaves the earlier file, if any, as it was.
    """
    with replacing(path) as part, open(part, "wb") as file:
        yield file


def check_free(path: Path, overwrite: bool) -> None:
    """Raises RunError if a file is there that a user has not said may be replaced."""
    if path.exists() and not overwrite:
        raise RunError(
            f"{path} is there already: replace it with --overwrite, or give another name with --out"
        )


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A name beside the file's own, to write to; what is there at the end takes the file's place.

    For libraries that want a name; `write_whole` is for all else.
    """
    part = partial(path)
    with reporting(path):
        try:
            part.unlink(missing_ok=True)  # left by a process that was killed
            yield part
            _sync_file(part)
            os.replace(part, path)
            _sync_folder(path.parent)
        except BaseException:
            part.unlink(missing_ok=True)
            raise


def partial(path: Path) -> Path:
    """The name under which a file is written before it is whole; its type stays recognizable."""
    return path.with_name(f".{path.stem}{PARTIAL}{path.suffix}")


def is_partial(path: Path) -> bool:
    """Whether a file was never finished, by its name."""
    return path.name.startswith(".") and PARTIAL in path.suffixes


def sync(path: Path) -> None:
    """Makes what was written to a file last, even if the machine stops."""
    with reporting(path):
        _sync_file(path)


@contextmanager
def reporting(path: Path) -> Iterator[None]:
    """Turns the system's errors about a file or folder into a sentence for the user."""
    try:
        yield
    except OSError as error:
        raise RunError(_sentence(path, error)) from error


def _sentence(path: Path, error: OSError) -> str:
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return (
            f"the disk is full, so {path} was not written: free some space, then use --resume, or "
            "--overwrite if it was no run"
        )
    if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
        return f"{path} cannot be written ({error.strerror}): choose another folder with --out"
    if error.errno in (errno.ENOTDIR, errno.EEXIST):
        return f"{path} cannot be made because a file is in the way: choose another --out"
    reason = error.strerror or str(error)
    return f"{path} cannot be read or written ({reason}): check the disk, or choose another --out"


def _sync_file(path: Path) -> None:
    with open(path, "rb+") as file:  # some systems sync only what may be written
        os.fsync(file.fileno())


def _sync_folder(folder: Path) -> None:
    """Makes a rename last; systems that cannot sync a folder are left as they are."""
    try:
        handle = os.open(folder, os.O_RDONLY)
    except OSError:
        return
    try:
        os.fsync(handle)
    except OSError:
        pass
    finally:
        os.close(handle)
