"""USD: a stage of particles, surfaces and colliders for Blender, Houdini and others."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from viscoil.core.commands import command
from viscoil.exchange.format import Format
from viscoil.exchange.usd import library as usd
from viscoil.exchange.usd.colliders import add_motion
from viscoil.exchange.usd.particles import add_particles
from viscoil.exchange.usd.stage import stage_files, write_stage
from viscoil.exchange.usd.surface import surface_name, write_surface
from viscoil.exchange.usd.values import WIDTHS, new_layer
from viscoil.outputs.frames import frame_name
from viscoil.runs.run import Run
from viscoil.scene import Scene
from viscoil.snapshots.snapshot import Array, Snapshot
from viscoil.surface.folder import read_surface, surface_folder


@dataclass(frozen=True)
class UsdFormat(Format):
    """One .usdc file a frame, and a .usda stage that plays them as value clips.

    `surfaces` is the folder of the run's surface meshes, frame_000123.ply and so on; those that are
    there go into the stage, each in a file beside that of the particles.
    """

    surfaces: Path | None = None
    name: str = "usd"
    suffix: str = ".usdc"
    opened_by: str = "Blender, Houdini or usdview"

    def prepare(self) -> None:
        usd.Sdf  # noqa: B018

    def holds(self, name: str, values: Array) -> bool:
        return values.ndim == 1 or values.shape[1] in WIDTHS

    def for_run(self, run: Run, frames: Sequence[int]) -> "tuple[UsdFormat, str]":
        """With the run's surfaces, if all frames have one that is no older than they are.

        With some of them a film would show the last one for the rest.
        """
        folder = surface_folder(run)
        if not folder.path.is_dir():
            return self, ""
        known = folder.known()
        lacking = [
            n for n in frames if str(n) not in known or not folder.is_current(n, run.frame_path(n))
        ]
        if lacking:
            count = f"{len(lacking)} of {len(frames)} frames lack a current one"
            return self, f"without surfaces, as {count} (`{command('mesh', run.path)}` makes them)"
        return replace(self, surfaces=folder.path), ""

    @property
    def frame_files(self) -> Sequence[str]:
        return (*super().frame_files, "surface_*.usdc")

    def ties(self, scene: Scene) -> Sequence[str]:
        return stage_files(scene)

    def write(self, path: Path, snapshot: Snapshot, channels: Sequence[str]) -> None:
        """Writes a frame; velocities, ids and colours are there whenever the snapshot has them."""
        layer = new_layer(snapshot.frame)
        with usd.Sdf.ChangeBlock():
            add_particles(layer, snapshot, channels)
            add_motion(layer, snapshot)
        usd.save(layer, path)
        surface = self._surface(snapshot.frame)
        if surface is not None:
            target = path.with_name(surface_name(snapshot.frame))
            write_surface(target, read_surface(surface), snapshot.frame)

    def finish(self, folder: Path, scene: Scene, frames: Sequence[int]) -> Path:
        """Writes the stage, and what it needs, beside the frames."""
        return write_stage(folder, scene, frames, with_surface=self.surfaces is not None)

    def _surface(self, frame: int) -> Path | None:
        """The mesh of a frame, if there is one."""
        path = None if self.surfaces is None else self.surfaces / frame_name(frame, ".ply")
        return path if path is not None and path.is_file() else None
