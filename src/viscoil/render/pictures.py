"""Pictures of the frames of a run, or of one frame from all around."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from viscoil.core.parallel import each_frame
from viscoil.geometry.meshes import TriangleMesh
from viscoil.outputs.png import is_whole, write_png
from viscoil.preview.camera import Camera
from viscoil.render.bodies import Body
from viscoil.render.solids import solids_of
from viscoil.render.studio import floor_height, orbited, zoomed
from viscoil.render.tone import developed
from viscoil.render.tracing import Shot, denoised, denoiser_is_here, require_mitsuba, trace
from viscoil.runs.folder import film_of
from viscoil.runs.folder_work import alone_in, goes_on, stoppable
from viscoil.runs.frame_folder import FrameFolder
from viscoil.runs.run import Run
from viscoil.snapshots.looks import Look, fluid_size, material_look
from viscoil.snapshots.snapshot import Array
from viscoil.surface import (
    SurfaceSettings,
    of_material,
    read_surface,
    surface_folder,
    surface_of,
)
from viscoil.surface.folder import ALWAYS


@dataclass(frozen=True)
class PictureSettings:
    """What a user may choose."""

    width: int
    height: int
    samples: int
    """Light paths traced per pixel."""
    looks: Mapping[str, Look]
    """By material name or collider, where they are not the usual ones."""
    zoom: float = 1.0
    """How many times larger things are than the camera would show them."""


@dataclass(frozen=True)
class View:
    """A frame, and from where it is seen."""

    frame: int
    angle: float = 0.0
    """Around the target from the usual place, rad."""


@dataclass(frozen=True)
class Studio:
    """Makes pictures of a run's frames."""

    run: Run
    settings: PictureSettings

    def picture(self, view: View) -> Array:
        """A picture (height, width, 3) uint8."""
        settings = self.settings
        light = trace(self.shot(view), settings.width, settings.height, settings.samples)
        return developed(denoised(light) if denoiser_is_here() else light)

    def shot(self, view: View) -> Shot:
        """What is in a picture."""
        run, settings = self.run, self.settings
        camera = Camera.frame_scene(run.scene, settings.width / settings.height)
        camera = orbited(zoomed(camera, settings.zoom), view.angle)
        snapshot = run.snapshot(view.frame, ())
        floor = floor_height(run.scene, camera, list(snapshot.colliders))
        fluids = self._fluids(view.frame, camera.radius)
        return Shot(camera, floor, fluids, list(solids_of(snapshot, settings.looks)))

    def _fluids(self, frame: int, radius: float) -> list[Body]:
        """The surfaces of the materials that are there; `radius` (m) is that of the scene."""
        surface = self._surface(frame)
        bodies = []
        for number, material in enumerate(self.run.looks if len(surface.faces) else ()):
            part = of_material(surface, number)
            if len(part.faces):
                look = self.settings.looks.get(material.name) or material_look(material)
                size = fluid_size(self.run.scene, material.name) or 0.3 * radius
                bodies.append(Body(part, look, size))
        return bodies

    def surfaces(self, frames: Iterable[int]) -> dict[int, Path]:
        """The files that `viscoil mesh` made of these frames, by frame, where they are current."""
        folder = surface_folder(self.run)
        known = folder.known()
        return {
            n: folder.frame_path(n)
            for n in frames
            if str(n) in known and folder.is_current(n, self.run.frame_path(n))
        }

    def _surface(self, frame: int) -> TriangleMesh:
        made = self.surfaces([frame])
        if made:
            return read_surface(made[frame], ("normal", "material"))
        return surface_of(self.run.snapshot(frame, ALWAYS), SurfaceSettings())


def picture_folder(run: Run, path: Path) -> FrameFolder:
    """A folder of pictures; one in the run's own folder may have a film."""
    own = path.resolve().parent == run.path.resolve()
    films = (film_of(run.path, path),) if own else ()
    return FrameFolder(path, ".png", "pictures", "render.json", is_whole, films)


def render_frames(
    studio: Studio, frames: Sequence[int], out: Path, *, overwrite: bool, quiet: bool
) -> int:
    """Makes a picture for each frame, and returns how many were there already."""
    views = {n: View(n) for n in frames}
    return _render(studio, views, out, asdict(studio.settings), overwrite, quiet)


def render_turntable(
    studio: Studio, frame: int, count: int, out: Path, *, overwrite: bool, quiet: bool
) -> int:
    """Makes pictures of one frame from all around, and returns how many were there already."""
    views = {i: View(frame, 2.0 * math.pi * i / count) for i in range(count)}
    settings = {**asdict(studio.settings), "frame": frame, "views": count}
    return _render(studio, views, out, settings, overwrite, quiet)


def _render(
    studio: Studio,
    views: Mapping[int, View],
    out: Path,
    settings: Mapping[str, Any],
    overwrite: bool,
    quiet: bool,
) -> int:
    """Pictures by number; those of these settings that are newer than what they show are kept."""
    require_mitsuba()
    folder = picture_folder(studio.run, out)
    with stoppable(goes_on(folder.what, overwrite)), alone_in(out):
        known = folder.begin(settings, views, overwrite)
        stale = _stale(studio, folder, views)
        todo = [n for n in views if str(n) not in known or n in stale]

        def work(number: int) -> None:
            write_png(folder.frame_path(number), studio.picture(views[number]))
            known[str(number)] = asdict(views[number])
            folder.write_record(settings, known)

        # one process: Mitsuba uses all cores for a picture
        each_frame(work, todo, what="picture", processes=1, quiet=quiet)
    return len(views) - len(todo)


def _stale(studio: Studio, folder: FrameFolder, views: Mapping[int, View]) -> set[int]:
    """Numbers of pictures that are older than the particles or the surface that they show."""
    surfaces = studio.surfaces({view.frame for view in views.values()})
    found = set()
    for number, view in views.items():
        surface = [surfaces[view.frame]] if view.frame in surfaces else []
        if not folder.is_current(number, studio.run.frame_path(view.frame), *surface):
            found.add(number)
    return found
