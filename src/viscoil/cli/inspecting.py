"""Commands that look at a run: what is in its folder, its film, its curves."""

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from viscoil.cli.arguments import Flag, RunPath, Size
from viscoil.core.commands import command

RunPaths = Annotated[Path, Parameter(name="runs", show_default=False)]


def info(run: RunPath, /, *, json: Flag = False) -> None:
    """Tell what is in a run folder, whether it can go on, and what to do with it.

    Parameters
    ----------
    json
        Print it as JSON, for programs.
    """
    import json as json_module

    from viscoil.inspection.about import about
    from viscoil.inspection.text import lines
    from viscoil.runs.run import Run

    found = about(Run(run))
    print(json_module.dumps(found, indent=2) if json else "\n".join(lines(found)))


def video(
    run: RunPath,
    /,
    *,
    pictures: str | None = None,
    fps: Size | None = None,
    out: Path | None = None,
    overwrite: Flag = False,
) -> None:
    """Make a film of the pictures of a run.

    Parameters
    ----------
    pictures
        Which pictures: preview, render, or any folder of PNG files (default: render if there are
        any, else preview).
    fps
        Pictures per second (default: as many as the run has frames per second).
    out
        File to write, .mp4 or .mov (default: video.mp4 or render.mp4 in the run folder).
    overwrite
        Replace a film that is there already.
    """
    from viscoil.inspection.film import make_film
    from viscoil.runs.run import Run

    film = make_film(Run(run), pictures, out, fps, overwrite)
    for note in film.notes:
        print(f"note: {note}")
    print(f"{film}; play it, or make better pictures with {command('render', run)}")


def plot(
    *runs: RunPaths,
    what: str | None = None,
    out: Path | None = None,
    overwrite: Flag = False,
) -> None:
    """Plot figures of one run, or of several to compare them.

    Parameters
    ----------
    runs
        Folders that `viscoil run` wrote.
    what
        Comma-separated quantities: energy, momentum, step-size, cost, particles, and those that the
        run's solver reports (default: all, whose names are then printed).
    out
        File to write, .png, .svg or .pdf (default: plot.png, in the run folder if there is one run).
    overwrite
        Replace a file that is there already; without it only plot.png is.
    """
    from viscoil.core.errors import RunError
    from viscoil.core.files import check_free
    from viscoil.inspection.curves import chosen, quantities_of, read_curves
    from viscoil.inspection.drawing import check_path, draw

    if not runs:
        raise RunError("there is nothing to plot: give one run folder or several")
    quantities = chosen(what, quantities_of(runs))
    path = out or (runs[0] / "plot.png" if len(runs) == 1 else Path("plot.png"))
    curves = read_curves(runs, quantities)
    check_path(path)
    check_free(path, overwrite or out is None)
    draw(curves, quantities, path)
    print(
        f"{path}: {', '.join(quantities)} of {', '.join(run.name for run in curves)}; open it, "
        f"{'' if len(runs) > 1 else 'give several runs to compare them, '}or choose with --what"
    )
