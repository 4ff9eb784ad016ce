"""The surfaces of a run: a PLY file a frame, and surface.json with what is known of them."""

import os
from collections.abc import Sequence
from dataclasses import asdict
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

from viscoil.core.commands import command
from viscoil.core.errors import MeshError, RunError
from viscoil.core.files import reporting
from viscoil.core.memory import SHARE_OF_MEMORY, available
from viscoil.core.parallel import cores, each_frame, process_count
from viscoil.geometry.meshes import TriangleMesh, write_mesh
from viscoil.geometry.meshes.files import read_bytes
from viscoil.geometry.meshes.ply import read_ply
from viscoil.geometry.meshes.ply_header import is_whole
from viscoil.outputs.frames import particle_count
from viscoil.runs.folder_work import alone_in, goes_on, stoppable
from viscoil.runs.frame_folder import FrameFolder
from viscoil.runs.run import Run
from viscoil.surface.quality import FrameSurface, enclosed_volume, open_edges
from viscoil.surface.reconstruction import particle_volume, require_library, surface_of
from viscoil.surface.settings import SurfaceSettings

# At the peak, per particle and per particle and square of the resolution: between the 1.1 kB that a
# full block took at 3 cubes a spacing and the 5 kB of a sheet three particles thick.
BYTES, BYTES_PER_CELL = 500, 300
BYTES_OF_A_PROCESS = 100 * 2**20
ALWAYS = ("position", "velocity", "material", "size")  # channels that a surface is made from


def surface_folder(run: Run, out: Path | None = None) -> FrameFolder:
    """Where the surfaces of a run are: in `surface` beside its frames, or in `out`."""
    return FrameFolder(out or run.path / "surface", ".ply", "surfaces", "surface.json", is_whole)


def read_surface(path: Path, needs: Sequence[str] = ()) -> TriangleMesh:
    """The surface of a frame, from the folder `surface` of a run; it may have no faces.

    Raises RunError for a damaged file, and for one without the attributes that it needs.
    """
    again = f"make it again with `{command('mesh', path.parent.parent, '--overwrite')}`"
    try:
        mesh = read_ply(read_bytes(path))
    except MeshError as error:
        raise RunError(f"the surface {path} is damaged: {again}") from error
    if len(mesh.faces) and not set(needs) <= mesh.attributes.keys():
        raise RunError(f"the surface {path} is of another program: {again}")
    return mesh


def make_surfaces(
    run: Run,
    frames: Sequence[int],
    settings: SurfaceSettings,
    *,
    out: Path | None = None,
    processes: int | None = None,
    overwrite: bool = False,
    quiet: bool = False,
) -> tuple[FrameFolder, list[FrameSurface], int]:
    """Makes the surfaces of these frames, and returns their folder, figures, and how many were kept.

    A surface that is newer than its particles is kept unless `overwrite`. What is made is recorded
    at once, so that work that was stopped goes on where it was.
    """
    require_library()
    run.check_channels(settings.attributes)
    if "id" in settings.attributes:
        raise RunError("the channel 'id' is a name, and names have no mean: leave it out")
    folder, words = surface_folder(run, out), asdict(settings)
    with stoppable(goes_on(folder.what, overwrite)), alone_in(folder.path):
        known = folder.begin(words, frames, overwrite)
        paths = {n: run.frame_path(n) for n in frames}
        figures = {n: _figures(known.get(str(n))) for n in frames}
        todo = [n for n in frames if not figures[n] or not folder.is_current(n, paths[n])]

        def note(made: FrameSurface) -> None:
            figures[made.frame] = made
            known[str(made.frame)] = asdict(made)
            folder.write_record(words, known)

        count = processes or _processes([paths[n] for n in todo], settings.resolution)
        threads = max(1, cores() // process_count(len(todo), count))
        work = partial(_make, run.path, folder, settings, threads)
        each_frame(work, todo, what="surface", processes=count, quiet=quiet, finished=note)
    return folder, [f for f in figures.values() if f], len(frames) - len(todo)


def _figures(said: Any) -> FrameSurface | None:
    """What the record says of a frame; None for nothing, or what another version or hand wrote."""
    try:
        return FrameSurface(**said)
    except TypeError:
        return None


def _processes(paths: Sequence[Path], resolution: float) -> int:
    """How many of these frames are made at once, by the number of cores and the free memory."""
    count = process_count(len(paths))
    if count == 1:
        return 1
    with reporting(paths[0].parent):
        largest = max(paths, key=lambda path: path.stat().st_size)
    each = BYTES + BYTES_PER_CELL * resolution**2
    needed = BYTES_OF_A_PROCESS + particle_count(largest) * each
    return max(1, min(count, int(SHARE_OF_MEMORY * available() / needed)))


def _make(
    path: Path, folder: FrameFolder, settings: SurfaceSettings, threads: int, frame: int
) -> FrameSurface:
    """The surface of a frame, written; other processes call this."""
    os.environ.setdefault("RAYON_NUM_THREADS", str(threads))  # read at the library's first work
    snapshot = _opened(path).snapshot(frame, [*ALWAYS, *settings.attributes])
    mesh = surface_of(snapshot, settings)
    write_mesh(folder.frame_path(frame), mesh)
    return FrameSurface(
        frame=frame,
        particles=len(snapshot.channels["position"]),
        triangles=len(mesh.faces),
        open_edges=open_edges(mesh),
        volume=enclosed_volume(mesh),
        particle_volume=particle_volume(snapshot),
    )


@lru_cache(maxsize=1)
def _opened(path: Path) -> Run:
    """Read once per process."""
    return Run(path)
