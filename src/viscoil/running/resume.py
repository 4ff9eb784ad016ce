"""Whether a folder may take a run, and from where a run in it can go on."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from viscoil.core.errors import ResumeError, RunError, SceneError
from viscoil.running.differences import changes, misfit, sentence
from viscoil.running.named_files import changed_files, fingerprints, same_files
from viscoil.running.resume_point import ANEW, choose
from viscoil.runs.checkpoint_store import step_number
from viscoil.runs.folder import RunFolder, damaged_record, read_record, versions
from viscoil.runs.lock import has_files
from viscoil.scene import Scene


@dataclass(frozen=True)
class Start:
    """Where a run begins, and what run.json has to say about its past."""

    scene: Scene
    """As long as it was asked to be."""
    files: Mapping[str, str]
    """Fingerprints of the files that the scene names."""
    own_frames: int
    """Frames that the scene itself asks for, whatever the command says."""
    checkpoint: Path | None = None
    forced: Sequence[Mapping[str, Any]] = ()
    """Changes of the scene on the way: after which step, and of which keys."""
    notes: Sequence[str] = field(default_factory=list)
    passed: bool = False
    """Whether the run is beyond the asked end already, so that nothing is to be done."""

    @property
    def keep_settings(self) -> bool:
        """Whether materials and gravity in the checkpoint are newer than those of the scene."""
        if self.checkpoint is None or not self.forced:
            return True
        return step_number(self.checkpoint) > int(self.forced[-1]["step"])

    def record(self) -> dict[str, Any]:
        """What run.json keeps for the next resume."""
        return {
            "scene_frames": self.own_frames,
            "files": dict(self.files),
            "forced": list(self.forced),
            "saved": self.checkpoint is not None,
        }


def find_start(
    folder: Path,
    scene: Scene,
    *,
    frames: int | None = None,
    resume: bool = False,
    overwrite: bool = False,
    force: bool = False,
) -> Start:
    """Make sure the folder may be written to, and find where the run begins.

    `frames` is how long the command wants the run to be, if it says so. Nothing is changed yet.
    """
    if resume and overwrite:
        raise RunError("--resume and --overwrite exclude each other: give one of them")
    if force and not resume:
        raise RunError("--force works with --resume only: add it, or leave out --force")
    if folder.exists() and not folder.is_dir():
        raise RunError(f"{folder} is a file: give another folder with --out")
    has_run = (folder / "run.json").is_file()
    if not has_run and has_files(folder):
        raise RunError(
            f"{folder} has files that are not of a run: give an empty or new folder with --out"
        )
    if has_run and resume:
        return _resumed(RunFolder(folder), scene, frames, force)
    if has_run and not overwrite:
        raise RunError(
            f"{folder} holds a run already: go on with --resume, replace it with --overwrite, "
            "or give another folder with --out"
        )
    nothing = [f"there is no run in {folder} to resume: it starts from the beginning"]
    return Start(
        scene if frames is None else scene.with_frames(frames),
        fingerprints(scene),
        scene.frames,
        notes=nothing if resume else [],
    )


def _resumed(folder: RunFolder, scene: Scene, frames: int | None, force: bool) -> Start:
    record = read_record(folder.path)
    files = fingerprints(scene)
    found = _differences(folder, record, scene, files)
    if found and not force:
        raise ResumeError(
            f"the scene differs from the one in {folder.path}: {sentence(found)}; undo that, go on "
            f"with the change with --force, or {ANEW}"
        )
    if found:
        _check_fit(folder, record, scene, found)
    checkpoint, frame, notes = choose(folder, record, scene, force)
    length = _length(record, scene, frames)
    furthest = max([frame, *folder.frame_numbers()])
    if length < furthest:
        passed = f"the run is at frame {furthest} already, past {length}: nothing is removed"
        whole = scene.with_frames(furthest)
        return Start(whole, files, scene.frames, checkpoint, notes=[passed], passed=True)
    forced = [*record.get("forced", [])]
    if found:
        notes.append(f"the run goes on with changes: {sentence(found)}")
        step = step_number(checkpoint) if checkpoint else 0
        forced.append({"step": step, "changes": found})
    notes += _other_versions(record)
    lasting = scene if length == scene.frames else scene.with_frames(length)
    return Start(lasting, files, scene.frames, checkpoint, forced, notes)


def _differences(
    folder: RunFolder, record: Mapping[str, Any], scene: Scene, files: Mapping[str, str]
) -> list[str]:
    before = record.get("files", {})
    try:
        found = changes(record["scene"], scene.to_toml(), same_files(before, files))
        changed = changed_files(before, files)
    except (ValueError, KeyError, TypeError, AttributeError):
        raise damaged_record(folder.run) from None
    files_too = [f"mesh file {name} has changed since the run began" for name in changed]
    return [*map(str, found), *files_too]


def _check_fit(
    folder: RunFolder, record: Mapping[str, Any], scene: Scene, found: Sequence[str]
) -> None:
    try:
        reason = misfit(Scene.from_toml(record["scene"]), scene)
    except SceneError:
        reason = "its scene is of another version"
    if reason is not None:
        raise ResumeError(
            f"the state in {folder.path} does not fit the changed scene ({sentence(found)}), "
            f"with --force or without: {reason}; undo the change, or {ANEW}"
        )


def _length(record: Mapping[str, Any], scene: Scene, frames: int | None) -> int:
    """Frames to simulate: as the command says, as the scene newly says, or as it was to be."""
    if frames is not None:
        return frames
    if record.get("scene_frames") != scene.frames:
        return scene.frames
    try:
        return Scene.from_toml(record["scene"]).frames
    except SceneError:
        return scene.frames


def _other_versions(record: Mapping[str, Any]) -> list[str]:
    before, now = record.get("versions", {}), versions()
    other = [
        f"{name} {before[name]} (now {now[name]})"
        for name in ("viscoil", "quadrants")
        if name in before and before[name] != now.get(name)
    ]
    if not other:
        return []
    return [f"the run began with {' and '.join(other)}: it may go on to other bits"]
