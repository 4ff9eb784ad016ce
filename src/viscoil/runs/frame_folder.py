"""A folder with a file for each frame, made from a run, that can be continued.

Beside the files lies a record (JSON) of the settings that they were made with and what is known of
each frame, so that files of different kinds are never mixed unnoticed.
"""

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from viscoil.core.errors import RunError
from viscoil.core.files import reporting, write_whole
from viscoil.outputs.frames import frame_name
from viscoil.runs.lock import has_files


@dataclass(frozen=True)
class FrameFolder:
    """Where the files are, how they end, and what the record and the files are called."""

    path: Path
    suffix: str
    """Of a frame's file, with its dot."""
    what: str
    """The files in the plural, such as "pictures"."""
    record_name: str
    """Such as render.json."""
    is_whole: Callable[[Path], bool]
    """Whether a file can be read and is not cut off, by a quick look."""
    ties: tuple[Path, ...] = ()
    """What is made of all files, such as a film, and goes when some of them are replaced."""

    def frame_path(self, frame: int) -> Path:
        """The file of a frame."""
        return self.path / frame_name(frame, self.suffix)

    def is_current(self, frame: int, *sources: Path) -> bool:
        """Whether the file of a frame is there, whole, and not older than what it is made from."""
        here = self.frame_path(frame)
        with reporting(here):
            if not here.exists() or not self.is_whole(here):
                return False
            changed = here.stat().st_mtime_ns
            return all(changed >= source.stat().st_mtime_ns for source in sources)

    def begin(
        self, settings: Mapping[str, Any], frames: Iterable[int], overwrite: bool
    ) -> dict[str, Any]:
        """What the record says of frames, by number, with which work on these frames begins.

        With `overwrite` that is nothing of `frames`, and if the settings are others nothing at all:
        then all files of the earlier settings go. What ties files together goes in either case.
        Raises RunError for other settings without it.
        """
        if has_files(self.path) and not (self.path / self.record_name).is_file():
            raise RunError(
                f"{self.path} has files that are no {self.what} of ours: give an empty or new "
                "folder with --out"
            )
        known = self.known()
        if known and self.record().get("settings") != json.loads(json.dumps(settings)):
            if not overwrite:
                raise RunError(
                    f"{self.path} holds {self.what} that were made with other settings: replace "
                    "them with --overwrite, or choose another folder with --out"
                )
            _remove(self.frame_path(int(number)) for number in known)
            known = {}
        if overwrite:
            _remove(self.ties)
            for frame in frames:
                known.pop(str(frame), None)
        self.write_record(settings, known)
        return known

    def known(self) -> dict[str, Any]:
        """What the record says of frames, by number."""
        frames = self.record().get("frames")
        if not isinstance(frames, dict):
            return {}
        return {number: said for number, said in frames.items() if number.isdecimal()}

    def record(self) -> dict[str, Any]:
        """What the record says; empty if there is none that can be read."""
        try:
            found = json.loads((self.path / self.record_name).read_bytes())
        except (OSError, ValueError):
            return {}
        return found if isinstance(found, dict) else {}

    def write_record(self, settings: Mapping[str, Any], frames: Mapping[str, Any]) -> None:
        """Writes settings, and figures by frame number."""
        ordered = dict(sorted(frames.items(), key=lambda item: int(item[0])))
        text = json.dumps({"settings": settings, "frames": ordered}, indent=1)
        with write_whole(self.path / self.record_name) as file:
            file.write(text.encode() + b"\n")


def _remove(paths: Iterable[Path]) -> None:
    for path in paths:
        with reporting(path):
            path.unlink(missing_ok=True)
