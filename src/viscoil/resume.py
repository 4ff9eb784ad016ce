"""Whether a folder may take a run, and from where a run in it can go on."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from viscoil.errors import ResumeError, RunError
from viscoil.outputs.run_folder import RunFolder
from viscoil.scene import Scene
from viscoil.scene._toml import tomllib

# A longer or shorter run of the same scene may be resumed; nothing else may differ.
FREE_KEYS = ("simulation.duration", "simulation.frames")


def check_folder(folder: Path, scene: Scene, *, resume: bool, overwrite: bool) -> Path | None:
    """Make sure the folder may be written to; the checkpoint to go on from, if any."""
    if resume and overwrite:
        raise RunError("--resume and --overwrite exclude each other: give one of them")
    if folder.exists() and not folder.is_dir():
        raise RunError(f"{folder} is a file: give another folder with --out")
    if resume:
        return _resume_point(folder, scene)
    if not folder.exists() or not any(folder.iterdir()):
        return None
    if not (folder / "run.json").is_file():
        raise RunError(
            f"{folder} has files that are not of a run: give an empty or new folder with --out"
        )
    if not overwrite:
        raise RunError(
            f"{folder} holds a run already: go on with --resume, replace it with --overwrite, "
            "or give another folder with --out"
        )
    return None


def _resume_point(path: Path, scene: Scene) -> Path | None:
    if not (path / "run.json").is_file():  # before RunFolder, which would make the folder
        raise ResumeError(f"{path} holds no run to resume: leave out --resume")
    folder = RunFolder(path)
    try:
        before = _comparable(folder.read_run()["scene"])
    except (ValueError, KeyError, TypeError, AttributeError):
        raise ResumeError(f"{folder.run} is damaged: start anew with --overwrite") from None
    changed = changed_keys(before, _comparable(scene.to_toml()))
    if changed:
        raise ResumeError(
            f"the scene differs from the one in {path} in {', '.join(changed)}: undo that, "
            "or start anew with --overwrite or another --out"
        )
    return folder.checkpoints.latest()


def changed_keys(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[str]:
    """Dotted keys whose values differ, but for the length of the run."""
    keys = sorted(before.keys() | after.keys())
    return [k for k in keys if k not in FREE_KEYS and before.get(k) != after.get(k)]


def _comparable(text: str) -> dict[str, Any]:
    """Dotted keys and their values; the order of the materials counts, for particles number it."""
    data = tomllib.loads(text)
    return {**_flat(data), "materials": list(data.get("materials", {}))}


def _flat(data: Any, prefix: str = "") -> dict[str, Any]:
    """Nested tables as dotted keys; lists of plain values are values."""
    if isinstance(data, list) and data and isinstance(data[0], dict):
        data = {str(i): item for i, item in enumerate(data)}
    if not isinstance(data, dict):
        return {prefix: data}
    flat: dict[str, Any] = {}
    for key, value in data.items():
        flat |= _flat(value, f"{prefix}.{key}" if prefix else key)
    return flat
