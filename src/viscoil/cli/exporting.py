"""The command that writes files for other programs."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from viscoil.cli.arguments import Count, Flag, Frames, RunPath

if TYPE_CHECKING:
    from viscoil.exchange import Exported

MOST_NUMBERS = 8  # frame numbers that a sentence names one by one


def export(
    run: RunPath,
    /,
    *,
    to: str,
    frames: Frames | None = None,
    channels: Annotated[str, Parameter(show_default=False)] | None = None,
    out: Path | None = None,
    processes: Count | None = None,
    overwrite: Flag = False,
    quiet: Flag = False,
) -> None:
    """Write the particles of a run for other programs: Houdini, ParaView, Blender, NumPy.

    Parameters
    ----------
    run
        The folder of the run, such as runs/honey.
    to
        The format: npz, ply, bgeo, bhclassic, vtp, vdb, usd, or blender (USD and a script).
    frames
        Which frames, such as 12, 10:50, ::5 or 0,10,20 (default: all).
    channels
        What to write beside positions, such as velocity,id,temperature (default: all there is).
    out
        Folder to write to (default: RUN/export/FORMAT).
    processes
        Number of processes (default: one per core).
    overwrite
        Replace an export that is in the folder already.
    quiet
        Print only the final line.
    """
    from viscoil.exchange import export as export_run

    names = None if channels is None else [name.strip() for name in channels.split(",")]
    done = export_run(
        run,
        to,
        frames=frames,
        channels=names,
        out=out,
        processes=processes,
        overwrite=overwrite,
        quiet=quiet,
    )
    print(_final_line(done))


def _final_line(done: "Exported") -> str:
    held = ", ".join(("position", *done.channels))
    text = f"{_count(len(done.frames), 'frame')} with {held} in {done.opens}"
    if done.left_out:
        text += f", without {', '.join(done.left_out)}, for which the format has no place"
    if done.missing:
        text += f", without {_numbers(done.missing)}, missing in the run (resume it to make them)"
    if done.note:
        text += f", {done.note}"
    return f"{text}: open it with {done.opened_by}"


def _numbers(frames: tuple[int, ...]) -> str:
    shown = ", ".join(map(str, frames[:MOST_NUMBERS]))
    more = len(frames) - MOST_NUMBERS
    words = "frame" if len(frames) == 1 else "frames"
    return f"{words} {shown}" + (f" and {more} more" if more > 0 else "")


def _count(count: int, word: str) -> str:
    return f"{count} {word}" + ("" if count == 1 else "s")
