"""glTF 2.0 scenes as one mesh: every node's mesh, where the node puts it.

trimesh decodes arrays and the transforms of nodes, from a tree that `gltf_tree` has reduced to what a
mesh needs. Skins, morph targets and animations are not applied: the mesh is the one in the pose of
its nodes.
"""

import io
import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from viscoil.geometry.meshes.gltf_document import Tree, buffer_bytes, open_document
from viscoil.geometry.meshes.gltf_tree import reduced
from viscoil.geometry.meshes.library import refusing, trimesh_module
from viscoil.geometry.meshes.mesh import TriangleMesh


def read_gltf(data: bytes, folder: Path) -> TriangleMesh:
    """Colours are the attribute "color", and _NAME becomes "name"."""
    with refusing("glTF"):
        whole, binary = open_document(data)
        tree = reduced(whole)
        buffers = buffer_bytes(whole, binary, folder)
        tree["buffers"] = [{"uri": name} for name in buffers]
        text = io.BytesIO(json.dumps(tree).encode())
        load = trimesh_module("exchange.gltf").load_gltf
        loaded = load(text, resolver=buffers, skip_materials=True)
        primitives = [p for mesh in tree["meshes"] for p in mesh["primitives"]]
        parts = {
            name: _part(arrays, primitive, tree["accessors"])
            for (name, arrays), primitive in zip(
                loaded["geometry"].items(), primitives, strict=True
            )
        }
        return _joined(
            [parts[name].transformed(pose[:3, :3], pose[:3, 3]) for name, pose in _placed(loaded)]
        )


def _placed(loaded: Tree) -> Iterator[tuple[str, npt.NDArray[np.float64]]]:
    """Names of primitives and their poses, shape (4, 4); a node's edge comes before its children's."""
    poses: dict[str, npt.NDArray[np.float64]] = {}
    for edge in loaded["graph"]:
        pose = poses.get(edge["frame_from"], np.eye(4)) @ edge["matrix"]
        poses[edge["frame_to"]] = pose
        if "geometry" in edge:
            yield edge["geometry"], pose


def _part(arrays: Tree, primitive: Tree, accessors: list[Tree]) -> TriangleMesh:
    """A primitive in its own coordinates, from what trimesh decoded of it."""
    stored = {"POSITION": arrays["vertices"], **arrays.get("vertex_attributes", {})}
    if "COLOR_0" in primitive["attributes"]:
        stored["COLOR_0"] = arrays["vertex_colors"]
    floats = {
        name: _floats(stored[name], accessors[index].get("normalized") is True)
        for name, index in primitive["attributes"].items()
    }
    points = floats.pop("POSITION")
    attributes = {"color" if k == "COLOR_0" else k[1:].lower(): v for k, v in floats.items()}
    faces = arrays["faces"]
    return TriangleMesh(points, _fan(faces) if primitive["is_fan"] else faces, attributes)


def _fan(strip: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Corners a b c d … that were taken for a strip, (a, b, c), (d, c, b), …, as (a, b, c), (a, c, d)."""
    odd = np.arange(len(strip)) % 2 == 1
    last = np.where(odd, strip[:, 0], strip[:, 2])
    first = np.broadcast_to(strip[:1, 0], last.shape)
    return np.stack((first, strip[:, 1], last), axis=1)


def _floats(stored: npt.NDArray[Any], normalized: bool) -> npt.NDArray[Any]:
    """Normalised integers as −1 to 1 or 0 to 1, glTF 2.0 § 3.6.2.2; trimesh leaves them as they are."""
    rows = stored.reshape(len(stored), -1)
    if not normalized or rows.dtype.kind == "f":
        return rows
    return np.maximum(rows / np.float32(np.iinfo(rows.dtype).max), np.float32(-1))


def _joined(parts: list[TriangleMesh]) -> TriangleMesh:
    """All parts as one; where a part has none, a colour is white and other attributes not a number."""
    starts = np.cumsum([0, *(len(part.vertices) for part in parts)]).tolist()
    vertices = _stacked((part.vertices for part in parts), np.float64)
    faces = _stacked(
        (p.faces + np.int32(start) for p, start in zip(parts, starts, strict=False)), np.int32
    )
    widths: dict[str, int] = {}
    for part in parts:
        for name, values in part.attributes.items():
            widths[name] = max(values.shape[1], widths.get(name, 0))
    attributes = {
        name: np.full((starts[-1], width), 1 if name == "color" else np.nan, dtype=np.float32)
        for name, width in widths.items()
    }
    for part, start in zip(parts, starts, strict=False):
        for name, values in part.attributes.items():
            attributes[name][start : start + len(values), : values.shape[1]] = values
    flat = {name: rows[:, 0] if rows.shape[1] == 1 else rows for name, rows in attributes.items()}
    return TriangleMesh(vertices, faces, flat)


def _stacked(arrays: Iterable[npt.NDArray[Any]], dtype: npt.DTypeLike) -> npt.NDArray[Any]:
    return np.concatenate((np.empty((0, 3), dtype=dtype), *arrays))
