"""A run folder, read: its scene, its frames, and where its colliders stood.

What makes pictures, surfaces or files for other programs starts from here; none of it needs the
solver, or the compute backend.
"""

import zipfile
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from viscoil.colliders.primitives import pose
from viscoil.core.errors import RunError, SceneError
from viscoil.core.files import reporting
from viscoil.core.names import nearest
from viscoil.outputs.frames import OF_THE_FRAME, damaged_frame, frame_name, frame_numbers
from viscoil.runs.folder import read_record
from viscoil.runs.statistics import Statistics, read_statistics
from viscoil.scene import Scene
from viscoil.snapshots.snapshot import Array, ColliderPose, MaterialLook, Snapshot


class Run:
    """What `viscoil run` left in a folder; it may still be running.

    Raises RunError, in one sentence, for a folder without a run or with a damaged run.json.
    """

    def __init__(self, path: Path | str) -> None:
        self.path = Path(path)
        self.record: Mapping[str, Any] = read_record(self.path)
        """What run.json says: versions, backend, state."""
        self.scene: Scene = _read_scene(self.path, self.record)
        """The scene that ran, complete."""

    @property
    def name(self) -> str:
        """Of the scene."""
        return self.scene.name

    @property
    def fps(self) -> float:
        """Frames per second."""
        return self.scene.simulation.fps

    @property
    def state(self) -> str:
        """How the run stands: running, finished, stopped, diverged or failed."""
        return str(self.record.get("state", "unknown"))

    def statistics(self, keys: Iterable[str] | None = None) -> Statistics:
        """The figures of every step as arrays by key, such as "time" or "kinetic_energy".

        `keys` are those that are wanted, if not all. A run that goes on may be read again.
        """
        return read_statistics(self.path / "stats.jsonl", keys)

    def __repr__(self) -> str:
        frames = f"{len(self.frames)} frame{'' if len(self.frames) == 1 else 's'}"
        return f"<Run {str(self.path)!r} of {self.name!r}: {self.state}, {frames}>"

    @cached_property
    def frames(self) -> tuple[int, ...]:
        """The frames that have a particle file, ascending."""
        return tuple(frame_numbers(self.path / "frames"))

    @property
    def missing(self) -> tuple[int, ...]:
        """Frames between the first and the last that have no particle file."""
        here = self.frames
        return tuple(sorted({*range(here[0], here[-1])}.difference(here))) if here else ()

    def absent(self, text: str | None = None) -> tuple[int, ...]:
        """Frames that `select` leaves out of what a user asks for, because they are missing."""
        if text is None or not self.frames:
            return self.missing
        every = range(self.frames[0], self.frames[-1] + 1)
        wanted = {n for part in text.split(",") for n in _selected(part, text, every)}
        return tuple(sorted(wanted.difference(self.frames)))

    def select(self, text: str | None = None) -> list[int]:
        """The frames that a user asks for: all, or as in "12", "10:50", "::5", "0,10,20", "-1".

        Numbers are frame numbers, ends are included, and negative ones count from the last frame.
        Raises RunError if there is none, or one that was named is missing.
        """
        if not self.frames:
            raise RunError(
                f"{self.path} has no particle files: run the scene with [[outputs]] of type "
                '"frames", which is the default'
            )
        if text is None:
            return list(self.frames)
        parts = (_selected(part, text, self.frames) for part in text.split(","))
        chosen = sorted({n for part in parts for n in part})
        if not chosen:
            raise RunError(
                f"no frame of {self.path} is in {text!r}: it has {self.frames[0]} to "
                f"{self.frames[-1]}"
            )
        return chosen

    def frame_path(self, frame: int) -> Path:
        """Where the particles of a frame are."""
        return self.path / "frames" / frame_name(frame, ".npz")

    @cached_property
    def channels(self) -> tuple[str, ...]:
        """What is known of the particles, from the first frame."""
        if not self.frames:
            return ()
        with _opened(self.frame_path(self.frames[0])) as file:
            return tuple(name for name in file.files if name not in OF_THE_FRAME)

    def check_channels(self, names: Iterable[str]) -> None:
        """Raises RunError for a channel that the frames do not have."""
        for name in names:
            if name not in self.channels:
                known = ", ".join(self.channels)
                guess = nearest(name, self.channels)
                hint = f"did you mean {guess!r}? It has" if guess else "it has"
                raise RunError(
                    f"the frames of {self.path} have no channel {name!r}: {hint} {known}; others "
                    'are written if [[outputs]] of type "frames" names them in channels'
                )

    def snapshot(self, frame: int, channels: Sequence[str] | None = None) -> Snapshot:
        """A frame as outputs see it, with all channels or only those named.

        Colliders come without their distance fields. Raises RunError for a damaged file.
        """
        path = self.frame_path(frame)
        with _opened(path) as file:
            known = [name for name in file.files if name not in OF_THE_FRAME]
            wanted = known if channels is None else [name for name in known if name in channels]
            try:
                arrays = {name: file[name] for name in wanted}
                rest = {name: file[name] for name in OF_THE_FRAME if name in file.files}
            except (zipfile.BadZipFile, EOFError, ValueError, KeyError, OSError) as error:
                raise damaged_frame(path) from error
        if len({len(array) if array.ndim else -1 for array in arrays.values()}) > 1:
            raise damaged_frame(path)  # a channel has more particles than another
        time = float(rest["time"]) if "time" in rest else frame / self.fps
        return Snapshot(
            frame=frame,
            time=time,
            channels=arrays,
            materials=self.looks,
            colliders=self._colliders(time, rest.get("collider_pose")),
            spacing=float(rest.get("spacing", self.scene.simulation.spacing)),
            source=path,
        )

    @cached_property
    def looks(self) -> list[MaterialLook]:
        """How the materials are drawn, in the order that the channel `material` numbers them."""
        materials = self.scene.materials.items()
        return [MaterialLook(name, m.color, m.transmission) for name, m in materials]

    def _colliders(self, time: float, poses: Array | None) -> list[ColliderPose]:
        specs = self.scene.colliders
        if poses is None or poses.shape != (len(specs), 8):  # of an earlier version: by keyframes
            return [ColliderPose(spec, *pose(spec, time)) for spec in specs]
        return [
            ColliderPose(spec, row[:3], row[3:7], float(row[7]))
            for spec, row in zip(specs, poses, strict=True)
        ]


