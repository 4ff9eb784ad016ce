"""Checkpoints: named arrays and a little metadata in one .npz file, without pickle.

Any program that reads NumPy files can read a checkpoint; the metadata is the bytes of a JSON text
in an array called `metadata`.
"""

import json
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from viscoil.errors import ResumeError
from viscoil.outputs.files import PARTIAL, reporting, write_whole
from viscoil.outputs.protocol import Array

FORMAT = "viscoil checkpoint"
VERSION = 1
METADATA = "metadata"


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
    if not path.is_file():
        raise ResumeError(f"there is no checkpoint {path}: start the run anew")
    arrays = _read(path)
    try:
        header = json.loads(arrays.pop(METADATA).tobytes())
        kind, version = header["format"], header["version"]
        metadata = header["metadata"]
    except (KeyError, ValueError, TypeError) as error:
        raise ResumeError(f"{path} is not a checkpoint of Viscoil: remove it") from error
    if (kind, version) != (FORMAT, VERSION):
        raise ResumeError(
            f"{path} was written in another format ({kind} {version}, here {FORMAT} {VERSION}): "
            "go on with the version of Viscoil that wrote it, or start anew"
        )
    return Checkpoint(arrays, metadata)


def _read(path: Path) -> dict[str, Array]:
    """All arrays of a file; the archive's checksums tell a damaged file."""
    try:
        with reporting(path), np.load(path, allow_pickle=False) as file:
            if not isinstance(file, np.lib.npyio.NpzFile):
                raise ValueError("a single array")
            return {name: file[name] for name in file.files}
    except (zipfile.BadZipFile, EOFError, ValueError, KeyError) as error:
        raise ResumeError(
            f"the checkpoint {path} is truncated or damaged: remove it to go on from the one "
            "before, or start anew"
        ) from error


class CheckpointStore:
    """The checkpoints of a run, of which only the latest few are kept."""

    def __init__(self, folder: Path | str, keep: int = 2) -> None:
        if keep < 1:
            raise ValueError("at least one checkpoint must be kept")
        self.folder = Path(folder)
        self.keep = keep

    def path(self, step: int) -> Path:
        """Where the checkpoint after a step is."""
        return self.folder / f"step_{step:09d}.npz"

    def save(self, step: int, arrays: Mapping[str, Array], metadata: Mapping[str, Any]) -> Path:
        """Saves a checkpoint, then removes those that are too old."""
        path = self.path(step)
        with reporting(self.folder):
            self.folder.mkdir(parents=True, exist_ok=True)
        save_checkpoint(path, arrays, metadata)
        for old in self.all()[: -self.keep]:
            old.unlink(missing_ok=True)
        return path

    def all(self) -> list[Path]:
        """The checkpoints that there are, oldest first."""
        return sorted(p for p in self.folder.glob("step_*.npz") if PARTIAL not in p.name)

    def latest(self) -> Path | None:
        """The newest checkpoint, if there is any."""
        found = self.all()
        return found[-1] if found else None

    def load_latest(self) -> Checkpoint:
        """Reads the newest checkpoint, or raises ResumeError."""
        path = self.latest()
        if path is None:
            raise ResumeError(f"there is no checkpoint in {self.folder}: start the run anew")
        return load_checkpoint(path)
