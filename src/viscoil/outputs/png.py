"""PNG pictures, 8-bit RGB: what the preview writes and the video reads back.

Written from the PNG specification (ISO/IEC 15948). Each row is stored as its difference from the
row above (filter type 2), which suits smooth pictures and decodes as one running sum.
"""

import os
import struct
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from viscoil.core.errors import RunError
from viscoil.core.files import reporting, write_whole
from viscoil.snapshots.snapshot import Array

SIGNATURE = b"\x89PNG\r\n\x1a\n"
UP = 2  # filter type
RGB = 2  # colour type


class PngError(ValueError):
    """Bytes that are not a whole picture of the kind written here."""


def encode_png(picture: Array) -> bytes:
    """The PNG file of a picture (height, width, 3) uint8, top row first."""
    if picture.ndim != 3 or picture.shape[2] != 3 or picture.dtype != np.uint8:
        raise ValueError(f"a picture is (height, width, 3) uint8, not {picture.shape}")
    height, width, _ = picture.shape
    rows = np.empty((height, 1 + 3 * width), dtype=np.uint8)
    rows[:, 0] = UP
    flat = picture.reshape(height, 3 * width)
    rows[0, 1:] = flat[0]
    rows[1:, 1:] = flat[1:] - flat[:-1]
    header = struct.pack(">IIBBBBB", width, height, 8, RGB, 0, 0, 0)
    chunks = [
        (b"IHDR", header),
        (b"sRGB", b"\x00"),
        (b"IDAT", zlib.compress(rows.tobytes(), 6)),
        (b"IEND", b""),
    ]
    return SIGNATURE + b"".join(_chunk(kind, data) for kind, data in chunks)


def decode_png(data: bytes) -> Array:
    """The picture in a PNG file that `encode_png` made; PngError for anything else."""
    chunks = _whole_chunks(data)
    width, height, *rest = struct.unpack(">IIBBBBB", chunks[0][1])
    if rest != [8, RGB, 0, 0, 0]:
        raise PngError("not 8-bit RGB")
    try:
        raw = zlib.decompress(b"".join(body for kind, body in chunks if kind == b"IDAT"))
    except zlib.error as error:
        raise PngError("damaged") from error
    if len(raw) != height * (1 + 3 * width):
        raise PngError("of the wrong length")
    rows = np.frombuffer(raw, dtype=np.uint8).reshape(height, 1 + 3 * width)
    if np.any(rows[:, 0] != UP):
        raise PngError("written by another program")
    return np.cumsum(rows[:, 1:], axis=0, dtype=np.uint8).reshape(height, width, 3)


def picture_size(data: bytes) -> tuple[int, int]:
    """Width and height of any program's PNG file, in pixels; PngError if it is not whole."""
    width, height = struct.unpack_from(">II", _whole_chunks(data)[0][1])
    return width, height


def is_whole(path: Path) -> bool:
    """Whether a file is a PNG picture and not cut off, by its first and its last bytes alone."""
    end = _chunk(b"IEND", b"")
    with open(path, "rb") as file:
        first = file.read(len(SIGNATURE))
        size = file.seek(0, os.SEEK_END)
        file.seek(max(0, size - len(end)))
        return first == SIGNATURE and file.read() == end


def _whole_chunks(data: bytes) -> list[tuple[bytes, bytes]]:
    """Kinds and bodies of the chunks of a file that has all that a picture needs."""
    if not data.startswith(SIGNATURE):
        raise PngError("not a PNG file")
    chunks = list(_chunks(data))
    if not chunks or chunks[0][0] != b"IHDR" or chunks[-1][0] != b"IEND":
        raise PngError("truncated")
    if len(chunks[0][1]) != 13 or not any(kind == b"IDAT" for kind, _ in chunks):
        raise PngError("damaged")
    return chunks


def write_png(path: Path | str, picture: Array) -> None:
    """Writes a picture; the file appears only once it is whole."""
    with write_whole(Path(path)) as file:
        file.write(encode_png(picture))


def read_png(path: Path | str) -> Array:
    """Reads a picture that `write_png` wrote, or raises RunError."""
    with telling_of(Path(path)):
        return decode_png(Path(path).read_bytes())


@contextmanager
def telling_of(path: Path) -> Iterator[None]:
    """Turns what is wrong with a picture into a sentence for the user."""
    try:
        with reporting(path):
            yield
    except PngError as error:
        raise RunError(
            f"the picture {path} cannot be used ({error}): make it again, or remove it"
        ) from error


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def _chunks(data: bytes) -> Iterator[tuple[bytes, bytes]]:
    """Kinds and bodies of the chunks, each checked against its checksum."""
    at = len(SIGNATURE)
    while at < len(data):
        if at + 12 > len(data):
            raise PngError("truncated")
        length = struct.unpack_from(">I", data, at)[0]
        end = at + 12 + length
        if end > len(data):
            raise PngError("truncated")
        kind, body = data[at + 4 : at + 8], data[at + 8 : end - 4]
        if struct.unpack_from(">I", data, end - 4)[0] != zlib.crc32(kind + body):
            raise PngError("damaged")
        yield kind, body
        at = end