def _read_scene(folder: Path, record: Mapping[str, Any]) -> Scene:
    file = str(folder / "run.json")
    try:
        return Scene.from_toml(record["scene"], file)
    except SceneError as error:
        versions = record.get("versions")
        version = versions.get("viscoil", "unknown") if isinstance(versions, dict) else "unknown"
        raise RunError(
            f"the scene in {file} cannot be read by this version of Viscoil ({error.problems[0]}): "
            f"use version {version}, which wrote it"
        ) from error


def _opened(path: Path) -> Any:
    """An open .npz file; RunError if there is none or it is no such file."""
    if not path.exists():
        raise RunError(f"the frame {path} is missing: resume the run, or choose other frames")
    try:
        with reporting(path):
            file = np.load(path, allow_pickle=False)
    except (zipfile.BadZipFile, EOFError, ValueError) as error:
        raise damaged_frame(path) from error
    if not isinstance(file, np.lib.npyio.NpzFile):
        raise damaged_frame(path)
    return file


def _selected(part: str, text: str, frames: Sequence[int]) -> list[int]:
    """The frames in "12", "10:50" or "10:50:5"."""
    pieces = part.strip().split(":")
    try:
        numbers = [int(p) if p.strip() else None for p in pieces]
        if len(numbers) > 3 or (len(numbers) == 1 and numbers[0] is None):
            raise ValueError
        first, last = (_counted(n, frames) for n in (*numbers, None)[:2])
        stride = numbers[2] if len(numbers) == 3 and numbers[2] is not None else 1
        if stride < 1:
            raise ValueError
    except ValueError:
        raise RunError(
            f"{text!r} does not name frames: write it as 12, 10:50, 10:50:5 or 0,10,20"
        ) from None
    if len(numbers) == 1 and first is not None:
        if first not in frames:
            raise RunError(f"there is no frame {first}: there are {frames[0]} to {frames[-1]}")
        return [first]
    first = frames[0] if first is None else first
    last = frames[-1] if last is None else last
    return [n for n in frames if first <= n <= last and (n - first) % stride == 0]


def _counted(number: int | None, frames: Sequence[int]) -> int | None:
    """Negative numbers count from the last frame, which is -1."""
    return frames[-1] + 1 + number if number is not None and number < 0 else number
