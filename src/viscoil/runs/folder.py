"""The folder that holds everything about a run, readable by other programs without our code.

run.json        what ran, and on what
stats.jsonl     a line per time step
frames/         particles, one .npz a frame
checkpoints/    what --resume goes on from
preview/        a picture a frame; preview.png is the latest
colliders/      distance and velocity fields of meshes, if asked for
export/         frames for other programs, a folder per format
surface/        the fluid's surface, one .ply a frame (`viscoil mesh`)
render/         beauty pictures, one .png a frame (`viscoil render`)
turntable_*/    the same of one frame, from all around
video.mp4       the film of preview/; render.mp4 that of render/, and so on
plot.png        curves (`viscoil plot`)
"""

import json
import platform
import re
import shutil
from collections.abc import Iterable, Iterator, Mapping
from importlib import metadata
from pathlib import Path
from typing import Any

from viscoil.core.errors import RunError
from viscoil.core.files import is_partial, reporting, write_whole
from viscoil.outputs import stats
from viscoil.outputs.frames import frame_name, frame_number, frame_numbers, numbered
from viscoil.runs.checkpoint_store import KEEP, CheckpointStore
from viscoil.runs.export_folder import ExportFolder

PACKAGES = ("viscoil", "quadrants", "numpy")


class RunFolder:
    """Paths in a run folder, which is made if it is not there."""

    def __init__(self, path: Path | str, keep: int = KEEP) -> None:
        self.path = Path(path)
        self.run = self.path / "run.json"
        self.stats = self.path / "stats.jsonl"
        self.frames = self.path / "frames"
        self.colliders = self.path / "colliders"
        self.pictures = self.path / "preview"
        self.exports = self.path / "export"
        self.picture = self.path / "preview.png"
        self.video = self.path / "video.mp4"
        self.surfaces = self.path / "surface"
        self.renders = self.path / "render"
        self.plot = self.path / "plot.png"
        self._made = {  # records of what commands made of frames, and how those files end
            self.surfaces / "surface.json": ".ply",
            self.renders / "render.json": ".png",
        }
        self.checkpoints = CheckpointStore(self.path / "checkpoints", keep)
        with reporting(self.path):
            self.path.mkdir(parents=True, exist_ok=True)

    def frame(self, number: int) -> Path:
        """Where the particles of a frame are."""
        return self.frames / frame_name(number, ".npz")

    def frame_picture(self, number: int) -> Path:
        """Where the picture of a frame is."""
        return self.pictures / frame_name(number, ".png")

    def has_run(self) -> bool:
        """Whether a run was started here."""
        return self.run.exists()

    def write_run(self, scene_text: str, arch: str, threads: int, **more: Any) -> None:
        """Writes run.json: the scene as canonical text, versions, backend, and what else is given.

        Nothing in it names the machine or its user, so that it can be shared.
        """
        record = {
            "scene": scene_text,
            "versions": versions(),
            "arch": arch,
            "threads": threads,
            **more,
        }
        self._write_record(record)

    def _write_record(self, record: Mapping[str, Any]) -> None:
        with write_whole(self.run) as file:
            file.write(json.dumps(record, indent=2, allow_nan=False).encode() + b"\n")

    def frame_numbers(self) -> list[int]:
        """The frames that have a particle file, ascending."""
        return frame_numbers(self.frames)

    def cut_back(self, step: int, frame: int) -> None:
        """Removes what came after a checkpoint, taken after `step` with `frame` the last frame.

        Checkpoints go first: if this is cut short, a resume comes back to the same place.
        """
        self.checkpoints.cut_back(step)
        stats.cut_back(self.stats, step)
        with reporting(self.path):
            later = [path for number, path in self._frame_files() if number > frame]
            shown = {path.parent for path in later if path.suffix == ".png"}
            for path in (*later, *(film_of(self.path, folder) for folder in shown)):
                path.unlink(missing_ok=True)
            _remove_empty(self._turntables().values())
        for export in ExportFolder.all_in(self.exports):
            export.cut_back(frame)
        self._sweep()

    def clear(self) -> None:
        """Removes an earlier run; files that are not ours stay.

        So does run.json, until that of the new run takes its place: without one, the rest would be
        taken for files of somebody else. It says first that there is nothing to go on from, in case
        that this is cut short. Checkpoints go next, so that none outlives its frames.
        """
        self._forget_state()
        self.checkpoints.cut_back(-1)
        for export in ExportFolder.all_in(self.exports):
            export.clear()
        with reporting(self.path):
            frames = [path for _, path in self._frame_files()]  # while records name those made
            for path in (*frames, *self._films(), *self._made, self.stats, self.picture, self.plot):
                path.unlink(missing_ok=True)
            made = (self.frames, self.pictures, self.surfaces, self.renders, self.exports)
            _remove_empty((*made, *self._collider_folders(), self.colliders))
            _remove_empty(self._turntables().values())
        self._sweep()

    def _forget_state(self) -> None:
        """Lets a resume start from the beginning, if run.json can be read."""
        try:
            record = read_record(self.path)
        except RunError:
            return
        self._write_record({**record, "state": "running", "saved": False})

    def free_bytes(self) -> int:
        """Room that is left on the folder's disk."""
        with reporting(self.path):
            return shutil.disk_usage(self.path).free

    def _frame_files(self) -> Iterator[tuple[int, Path]]:
        """Frames and what there is of each."""
        fields = ((folder, ".vdb") for folder in self._collider_folders())
        own = ((self.frames, ".npz"), (self.pictures, ".png"))
        for folder, suffix in (*own, *fields):
            paths = sorted(folder.glob(f"frame_*{suffix}"))
            yield from ((n, path) for path in paths if (n := frame_number(path)) is not None)
        for record, suffix in self._made.items():
            yield from _recorded(record, suffix).items()
        for frame, folder in self._turntables().items():
            record = folder / "render.json"
            yield from ((frame, path) for path in _recorded(record, ".png").values())
            if record.is_file():
                yield frame, record

    def _turntables(self) -> dict[int, Path]:
        """Folders with pictures from all around, by the frame that they show."""
        paths = sorted(self.path.glob("turntable_*"))
        numbers = ((numbered(path, "turntable_*"), path) for path in paths if path.is_dir())
        return {number: path for number, path in numbers if number is not None}

    def _films(self) -> Iterator[Path]:
        """Films of pictures in this folder, under the names that they have by themselves."""
        yield from (self.video, film_of(self.path, self.renders))
        pattern = "turntable_*.mp4"
        yield from (p for p in sorted(self.path.glob(pattern)) if numbered(p, pattern) is not None)

    def _sweep(self) -> None:
        """Removes files that a process that was killed had begun."""
        own = (self.path, self.frames, self.pictures, self.checkpoints.folder)
        folders = (*own, self.surfaces, self.renders, *self._turntables().values())
        exports = (export.path for export in ExportFolder.all_in(self.exports))
        with reporting(self.path):
            for folder in (*folders, *self._collider_folders(), *exports):
                for path in folder.glob(".*"):
                    if is_partial(path):
                        path.unlink(missing_ok=True)

    def _collider_folders(self) -> list[Path]:
        return sorted(self.colliders.glob("collider_*"))


