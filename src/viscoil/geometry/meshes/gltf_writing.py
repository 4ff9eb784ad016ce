"""GLB out of a mesh, by trimesh: one node, one primitive, positions and attributes as floats."""

from typing import Any

import numpy as np
import numpy.typing as npt

from viscoil.core.errors import MeshError
from viscoil.geometry.meshes.library import trimesh_module
from viscoil.geometry.meshes.mesh import TriangleMesh

_COLOR = "_COLOR_0"  # trimesh would round colours to 8 bits, but not an attribute of its own name
_MAX_WIDTH = 4


def glb_bytes(mesh: TriangleMesh) -> bytes:
    """Attribute "name" is written as _NAME, as Blender does, and "color" as COLOR_0."""
    points = _packed("POSITION", mesh.vertices)
    if not np.isfinite(points).all():
        raise MeshError("has coordinates that are too large for single precision: write PLY")
    attributes = {
        _COLOR if name == "color" else f"_{name.upper()}": _packed(name, values)
        for name, values in mesh.attributes.items()
    }
    solid = trimesh_module("base").Trimesh(
        points, mesh.faces, vertex_attributes=attributes, process=False, validate=False
    )
    written: bytes = trimesh_module("exchange.gltf").export_glb(
        solid.scene(), include_normals=False, tree_postprocessor=_finish
    )
    return written


def _packed(name: str, values: npt.NDArray[Any]) -> npt.NDArray[np.float32]:
    with np.errstate(over="ignore"):
        packed = values.reshape(len(values), -1).astype("<f4")
    if packed.shape[1] > _MAX_WIDTH:
        raise MeshError(
            f'cannot have more than {_MAX_WIDTH} numbers for "{name}" in GLB: write PLY'
        )
    return packed


def _finish(tree: dict[str, Any]) -> None:
    """Names the colours, and drops the ranges of attributes: NaN, which some hold, is no JSON."""
    for mesh in tree.get("meshes", []):
        attributes = mesh["primitives"][0]["attributes"]
        if _COLOR in attributes:
            attributes["COLOR_0"] = attributes.pop(_COLOR)
        for index in set(attributes.values()) - {attributes["POSITION"]}:
            for key in ("min", "max"):
                tree["accessors"][index].pop(key, None)
