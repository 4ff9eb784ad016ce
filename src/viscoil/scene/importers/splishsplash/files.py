"""Where a table of the JSON puts a file, and where the file is."""

import math
from pathlib import Path
from typing import Any

from viscoil.core.errors import SceneError
from viscoil.scene.importers.geometry import Vector
from viscoil.scene.importers.splishsplash.document import Section

_X: Vector = (1.0, 0.0, 0.0)
_ZERO: Vector = (0.0, 0.0, 0.0)


def found(section: Section, key: str, folder: Path) -> Path:
    """The file that a key names, relative to the JSON's folder; raises SceneError without it."""
    name = section.text(key, "")
    if not name:
        raise section.refused(f"has no {key}: name a file, or remove the table")
    path = Path(name.replace("\\", "/"))
    path = path if path.is_absolute() else folder / path
    try:
        there = path.is_file()
    except (OSError, ValueError):
        there = False
    if not there:
        raise SceneError(
            f"{section.file}: {section.place}.{key} names {name[:200]!r}, which is not there: "
            "put the file beside the scene as the JSON says"
        )
    return path


def placed(section: Section) -> dict[str, Any]:
    """Centre and rotation of what the table describes."""
    table: dict[str, Any] = {"center": list(section.vector("translation", _ZERO))}
    axis, angle = turn(section)
    if angle != 0.0:
        table["rotation"] = {"axis": list(axis), "angle": angle}
    return table


def turn(section: Section, axis: Vector = _X) -> tuple[Vector, float]:
    """Axis and angle (rad) of the rotation; an axis without length turns nothing, as there."""
    axis = section.vector("rotationAxis", axis)
    angle = section.number("rotationAngle", 0.0)
    return (axis, angle) if any(axis) else (_X, 0.0)


def turned(vector: Vector, axis: Vector, angle: float) -> Vector:
    """A vector after a right-handed turn (Rodrigues)."""
    length = math.sqrt(sum(a * a for a in axis))
    x, y, z = (a / length for a in axis)
    u, v, w = vector
    cos, sin = math.cos(angle), math.sin(angle)
    along = (x * u + y * v + z * w) * (1.0 - cos)
    return (
        u * cos + (y * w - z * v) * sin + x * along,
        v * cos + (z * u - x * w) * sin + y * along,
        w * cos + (x * v - y * u) * sin + z * along,
    )
