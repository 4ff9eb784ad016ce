"""glTF 2.0 scenes as one mesh: every node's mesh, where the node puts it.

Skins, morph targets and animations are not applied: the mesh is the one in the pose of its nodes.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from viscoil.core.errors import MeshError
from viscoil.geometry.meshes.gltf_accessors import accessor_shape, read_accessor, read_floats
from viscoil.geometry.meshes.gltf_document import (
    Document,
    Tree,
    get_count,
    get_list,
    get_object,
    malformed,
    open_document,
)
from viscoil.geometry.meshes.gltf_nodes import placed_meshes
from viscoil.geometry.meshes.limits import check_triangles, check_vertices
from viscoil.geometry.meshes.mesh import TriangleMesh
from viscoil.geometry.meshes.topology import fan, strip

_TRIANGLES, _STRIP, _FAN = 4, 5, 6
_MAX_PARTS = 50_000
_MAX_ATTRIBUTES = 64
_MAX_ATTRIBUTE_NUMBERS = 100_000_000
_DRACO = "KHR_draco_mesh_compression"


@dataclass(frozen=True)
class _Part:
    """A primitive of triangles, and where it goes."""

    where: str
    primitive: Tree
    pose: npt.NDArray[np.float64]
    """Affine map [m], shape (3, 4)."""
    vertices: int
    triangles: int


def read_gltf(data: bytes, folder: Path) -> TriangleMesh:
    """Colours are the attribute "color", and _NAME becomes "name"."""
    document = open_document(data, folder)
    parts = _parts(document)
    vertices = np.empty((sum(p.vertices for p in parts), 3))
    faces = np.empty((sum(p.triangles for p in parts), 3), dtype=np.int32)
    attributes = _empty_attributes(document, parts, len(vertices))
    at = done = 0
    for part in parts:
        vertices[at : at + part.vertices] = _placed(document, part)
        faces[done : done + part.triangles] = _faces(document, part) + np.int32(at)
        for name, index in _attribute_accessors(part):
            values = read_floats(document, index)
            attributes[name][at : at + part.vertices, : values.shape[1]] = values
        at, done = at + part.vertices, done + part.triangles
    flat = {name: a[:, 0] if a.shape[1] == 1 else a for name, a in attributes.items()}
    return TriangleMesh(vertices, faces, flat)


def _parts(document: Document) -> list[_Part]:
    """Everything is counted before anything is made, since a small file may repeat a mesh."""
    parts: list[_Part] = []
    vertices = triangles = 0
    for mesh, pose in placed_meshes(document):
        for part in _mesh_parts(document, mesh, pose):
            parts.append(part)
            vertices += part.vertices
            triangles += part.triangles
            check_vertices(vertices)
            check_triangles(triangles)
            if len(parts) > _MAX_PARTS:
                raise MeshError(f"has more than {_MAX_PARTS} parts: join some of them")
    return parts


def _mesh_parts(document: Document, mesh: int, pose: npt.NDArray[np.float64]) -> Iterator[_Part]:
    entry = document.item("meshes", mesh)
    for i, primitive in enumerate(get_list(entry, "primitives", f"meshes[{mesh}]")):
        where = f"meshes[{mesh}].primitives[{i}]"
        if not isinstance(primitive, dict):
            raise malformed(f"{where} is no object")
        if _DRACO in get_object(primitive, "extensions", where):
            raise MeshError(
                f"{where} is compressed with Draco, which is not read: export it uncompressed"
            )
        if get_count(primitive, "mode", where, _TRIANGLES) in (_TRIANGLES, _STRIP, _FAN):
            vertices, triangles = _size(document, primitive, where)
            yield _Part(where, primitive, pose, vertices, triangles)


def _size(document: Document, primitive: Tree, where: str) -> tuple[int, int]:
    attributes = get_object(primitive, "attributes", where)
    if "POSITION" not in attributes:
        raise malformed(f"{where} has no POSITION")
    if len(attributes) > _MAX_ATTRIBUTES:
        raise MeshError(f"{where} has more than {_MAX_ATTRIBUTES} attributes: leave some out")
    vertices, width = accessor_shape(document, attributes["POSITION"])
    if width != 3:
        raise malformed(f"POSITION of {where} is no VEC3")
    corners = vertices
    if "indices" in primitive:
        corners, columns = accessor_shape(document, primitive["indices"])
        if columns != 1:
            raise malformed(f"indices of {where} are no SCALAR")
    if primitive.get("mode", _TRIANGLES) == _TRIANGLES:
        if corners % 3:
            raise malformed(f"{where} has {corners} corners, which cannot be triangles")
        return vertices, corners // 3
    return vertices, max(corners - 2, 0)


def _placed(document: Document, part: _Part) -> npt.NDArray[np.float64]:
    points = read_floats(document, part.primitive["attributes"]["POSITION"]).astype(np.float64)
    placed: npt.NDArray[np.float64] = points @ part.pose[:, :3].T + part.pose[:, 3]
    return placed


def _faces(document: Document, part: _Part) -> npt.NDArray[np.int32]:
    if "indices" in part.primitive:
        stored = read_accessor(document, part.primitive["indices"])[:, 0]
        if stored.dtype.kind != "u":
            raise malformed(f"indices of {part.where} are no unsigned integers")
    else:
        stored = np.arange(part.vertices)
    if len(stored) and int(stored.max()) >= part.vertices:
        raise MeshError(
            f"{part.where} refers to vertex {stored.max()} but has {part.vertices}, counted from "
            "0: repair or export the mesh again"
        )
    faces = _triangles(stored.astype(np.int32), part.primitive.get("mode", _TRIANGLES))
    # § 3.7.4: a node that mirrors turns its triangles around.
    mirrored = np.linalg.det(part.pose[:, :3]) < 0
    return faces[:, ::-1] if mirrored else faces


def _triangles(corners: npt.NDArray[np.int32], mode: int) -> npt.NDArray[np.int32]:
    if mode == _STRIP:
        return strip(corners)
    return fan(corners, np.array([len(corners)]))[0] if mode == _FAN else corners.reshape(-1, 3)


def _attribute_accessors(part: _Part) -> Iterator[tuple[str, object]]:
    for name, index in part.primitive["attributes"].items():
        if name == "COLOR_0":
            yield "color", index
        elif name.startswith("_") and len(name) > 1 and name.lower() != "_color":
            yield name[1:].lower(), index


def _empty_attributes(
    document: Document, parts: list[_Part], count: int
) -> dict[str, npt.NDArray[np.float32]]:
    """Where a part has none, a colour is white and any other attribute not a number."""
    widths: dict[str, int] = {}
    for part in parts:
        for name, index in _attribute_accessors(part):
            rows, width = accessor_shape(document, index)
            if rows != part.vertices:
                raise malformed(f'{part.where} has {rows} rows of "{name}" for its vertices')
            widths[name] = max(width, widths.get(name, 0))
    if len(widths) > _MAX_ATTRIBUTES or count * sum(widths.values()) > _MAX_ATTRIBUTE_NUMBERS:
        raise MeshError("has too many attributes on its vertices: leave some out")
    return {
        name: np.full((count, width), 1 if name == "color" else np.nan, dtype=np.float32)
        for name, width in widths.items()
    }
