"""Rigid bodies as colliders: boxes where the mesh is one, meshes otherwise."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from viscoil.scene.importers.geometry import Geometry, Outline, Vector
from viscoil.scene.importers.splishsplash.configuration import Setting
from viscoil.scene.importers.splishsplash.document import Section
from viscoil.scene.importers.splishsplash.files import found, placed, turn, turned

_ONES: Vector = (1.0, 1.0, 1.0)
_ZERO: Vector = (0.0, 0.0, 0.0)
_SHAPES = (
    "collisionObjectType", "collisionObjectScale", "collisionObjectFileName", "invertSDF",
    "testMesh", "thicknessSDF", "resolutionSDF",
)  # fmt: skip


@dataclass
class Body:
    """A collider, and what a motor needs to know of it."""

    id: int
    """Its number in the JSON."""
    table: dict[str, Any]
    origin: Vector
    """What keyframes turn it about, m."""


def read_body(
    section: Section, folder: Path, geometry: Geometry, setting: Setting, sticky: bool, index: int
) -> Body:
    """One entry of RigidBodies."""
    path = found(section, "geometryFile", folder)
    outline, scale = geometry.outline(path), section.vector("scale", _ONES)
    if 0.0 in scale:
        raise section.bad("scale", "must not be 0")
    invert = section.switch("mapInvert")
    wall = section.switch("isWall")
    hollow = invert or (setting.walls_by_particles and wall and outline.is_closed)
    if setting.flat and not outline.is_box:
        raise section.refused(
            "cuts a mesh in a scene of two dimensions, where only boxes can be carried over"
        )
    if outline.is_box:
        table = _box(section, outline, scale, hollow)
    else:
        table = _mesh(section, path, geometry, scale)
        # boundary particles act on both sides of a surface
        table["mode"] = _mode(hollow, setting.walls_by_particles and not outline.is_closed)
    table["contact"] = "sticky" if sticky else "slip"
    table["visible"] = not wall
    if section.switch("isDynamic"):
        _make_dynamic(section, table, hollow)
    number = section.whole("id", index)
    _leave(section)
    x, y, z = table["center"]
    return Body(number, table, (x, y, z))


def _middle(section: Section, outline: Outline, scale: Vector) -> Vector:
    """Of the box around the mesh, where it stands."""
    local = [0.5 * s * (a + b) for s, a, b in zip(scale, outline.low, outline.high, strict=True)]
    x, y, z = turned((local[0], local[1], local[2]), *turn(section))
    shift = section.vector("translation", _ZERO)
    return x + shift[0], y + shift[1], z + shift[2]


def _box(section: Section, outline: Outline, scale: Vector, hollow: bool) -> dict[str, Any]:
    sides = zip(scale, outline.low, outline.high, strict=True)
    size = [abs(s) * (b - a) for s, a, b in sides]
    table: dict[str, Any] = {"shape": "box", **placed(section), "size": size}
    table["center"] = list(_middle(section, outline, scale))
    return table | ({"container": True} if hollow else {})


def _mesh(section: Section, path: Path, geometry: Geometry, scale: Vector) -> dict[str, Any]:
    table: dict[str, Any] = {"shape": "mesh", "file": "", **placed(section)}
    if scale[0] == scale[1] == scale[2] > 0.0:
        return table | {"file": geometry.reference(path), "scale": scale[0]}
    return table | {"file": geometry.stretched(path, scale)}


def _mode(hollow: bool, thin: bool) -> str:
    if hollow:
        return "container"
    return "shell" if thin else "solid"


def _make_dynamic(section: Section, table: dict[str, Any], hollow: bool) -> None:
    if hollow:
        section.lost("isDynamic", "a body that holds the fluid inside cannot move freely here")
        return
    table["dynamic"] = True
    table["density"] = section.positive("density", 1000.0)
    if "velocity" in section:
        table["velocity"] = list(section.vector("velocity", _ZERO))
    if "angularVelocity" in section:
        table["angular_velocity"] = list(section.vector("angularVelocity", _ZERO))
    if "restitution" in section:
        table["restitution"] = min(max(section.number("restitution", 0.0), 0.0), 1.0)


def _leave(section: Section) -> None:
    if section.number("mapThickness", 0.0) != 0.0:
        section.lost("mapThickness", "the surface is where the mesh is")
    if section.switch("isAnimated"):
        section.lost("isAnimated", "it stands still: the script that moves it is not carried over")
    if section.number("friction", 0.0) != 0.0:
        section.lost("friction", "friction among bodies only; here it would rub on the fluid too")
    section.leave(("friction", "restitution", "velocity", "density"), "for bodies that move freely")
    section.leave(("mapResolution", "samplingMode", "tubeMapOrder", "particleFile"),
                  "how walls are sampled; a distance field is made instead")  # fmt: skip
    section.leave(_SHAPES, "shapes for contact among bodies; the collider's own is used")
    section.leave(("color",), "colliders have no colour of their own")
    section.leave(("tag", "boundingBoxMin", "boundingBoxMax", "comment"), "notes of its editors")
    section.finish()
