"""Reads particles from a file: finds its format, and checks what holds for every format."""

from collections.abc import Callable
from dataclasses import dataclass
from os import PathLike
from pathlib import Path

import numpy as np
import numpy.typing as npt

from viscoil.core.errors import MeshError, ParticleFileError
from viscoil.geometry.meshes.reading import printable
from viscoil.geometry.particle_files.bgeo_reader import is_bgeo, read_bgeo
from viscoil.geometry.particle_files.limits import MAX_BYTES, check_count
from viscoil.geometry.particle_files.npz_reader import is_npz, read_npz
from viscoil.geometry.particle_files.ply_reader import is_ply, read_ply_points
from viscoil.geometry.particle_files.vtp_reader import is_vtp, read_vtp

SUFFIXES = (".bgeo", ".bhclassic", ".ply", ".vtp", ".npz")
_MOST_COORDINATE = 1e6  # m; beyond, single precision does not resolve a particle

Floats = npt.NDArray[np.float64]
Reader = Callable[[bytes], tuple[Floats, Floats | None]]

_READERS: tuple[tuple[Callable[[bytes], bool], Reader], ...] = (
    (is_bgeo, read_bgeo),
    (is_ply, read_ply_points),
    (is_npz, read_npz),
    (is_vtp, read_vtp),
)


@dataclass(frozen=True)
class ParticleFile:
    """What a file says of its particles, in its own units."""

    position: Floats
    """(n, 3)"""
    velocity: Floats | None
    """(n, 3), if the file has them."""


def read_particles(path: str | PathLike[str]) -> ParticleFile:
    """The particles in a file: classic bgeo, PLY, VTP, or an .npz such as a frame of ours.

    The content tells the format. Raises ParticleFileError, one sentence with the name of the file,
    for everything that cannot be read, and for particles that are nowhere or twice at one place.
    """
    file = Path(path)
    try:
        with np.errstate(all="ignore"):
            position, velocity = _read(file)
            _check_finite(position, "is at")
            if velocity is not None:
                _check_finite(velocity, "moves at")
            _check_twins(position)
    except (ParticleFileError, MeshError) as error:
        raise ParticleFileError(printable(f"particle file {file}: {error}")) from None
    except MemoryError:
        text = f"particle file {file}: does not fit into memory: thin it out or free some"
        raise ParticleFileError(printable(text)) from None
    return ParticleFile(position, velocity)


def _read(file: Path) -> tuple[Floats, Floats | None]:
    data = _bytes(file)
    reader = next((read for known, read in _READERS if known(data)), None)
    if reader is None:
        raise ParticleFileError(f"is in no format that is known: use one of {', '.join(SUFFIXES)}")
    position, velocity = reader(data)
    check_count(len(position))
    if velocity is not None and velocity.shape != position.shape:
        raise ParticleFileError(
            "has other numbers of velocities than of particles: export it again"
        )
    return position, velocity


def _bytes(file: Path) -> bytes:
    try:
        if not file.is_file():
            raise ParticleFileError("is not there, or is no file: check the path")
        if (size := file.stat().st_size) > MAX_BYTES:
            raise ParticleFileError(
                f"is {size >> 20} MiB, and at most {MAX_BYTES >> 20} MiB are read: thin it out"
            )
        return file.read_bytes()
    except OSError as error:
        raise ParticleFileError(f"cannot be read ({error.strerror}): check it") from None


def _check_finite(values: Floats, verb: str) -> None:
    """Refuse what is no number or too far away to be resolved."""
    bad = np.flatnonzero(~(np.abs(values) <= _MOST_COORDINATE).all(axis=1))
    if len(bad):
        where = ", ".join(f"{x:g}" for x in values[bad[0]])
        more = f", and {len(bad) - 1} others like it" if len(bad) > 1 else ""
        raise ParticleFileError(
            f"particle {bad[0]} {verb} ({where}){more}: remove it and export again"
        )


def _check_twins(position: Floats) -> None:
    """Refuse particles that are exactly where another one is."""
    order = np.lexsort(position.T)
    same = np.flatnonzero((np.diff(position[order], axis=0) == 0.0).all(axis=1))
    if len(same):
        i, j = sorted(order[same[0] : same[0] + 2].tolist())
        more = f", and {len(same) - 1} other pairs" if len(same) > 1 else ""
        raise ParticleFileError(
            f"particles {i} and {j} are at the same place{more}: remove duplicates and export again"
        )
