"""Films of the pictures of a run, of its preview, its rendering, or of any folder."""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from viscoil.core.commands import command
from viscoil.core.errors import RunError
from viscoil.core.files import check_free, reporting
from viscoil.geometry.meshes.sequence import natural_order
from viscoil.inspection.text import ranges
from viscoil.outputs.video import write_video
from viscoil.runs.folder import film_of
from viscoil.runs.run import Run

NAMED = ("preview", "render")


@dataclass(frozen=True)
class Film:
    """A film that was made."""

    path: Path
    pictures: int
    fps: float
    missing: Sequence[int]
    """Frames of the run, or numbers in between, that have no picture."""

    def __str__(self) -> str:
        seconds = self.pictures / self.fps
        return f"{self.path}: {self.pictures} pictures, {seconds:.3g} s at {self.fps:g} per second"

    @property
    def notes(self) -> list[str]:
        """What is not in it."""
        if not self.missing:
            return []
        plural = len(self.missing) > 1
        return [
            f"{'pictures' if plural else 'picture'} {ranges(self.missing)} {'are' if plural else 'is'} "
            "missing, and the film goes on without"
        ]


def make_film(
    run: Run,
    pictures: str | None = None,
    out: Path | None = None,
    fps: float | None = None,
    overwrite: bool = False,
) -> Film:
    """Films the pictures that a user names: "preview", "render", or a folder.

    By default the rendering if there is one, and else the preview.
    """
    name = pictures or ("render" if any((run.path / "render").glob("*.png")) else "preview")
    folder = run.path / name if name in NAMED else Path(name)
    found = _pictures(run, folder, name)
    path = out or film_of(run.path, folder)
    _check_out(path, overwrite)
    speed = fps or run.fps
    write_video(found, path, speed)
    last = run.frames[-1] if name in NAMED and run.frames else 0
    return Film(path, len(found), speed, missing_numbers(found, last))


def missing_numbers(pictures: Sequence[Path], last: int = 0) -> list[int]:
    """Numbers that the names of pictures leave out, up to `last` if that is later.

    Pictures of every fifth frame are complete: what counts is the step that all have in common.
    """
    numbers = sorted({n for path in pictures if (n := _number(path)) is not None})
    if not numbers:
        return []
    step = math.gcd(*(n - numbers[0] for n in numbers)) or 1
    here = set(numbers)
    return [n for n in range(numbers[0], max(numbers[-1], last) + 1, step) if n not in here]


def _pictures(run: Run, folder: Path, name: str) -> list[Path]:
    if not folder.is_dir():
        make = f"make them with `{command('render', run.path)}`"
        hint = make if name == "render" else "check its name"
        raise RunError(f"there is no folder of pictures {folder}: {hint}")
    with reporting(folder):
        found = [p for p in folder.iterdir() if p.suffix.lower() == ".png" and p.name[0] != "."]
        others = sorted({p.suffix for p in folder.iterdir() if p.is_file() and p.suffix})
    if not found:
        what = f"only {', '.join(others)} files" if others else "nothing"
        raise RunError(
            f"{folder} has no PNG pictures ({what}): give another folder with --pictures"
        )
    return sorted(found, key=natural_order)


def _check_out(path: Path, overwrite: bool) -> None:
    if path.suffix.lower() not in (".mp4", ".mov"):
        raise RunError(f"{path} is no name for a film: let it end in .mp4 or .mov")
    if path.is_dir() or not path.parent.is_dir():
        raise RunError(
            f"{path} cannot be written: give the name of a file in a folder that is there"
        )
    check_free(path, overwrite)


def _number(path: Path) -> int | None:
    """The last number in the name of a picture."""
    digits = re.findall(r"\d+", path.stem)
    return int(digits[-1]) if digits else None
