"""The header of a PLY file: which elements of which properties follow, and how they are stored."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from viscoil.core.errors import MeshError
from viscoil.geometry.meshes.text import quoted

_MAX_HEADER_BYTES = 256 << 10
_MAX_PROPERTIES = 1000
_END = b"end_header"
INDEX_NAMES = ("vertex_indices", "vertex_index")
_FORMATS = {b"ascii": "", b"binary_little_endian": "<", b"binary_big_endian": ">"}
_TYPES = {
    b"char": "i1", b"uchar": "u1", b"short": "i2", b"ushort": "u2", b"int": "i4", b"uint": "u4",
    b"float": "f4", b"double": "f8",
    b"int8": "i1", b"uint8": "u1", b"int16": "i2", b"uint16": "u2", b"int32": "i4", b"uint32": "u4",
    b"float32": "f4", b"float64": "f8",
}  # fmt: skip


@dataclass(frozen=True)
class Property:
    """A number, or a list of numbers if `count` is the type of its length."""

    name: str
    type: str
    count: str | None = None


@dataclass(frozen=True)
class Element:
    """A table of `count` rows."""

    name: str
    count: int
    properties: tuple[Property, ...]

    @property
    def has_lists(self) -> bool:
        return any(p.count is not None for p in self.properties)

    def record(self, order: str = "=") -> np.dtype[Any]:
        """The row of an element without lists; fields are numbered, since names may be anything."""
        return np.dtype([(f"{i}", order + p.type) for i, p in enumerate(self.properties)])


@dataclass(frozen=True)
class Header:
    order: str
    """Byte order of a binary file, < or >; empty for text."""
    elements: tuple[Element, ...]
    size: int
    """Bytes up to where the elements begin."""
    lines: int

    def least_bytes(self) -> int:
        """Bytes that a file with this header has at least, if its faces are triangles."""
        if not self.order:
            return self.size
        return self.size + sum(
            e.count * sum(map(_least_bytes, e.properties)) for e in self.elements
        )


def _least_bytes(p: Property) -> int:
    if p.count is None:
        return int(p.type[1:])
    return int(p.count[1:]) + (3 * int(p.type[1:]) if p.name in INDEX_NAMES else 0)


def is_whole(path: Path) -> bool:
    """Whether a surface of triangles is a PLY file and not cut off, by its header and its size."""
    with open(path, "rb") as file:
        try:
            header = read_header(file.read(_MAX_HEADER_BYTES))
        except MeshError:
            return False
        return os.fstat(file.fileno()).st_size >= header.least_bytes()


def read_header(data: bytes) -> Header:
    """Comments and obj_info are skipped."""
    lines, size = _header_lines(data)
    order: str | None = None
    elements: list[tuple[bytes, int, list[Property]]] = []
    for number, text in enumerate(lines[1:], start=2):
        words = text.split()
        if not words or words[0] in (b"comment", b"obj_info", _END):
            continue
        if words[0] == b"format" and len(words) >= 2 and words[1] in _FORMATS:
            order = _FORMATS[words[1]]
        elif words[0] == b"element" and len(words) == 3 and _is_count(words[2]):
            elements.append((words[1], int(words[2]), []))
        elif words[0] == b"property" and elements:
            elements[-1][2].append(_property(words, number))
        else:
            raise _not_understood(number, text)
    if order is None:
        raise MeshError("has no format line in its header: export it again")
    made = tuple(_element(*element) for element in elements)
    return Header(order, made, size, len(lines))


def _header_lines(data: bytes) -> tuple[list[bytes], int]:
    head = data[:_MAX_HEADER_BYTES]
    at = head.find(b"\n" + _END)
    at = head.find(b"\r" + _END) if at < 0 else at
    if at < 0 or not head.startswith(b"ply"):
        raise MeshError(
            'has no PLY header from "ply" to "end_header": it is damaged or no PLY file'
        )
    size = at + 1 + len(_END)
    # Spaces may follow; bytes of the first element could look like a line end, so only one is cut.
    while head[size : size + 1] in (b" ", b"\t"):
        size += 1
    newline = b"\r\n" if b"\r\n" in head[:at] or b"\n" not in head[:at] else b"\n"
    if head[size : size + 2] == b"\r\n" == newline:
        size += 2
    elif head[size : size + 1] in (b"\n", b"\r"):
        size += 1
    return head[:size].replace(b"\r\n", b"\n").replace(b"\r", b"\n").rstrip(b"\n").split(
        b"\n"
    ), size


def _is_count(word: bytes) -> bool:
    return word.isdigit() and len(word) <= 20


def _property(words: list[bytes], line: int) -> Property:
    if len(words) == 3 and words[1] in _TYPES:
        return Property(_name(words[2]), _TYPES[words[1]])
    is_list = len(words) == 5 and words[1] == b"list" and words[2] in _TYPES and words[3] in _TYPES
    if is_list and _TYPES[words[2]][0] != "f":
        return Property(_name(words[4]), _TYPES[words[3]], _TYPES[words[2]])
    raise _not_understood(line, b" ".join(words))


def _element(name: bytes, count: int, properties: list[Property]) -> Element:
    names = [p.name for p in properties]
    if len(set(names)) != len(names) or len(names) > _MAX_PROPERTIES:
        raise MeshError(
            f"has the same property twice, or more than {_MAX_PROPERTIES}, in its element "
            f"{quoted(name)}: export it again"
        )
    return Element(_name(name), count, tuple(properties))


def _name(word: bytes) -> str:
    return word[:256].decode("utf-8", "replace")


def _not_understood(line: int, text: bytes) -> MeshError:
    return MeshError(f"line {line}: {quoted(text)} is not understood in a PLY header: repair it")
