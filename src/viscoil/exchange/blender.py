"""A Blender scene: the USD stage, and a script beside it that makes it ready to render in Cycles."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

from viscoil.exchange.usd.format import UsdFormat
from viscoil.exchange.usd.names import identifiers
from viscoil.exchange.usd.surface import surface_name
from viscoil.outputs.files import write_whole
from viscoil.outputs.frames import frame_name
from viscoil.outputs.preview.camera import Camera, picture_size
from viscoil.scene import Material, Scene
from viscoil.scene.presets import PRESETS

TEMPLATE = "blender_scene.txt"
SAMPLES = 128  # a pixel
SHUTTER = 0.5  # frames that it is open: half of the time, as a film camera


@dataclass(frozen=True)
class Look:
    """How light meets a fluid, in the terms of Blender's Principled BSDF."""

    kind: str
    """"clear" if one sees through it, else "paste"."""
    ior: float = 1.4
    roughness: float = 0.0
    depth: float = 0.3
    """Way through a clear fluid that gives white light its colour, in radii of the scene."""
    softness: float = 0.0
    """Share of light that goes in and comes out elsewhere."""
    coat: float = 0.0
    """A wet film on a paste."""
    glow: float = 0.0
    """Light that it sends out, W/m²."""


LOOKS: Mapping[str, Look] = {
    "water": Look("clear", ior=1.33, depth=1.5),
    "olive-oil": Look("clear", ior=1.47, depth=0.5),
    "honey": Look("clear", ior=1.49, depth=0.6),
    "syrup": Look("clear", ior=1.48, depth=0.6),
    "gel": Look("clear", ior=1.36, depth=0.6),
    "egg-white": Look("clear", ior=1.36, depth=1.0),
    "melted-chocolate": Look("paste", roughness=0.2, softness=0.1, coat=0.7),
    "ketchup": Look("paste", roughness=0.3, softness=0.3, coat=0.4),
    "lava": Look("paste", roughness=0.6, glow=4.0),
}
"""Of presets, which are known by colour and transmission; for others there is a rule."""


def look_of(material: Material) -> Look:
    """The look of the preset that a material is coloured like, or one that fits its transmission."""
    for name, look in LOOKS.items():
        values = PRESETS[name].values
        if (values["color"], values["transmission"]) == (material.color, material.transmission):
            return look
    if material.transmission >= 0.15:
        return Look("clear", depth=0.1 + 0.8 * material.transmission**2)
    return Look("paste", roughness=0.35, softness=0.6, coat=0.2)


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
    """Colour and look by the name of the prim."""
    names = identifiers(scene.materials)
    materials = zip(names, scene.materials.values(), strict=True)
    return {name: {"color": m.color, **asdict(look_of(m))} for name, m in materials}


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
