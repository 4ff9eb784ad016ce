"""glTF 2.0 files as a JSON tree and buffers of bytes, with getters that refuse what is malformed.

Everything in the tree is checked when it is used, because anything may stand anywhere.
"""

import base64
import binascii
import json
import math
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


class Document:
    """The JSON tree of a file, and its buffers, which are loaded when first asked for."""

    def __init__(self, tree: Tree, binary: memoryview | None, folder: Path) -> None:
        self.tree = tree
        self._binary = binary
        self._folder = folder
        self._buffers: dict[int, memoryview] = {}
        self._loaded = 0

    def item(self, kind: str, index: object) -> Tree:
        """Entry of one of the lists at the top, such as `accessors`."""
        entries = self.items(kind)
        if type(index) is not int or not 0 <= index < len(entries):
            raise malformed(f"{kind}[{_show(index)}] is asked for but there are {len(entries)}")
        entry = entries[index]
        if not isinstance(entry, dict):
            raise malformed(f"{kind}[{index}] is no object")
        return entry

    def items(self, kind: str) -> list[Any]:
        return get_list(self.tree, kind, "the file")

    def buffer(self, index: object) -> memoryview:
        entry = self.item("buffers", index)
        assert isinstance(index, int)
        if index not in self._buffers:
            self._buffers[index] = self._load(entry, index)
        return self._buffers[index]

    def _load(self, entry: Tree, index: int) -> memoryview:
        size = get_count(entry, "byteLength", f"buffers[{index}]")
        data = self._content(entry.get("uri"), index)
        if len(data) < size:
            raise MeshError(
                f"buffers[{index}] should have {size} bytes but has {len(data)}: "
                "the file is cut off, so export it again"
            )
        self._loaded += len(data)
        if self._loaded > MAX_FILE_BYTES:
            raise MeshError(
                f"has buffers of more than {MAX_FILE_BYTES >> 20} MiB: reduce the mesh or split it"
            )
        return memoryview(data)[:size]

    def _content(self, uri: object, index: int) -> bytes | memoryview:
        if uri is None and index == 0 and self._binary is not None:
            return self._binary
        if not isinstance(uri, str):
            raise malformed(f"buffers[{index}] has no data")
        if uri.startswith("data:"):
            return _embedded(uri, index)
        name = unquote(uri)
        path = Path(name)
        if path.is_absolute() or ".." in path.parts or ":" in name or "\0" in name:
            raise MeshError(
                f"buffers[{index}] is in another place, {_show(name)}: put it into the folder "
                "of the file, or export as GLB"
            )
        return read_bytes(self._folder / path)


def open_document(data: bytes, folder: Path) -> Document:
    """From a GLB file or from JSON; `folder` is where other files that it needs are."""
    if not data.startswith(b"glTF"):
        return Document(_parse(data), None, folder)
    text, binary = _chunks(data)
    return Document(_parse(text), binary, folder)


def _chunks(data: bytes) -> tuple[bytes, memoryview | None]:
    if len(data) < 20:
        raise MeshError(f"is {len(data)} bytes, too short for a GLB file: export it again")
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
        if kind in (_JSON_CHUNK, _BINARY_CHUNK) and kind not in found:
            found[kind] = memoryview(data)[at : at + length]
        at += length
    text = found.get(_JSON_CHUNK, memoryview(b""))
    return bytes(text[: _MAX_JSON_BYTES + 1]), found.get(_BINARY_CHUNK)


def _parse(text: bytes) -> Tree:
    if len(text) > _MAX_JSON_BYTES:
        raise MeshError(
            f"has more than {_MAX_JSON_BYTES >> 20} MiB of JSON: export it as GLB, or join objects"
        )
    # Before parsing, which takes up to 24 times as much memory as the text.
    if sum(text.count(sign) for sign in (b",", b"[", b"{")) > _MAX_JSON_VALUES:
        raise MeshError(f"has more than {_MAX_JSON_VALUES} values in its JSON: join its objects")
    try:
        tree = json.loads(text.rstrip(b"\0"), parse_int=_whole, parse_constant=_constant)
    except RecursionError:
        raise malformed("its JSON is nested too deeply") from None
    except ValueError as error:
        raise malformed(f"its JSON cannot be parsed ({error})") from None
    if not isinstance(tree, dict):
        raise malformed("its JSON is no object")
    return tree


def _whole(digits: str) -> int | float:
    """Numbers of a million digits would take Python minutes."""
    return int(digits) if len(digits) < 20 else float(digits)


def _constant(word: str) -> float:
    raise ValueError(f"{word} is no number")


def _embedded(uri: str, index: int) -> bytes:
    head, comma, content = uri.partition(",")
    try:
        if not comma or not head.endswith(";base64"):
            raise ValueError
        return base64.b64decode(unquote(content) if "%" in content else content, validate=True)
    except (ValueError, binascii.Error):
        raise malformed(f"buffers[{index}] has data that is not base64") from None


def get_list(tree: Tree, key: str, where: str) -> list[Any]:
    value = tree.get(key, [])
    if not isinstance(value, list):
        raise malformed(f"{key} of {where} is no list")
    return value


def get_object(tree: Tree, key: str, where: str) -> Tree:
    value = tree.get(key, {})
    if not isinstance(value, dict):
        raise malformed(f"{key} of {where} is no object")
    return value


def get_count(tree: Tree, key: str, where: str, default: int | None = None) -> int:
    value = tree.get(key, default)
    if type(value) is not int or value < 0:
        raise malformed(f"{key} of {where} is {_show(value)} but must be a whole number from 0")
    return value


def get_numbers(tree: Tree, key: str, count: int, where: str) -> list[float] | None:
    """A list of that many finite numbers, if it is there."""
    value = tree.get(key)
    if value is None:
        return None
    good = isinstance(value, list) and len(value) == count
    if not good or not all(type(x) in (int, float) and math.isfinite(x) for x in value):
        raise malformed(f"{key} of {where} must be {count} finite numbers")
    return [float(x) for x in value]


def malformed(what: str) -> MeshError:
    return MeshError(f"is no valid glTF, since {what}: export it again")


def _show(value: object) -> str:
    text = repr(value) if isinstance(value, (int, float, str, type(None))) else "something else"
    return text if len(text) <= 40 else f"{text[:37]}..."
