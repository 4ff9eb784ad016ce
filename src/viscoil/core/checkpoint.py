"""Checkpoints: named arrays and a little metadata in one .npz file, without pickle.

Any program that reads NumPy files can read a checkpoint; the metadata is the bytes of a JSON text
in an array called `metadata`.
"""

import json
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from viscoil.core.errors import ResumeError
from viscoil.core.files import reporting, write_whole

Array = npt.NDArray[Any]
FORMAT = "viscoil checkpoint"
VERSION = 1
METADATA = "metadata"


class DamagedCheckpoint(ResumeError):
    """A checkpoint that is not whole; the one before it may be."""


@dataclass(frozen=True)
class Checkpoint:
    """What was saved: arrays by name, and metadata of JSON types."""

    arrays: dict[str, Array]
    metadata: dict[str, Any]


def save_checkpoint(
    path: Path | str, arrays: Mapping[str, Array], metadata: Mapping[str, Any]
) -> None:
    """Writes a checkpoint; the file appears only once it is whole and on the disk."""
    if METADATA in arrays:
        raise ValueError(f"an array must not be called {METADATA!r}")
    objects = [name for name, array in arrays.items() if np.asarray(array).dtype.hasobject]
    if objects:
        raise TypeError(f"arrays of objects cannot be saved: {', '.join(objects)}")
    text = json.dumps({"format": FORMAT, "version": VERSION, "metadata": dict(metadata)})
    packed: dict[str, Any] = {**arrays, METADATA: np.frombuffer(text.encode(), dtype=np.uint8)}
    with write_whole(Path(path)) as file:
        np.savez(file, allow_pickle=False, **packed)


def load_checkpoint(path: Path | str) -> Checkpoint:
    """Reads a checkpoint back, or raises ResumeError that says what is wrong with it."""
    path = Path(path)
    with _opened(path) as file:
        arrays = {name: file[name] for name in file.files}
        return Checkpoint(arrays, _metadata(path, arrays.pop(METADATA, None)))


def read_metadata(path: Path | str, check: bool = True) -> dict[str, Any]:
    """The metadata of a checkpoint; with `check` every byte of the file is read, but not kept.

    Raises ResumeError, as `load_checkpoint` does.
    """
    path = Path(path)
    with _opened(path) as file:
        metadata = _metadata(path, file[METADATA] if METADATA in file.files else None)
        if check and file.zip.testzip() is not None:  # by the archive's checksums
            raise zipfile.BadZipFile
        return metadata


def _metadata(path: Path, packed: Array | None) -> dict[str, Any]:
    try:
        header = json.loads(b"" if packed is None else packed.tobytes())
        kind, version = header["format"], header["version"]
        metadata: dict[str, Any] = header["metadata"]
    except (KeyError, ValueError, TypeError) as error:
        raise ResumeError(f"{path} is not a checkpoint of Viscoil: remove it") from error
    if (kind, version) != (FORMAT, VERSION):
        raise ResumeError(
            f"{path} was written in another format ({kind} {version}, here {FORMAT} {VERSION}): "
            "go on with the version of Viscoil that wrote it, or start anew"
        )
    return metadata


@contextmanager
def _opened(path: Path) -> Iterator[Any]:
    """An open .npz file; the archive's checksums tell a damaged one."""
    if not path.is_file():
        raise ResumeError(f"there is no checkpoint {path}: start the run anew")
    try:
        with reporting(path), np.load(path, allow_pickle=False) as file:
            if not isinstance(file, np.lib.npyio.NpzFile):
                raise ValueError("a single array")
            yield file
    except (zipfile.BadZipFile, zlib.error, EOFError, ValueError, KeyError, RuntimeError) as error:
        raise DamagedCheckpoint(
            f"the checkpoint {path} is truncated or damaged: remove it to go on from the one "
            "before, or start anew"
        ) from error
