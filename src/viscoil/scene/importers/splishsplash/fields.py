"""Animation fields: those that prescribe a constant velocity in a box or a ball."""

import math
from typing import Any

from viscoil.scene.importers.geometry import Vector
from viscoil.scene.importers.splishsplash.document import Section
from viscoil.scene.importers.splishsplash.files import turn

_BOX, _SPHERE = 0, 1
_AT_ONCE = 1000.0  # 1/s: within a step the fluid has the velocity of the field
_ZERO: Vector = (0.0, 0.0, 0.0)


def read_field(section: Section) -> dict[str, Any] | None:
    """A wind so strong that the fluid takes on its velocity at once; None if it is none."""
    quantity = section.text("particleField", "velocity")
    texts = [section.text(f"expression_{axis}", "") for axis in "xyz"]
    kind = section.whole("shapeType", _BOX)
    center, scale = section.vector("translation", _ZERO), section.vector("scale", (1.0,) * 3)
    _, angle = turn(section)
    start, stop = section.number("startTime", 0.0), section.number("endTime", 1e30)
    section.finish()
    velocity = [_constant(text) for text in texts]
    why = None
    if quantity != "velocity":
        why = f"changes the {quantity}, which has no counterpart"
    elif any(v is None for v in velocity):
        why = "follows formulas, or leaves an axis free; only constant velocities are carried over"
    elif kind not in (_BOX, _SPHERE) or (kind == _BOX and angle != 0.0):
        why = "is neither a box along the axes nor a ball"
    elif stop <= max(start, 0.0):
        why = "ends before it starts"
    if why is not None:
        section.losses.add(section.place, f"{why}; it was left out")
        return None
    region: dict[str, Any] = {"shape": "box", "center": list(center), "size": [*map(abs, scale)]}
    if kind == _SPHERE:
        # its first number is the radius
        region = {"shape": "sphere", "center": list(center), "radius": abs(scale[0])}
    table = {"type": "wind", "velocity": velocity, "rate": _AT_ONCE, "start": max(start, 0.0)}
    return {**table, **({"stop": stop} if stop < 1e20 else {}), "region": region}


def _constant(text: str) -> float | None:
    """The number that an expression is; None if it is empty or more than that."""
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) else None
