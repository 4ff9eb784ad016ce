"""Meshes that move: a file for every frame, the same faces in all of them."""

import glob
import math
import re
from collections import OrderedDict
from collections.abc import Sequence
from os import PathLike
from pathlib import Path

import numpy as np

from viscoil.core.errors import MeshError
from viscoil.geometry.meshes.mesh import Attributes, Floats, Indices
from viscoil.geometry.meshes.reading import SUFFIXES, printable, read_mesh

_KEPT_FRAMES = 4
_DIGITS = re.compile(r"(\d+)")


class MeshSequence:
    """Frames are read when asked for, and the last few are kept.

    Raises MeshError with the name of the file for a frame that cannot be read, or whose faces or
    number of vertices differ from those of the first.
    """

    def __init__(self, files: Sequence[Path]) -> None:
        if not files:
            raise MeshError("a mesh sequence needs at least one file")
        self.files = tuple(files)
        first = read_mesh(self.files[0])
        self.faces: Indices = first.faces
        """Indices of the corners, shape (m, 3), the same in all frames."""
        self.attributes: Attributes = first.attributes
        """What the vertices of the first frame carry."""
        self._kept: OrderedDict[int, Floats] = OrderedDict({0: first.vertices})

    def __len__(self) -> int:
        return len(self.files)

    def frame(self, k: int) -> Floats:
        """Vertices [m] of frame k, shape (n, 3); counted from 0."""
        if not 0 <= k < len(self.files):
            raise MeshError(f"a mesh sequence of {len(self.files)} files has no frame {k}")
        if k not in self._kept:
            self._kept[k] = self._read(k)
            if len(self._kept) > _KEPT_FRAMES:
                self._kept.popitem(last=False)
        self._kept.move_to_end(k)
        return self._kept[k]

    def check(self) -> None:
        """Read all frames once, so that a bad one is found before a long run."""
        for k in range(len(self)):
            self.frame(k)

    def at(self, time: float, fps: float, loop: bool = False) -> tuple[Floats, Floats]:
        """Vertices [m] and their velocities [m/s] at a time [s], each of shape (n, 3).

        Positions are linear between frames, and velocities are their derivative to the right: the
        difference of the frames around. Before the first and from the last frame on the mesh
        rests. With `loop` the last frame is followed by the first, so the period is len / fps.
        """
        now = time * fps  # in frames
        if not (math.isfinite(now) and fps > 0):
            raise MeshError(f"a mesh sequence has no time {time} s at {fps} frames per second")
        count = len(self)
        place = now % count if loop else min(max(now, 0.0), count - 1.0)
        k = min(int(place), count - 1)
        start, share = self.frame(k), min(place - k, 1.0)
        resting = not loop and not 0 <= now < count - 1
        if resting or count == 1:
            return start, np.zeros_like(start)
        change = self.frame((k + 1) % count) - start
        return start + share * change, fps * change

    def _read(self, k: int) -> Floats:
        mesh = read_mesh(self.files[k])
        count = len(self._kept[next(iter(self._kept))])
        if len(mesh.vertices) != count or not np.array_equal(mesh.faces, self.faces):
            raise MeshError(
                printable(
                    f"mesh {self.files[k]}: has {len(mesh.vertices)} vertices and "
                    f"{len(mesh.faces)} faces that are not those of {self.files[0].name} with "
                    f"{count} and {len(self.faces)}: all frames of a sequence need the same faces"
                )
            )
        return mesh.vertices


def read_sequence(folder_or_pattern: str | PathLike[str]) -> MeshSequence:
    """All meshes of a folder, or those that a pattern such as "shots/drop_*.obj" matches.

    They are in natural order: frame_2 comes before frame_10.
    """
    given = Path(folder_or_pattern)
    if given.is_dir():
        files = _meshes_in(given)
        kinds = sorted({file.suffix for file in files})
        if len(kinds) > 1:
            raise MeshError(
                f"mesh sequence {given}: has {' and '.join(kinds)} files: "
                f'choose with a pattern such as "{given / ("*" + kinds[0])}"'
            )
    else:
        files = [Path(name) for name in glob.glob(str(given)) if Path(name).is_file()]
    if not files:
        raise MeshError(
            printable(f"mesh sequence {given}: there is no mesh file: check the folder or pattern")
        )
    return MeshSequence(sorted(files, key=natural_order))


def _meshes_in(folder: Path) -> list[Path]:
    try:
        return [f for f in folder.iterdir() if f.suffix.lower() in SUFFIXES and f.is_file()]
    except OSError as error:
        raise MeshError(
            printable(
                f"mesh sequence {folder}: cannot be read ({error.strerror}): check the folder"
            )
        ) from None


def natural_order(file: Path) -> tuple[list[tuple[int, str]], str]:
    """What files are sorted by: runs of digits compare as numbers, everything else as text."""
    parts = _DIGITS.split(file.name)
    return [(int(p), "") if p.isdecimal() else (-1, p) for p in parts], str(file)
