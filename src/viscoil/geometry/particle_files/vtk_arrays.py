"""The data arrays of VTK's XML files, in each of the ways in which they may be written."""

import base64
import binascii
import re
import xml.etree.ElementTree as xml
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from viscoil.core.errors import ParticleFileError
from viscoil.geometry.particle_files.limits import damaged, unpacked

_TYPES = {
    "Float32": "f4", "Float64": "f8", "Int8": "i1", "UInt8": "u1", "Int16": "i2", "UInt16": "u2",
    "Int32": "i4", "UInt32": "u4", "Int64": "i8", "UInt64": "u8",
}  # fmt: skip
_MOST_BLOCKS = 1_000_000
_NO_BASE64 = re.compile(rb"[^A-Za-z0-9+/=]+")

Array = npt.NDArray[Any]


@dataclass(frozen=True)
class Encoding:
    """How the file writes numbers."""

    order: str
    """"<" for little endian, ">" for big."""
    header: str
    """Type of the numbers that say how many bytes follow, as NumPy names it."""
    packed: bool
    """Whether arrays are compressed with zlib."""


@dataclass(frozen=True)
class Appended:
    """The bytes at the end of a file that arrays point into."""

    data: bytes
    start: int
    """Where the first of them is."""
    raw: bool
    """Whether they are bytes as they are, and not base64."""


def read_array(
    array: xml.Element, count: int, encoding: Encoding, appended: Appended | None
) -> Array:
    """(count,) Numbers of a DataArray element."""
    kind = _TYPES.get(array.get("type", ""))
    if kind is None:
        raise ParticleFileError(
            f"has numbers of type {array.get('type')}: export Float32 or Float64"
        )
    layout = np.dtype(encoding.order + kind)
    style = array.get("format", "ascii")
    if style == "ascii":
        return _from_text(array.text or "", count)
    content = _inline(array) if style == "binary" else _appended(array, style, appended)
    length = count * layout.itemsize
    data = content.unpacked(encoding, length) if encoding.packed else content.plain(encoding)
    if len(data) != length:
        raise damaged(f"an array has {len(data)} bytes and not {length}")
    return np.frombuffer(data, dtype=layout)


def _from_text(text: str, count: int) -> Array:
    words = text.split()
    if len(words) != count:
        raise damaged(f"an array has {len(words)} numbers and not {count}")
    try:
        return np.array(words, dtype=np.float64)
    except ValueError:
        raise damaged("an array has text that is no number") from None


def _inline(array: xml.Element) -> "_Content":
    text = _NO_BASE64.sub(b"", (array.text or "").encode("utf-8", "replace"))
    return _Base64(text, 0)


def _appended(array: xml.Element, style: str, appended: Appended | None) -> "_Content":
    offset = array.get("offset", "")
    if style != "appended" or appended is None or not offset.isdecimal() or len(offset) > 18:
        raise damaged(f"an array of format {style!r} has no place")
    at = appended.start + int(offset)
    if at > len(appended.data):
        raise damaged("an array begins beyond the end")
    return _Raw(appended.data, at) if appended.raw else _Base64(appended.data, at)


class _Content:
    """Bytes of an array from a place in the file on; subclasses know how they are encoded."""

    def __init__(self, data: bytes, at: int) -> None:
        self.data, self.at = data, at

    def take(self, count: int) -> bytes:
        """The next bytes; a header and what follows it are encoded apart."""
        raise NotImplementedError

    def plain(self, encoding: Encoding) -> bytes:
        """A length, and as many bytes."""
        raise NotImplementedError

    def unpacked(self, encoding: Encoding, length: int) -> bytes:
        """A header with the number and sizes of blocks, then the blocks, each compressed on its own.

        Their sizes must add up to `length`, which is checked before anything is unpacked.
        """
        header = np.dtype(encoding.header)
        (blocks,) = self._peek(header, 1)
        if not 0 <= blocks <= _MOST_BLOCKS:
            raise damaged(f"an array has {blocks} blocks")
        if blocks == 0:
            return b""
        _, size, last, *packed = self._numbers(header, 3 + blocks)
        sizes = [size] * (blocks - 1) + [last or size]
        if sum(sizes) != length:
            raise damaged(f"an array unpacks to {sum(sizes)} bytes and not {length}")
        data = self.take(sum(packed))
        ends = np.cumsum(packed)
        parts = [
            unpacked(data[end - count : end], wanted + 1)
            for end, count, wanted in zip(ends.tolist(), packed, sizes, strict=True)
        ]
        return b"".join(parts)

    def _peek(self, header: "np.dtype[Any]", count: int) -> list[int]:
        at = self.at
        try:
            return self._numbers(header, count)
        finally:
            self.at = at

    def _numbers(self, header: "np.dtype[Any]", count: int) -> list[int]:
        return [int(n) for n in np.frombuffer(self.take(count * header.itemsize), dtype=header)]


class _Raw(_Content):
    def take(self, count: int) -> bytes:
        end = self.at + count
        if end > len(self.data):
            raise damaged("an array ends too early")
        self.at, start = end, self.at
        return self.data[start:end]

    def plain(self, encoding: Encoding) -> bytes:
        (length,) = self._numbers(np.dtype(encoding.header), 1)
        return self.take(length)


class _Base64(_Content):
    def take(self, count: int) -> bytes:
        letters = -(-count // 3) * 4
        if self.at + letters > len(self.data):
            raise damaged("an array ends too early")
        try:
            decoded = base64.b64decode(self.data[self.at : self.at + letters], validate=True)
        except (binascii.Error, ValueError):
            raise damaged("an array is no base64") from None
        self.at += letters
        if len(decoded) < count:
            raise damaged("an array ends too early")
        return decoded[:count]

    def plain(self, encoding: Encoding) -> bytes:
        # here the length and the bytes are encoded in one
        header = np.dtype(encoding.header)
        (length,) = self._peek(header, 1)
        return self.take(header.itemsize + length)[header.itemsize :]
