"""GLB out of a mesh: one node, one primitive, float positions and attributes."""

import json
import struct
from typing import Any

import numpy as np
import numpy.typing as npt

from viscoil.core.errors import MeshError
from viscoil.geometry.meshes.mesh import TriangleMesh

_FLOAT, _UNSIGNED = 5126, 5125
_TYPES = {1: "SCALAR", 2: "VEC2", 3: "VEC3", 4: "VEC4"}


def glb_bytes(mesh: TriangleMesh) -> bytes:
    """Attribute "name" is written as _NAME, as Blender does, and "color" as COLOR_0."""
    arrays = {"POSITION": mesh.vertices}
    for name, values in mesh.attributes.items():
        arrays["COLOR_0" if name == "color" else f"_{name.upper()}"] = values
    packed = {name: _packed(name, values) for name, values in arrays.items()}
    indices = mesh.faces.astype("<u4").reshape(-1, 1)
    stored = [*packed.values(), indices]
    tree = {
        "asset": {"version": "2.0", "generator": "viscoil"},
        "scene": 0,
        "scenes": [{"nodes": [0]}],
        "nodes": [{"mesh": 0}],
        "meshes": [
            {
                "primitives": [
                    {
                        "attributes": {name: i for i, name in enumerate(packed)},
                        "indices": len(packed),
                    }
                ]
            }
        ],
        "buffers": [{"byteLength": sum(array.nbytes for array in stored)}],
        "bufferViews": _views(stored),
        "accessors": [_accessor(i, array) for i, array in enumerate(stored)],
    }
    points = packed["POSITION"]
    if len(points):
        bounds = {"min": points.min(axis=0).tolist(), "max": points.max(axis=0).tolist()}
        tree["accessors"][0] |= bounds  # type: ignore[index]
    return _container(json.dumps(tree).encode(), b"".join(array.tobytes() for array in stored))


def _packed(name: str, values: npt.NDArray[Any]) -> npt.NDArray[np.float32]:
    with np.errstate(over="ignore"):
        packed = values.reshape(len(values), -1).astype("<f4")
    if packed.shape[1] not in _TYPES:
        raise MeshError(f'cannot have more than 4 numbers for "{name}" in GLB: write PLY')
    if name == "POSITION" and not np.isfinite(packed).all():
        raise MeshError("has coordinates that are too large for single precision: write PLY")
    return packed


def _views(stored: list[npt.NDArray[Any]]) -> list[dict[str, int]]:
    starts = np.cumsum([0, *(array.nbytes for array in stored)]).tolist()
    return [
        {"buffer": 0, "byteOffset": start, "byteLength": array.nbytes}
        for start, array in zip(starts, stored, strict=False)
    ]


def _accessor(view: int, array: npt.NDArray[Any]) -> dict[str, Any]:
    kind = _FLOAT if array.dtype.kind == "f" else _UNSIGNED
    width = _TYPES[array.shape[1]]
    return {"bufferView": view, "componentType": kind, "count": len(array), "type": width}


def _container(text: bytes, binary: bytes) -> bytes:
    text += b" " * (-len(text) % 4)
    binary += b"\0" * (-len(binary) % 4)
    size = 12 + 8 + len(text) + 8 + len(binary)
    head = struct.pack("<4sII", b"glTF", 2, size)
    chunks = struct.pack("<I4s", len(text), b"JSON") + text
    return head + chunks + struct.pack("<I4s", len(binary), b"BIN\0") + binary