def read_record(folder: Path) -> dict[str, Any]:
    """What run.json of a folder says, the text of the scene among it.

    Raises RunError, in one sentence, if there is no run or none that can be read.
    """
    path = folder / "run.json"
    if not folder.exists():
        raise RunError(f"there is no folder {folder}: give that of a run, such as runs/honey")
    if not path.is_file():
        raise RunError(f"{folder} holds no run: give the folder that `viscoil run` wrote")
    try:
        with reporting(path):
            record = json.loads(path.read_bytes())
    except ValueError:
        record = None
    if not isinstance(record, dict) or not isinstance(record.get("scene"), str):
        raise damaged_record(path)
    return record


def damaged_record(path: Path) -> RunError:
    """What to say of a run.json that makes no sense."""
    return RunError(f"{path} is damaged: run the scene again with --overwrite or another --out")


def film_of(run: Path, pictures: Path) -> Path:
    """Where the film of a folder of pictures is, unless a user names another place."""
    if pictures.resolve() == (run / "preview").resolve():
        return run / "video.mp4"
    return run / f"{pictures.resolve().name}.mp4"


def _recorded(record: Path, suffix: str) -> dict[int, Path]:
    """Files made of frames that are there and that a record names; none if it cannot be read."""
    try:
        names = list(json.loads(record.read_bytes())["frames"])
    except (OSError, ValueError, KeyError, TypeError):
        return {}
    numbers = sorted(int(n) for n in names if isinstance(n, str) and re.fullmatch("[0-9]{1,9}", n))
    paths = {number: record.parent / frame_name(number, suffix) for number in numbers}
    return {number: path for number, path in paths.items() if path.is_file()}


def _remove_empty(folders: Iterable[Path]) -> None:
    for folder in folders:
        if folder.is_dir() and not any(folder.iterdir()):
            folder.rmdir()


def versions() -> dict[str, str]:
    """Versions of what decides the numbers, without anything about the machine."""
    found = {"python": platform.python_version()}
    for name in PACKAGES:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            found[name] = "unknown"
    return found
