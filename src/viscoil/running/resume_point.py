"""Which checkpoint a run goes on from, and what to say of frames and checkpoints that are broken."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from viscoil.core.checkpoint import DamagedCheckpoint, read_metadata
from viscoil.core.errors import ResumeError
from viscoil.outputs.frames import broken_frames
from viscoil.runs.checkpoint_store import step_number
from viscoil.runs.folder import RunFolder
from viscoil.scene import Scene

ANEW = "start anew with --overwrite or another --out"
Place = tuple[Path, int]  # a checkpoint and its last frame


def choose(
    folder: RunFolder, record: Mapping[str, Any], scene: Scene, force: bool
) -> tuple[Path | None, int, list[str]]:
    """The checkpoint to go on from, its last frame, and what the user should know of the choice.

    `record` is what run.json says. Raises ResumeError if to go on would lose what is there.
    """
    damaged: list[Path] = []
    whole = _whole(folder, damaged)
    newest = next(whole, None)
    if newest is None:
        return None, 0, _from_the_beginning(folder, record, damaged)
    changed = _last_change(record)
    if step_number(newest[0]) < changed:
        raise ResumeError(
            f"the scene was changed after step {changed} and no checkpoint in {folder.path} from "
            f"then on can be read, so the steps before the change cannot be done again: {ANEW}"
        )
    notes = [f"the checkpoint {path} is damaged, so an earlier one is taken" for path in damaged]
    wanted = any(output.type == "frames" for output in scene.outputs)
    broken = broken_frames(folder.frames, newest[1]) if wanted else []
    if not broken:
        return (*newest, notes)
    if force:
        return (*newest, [*notes, f"{_listed(broken)} missing or damaged and left out (--force)"])
    places = [newest, *(place for place in whole if step_number(place[0]) >= changed)]
    place, more = _before_broken_frames(places, broken)
    return (*place, notes + more)


def _from_the_beginning(
    folder: RunFolder, record: Mapping[str, Any], damaged: Sequence[Path]
) -> list[str]:
    """What to say if there is nothing to go on from; refuses if there once was."""
    if damaged or is_saved(record):
        what = "are all damaged" if damaged else "are gone"
        raise ResumeError(
            f"the checkpoints in {folder.checkpoints.folder} {what}, so the run cannot go on; its "
            f"frames stay as they are: {ANEW}"
        )
    count = sum(number > 0 for number in folder.frame_numbers())
    if not count:
        return []
    frames = "1 frame is" if count == 1 else f"{count} frames are"
    return [
        "the run was not far enough to save its state: it starts from the beginning, "
        f"{frames} removed"
    ]


def is_saved(record: Mapping[str, Any]) -> bool:
    """Whether there was a checkpoint once, by what run.json says."""
    return bool(record.get("saved")) or record.get("state") == "finished"


def _before_broken_frames(
    places: Sequence[Place], broken: Sequence[int]
) -> tuple[Place, list[str]]:
    """Where to go on so that broken frames at the end are done again, and what to say of them.

    `places` begin with the newest. A broken frame that whole ones follow is not done again, because
    that would discard those and all that was made of them.
    """
    newest, oldest = places[0], places[-1]
    good = max(set(range(newest[1] + 1)).difference(broken), default=-1)
    again = [number for number in broken if number > max(good, oldest[1])]
    kept = [number for number in broken if oldest[1] < number < good]
    lost = [number for number in broken if number not in again and number not in kept]
    notes = []
    if lost:
        notes.append(f"{_listed(lost)} missing or damaged and lost: no checkpoint is from before")
    if kept:
        notes.append(
            f"{_listed(kept)} missing or damaged and left out, because whole frames follow: to have "
            "all of them done again, remove these too and give --resume once more"
        )
    if not again:
        return newest, notes
    place = next(place for place in places if place[1] < again[0])
    notes.append(
        f"{_listed(again)} missing or damaged: the run goes back from frame {newest[1]} to the "
        f"checkpoint at frame {place[1]} to do it again"
    )
    return place, notes


def _whole(folder: RunFolder, damaged: list[Path]) -> Iterator[Place]:
    """Checkpoints that can be read, the newest first; those that cannot are put into `damaged`."""
    for path in reversed(folder.checkpoints.all()):
        try:
            yield path, int(read_metadata(path)["frame"])
        except DamagedCheckpoint:
            damaged.append(path)
        except (KeyError, TypeError, ValueError):
            raise ResumeError(f"{path} was written by another version: {ANEW}") from None


def _last_change(record: Mapping[str, Any]) -> int:
    """The step after which --force changed the scene for the last time; 0 if it never did."""
    forced = record.get("forced") or [{"step": 0}]
    return int(forced[-1]["step"])


def _listed(frames: Sequence[int]) -> str:
    """The frames, and the verb that goes with them."""
    shown = ", ".join(map(str, frames[:5])) + (" and more" if len(frames) > 5 else "")
    return f"frame {shown} is" if len(frames) == 1 else f"frames {shown} are"
