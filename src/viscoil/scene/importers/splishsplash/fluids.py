"""Bodies of fluid: blocks of particles, particle files and meshes."""

from pathlib import Path
from typing import Any

from viscoil.scene.importers.geometry import Geometry, Vector
from viscoil.scene.importers.splishsplash.configuration import Setting
from viscoil.scene.importers.splishsplash.document import Section
from viscoil.scene.importers.splishsplash.files import found, placed

DEFAULT_ID = "Fluid"
SLAB = 4  # particles across a scene of two dimensions
_ONES: Vector = (1.0, 1.0, 1.0)
_ZERO: Vector = (0.0, 0.0, 0.0)


def read_block(section: Section, setting: Setting) -> dict[str, Any] | None:
    """A block as a box; its outer particles lie a spacing inside of its faces, as they do there."""
    d = setting.spacing
    start, end = section.vector("start", _ZERO), section.vector("end", _ZERO)
    scale, shift = section.vector("scale", _ONES), section.vector("translation", _ZERO)
    center: list[float] = []
    size: list[float] = []
    for axis in range(3):
        low = scale[axis] * start[axis] + shift[axis]
        length = scale[axis] * (end[axis] - start[axis])
        count = round(length / d) - 1
        if setting.flat and axis == 2:
            low, count = -0.5 * (SLAB + 1) * d, SLAB
        if count < 1:
            section.losses.add(section.place, "is too thin for a particle and was left out")
            return None
        center.append(low + 0.5 * (count + 1) * d)
        size.append(count * d)
    table = {"shape": "box", "center": center, "size": size, **_common(section)}
    if section.whole("denseMode", 0) != 0:
        section.lost("denseMode", "the particles start on a cubic lattice instead")
    section.finish()
    return table


def particle_count(table: dict[str, Any], spacing: float) -> int:
    """Of a block that was read."""
    x, y, z = (round(length / spacing) for length in table["size"])
    return int(x * y * z)


def read_model(
    section: Section, folder: Path, geometry: Geometry, setting: Setting
) -> tuple[dict[str, Any], int]:
    """A particle file or a mesh that is filled, and how many particles it has (0 if a mesh)."""
    if setting.flat:
        raise section.refused("is a body of three dimensions in a scene of two: remove one of them")
    path = found(section, "particleFile", folder)
    scale = section.vector("scale", _ONES)
    table: dict[str, Any] = {"shape": "particles", "file": "", **placed(section)}
    count = 0
    if path.suffix.lower() == ".obj":
        table["shape"] = "mesh"
        even = scale[0] == scale[1] == scale[2] > 0.0
        table["file"] = geometry.reference(path) if even else geometry.stretched(path, scale)
        geometry.outline(path)
        if even:
            table["scale"] = scale[0]
        if section.switch("invert"):
            raise section.refused("fills the outside of a mesh, which Viscoil cannot do")
        section.leave(("resolutionSDF", "denseMode", "mode"), "the mesh is filled with a lattice")
    else:
        if len(set(scale)) > 1:
            section.lost("scale", "only its first number counts for a particle file, as there")
        if scale[0] <= 0.0:
            raise section.bad("scale", "must be greater than 0")
        table |= {"file": geometry.reference(path), "scale": scale[0]}
        count = geometry.particles(path)
    table |= _common(section)
    section.finish()
    return table, count


def _common(section: Section) -> dict[str, Any]:
    """What blocks and models share."""
    table: dict[str, Any] = {"material": section.text("id", DEFAULT_ID)}
    if "initialVelocity" in section:
        table["velocity"] = list(section.vector("initialVelocity", _ZERO))
    if "initialAngularVelocity" in section:
        table["angular_velocity"] = list(section.vector("initialAngularVelocity", _ZERO))
    section.leave(("tag", "boundingBoxMin", "boundingBoxMax", "comment"), "notes of its editors")
    section.leave(("visMesh",), "a mesh that is only drawn")
    return table
