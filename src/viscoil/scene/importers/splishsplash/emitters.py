"""Emitters, and what limits how many particles they make."""

from typing import Any

from viscoil.scene.importers.geometry import Vector
from viscoil.scene.importers.splishsplash.configuration import Setting
from viscoil.scene.importers.splishsplash.document import Section
from viscoil.scene.importers.splishsplash.files import turn, turned
from viscoil.scene.importers.splishsplash.fluids import DEFAULT_ID, SLAB
from viscoil.scene.importers.splishsplash.materials import Made

_BOX, _CIRCLE = 0, 1
_Z: Vector = (0.0, 0.0, 1.0)
_ZERO: Vector = (0.0, 0.0, 0.0)
_LEVEL = 1e-3  # how far from level a nozzle's side may be


def read_emitter(section: Section, setting: Setting) -> dict[str, Any] | None:
    """A nozzle: it blows along its own x, its height is along its y and its width along its z."""
    d = setting.spacing
    kind = section.whole("type", _BOX)
    width, height = section.whole("width", 5), section.whole("height", 5)
    axis, angle = turn(section, _Z)
    if setting.flat:
        axis, width, height = _Z, SLAB, width if kind == _CIRCLE else height
        kind = _BOX
    table: dict[str, Any] = {
        "center": list(section.vector("translation", _ZERO)),
        "direction": list(turned((1.0, 0.0, 0.0), axis, angle)),
        "speed": section.number("velocity", 1.0),
        "start": max(section.number("emitStartTime", 0.0), 0.0),
        "material": section.text("id", DEFAULT_ID),
    }
    if setting.flat:
        table["center"][2] = 0.0
    stop = section.number("emitEndTime", 1e30)
    if stop < 1e20:
        table["stop"] = stop
    section.leave(("tag", "boundingBoxMin", "boundingBoxMax", "comment"), "notes of its editors")
    section.finish()
    if not _flows(section, table, min(width, height) if kind == _BOX else width):
        return None
    if kind == _CIRCLE:
        return {"shape": "disc", "radius": 0.5 * width * d, **table}
    size = _sides(section, table["direction"], turned(_Z, axis, angle), (width * d, height * d))
    return {"shape": "rectangle", "size": size, **table}


def _flows(section: Section, table: dict[str, Any], narrowest: int) -> bool:
    """Whether anything comes out."""
    why = None
    if table["speed"] <= 0.0:
        why = "has no speed"
    elif table.get("stop", 1e30) <= table["start"]:
        why = "ends before it starts"
    elif narrowest < 1:
        why = "is narrower than a particle"
    if why is not None:
        section.losses.add(section.place, f"{why} and was left out")
    return why is None


def _sides(
    section: Section, along: list[float], wide: Vector, size: tuple[float, float]
) -> list[float]:
    """Width and height, as a rectangle here has them: the width is level, or along x if it blows up."""
    vertical = abs(along[1]) > 1.0 - 1e-9
    level = abs(wide[0]) if vertical else 1.0 - abs(wide[1])
    if level > 1.0 - _LEVEL:
        return [size[0], size[1]]
    if level < _LEVEL:
        return [size[1], size[0]]
    section.losses.add(section.place, "is turned about its own axis; its sides are level here")
    return [size[0], size[1]]


def most_particles(used: dict[str, Made], start: int) -> int | None:
    """Of the whole scene, from those that emitters of each material may make; None if unlimited."""
    limits = [made.section.whole("maxEmitterParticles", 10_000) for made in used.values()]
    total = start + sum(max(limit, 0) for limit in limits)
    return total if used and total > 0 else None


def kill_volume(name: str, made: Made) -> dict[str, Any] | None:
    """The box whose outside is emptied, where an emitter uses particles again that left it."""
    section = made.section
    low = section.vector("emitterBoxMin", (-1.0, -1.0, -1.0))
    high = section.vector("emitterBoxMax", (1.0, 1.0, 1.0))
    if not section.switch("emitterReuseParticles"):
        return None
    if not all(a < b for a, b in zip(low, high, strict=True)):
        section.lost("emitterBoxMin", "the box is empty, so that no particle is used again")
        return None
    center = [0.5 * (a + b) for a, b in zip(low, high, strict=True)]
    size = [b - a for a, b in zip(low, high, strict=True)]
    return {"shape": "box", "center": center, "size": size, "outside": True, "materials": [name]}
