"""The command that turns particles into surfaces."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter
from cyclopts.validators import Number

from viscoil.cli.arguments import ALL_FRAMES, Count, FrameWork, Names, RunPath, listed
from viscoil.core.commands import command
from viscoil.core.progress import counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from viscoil.surface import FrameSurface

Iterations = Annotated[int, Parameter(validator=Number(gte=0, lte=1000))]
Resolution = Annotated[float, Parameter(validator=Number(gte=0.5, lte=20))]


def mesh(
    run: RunPath,
    /,
    *,
    smoothing: Iterations = 25,
    resolution: Resolution = 3.0,
    attributes: Names | None = None,
    processes: Count | None = None,
    work: FrameWork = ALL_FRAMES,
) -> None:
    """Make the surface of the fluid: a closed mesh for each frame.

    Parameters
    ----------
    smoothing
        Iterations of smoothing; more is calmer, 0 shows the grid.
    resolution
        Cubes of the grid per particle spacing; more is finer and slower.
    attributes
        Channels of the particles, such as temperature,color, that vertices carry beside velocity
        and material.
    processes
        How many frames are made at once (default: as many as cores and memory allow).
    work.out
        Folder to write to (default: RUN/surface).
    work.overwrite
        Make surfaces again that are there already.
    """
    from viscoil.runs.run import Run
    from viscoil.surface import SurfaceSettings, make_surfaces

    opened = Run(run)
    settings = SurfaceSettings(smoothing, resolution, tuple(listed(attributes or [])))
    folder, made, kept = make_surfaces(
        opened,
        opened.select(work.frames),
        settings,
        out=work.out,
        processes=processes,
        overwrite=work.overwrite,
        quiet=work.quiet,
    )
    print(summary(folder.path, made, kept))
    print(
        f"Next: {command('render', run)}"
        if work.out is None
        else "Next: open them in Blender or Houdini"
    )


def summary(folder: Path, made: "Sequence[FrameSurface]", kept: int) -> str:
    """Where the surfaces are, whether they are watertight, and what they enclose."""
    triangles = sum(m.triangles for m in made)
    lines = [
        f"frame {m.frame} is not watertight: {m.open_edges} edges are not shared by two triangles"
        for m in made
        if m.open_edges
    ]
    state = "all watertight" if not lines else f"{len(lines)} not watertight"
    shares = [m.volume / m.particle_volume for m in made if m.particle_volume > 0]
    volume = (
        f", which enclose {100 * min(shares):.0f} to {100 * max(shares):.0f} % of the particles' volume"
        if shares
        else ""
    )
    many = counted(len(made), "surface", kept)
    head = f"{many} of {triangles / len(made):.0f} triangles on average"
    return "\n".join([*lines, f"{head}, {state}{volume}: {folder}/frame_*.ply"])
