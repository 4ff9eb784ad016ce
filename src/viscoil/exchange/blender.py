"""A Blender scene: the USD stage, and a script beside it that makes it ready to render in Cycles."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

from viscoil.core.files import write_whole
from viscoil.exchange.usd.format import UsdFormat
from viscoil.exchange.usd.names import identifiers
from viscoil.exchange.usd.surface import surface_name
from viscoil.outputs.frames import frame_name
from viscoil.preview.camera import Camera, picture_size
from viscoil.scene import Scene
from viscoil.snapshots.looks import Look, fluid_size, material_look
from viscoil.snapshots.snapshot import MaterialLook

TEMPLATE = "blender_scene.txt"
SAMPLES = 128  # a pixel
GLOW = 5.0  # W/m² of light that is as bright as a white surface in a lit room
SHUTTER = 0.5  # frames that it is open: half of the time, as a film camera


@dataclass(frozen=True)
class BlenderFormat(UsdFormat):
    """The same files as USD, and NAME_blender.py, which builds the scene in Blender."""

    name: str = "blender"
    opened_by: str = "blender --python"

    def ties(self, scene: Scene) -> Sequence[str]:
        return (*super().ties(scene), _script_name(scene))

    def finish(self, folder: Path, scene: Scene, frames: Sequence[int]) -> Path:
        """Writes the stage and the script, which is what a user opens."""
        stage = super().finish(folder, scene, frames)
        here = sorted(f for f in frames if (folder / frame_name(f, ".usdc")).is_file())
        surface = self.surfaces is not None and any(
            (folder / surface_name(frame)).is_file() for frame in here
        )
        path = folder / _script_name(scene)
        with write_whole(path) as file:
            text = blender_script(scene, stage.name, here, "surface" if surface else "particles")
            file.write(text.encode())
        return path


def _script_name(scene: Scene) -> str:
    return f"{scene.name}_blender.py"


def blender_script(scene: Scene, stage: str, frames: Sequence[int], representation: str) -> str:
    """The text of the script; `stage` is the file beside it that it imports."""
    settings = _settings(scene, stage, frames, representation)
    lines = "\n".join(f"{name} = {_literal(value)}" for name, value in settings.items())
    text = files("viscoil.exchange").joinpath(TEMPLATE).read_text(encoding="utf-8")
    for mark, replacement in (
        ("@NAME@", scene.name),
        ("@SCRIPT@", _script_name(scene)),
        ("@SETTINGS@", f"# What can be changed; lengths are in metres, with z up.\n{lines}\n"),
    ):
        text = text.replace(mark, replacement)
    return text


def _settings(
    scene: Scene, stage: str, frames: Sequence[int], representation: str
) -> dict[str, Any]:
    camera = Camera.frame_scene(scene)
    width, height = picture_size(scene)
    return {
        "STAGE": stage,
        "REPRESENTATION": representation,
        "FPS": scene.simulation.fps,
        "FIRST_FRAME": frames[0],
        "LAST_FRAME": frames[-1],
        "WIDTH": width,
        "HEIGHT": height,
        "SAMPLES": SAMPLES,
        "SHUTTER": SHUTTER,
        "CAMERA": _upright(camera.position),
        "TARGET": _upright(camera.target),
        "RADIUS": round(camera.radius, 6),
        "FLOOR": camera.floor,
        "FLUIDS": _fluids(scene),
    }


def _fluids(scene: Scene) -> dict[str, dict[str, Any]]:
    """What the script needs to know of each look, by the name of the prim; lengths in metres."""
    radius = Camera.frame_scene(scene).radius
    found = {}
    for prim, (name, m) in zip(identifiers(scene.materials), scene.materials.items(), strict=True):
        look = material_look(MaterialLook(name, m.color, m.transmission))
        found[prim] = principled(look, fluid_size(scene, name) or radius)
    return found


def principled(look: Look, size: float) -> dict[str, Any]:
    """A look in the terms of Blender's Principled BSDF, for a body of this size (m)."""
    glow = max(look.glow) if look.glow else 0.0
    return {
        "kind": "paste" if look.depth is None else "clear",
        "color": look.color,
        "ior": look.index,
        "roughness": look.roughness,
        "depth": round((look.depth or 0.0) * size, 6),
        "flatness": look.flatness,
        "coat": look.coat,
        "glow": GLOW * glow,
        "glow_color": tuple(c / glow for c in look.glow) if look.glow else look.color,
    }


def _upright(place: Sequence[float]) -> tuple[float, float, float]:
    """From y up to z up, as Blender does on import."""
    x, y, z = (round(float(c), 6) for c in place)
    return x, -z, y


def _literal(value: Any) -> str:
    """Python text that gives the value back; a table has a line for each of its entries."""
    if isinstance(value, dict):
        inner = (f"    {_flat(key)}: {_flat(entry)},\n" for key, entry in value.items())
        return "{\n" + "".join(inner) + "}"
    return _flat(value)


def _flat(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_flat(k)}: {_flat(v)}" for k, v in value.items()) + "}"
    return json.dumps(value) if isinstance(value, str) else repr(value)
