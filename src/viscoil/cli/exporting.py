"""The command that writes files for other programs."""

from typing import TYPE_CHECKING

from viscoil.cli.arguments import ALL_FRAMES, Count, FrameWork, Names, RunPath, listed
from viscoil.core.progress import counted

if TYPE_CHECKING:
    from viscoil.exchange import Exported


def export(
    run: RunPath,
    /,
    *,
    to: str,
    channels: Names | None = None,
    processes: Count | None = None,
    work: FrameWork = ALL_FRAMES,
) -> None:
    """Write the particles of a run for other programs: Houdini, ParaView, Blender, NumPy.

    Parameters
    ----------
    to
        The format: npz, ply, bgeo, bhclassic, vtp, vdb, usd, alembic, or blender (USD and a script).
    channels
        What to write beside positions, such as velocity,id,temperature (default: all there is).
    processes
        Number of processes (default: one per core).
    work.out
        Folder to write to (default: RUN/export/FORMAT).
    work.overwrite
        Replace an export that is in the folder already.
    """
    from viscoil.exchange import export as export_run

    done = export_run(
        run,
        to,
        frames=work.frames,
        channels=None if channels is None else listed(channels),
        out=work.out,
        processes=processes,
        overwrite=work.overwrite,
        quiet=work.quiet,
    )
    print(_final_line(done))


def _final_line(done: "Exported") -> str:
    from viscoil.inspection.text import ranges

    held = ", ".join(("position", *done.channels))
    text = f"{counted(len(done.frames), 'frame')} with {held} in {done.opens}"
    if done.left_out:
        text += f", without {', '.join(done.left_out)}, for which the format has no place"
    if done.missing:
        what = "frame" if len(done.missing) == 1 else "frames"
        text += (
            f", without {what} {ranges(done.missing)}, missing in the run (resume it to make them)"
        )
    if done.note:
        text += f", {done.note}"
    return f"{text}: open it with {done.opened_by}"
