"""The names of the built-in meshes, and what is known of each without making it.

The module that makes a mesh is imported only when the mesh is asked for.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING

from viscoil.core.errors import SceneError

if TYPE_CHECKING:
    from viscoil.geometry.meshes.mesh import TriangleMesh


@dataclass(frozen=True)
class Entry:
    """A built-in mesh: what it is, and what may be relied on."""

    about: str
    """One line of what it is."""
    size: tuple[float, float, float]
    """Extent along x, y and z in m, rounded to cm; of an animated mesh at time 0."""
    module: str
    """The module beside this one with the function that makes it."""
    closed: bool = True
    """Every part has an inside: each edge is passed once in each direction."""
    animated: bool = False
    """The vertices move with time; their number and the faces stay."""
    origin: str = "middle of the base"
    """Where the origin lies in it."""


_AXIS = "on its axis, at the base"
_HOLE = "middle of the gap, at road level"

ENTRIES: dict[str, Entry] = {
    "boat": Entry("a rowing boat of planks without thickness", (1, 0.3, 1.28), "vehicles", False),
    "bone": Entry("a bone of overlapping parts", (0.4, 0.07, 0.11), "litter"),
    "bottle": Entry("an open wine bottle with a wall", (0.27, 1, 0.27), "vessels"),
    "bowl": Entry("a hemisphere open above, no thickness", (1, 0.5, 1), "vessels", False),
    "bullet": Entry("a cylinder under a pointed nose", (0.5, 1, 0.5), "shapes"),
    "bunny": Entry("a sitting rabbit", (0.81, 1, 0.45), "bunny"),
    "can": Entry("an open tin with a dent", (0.12, 0.2, 0.12), "litter"),
    "cobbles": Entry("a road of cobblestones with a gap", (2, 0.13, 1.95), "drain", origin=_HOLE),
    "cup": Entry("a mug with a wall and a handle", (1.04, 1, 0.74), "vessels", origin=_AXIS),
    "dragon": Entry(
        "a dragon that beats wings without thickness", (1, 0.63, 0.84), "dragon", False, True
    ),
    "drain-grid": Entry("bars that cover the gap", (0.59, 0.04, 0.44), "drain", origin=_HOLE),
    "drain-pit": Entry(
        "a pit below the gap with an exit pipe", (1.11, 0.75, 0.67), "drain", origin=_HOLE
    ),
    "flipped-sphere": Entry("a sphere, a third of its faces flipped", (1, 1, 1), "shapes", False),
    "garbage": Entry("a can, a bone and a plank", (0.51, 0.12, 0.42), "litter"),
    "hemisphere": Entry("a dome without a floor, no thickness", (1, 0.5, 1), "shapes", False),
    "idol": Entry("a stone figure in the basin of a fountain", (1, 1.1, 1), "idol"),
    "mobius": Entry(
        "a strip with half a twist, no thickness", (0.86, 0.3, 0.92), "shapes", False, origin=_AXIS
    ),
    "paddle-wheel": Entry(
        "a water wheel with ten paddles", (1, 0.95, 0.4), "wheel", origin="on its axis, along z"
    ),
    "plank": Entry("a board with two nails", (0.5, 0.06, 0.1), "litter"),
    "pot": Entry("a solid tea pot", (1.12, 0.64, 0.73), "vessels"),
    "spoon": Entry("a spoon that lies along x", (1, 0.12, 0.22), "vessels"),
    "tank": Entry("a battle tank of boxes, tubes and sheets", (1, 0.52, 0.5), "vehicles", False),
    "two-spheres": Entry("two spheres that overlap", (1, 0.6, 0.6), "shapes"),
    "waffle": Entry("a square waffle with pockets", (1, 0.14, 1), "waffle"),
    "waterfall": Entry(
        "a river bed that falls into a lake, no thickness", (3.2, 1.6, 2), "terrain", False
    ),
    "wine-glass": Entry("a wine glass with a wall", (0.54, 1, 0.54), "vessels"),
    "wine-glass-thin": Entry("a wine glass of no thickness", (0.54, 0.99, 0.54), "vessels", False),
}

NAMES: dict[str, str] = {name: entry.about for name, entry in ENTRIES.items()}


def is_animated(name: str) -> bool:
    """Whether the mesh depends on time."""
    return _entry(name).animated


def builtin(name: str, time: float = 0.0) -> TriangleMesh:
    """The mesh of a name at a time (s): new arrays, the same bits at each call."""
    entry = _entry(name)
    if not math.isfinite(time):
        raise SceneError(f'the mesh "{name}" at time {time}: use a finite time in seconds')
    module = import_module(f"viscoil.geometry.meshes.builtin.{entry.module}")
    make = getattr(module, name.replace("-", "_"))
    mesh: TriangleMesh = make(time) if entry.animated else make()
    return mesh


def _entry(name: str) -> Entry:
    if name not in ENTRIES:
        # Here and not above, since a scene may import this module.
        from viscoil.core.names import unknown_name

        raise SceneError(f'mesh "{name}" {unknown_name("built-in mesh", name, ENTRIES)}')
    return ENTRIES[name]
