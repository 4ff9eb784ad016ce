"""USD: a stage of particles, surfaces and colliders for Blender, Houdini and others."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from viscoil.exchange import usd_library as usd
from viscoil.exchange.usd_colliders import add_motion
from viscoil.exchange.usd_particles import add_particles
from viscoil.exchange.usd_stage import write_stage
from viscoil.exchange.usd_surface import surface_name, write_surface
from viscoil.exchange.usd_values import new_layer
from viscoil.meshes import read_mesh
from viscoil.outputs.frames import frame_name
from viscoil.outputs.protocol import Snapshot
from viscoil.scene import Scene


@dataclass(frozen=True)
class UsdFormat:
    """One .usdc file a frame, and a .usda stage that plays them as value clips.

    `surfaces` is the folder of the run's surface meshes, frame_000123.ply and so on; those that are
    there go into the stage, each in a file beside that of the particles.
    """

    surfaces: Path | None = None
    name: str = "usd"
    suffix: str = ".usdc"
    opened_by: str = "Blender, Houdini or usdview"

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
            write_surface(target, read_mesh(surface), snapshot.frame)

    def finish(self, folder: Path, scene: Scene, frames: Sequence[int]) -> Path:
        """Writes the stage, and what it needs, beside the frames."""
        return write_stage(folder, scene, frames, with_surface=self.surfaces is not None)

    def _surface(self, frame: int) -> Path | None:
        """The mesh of a frame, if there is one."""
        path = None if self.surfaces is None else self.surfaces / frame_name(frame, ".ply")
        return path if path is not None and path.is_file() else None
