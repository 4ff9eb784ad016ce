"""Writes a mesh to a file, in the format that its extension names."""

import struct
from collections.abc import Callable
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from viscoil.core.errors import MeshError
from viscoil.geometry.meshes.files import write_bytes
from viscoil.geometry.meshes.gltf_writing import glb_bytes
from viscoil.geometry.meshes.mesh import TriangleMesh
from viscoil.geometry.meshes.reading import printable
from viscoil.geometry.meshes.triangles import unit_normals

_PLY_TYPES = {
    "i1": "char", "u1": "uchar", "i2": "short", "u2": "ushort", "i4": "int", "u4": "uint",
    "f4": "float", "f8": "double",
}  # fmt: skip


def write_mesh(path: str | PathLike[str], mesh: TriangleMesh) -> None:
    """OBJ, PLY, OFF keep every bit of the positions; STL and GLB store them in single precision.

    PLY and GLB keep all attributes, OBJ and OFF colours only, STL none.
    """
    file = Path(path)
    writer = _WRITERS.get(file.suffix.lower())
    try:
        if writer is None:
            raise MeshError(f"cannot be written in this format: use one of {', '.join(_WRITERS)}")
        write_bytes(file, writer(mesh))
    except MeshError as error:
        raise MeshError(printable(f"mesh {file}: {error}")) from None


def _obj(mesh: TriangleMesh) -> bytes:
    points = _lines(_with_colors(mesh), "v ")
    return (points + _lines(mesh.faces + 1, "f ")).encode()


def _off(mesh: TriangleMesh) -> bytes:
    head = "COFF" if _has_colors(mesh) else "OFF"
    counts = f"{head}\n{len(mesh.vertices)} {len(mesh.faces)} 0\n"
    return (counts + _lines(_with_colors(mesh)) + _lines(mesh.faces, "3 ")).encode()


def _with_colors(mesh: TriangleMesh) -> npt.NDArray[np.float64]:
    if not _has_colors(mesh):
        return mesh.vertices
    return np.column_stack((mesh.vertices, mesh.attributes["color"][:, :3]))


def _has_colors(mesh: TriangleMesh) -> bool:
    colors = mesh.attributes.get("color")
    return colors is not None and colors.ndim == 2 and colors.shape[1] >= 3


def _lines(rows: npt.NDArray[Any], head: str = "") -> str:
    """Python's shortest text that gives the same number back."""
    return "".join(f"{head}{' '.join(map(repr, row))}\n" for row in rows.tolist())


def _stl(mesh: TriangleMesh) -> bytes:
    record = np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("attribute", "<u2")])
    rows = np.zeros(len(mesh.faces), dtype=record)
    with np.errstate(all="ignore"):
        rows["normal"] = unit_normals(mesh.triangles)
        rows["corners"] = mesh.triangles
    if not np.isfinite(rows["corners"]).all():
        raise MeshError("has coordinates that are too large for single precision: write PLY")
    # Not "solid", with which text files start.
    head = b"binary STL of viscoil".ljust(80)
    return head + struct.pack("<I", len(rows)) + bytes(rows.tobytes())


def _ply(mesh: TriangleMesh) -> bytes:
    columns = {axis: mesh.vertices[:, i] for i, axis in enumerate("xyz")}
    for name, values in mesh.attributes.items():
        columns |= _ply_columns(name, values)
    kinds = {name: _ply_kind(name, column) for name, column in columns.items()}
    table = np.empty(len(mesh.vertices), [(f"{i}", "<" + k) for i, k in enumerate(kinds.values())])
    for i, column in enumerate(columns.values()):
        table[f"{i}"] = column
    faces = np.empty(len(mesh.faces), [("count", "u1"), ("corners", "<i4", 3)])
    faces["count"], faces["corners"] = 3, mesh.faces
    properties = "".join(f"property {_PLY_TYPES[k]} {name}\n" for name, k in kinds.items())
    head = (
        f"ply\nformat binary_little_endian 1.0\nelement vertex {len(table)}\n{properties}"
        f"element face {len(faces)}\nproperty list uchar int vertex_indices\nend_header\n"
    )
    return head.encode() + table.tobytes() + faces.tobytes()


def _ply_columns(name: str, values: npt.NDArray[Any]) -> dict[str, npt.NDArray[Any]]:
    if values.ndim == 1:
        return {name: values}
    width = values.shape[1]
    names = [f"{name}_{i}" for i in range(width)]
    if name == "color" and width in (3, 4) and values.dtype.kind == "f":
        names = ["red", "green", "blue", "alpha"][:width]
    elif name == "normal" and width == 3:
        names = ["nx", "ny", "nz"]
    return {names[i]: values[:, i] for i in range(width)}


def _ply_kind(name: str, column: npt.NDArray[Any]) -> str:
    kind = column.dtype.str[1:]
    if not name or not name.isprintable() or " " in name:
        raise MeshError(f'cannot have an attribute "{name}" in PLY: give it a name without spaces')
    return kind if kind in _PLY_TYPES else "f8"


_WRITERS: dict[str, Callable[[TriangleMesh], bytes]] = {
    ".obj": _obj,
    ".ply": _ply,
    ".stl": _stl,
    ".off": _off,
    ".glb": glb_bytes,
}
