"""Exports the frames of a run, several at a time."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from viscoil.core.parallel import each_frame
from viscoil.exchange.format import Format
from viscoil.exchange.live import cannot_hold, channels_without_place, with_size
from viscoil.exchange.registry import find_format
from viscoil.runs.export_folder import ExportFolder
from viscoil.runs.folder_work import alone_in, stoppable
from viscoil.runs.run import Run


@dataclass(frozen=True)
class Exported:
    """What an export amounts to."""

    opens: Path
    """The file or folder that a user opens."""
    opened_by: str
    """Programs that open it."""
    frames: tuple[int, ...]
    channels: tuple[str, ...]
    """What was written beside the position and the radius."""
    left_out: tuple[str, ...]
    """Channels of the run that the format has no place for."""
    missing: tuple[int, ...]
    """Frames that were asked for and are missing in the run."""
    note: str
    """What else does not come along, and why; empty if all does."""


def export(
    run: Run | Path | str,
    format_name: str,
    *,
    frames: str | None = None,
    channels: Sequence[str] | None = None,
    out: Path | str | None = None,
    processes: int | None = None,
    overwrite: bool = False,
    quiet: bool = False,
) -> Exported:
    """Writes frames of a run in another format, by default all, with all channels, in RUN/export/FORMAT.

    `frames` is as in `Run.select`. Only a few frames are in memory at a time: one per process, of
    which there are by default as many as cores. Raises RunError for a format, a channel or a frame
    that does not exist, and for a folder that must not be written to.
    """
    run = run if isinstance(run, Run) else Run(run)
    form = find_format(format_name)
    form.prepare()
    chosen = run.select(frames)
    form, note = form.for_run(run, chosen)
    names, left_out = _chosen_channels(run, form, chosen[0], channels)
    folder = ExportFolder(out if out is not None else run.path / "export" / form.name)
    folder.check(overwrite)
    with stoppable("start the export again with --overwrite"), alone_in(folder.path):
        folder.clear()
        folder.begin(run.scene, form.name, form.frame_files, form.ties(run.scene))
        work = partial(_write_frame, run, form, names, folder.path)
        each_frame(work, chosen, what=f"export {form.name}", processes=processes, quiet=quiet)
        opens = form.finish(folder.path, run.scene, folder.frames)
    missing = run.absent(frames)
    return Exported(opens, form.opened_by, tuple(chosen), names, left_out, missing, note)


def _chosen_channels(
    run: Run, form: Format, frame: int, channels: Sequence[str] | None
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The channels to write, and those that the format has no place for."""
    run.check_channels(["position", *(channels or ())])
    names = with_size(run.channels if channels is None else channels, run.channels)
    left_out = channels_without_place(form, run.snapshot(frame, names), names)
    if left_out and channels is not None:
        raise cannot_hold(form, left_out)
    return tuple(name for name in names if name not in left_out), tuple(left_out)


def _write_frame(run: Run, form: Format, channels: Sequence[str], folder: Path, frame: int) -> None:
    snapshot = run.snapshot(frame, ["position", "material", "size", *channels])
    form.write_frame(folder, snapshot, channels)
