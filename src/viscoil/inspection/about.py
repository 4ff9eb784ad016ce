"""What is in a run folder, as plain data."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from viscoil.core.checkpoint import read_metadata
from viscoil.core.commands import command
from viscoil.core.errors import ResumeError, RunError
from viscoil.outputs.frames import frame_name, is_whole, particle_count
from viscoil.outputs.stats import last_record
from viscoil.running.disk import folder_bytes
from viscoil.running.resume_point import is_saved
from viscoil.runs.checkpoint_store import step_number
from viscoil.runs.folder import RunFolder
from viscoil.runs.lock import is_locked
from viscoil.runs.run import Run


def about(run: Run) -> dict[str, Any]:
    """What a run folder holds, in JSON types; sizes in bytes, times in s."""
    folder = RunFolder(run.path)
    last_step = last_record(folder.stats) or {}
    checkpoints = [_checkpoint(path) for path in folder.checkpoints.all()]
    return {
        "folder": str(run.path),
        "name": run.name,
        "description": run.scene.simulation.description,
        "state": state(run),
        "frames": _frames(run),
        "time": {"last": last_step.get("time", 0.0), "fps": run.fps, "end": _end(run)},
        "steps": last_step.get("step", 0),
        "particles": _particles(run),
        "spacing": run.scene.simulation.spacing,
        "channels": list(_or_nothing(run)),
        "materials": list(run.scene.materials),
        "checkpoints": checkpoints,
        "changes": [
            change for force in run.record.get("forced", []) for change in force["changes"]
        ],
        "bytes": _sizes(run.path),
        "made": _made(run.path),
        "versions": dict(run.record.get("versions", {})),
        "arch": run.record.get("arch", "unknown"),
        "threads": run.record.get("threads"),
        "resume": _resume(run, checkpoints),
        "next": _next(run),
    }


def state(run: Run) -> str:
    """How the run stands; one that says that it runs while nothing writes to it was killed."""
    if is_locked(run.path):
        return "running"
    return "killed" if run.state == "running" else run.state


def _end(run: Run) -> float:
    """Time at which the scene ends, s."""
    return run.scene.frames / run.fps


def _frames(run: Run) -> dict[str, Any]:
    damaged = [n for n in run.frames if not is_whole(run.frame_path(n))]
    return {
        "count": len(run.frames),
        "first": run.frames[0] if run.frames else None,
        "last": run.frames[-1] if run.frames else None,
        "asked": run.scene.frames,
        "missing": list(run.missing),
        "damaged": damaged,
    }


def _particles(run: Run) -> dict[str, int | None]:
    """In the first and in the last frame that can be read."""
    return {"first": _first_count(run, run.frames), "last": _first_count(run, run.frames[::-1])}


def _first_count(run: Run, frames: Sequence[int]) -> int | None:
    for frame in frames:
        try:
            return particle_count(run.frame_path(frame))
        except RunError:
            continue
    return None


def _or_nothing(run: Run) -> Sequence[str]:
    """The channels, unless the first frame is damaged."""
    try:
        return run.channels
    except RunError:
        return ()


def _checkpoint(path: Path) -> dict[str, Any]:
    """Step, last frame (None if it cannot be read) and size."""
    try:
        frame = read_metadata(path, check=False).get("frame")
    except ResumeError:
        frame = None
    return {"step": step_number(path), "frame": frame, "bytes": folder_bytes(path)}


def _sizes(path: Path) -> dict[str, int]:
    """Bytes of each part of the folder, the largest first."""
    sizes = {part.name: folder_bytes(part) for part in path.iterdir()}
    return dict(sorted(sizes.items(), key=lambda item: -item[1]))


def _made(path: Path) -> dict[str, int]:
    """Folders of what was made of the frames, and how many files each has."""
    export = path / "export"
    folders = [*(sorted(export.iterdir()) if export.is_dir() else []), path / "surface"]
    folders += [path / "render", *sorted(path.glob("turntable_*"))]
    return {
        str(folder.relative_to(path)): sum(1 for p in folder.rglob("*") if p.is_file())
        for folder in folders
        if folder.is_dir()
    }


def _resume(run: Run, checkpoints: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Whether and from where the run can go on."""
    frames = [c["frame"] for c in checkpoints if c["frame"] is not None]
    lost = not frames and is_saved(run.record)
    return {
        "possible": not is_locked(run.path) and not lost,
        "frame": frames[-1] if frames else 0,
        "lasts_until": run.scene.frames,
    }


def _next(run: Run) -> list[str]:
    """Commands that make sense now."""
    resume = command("run", "SCENE", "--out", run.path, "--resume")
    if not run.frames:
        return [resume]
    commands = [command(name, run.path) for name in ("mesh", "render", "plot")]
    commands.insert(2, command("export", run.path, "--to", "usd"))
    if (run.path / "preview" / frame_name(run.frames[0], ".png")).exists():
        again = ["--overwrite"] if (run.path / "video.mp4").exists() else []
        commands.append(command("video", run.path, *again))
    if state(run) not in ("running", "finished"):
        commands.insert(0, resume)
    return commands
