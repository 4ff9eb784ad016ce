"""PLY (Stanford polygon format), text and binary: what its elements and properties mean."""

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from viscoil.core.errors import MeshError
from viscoil.geometry.meshes.limits import check_triangles, check_vertices
from viscoil.geometry.meshes.mesh import TriangleMesh
from viscoil.geometry.meshes.ply_body import Body, Lists, open_body
from viscoil.geometry.meshes.ply_header import INDEX_NAMES, Element, read_header
from viscoil.geometry.meshes.text import Collector
from viscoil.geometry.meshes.topology import fan, strip

_COLORS = (
    ("red", "green", "blue", "alpha"),
    ("diffuse_red", "diffuse_green", "diffuse_blue", "diffuse_alpha"),
)
_NORMAL = ("nx", "ny", "nz")
_NUMBERED = re.compile(r"(.+)_(\d{1,3})")

Columns = dict[str, npt.NDArray[Any]]


def read_ply(data: bytes) -> TriangleMesh:
    """Any property of a vertex becomes an attribute; colours and normals become vectors."""
    header = read_header(data)
    body = open_body(data, header)
    columns: Columns | None = None
    faces = Collector(check_triangles)
    for element in header.elements:
        if element.name == "vertex" and columns is None:
            columns = _vertex_columns(body, element)
        elif element.has_lists:
            _read_lists(body, element, faces)
        else:
            body.table(element)
    body.finish()
    if columns is None:
        raise MeshError('has no element "vertex" with x, y and z: it is no mesh')
    vertices = np.stack([columns.pop(axis) for axis in "xyz"], axis=1).astype(np.float64)
    return TriangleMesh(vertices, faces.join(), _attributes(columns))


def _vertex_columns(body: Body, element: Element) -> Columns:
    names = [p.name for p in element.properties]
    if element.has_lists or not {"x", "y", "z"} <= set(names):
        raise MeshError("must have vertices with x, y and z and without lists: export it again")
    check_vertices(element.count)
    table = body.table(element)
    return {name: table[f"{i}"] for i, name in enumerate(names)}


def _read_lists(body: Body, element: Element, faces: Collector) -> None:
    """Faces and strips give triangles; other lists, such as edges', are passed over."""
    make: dict[str, Callable[[Lists], npt.NDArray[Any]]] = {
        "face": lambda lists: fan(*lists)[0],
        "tristrips": _strips,
    }
    lists = {p.name: p for p in element.properties if p.count is not None}
    name = next((n for n in INDEX_NAMES if n in lists), None)
    wanted = make.get(element.name) if name is not None else None
    if element.name == "face" and (name is None or lists[name].type[0] == "f"):
        raise MeshError("has faces without a list of whole numbers vertex_indices: export it again")
    for part in body.lists(element, name or next(iter(lists))):
        if wanted is not None:
            faces.add(wanted(part))


def _strips(lists: Lists) -> npt.NDArray[Any]:
    corners, counts = lists
    ends = np.cumsum(counts)
    return strip(np.insert(corners.astype(np.int64), ends, -1))


def _attributes(columns: Columns) -> Columns:
    result: Columns = {}
    for names in _COLORS:
        if all(name in columns for name in names[:3]):
            channels = [columns.pop(name) for name in names if name in columns]
            result.setdefault("color", np.stack([_unit(c) for c in channels], axis=1))
    if all(name in columns for name in _NORMAL):
        result["normal"] = np.stack([_native(columns.pop(name)) for name in _NORMAL], axis=1)
    for base, parts in _numbered(columns).items():
        result.setdefault(base, np.stack([_native(columns.pop(name)) for name in parts], axis=1))
    for name, values in columns.items():
        result.setdefault(name, _native(values))
    return result


def _unit(channel: npt.NDArray[Any]) -> npt.NDArray[np.float32]:
    """Whole numbers run from 0 to the largest of their type, others from 0 to 1."""
    scale = np.iinfo(channel.dtype).max if channel.dtype.kind in "iu" else 1
    return (channel / np.float32(scale)).astype(np.float32)


def _native(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    return values.astype(values.dtype.newbyteorder("="))


def _numbered(columns: Columns) -> dict[str, list[str]]:
    """Names that are counted, flow_0, flow_1, …, are the components of a vector flow."""
    found: dict[str, list[str]] = {}
    for name in columns:
        match = _NUMBERED.fullmatch(name)
        if match:
            found.setdefault(match[1], []).append(name)
    counted = {base: [f"{base}_{i}" for i in range(len(names))] for base, names in found.items()}
    return {
        base: names
        for base, names in counted.items()
        if len(names) > 1 and set(names) == set(found[base]) and base not in columns
    }
