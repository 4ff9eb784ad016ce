"""Reads a mesh from a file: which format it is, and the name of the file before what is wrong."""

import re
from collections.abc import Callable
from os import PathLike
from pathlib import Path

import numpy as np

from viscoil.core.errors import MeshError
from viscoil.geometry.meshes.files import read_bytes
from viscoil.geometry.meshes.gltf import read_gltf
from viscoil.geometry.meshes.mesh import TriangleMesh
from viscoil.geometry.meshes.obj import read_obj
from viscoil.geometry.meshes.off import is_off, read_off
from viscoil.geometry.meshes.ply import read_ply
from viscoil.geometry.meshes.stl import is_binary_stl, is_text_stl, read_stl

SUFFIXES = (".obj", ".ply", ".stl", ".off", ".glb", ".gltf")
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_LOOK_BYTES = 64 << 10
_VERTEX_LINE = re.compile(rb"^[ \t]*v[ \t]+[-+.\d]+[eE\d.+-]*[ \t]", re.MULTILINE)
_READERS: dict[str, Callable[[bytes, Path], TriangleMesh]] = {
    "obj": lambda data, folder: read_obj(data),
    "ply": lambda data, folder: read_ply(data),
    "stl": lambda data, folder: read_stl(data),
    "off": lambda data, folder: read_off(data),
    "gltf": read_gltf,
}


def read_mesh(path: str | PathLike[str]) -> TriangleMesh:
    """The mesh in a file: OBJ, PLY, STL, OFF, GLB or glTF.

    The content tells the format if it can, and otherwise the extension. Raises MeshError, one
    sentence with the name of the file, for everything that cannot be read.
    """
    file = Path(path)
    try:
        # What overflows or is no number is found when the mesh is made, and needs no warning.
        with np.errstate(all="ignore"):
            return _read(file)
    except MeshError as error:
        raise MeshError(printable(f"mesh {file}: {error}")) from None
    except MemoryError:
        raise MeshError(
            printable(f"mesh {file}: does not fit into memory: reduce the mesh or free some")
        ) from None


def _read(file: Path) -> TriangleMesh:
    data = read_bytes(file).removeprefix(_BYTE_ORDER_MARK)
    if not data:
        raise MeshError("is empty: export it again")
    kind = _recognized(data) or _by_suffix(file)
    mesh = _READERS[kind](data, file.parent)
    if not len(mesh.faces):
        raise MeshError(
            f"has {len(mesh.vertices)} vertices and no faces: export it as a mesh with triangles"
        )
    return mesh


def _by_suffix(file: Path) -> str:
    suffix = file.suffix.lower()
    if suffix not in SUFFIXES:
        raise MeshError(f"is in no format that is known: use one of {', '.join(SUFFIXES)}")
    return "gltf" if suffix == ".glb" else suffix[1:]


def _recognized(data: bytes) -> str | None:
    """The format, where the first bytes leave no doubt."""
    head = data[:_LOOK_BYTES]
    if head.startswith((b"ply\n", b"ply\r", b"ply ")):
        return "ply"
    if head.startswith(b"glTF") or (head.lstrip().startswith(b"{") and b'"asset"' in data):
        return "gltf"
    if is_off(head):
        return "off"
    if is_binary_stl(data) or (is_text_stl(data) and b"facet" in head.lower()):
        return "stl"
    if b"\0" not in head and _VERTEX_LINE.search(head):
        return "obj"
    return None


def printable(text: str) -> str:
    """Damaged files and odd file names may hold anything, but an error is one line of text."""
    return "".join(c if c.isprintable() else "�" for c in text)
