"""Bytes from and to the disk, with the system's errors as sentences."""

import os
import stat
from pathlib import Path

from viscoil.core.errors import MeshError
from viscoil.geometry.meshes.limits import MAX_FILE_BYTES


def read_bytes(path: Path) -> bytes:
    """The whole file; folders, pipes and devices, which may never end, are refused."""
    try:
        with open(path, "rb", opener=_open_at_once) as file:
            info = os.fstat(file.fileno())
            if not stat.S_ISREG(info.st_mode):
                raise MeshError(f"cannot be read because {path.name} is no file: name a mesh file")
            if info.st_size > MAX_FILE_BYTES:
                raise MeshError(
                    f"cannot be read because {path.name} is {info.st_size >> 20} MiB, and at most "
                    f"{MAX_FILE_BYTES >> 20} MiB are read: reduce the mesh or use a binary format"
                )
            return file.read(MAX_FILE_BYTES)
    except OSError as error:
        reason = error.strerror or str(error)
        raise MeshError(f"cannot be read because of {path.name} ({reason}): check it") from None
    except ValueError:
        raise MeshError(
            "cannot be read because of a name that no file can have: rename it"
        ) from None


def _open_at_once(name: str, flags: int) -> int:
    """A pipe that nobody writes to would otherwise wait for ever."""
    return os.open(name, flags | getattr(os, "O_NONBLOCK", 0))


def write_bytes(path: Path, data: bytes) -> None:
    """Writes beside and renames, so that a file is whole or not there."""
    part = path.with_name(f".{path.name}.part")
    try:
        try:
            part.write_bytes(data)
            os.replace(part, path)
        finally:
            part.unlink(missing_ok=True)
    except OSError as error:
        raise MeshError(
            f"cannot be written ({error.strerror}): check the folder and the disk"
        ) from None
