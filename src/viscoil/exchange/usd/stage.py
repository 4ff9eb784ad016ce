"""The stage that a user opens: all that stands still, and where the frames are."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from viscoil.core.errors import RunError
from viscoil.exchange.usd import library as usd
from viscoil.exchange.usd.clips import Clips
from viscoil.exchange.usd.colliders import add_colliders, is_window
from viscoil.exchange.usd.looks import WALL, WINDOW, add_camera, add_look, bind
from viscoil.exchange.usd.names import PARTICLES, SURFACE, WORLD, identifiers
from viscoil.exchange.usd.surface import surface_name
from viscoil.exchange.usd.values import set_uniform
from viscoil.outputs.frames import frame_name
from viscoil.scene import Collider, Scene
from viscoil.snapshots.snapshot import MaterialLook

_OTHER_LOOKS = ("ColliderWall", "ColliderWindow", "FluidSurface")


def stage_files(scene: Scene) -> tuple[str, str, str]:
    """Names of the stage, and of what it knows the frames of particles and of surfaces by."""
    return f"{scene.name}.usda", f"{scene.name}.frames.usda", f"{scene.name}.surface.usda"


def write_stage(folder: Path, scene: Scene, frames: Sequence[int], *, with_surface: bool) -> Path:
    """Ties the files of the frames in a folder together, and returns the stage.

    A time code is a frame number. Raises RunError if no frame has a file, or one is damaged.
    """
    path, of_particles, of_surfaces = (folder / name for name in stage_files(scene))
    particles = _files(folder, frames, lambda frame: frame_name(frame, ".usdc"))
    if not particles:
        raise RunError(f"{folder} has none of the frames to be put together: export them again")
    clips = [Clips(WORLD, particles, of_particles)]
    surfaces = _files(folder, frames, surface_name) if with_surface else {}
    if surfaces:
        clips.append(Clips(SURFACE, surfaces, of_surfaces))
    layer = _new_stage(scene, list(particles))
    colliders = add_colliders(layer, scene)
    changing = set().union(*(c.write_manifest(layer) for c in clips))
    _dress(layer, scene, colliders, changing)
    if surfaces:
        _choose_purposes(layer)
    for c in clips:
        c.attach(layer)
    usd.save(layer, path)
    return path


def _files(folder: Path, frames: Sequence[int], name: Callable[[int], str]) -> dict[int, Path]:
    """The files that are there, by frame."""
    paths = {frame: folder / name(frame) for frame in sorted(set(frames))}
    return {frame: path for frame, path in paths.items() if path.is_file()}


def _new_stage(scene: Scene, frames: Sequence[int]) -> Any:
    layer = usd.Sdf.Layer.CreateAnonymous(".usda")
    layer.documentation = f"{scene.name}: a simulation by Viscoil; a time code is a frame number."
    layer.pseudoRoot.SetInfo("upAxis", "Y")
    layer.pseudoRoot.SetInfo("metersPerUnit", 1.0)
    layer.defaultPrim = WORLD.removeprefix("/")
    layer.timeCodesPerSecond = layer.framesPerSecond = scene.simulation.fps
    layer.startTimeCode, layer.endTimeCode = float(frames[0]), float(frames[-1])
    return layer


def _dress(
    layer: Any, scene: Scene, colliders: Sequence[tuple[str, Collider]], changing: set[str]
) -> None:
    """Materials and a camera. It comes before the clips, which have no folder yet to be found in."""
    stage = usd.Usd.Stage.Open(layer)
    looks = _material_looks(scene)
    *names, wall, window, surface = identifiers([*(look.name for look in looks), *_OTHER_LOOKS])
    for name, look in zip(names, looks, strict=True):
        path = f"{PARTICLES}/{name}"
        bind(stage, path, add_look(stage, name, look, colored=_color(path) in changing))
    for path, spec in colliders:
        see_through = is_window(spec)
        look = WINDOW if see_through else WALL
        bind(stage, path, add_look(stage, window if see_through else wall, look))
    if stage.GetPrimAtPath(SURFACE):  # one mesh, whatever it encloses: the look of the first
        look = add_look(stage, surface, looks[0], colored=_color(SURFACE) in changing)
        bind(stage, SURFACE, look)
    add_camera(stage, scene)


def _material_looks(scene: Scene) -> list[MaterialLook]:
    materials = scene.materials.items()
    return [MaterialLook(name, m.color, m.transmission) for name, m in materials]


def _color(path: str) -> str:
    return f"{path}.primvars:displayColor"


def _choose_purposes(layer: Any) -> None:
    """The surface is for pictures, and the particles are what one works with in a viewport."""
    for path, purpose in ((PARTICLES, "proxy"), (SURFACE, "render")):
        set_uniform(layer.GetPrimAtPath(path), "purpose", "Token", purpose)
    proxy = usd.Sdf.RelationshipSpec(layer.GetPrimAtPath(SURFACE), "proxyPrim", custom=False)
    proxy.targetPathList.explicitItems = [PARTICLES]
