"""Distance fields kept on disk, found by a hash of everything that they depend on."""

import hashlib
import os
import zipfile
from contextlib import suppress
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from viscoil.core.errors import RunError
from viscoil.core.files import write_whole
from viscoil.geometry.bricks.brick_field import BrickField, Float
from viscoil.geometry.bricks.build import Request, build

VERSION = b"3"  # of what `build` makes: change it with the algorithm
MOST_BYTES = 2 * 2**30  # that the folder may hold; the oldest fields go first
ARRAYS = ("origin", "top", "table", "places", "distance", "primitive")


def folder() -> Path:
    """Where fields are kept: $VISCOIL_CACHE, or a folder among the user's caches."""
    if chosen := os.environ.get("VISCOIL_CACHE"):
        return Path(chosen)
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(home) / "viscoil" / "distance"


def cached(vertices: Float, faces: NDArray[np.integer], request: Request) -> BrickField:
    """The distance field of a mesh, from the disk if it was built before."""
    path = folder() / f"{_key(vertices, faces, request)}.npz"
    found = _load(path)
    if found is None:
        found = build(vertices, faces, request)
        _save(path, found)
    return found


def _key(vertices: Float, faces: NDArray[np.integer], request: Request) -> str:
    digest = hashlib.blake2b(VERSION, digest_size=16)
    for part in (np.float64(vertices), np.int32(faces)):
        digest.update(repr(part.shape).encode() + np.ascontiguousarray(part).tobytes())
    digest.update(repr(request).encode())
    return digest.hexdigest()


def _load(path: Path) -> BrickField | None:
    """The field in a file; None if the file is missing or damaged, since it can be built again."""
    try:
        with np.load(path, allow_pickle=False) as file:
            numbers = file["numbers"]
            field = BrickField(
                cell=float(numbers[0]),
                band=float(numbers[1]),
                beyond=int(numbers[2]),
                **{name: file[name] for name in ARRAYS},
            )
        os.utime(path)  # marks it as used, so that it is not among the oldest
    except (OSError, ValueError, KeyError, IndexError, EOFError, zipfile.BadZipFile):
        return None
    return field


def _save(path: Path, field: BrickField) -> None:
    """A cache that cannot be written is no reason to stop."""
    numbers = np.array([field.cell, field.band, field.beyond])
    with suppress(RunError, OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        with write_whole(path) as file:
            arrays = {name: getattr(field, name) for name in ARRAYS}
            np.savez(file, allow_pickle=False, numbers=numbers, **arrays)
        _prune(path.parent)


def _prune(place: Path) -> None:
    files = sorted(place.glob("*.npz"), key=lambda p: p.stat().st_mtime, reverse=True)
    used = np.cumsum([p.stat().st_size for p in files])
    for path in (p for p, total in zip(files, used, strict=True) if total > MOST_BYTES):
        path.unlink(missing_ok=True)
