"""glTF 2.0 files: their JSON within limits, and their buffers, from the file's own folder only."""

import base64
import json
import struct
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from viscoil.core.errors import MeshError
from viscoil.geometry.meshes.files import read_bytes
from viscoil.geometry.meshes.limits import MAX_FILE_BYTES

_MAX_JSON_BYTES = 64 << 20
_MAX_JSON_VALUES = 5_000_000
_JSON_CHUNK, _BINARY_CHUNK = 0x4E4F534A, 0x004E4942

Tree = dict[str, Any]


_NOT_READ = {
    b'"KHR_draco_mesh_compression"': "is compressed with Draco",
    b'"EXT_meshopt_compression"': "is compressed with meshopt",
    b'"KHR_meshopt_compression"': "is compressed with meshopt",
    b'"EXT_mesh_gpu_instancing"': "has meshes that are instanced on the GPU",
}


def open_document(data: bytes) -> tuple[Tree, memoryview | None]:
    """The tree of a GLB or JSON file, of which nothing is checked, and the binary part of a GLB."""
    text, binary = _chunks(data) if data.startswith(b"glTF") else (data, None)
    return _parse(text), binary


def buffer_bytes(tree: Tree, binary: memoryview | None, folder: Path) -> dict[str, memoryview]:
    """Content of all buffers, from the file itself or its folder, under the names "0", "1", …"""
    found: dict[str, memoryview] = {}
    size = 0
    for index, entry in enumerate(tree.get("buffers", [])):
        inside = binary if index == 0 and "uri" not in entry else None
        content = inside if inside is not None else _content(entry["uri"], index, folder)
        found[str(index)] = content
        if len(content) < entry["byteLength"]:
            raise MeshError(
                f"buffers[{index}] should have {entry['byteLength']} bytes but has {len(content)}: "
                "the file is cut off, so export it again"
            )
        size += len(content)
        if size > MAX_FILE_BYTES:
            raise MeshError(
                f"has buffers of more than {MAX_FILE_BYTES >> 20} MiB: reduce the mesh or split it"
            )
    return found


def _content(uri: str, index: int, folder: Path) -> memoryview:
    if uri.startswith("data:"):
        return memoryview(base64.b64decode(unquote(uri.partition(",")[2]), validate=True))
    name = unquote(uri)
    path = Path(name)
    if path.is_absolute() or ".." in path.parts or ":" in name or "\0" in name:
        raise MeshError(
            f"buffers[{index}] is in another place, {name[:40]!r}: put it into the folder of the "
            "file, or export as GLB"
        )
    return memoryview(read_bytes(folder / path))


def _chunks(data: bytes) -> tuple[bytes, memoryview | None]:
    """The JSON and the binary chunk of a GLB file."""
    version, size = struct.unpack_from("<II", data, 4)
    if version != 2:
        raise MeshError(f"is glTF version {version}, but only version 2 is read: export it again")
    if size > len(data) or data[size:].strip(b"\0 \r\n"):
        raise MeshError(
            f"says that it has {size} bytes but has {len(data)}: the file is cut off or damaged, "
            "so export it again"
        )
    found: dict[int, memoryview] = {}
    at = 12
    while at + 8 <= size:
        length, kind = struct.unpack_from("<II", data, at)
        at += 8
        if length > size - at:
            raise MeshError(
                f"has a chunk of {length} bytes at byte {at} of {size}: export it again"
            )
        found.setdefault(kind, memoryview(data)[at : at + length])
        at += length
    return bytes(found[_JSON_CHUNK][: _MAX_JSON_BYTES + 1]), found.get(_BINARY_CHUNK)


def _parse(text: bytes) -> Tree:
    if len(text) > _MAX_JSON_BYTES:
        raise MeshError(
            f"has more than {_MAX_JSON_BYTES >> 20} MiB of JSON: export it as GLB, or join objects"
        )
    # Before parsing, which takes up to 24 times as much memory as the text.
    if sum(text.count(sign) for sign in (b",", b"[", b"{")) > _MAX_JSON_VALUES:
        raise MeshError(f"has more than {_MAX_JSON_VALUES} values in its JSON: join its objects")
    for name, what in _NOT_READ.items():
        if name in text:
            raise MeshError(f"{what}, which is not read: export it without this extension")
    tree = json.loads(text.rstrip(b"\0"), parse_int=_whole, parse_constant=_constant)
    if not isinstance(tree, dict):
        raise ValueError("its JSON is no object")
    return tree


def _whole(digits: str) -> int | float:
    """Numbers of a million digits would take Python minutes."""
    return int(digits) if len(digits) < 20 else float(digits)


def _constant(word: str) -> float:
    raise ValueError(f"{word} is no number")
