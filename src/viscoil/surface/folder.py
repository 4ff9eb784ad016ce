"""The folder of a run's surfaces: a PLY file a frame, and surface.json with what is known of them."""

import json
import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

from viscoil.errors import MeshError, RunError
from viscoil.meshes import TriangleMesh, write_mesh
from viscoil.meshes.files import read_bytes
from viscoil.meshes.ply import read_ply
from viscoil.outputs.files import reporting, write_whole
from viscoil.outputs.frames import frame_name
from viscoil.parallel import each_frame
from viscoil.runs import Run
from viscoil.surface.quality import FrameSurface, enclosed_volume, open_edges
from viscoil.surface.reconstruction import particle_volume, require_library, surface_of
from viscoil.surface.settings import SurfaceSettings

ALWAYS = ("position", "velocity", "material", "size")  # channels that a surface is made from


@dataclass(frozen=True)
class SurfaceFolder:
    """Where surfaces are, by default `surface` in the folder of the run."""

    path: Path

    @classmethod
    def of(cls, run: Run, out: Path | None = None) -> "SurfaceFolder":
        """That of a run, or `out`."""
        return cls(out or run.path / "surface")

    def frame_path(self, frame: int) -> Path:
        """The file of a frame."""
        return self.path / frame_name(frame, ".ply")

    def is_current(self, run: Run, frame: int) -> bool:
        """Whether the surface of a frame is there and was made after its particles."""
        here, source = self.frame_path(frame), run.frame_path(frame)
        with reporting(here):
            return here.exists() and here.stat().st_mtime_ns >= source.stat().st_mtime_ns

    def read(self, frame: int) -> TriangleMesh:
        """The surface of a frame, which may have no faces. Raises RunError for a damaged file."""
        path = self.frame_path(frame)
        try:
            return read_ply(read_bytes(path))
        except MeshError as error:
            raise RunError(
                f"the surface {path} {error}; run `viscoil mesh` again with --overwrite"
            ) from error

    def record(self) -> dict[str, Any]:
        """What surface.json says; empty if there is none that can be read."""
        try:
            found = json.loads((self.path / "surface.json").read_bytes())
        except (OSError, ValueError):
            return {}
        return found if isinstance(found, dict) else {}

    def write_record(self, settings: SurfaceSettings, frames: dict[str, Any]) -> None:
        """Writes surface.json: how surfaces were made, and figures by frame number."""
        ordered = dict(sorted(frames.items(), key=lambda item: int(item[0])))
        text = json.dumps({"settings": _plain(settings), "frames": ordered}, indent=1)
        with write_whole(self.path / "surface.json") as file:
            file.write(text.encode() + b"\n")


def make_surfaces(
    run: Run,
    frames: Sequence[int],
    settings: SurfaceSettings,
    *,
    out: Path | None = None,
    processes: int | None = None,
    overwrite: bool = False,
    quiet: bool = False,
) -> tuple[SurfaceFolder, list[FrameSurface], int]:
    """Makes the surfaces of these frames, and returns their folder, figures, and how many were kept.

    A surface that is newer than its particles is kept unless `overwrite`.
    """
    require_library()
    run.check_channels(settings.attributes)
    folder = SurfaceFolder.of(run, out)
    with reporting(folder.path):
        folder.path.mkdir(parents=True, exist_ok=True)
    known = _known(folder, settings, overwrite)
    todo = [n for n in frames if str(n) not in known or not folder.is_current(run, n)]
    folder.write_record(settings, known)
    cores = os.cpu_count() or 1
    count = max(1, min(processes or cores, len(todo)))
    work = partial(_make, run.path, folder, settings, max(1, cores // count))
    made = each_frame(work, todo, what="surface", processes=count, quiet=quiet)
    known |= {str(m.frame): asdict(m) for m in made}
    folder.write_record(settings, known)
    return folder, [FrameSurface(**known[str(n)]) for n in frames], len(frames) - len(todo)


def _known(
    folder: SurfaceFolder, settings: SurfaceSettings, overwrite: bool
) -> dict[str, dict[str, Any]]:
    """Figures of the surfaces that are there; RunError if they were made in another way."""
    record = {} if overwrite else folder.record()
    frames = record.get("frames")
    if not isinstance(frames, dict):
        return {}
    if frames and record.get("settings") != _plain(settings):
        raise RunError(
            f"{folder.path} holds surfaces that were made with other settings: replace them with "
            "--overwrite, or choose another folder with --out"
        )
    return frames


def _plain(settings: SurfaceSettings) -> dict[str, Any]:
    return {**asdict(settings), "attributes": list(settings.attributes)}


def _make(
    path: Path, folder: SurfaceFolder, settings: SurfaceSettings, threads: int, frame: int
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
