"""A folder of frames in another program's format, which is told from other folders by export.json."""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path

from viscoil.core.errors import RunError
from viscoil.core.files import reporting, write_whole
from viscoil.outputs.frames import numbered
from viscoil.runs.lock import has_files
from viscoil.scene import Scene

RECORD = "export.json"


class ExportFolder:
    """Paths in it, and what may be removed from it: frames, what ties them, and export.json."""

    def __init__(self, path: Path | str) -> None:
        self.path = Path(path)
        self.record = self.path / RECORD

    @classmethod
    def all_in(cls, folder: Path) -> "list[ExportFolder]":
        """The exports right below a folder."""
        return [cls(path.parent) for path in sorted(folder.glob(f"*/{RECORD}"))]

    @property
    def frames(self) -> Sequence[int]:
        """The frames that have a file, ascending."""
        first = self._noted("frames")[:1]
        return sorted({number for number, _ in self._frame_files(first)})

    def check(self, overwrite: bool) -> None:
        """Raises RunError if something is there that must not be written to."""
        if self.path.exists() and not self.path.is_dir():
            raise RunError(f"{self.path} is a file: give another folder with --out")
        if self.record.is_file():
            if not overwrite:
                raise RunError(
                    f"{self.path} holds an export already: replace it with --overwrite, or give "
                    "another folder with --out"
                )
        elif has_files(self.path):
            raise RunError(
                f"{self.path} has files that are not of an export: give an empty or new folder "
                "with --out"
            )

    def begin(
        self, scene: Scene, format_name: str, frames: Sequence[str], ties: Sequence[str]
    ) -> None:
        """Makes the folder, and notes in it what holds for all frames.

        `frames` are patterns of the names of a frame's files, with a * for its number, the
        particles first; `ties` are names of files that tie frames together.
        """
        record = {
            "format": format_name,
            "frames": list(frames),
            "ties": list(ties),
            "scene": scene.name,
            "fps": scene.simulation.fps,
            "spacing": scene.simulation.spacing,
            "materials": list(scene.materials),
        }
        with reporting(self.path):
            self.path.mkdir(parents=True, exist_ok=True)
        with write_whole(self.record) as file:
            text = json.dumps(record, indent=2, ensure_ascii=False, allow_nan=False)
            file.write(text.encode() + b"\n")

    def cut_back(self, frame: int) -> None:
        """Removes the frames after this one, and then also what tied them to the others."""
        with reporting(self.path):
            files = self._frame_files(self._noted("frames"))
            later = [path for number, path in files if number > frame]
            for path in [*later, *(self._ties() if later else ())]:
                path.unlink()

    def clear(self) -> None:
        """Removes an earlier export; files that are not ours stay."""
        with reporting(self.path):
            if not self.record.is_file():
                return
            files = [path for _, path in self._frame_files(self._noted("frames"))]
            for path in [*files, *self._ties(), self.record]:
                path.unlink()
            if not any(self.path.iterdir()):
                self.path.rmdir()

    def _frame_files(self, patterns: Sequence[str]) -> Iterator[tuple[int, Path]]:
        for pattern in patterns:
            for path in sorted(self.path.glob(pattern)):
                number = numbered(path, pattern)
                if number is not None and path.is_file():
                    yield number, path

    def _ties(self) -> list[Path]:
        """What ties frames together; only files in the folder itself."""
        return [path for name in self._noted("ties") if (path := self.path / name).is_file()]

    def _noted(self, key: str) -> list[str]:
        """Names or patterns of names that export.json lists; none if it cannot be read."""
        try:
            names = json.loads(self.record.read_bytes())[key]
            return [n for n in names if isinstance(n, str) and n and not {"/", "\\"} & set(n)]
        except (OSError, ValueError, KeyError, TypeError):
            return []
