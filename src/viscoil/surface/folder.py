"""The surfaces of a run: a PLY file a frame, and surface.json with what is known of them."""

import os
from collections.abc import Sequence
from dataclasses import asdict
from functools import lru_cache, partial
from pathlib import Path

from viscoil.errors import MeshError, RunError
from viscoil.frame_folder import FrameFolder
from viscoil.meshes import TriangleMesh, write_mesh
from viscoil.meshes.files import read_bytes
from viscoil.meshes.ply import read_ply
from viscoil.parallel import each_frame
from viscoil.runs import Run
from viscoil.surface.quality import FrameSurface, enclosed_volume, open_edges
from viscoil.surface.reconstruction import particle_volume, require_library, surface_of
from viscoil.surface.settings import SurfaceSettings

ALWAYS = ("position", "velocity", "material", "size")  # channels that a surface is made from


def surface_folder(run: Run, out: Path | None = None) -> FrameFolder:
    """Where the surfaces of a run are: in `surface` beside its frames, or in `out`."""
    return FrameFolder(out or run.path / "surface", ".ply", "surfaces", "surface.json")


def read_surface(path: Path) -> TriangleMesh:
    """The surface of a frame, which may have no faces. Raises RunError for a damaged file."""
    try:
        mesh = read_ply(read_bytes(path))
    except MeshError as error:
        raise RunError(f"the surface {path} {error}, with `viscoil mesh --overwrite`") from error
    if len(mesh.faces) and not {"normal", "material"} <= mesh.attributes.keys():
        raise RunError(f"the surface {path} is of another program: use `viscoil mesh --overwrite`")
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

    A surface that is newer than its particles is kept unless `overwrite`.
    """
    require_library()
    run.check_channels(settings.attributes)
    if "id" in settings.attributes:
        raise RunError("the channel 'id' is a name, and names have no mean: leave it out")
    folder = surface_folder(run, out)
    folder.create()
    known = folder.begin(asdict(settings), frames, overwrite)
    kept = {n for n in frames if str(n) in known and folder.is_current(n, run.frame_path(n))}
    todo = [n for n in frames if n not in kept]
    cores = os.cpu_count() or 1
    count = max(1, min(processes or cores, len(todo)))
    work = partial(_make, run.path, folder, settings, max(1, cores // count))
    made = each_frame(work, todo, what="surface", processes=count, quiet=quiet)
    known |= {str(m.frame): asdict(m) for m in made}
    folder.write_record(asdict(settings), known)
    return folder, [FrameSurface(**known[str(n)]) for n in frames], len(kept)


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
    """A process reads the scene once."""
    return Run(path)
