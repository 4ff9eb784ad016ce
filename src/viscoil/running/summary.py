"""What a finished run amounts to, and the sentences that say so and what to do next."""

from dataclasses import dataclass
from pathlib import Path

from viscoil.core import progress
from viscoil.core.commands import command
from viscoil.outputs.stats import last_record
from viscoil.runs.folder import RunFolder


@dataclass(frozen=True, repr=False)
class Summary:
    """What a finished run amounts to."""

    folder: Path
    frames: int
    steps: int
    particles: int
    seconds: float
    """Wall time of this run, without what was done before a resume."""

    def __repr__(self) -> str:
        return f"<Summary of {final_line(str(self.folder), self, in_folder=False)}>"


def summary_of_folder(path: Path, frames: int) -> Summary:
    """What a run that is left as it is amounts to, by its last step; `frames` is its last frame."""
    last = last_record(RunFolder(path).stats) or {}
    return Summary(path, frames, last.get("step", 0), last.get("particles", 0), 0.0)


def final_line(name: str, summary: Summary, in_folder: bool = True) -> str:
    """The figures of a run in one line."""
    work = progress.clock_text(summary.seconds)
    return (
        f"{name}: {progress.counted(summary.frames, 'frame')}, {summary.steps} steps, "
        f"{summary.particles} particles, {work} of work"
        f"{f', in {summary.folder}' if in_folder else ''}"
    )


def what_next(path: Path) -> str:
    """Where the results of a run are, and which commands go on from there."""
    folder = RunFolder(path)
    film, picture = folder.video, folder.picture
    shown = {
        f"the film {film}": film.is_file() and not _is_newer(picture, film),
        f"the latest picture {picture}": picture.is_file(),
    }
    places = [place for place, is_shown in shown.items() if is_shown]
    here = f"see {' and '.join(places)}; " if places else ""
    if not folder.frames.is_dir():
        info, plot = command("info", path), command("plot", path)
        return f"{here}next: {info} (what is there), {plot} (curves)"
    export = command("export", path, "--to", "usd")
    return (
        f"{here}next: {command('mesh', path)} (surfaces), {command('render', path)} (pictures), "
        f"{export} (other programs)"
    )


def _is_newer(path: Path, other: Path) -> bool:
    return path.is_file() and path.stat().st_mtime_ns > other.stat().st_mtime_ns
