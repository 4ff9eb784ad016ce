"""Particle files: one uncompressed .npz a frame, an array per channel."""

import re
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from viscoil.core.errors import RunError
from viscoil.core.files import reporting, write_whole
from viscoil.snapshots.snapshot import Array, Snapshot

DEFAULT_CHANNELS = ("position", "velocity", "id", "material")
OF_THE_FRAME = ("time", "frame", "spacing", "collider_pose")  # arrays that are no channels


def frame_name(frame: int, suffix: str) -> str:
    """The file name of a frame, such as frame_000123.npz."""
    return f"frame_{frame:06d}{suffix}"


def frame_number(path: Path) -> int | None:
    """The frame that a file is of; None if its name is none of ours."""
    return numbered(path, f"frame_*{path.suffix}")


def numbered(path: Path, pattern: str) -> int | None:
    """The frame that a file is of, if its name is the pattern with the frame's number for the *.

    Numbers are written as we write them, so frame_7.npz and frame_0000007.npz are somebody else's.
    """
    before, _, after = pattern.partition("*")
    digits = path.name.removeprefix(before).removesuffix(after)
    if not re.fullmatch("[0-9]{6,18}", digits):
        return None
    return int(digits) if path.name == f"{before}{int(digits):06d}{after}" else None


def frame_numbers(folder: Path) -> list[int]:
    """The frames that have a particle file in a folder, ascending."""
    numbers = map(frame_number, folder.glob("frame_*.npz"))
    return sorted(number for number in numbers if number is not None)


def is_whole(path: Path) -> bool:
    """Whether a particle file is there and not cut off.

    An archive has its directory at its end, so a look there is enough, however large it is.
    """
    return zipfile.is_zipfile(path)


def broken_frames(folder: Path, last: int) -> list[int]:
    """Frames from 0 to `last` that have no particle file, or one that is cut off."""
    paths = ((number, folder / frame_name(number, ".npz")) for number in range(last + 1))
    return [number for number, path in paths if not is_whole(path)]


def particle_count(path: Path) -> int:
    """Number of particles in a particle file, from the heads of its arrays alone.

    Raises RunError if the file is damaged.
    """
    try:
        with reporting(path), zipfile.ZipFile(path) as archive:
            for name in archive.namelist():
                if name.removesuffix(".npy") not in OF_THE_FRAME:
                    with archive.open(name) as file:
                        version = np.lib.format.read_magic(file)
                        read = getattr(np.lib.format, f"read_array_header_{version[0]}_0")
                        return int(read(file)[0][0])
    except (zipfile.BadZipFile, EOFError, ValueError, AttributeError, IndexError) as error:
        raise damaged_frame(path) from error
    return 0


class FramesOutput:
    """Writes the chosen channels of each frame, and its time (s), frame number and spacing (m).

    `collider_pose` has a row per collider: position (m), quaternion (x, y, z, w), size.
    """

    def __init__(self, folder: Path | str, channels: Sequence[str] = DEFAULT_CHANNELS) -> None:
        self.folder = Path(folder)
        self.channels = tuple(channels)
        with reporting(self.folder):
            self.folder.mkdir(parents=True, exist_ok=True)

    def frame(self, snapshot: Snapshot) -> None:
        missing = [name for name in self.channels if name not in snapshot.channels]
        if missing:
            known = ", ".join(sorted(snapshot.channels))
            raise RunError(f"the solver has no channel {missing[0]!r}: choose among {known}")
        # without the sizes of particles that differ, `spacing` would mislead
        names = [*self.channels, *({"size"} & snapshot.channels.keys() - set(self.channels))]
        arrays = {name: np.asarray(snapshot.channels[name]) for name in names}
        with write_whole(self.folder / frame_name(snapshot.frame, ".npz")) as file:
            np.savez(
                file,
                allow_pickle=False,
                **arrays,
                time=np.float64(snapshot.time),
                frame=np.int64(snapshot.frame),
                spacing=np.float64(snapshot.spacing),
                collider_pose=_poses(snapshot),
            )

    def step(self, stats: Mapping[str, object]) -> None:
        """Frames are all that is written."""

    def close(self) -> None:
        """Every frame is on the disk already."""


def _poses(snapshot: Snapshot) -> Array:
    rows = [[*c.position, *c.orientation, c.scale] for c in snapshot.colliders]
    return np.array(rows, dtype=np.float64).reshape(-1, 8)


def read_frame(path: Path | str) -> dict[str, Array]:
    """The arrays of a particle file, or RunError if it is not whole."""
    path = Path(path)
    try:
        with reporting(path), np.load(path, allow_pickle=False) as file:
            return {name: file[name] for name in file.files}
    except (zipfile.BadZipFile, EOFError, ValueError, AttributeError) as error:
        raise damaged_frame(path) from error


def damaged_frame(path: Path) -> RunError:
    """What to say of a particle file that cannot be read."""
    return RunError(
        f"the frame {path} is truncated or damaged: remove it and resume the run, or choose other "
        "frames"
    )
