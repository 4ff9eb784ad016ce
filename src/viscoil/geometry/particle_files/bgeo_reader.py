"""Classic binary geometry of Houdini (.bgeo, .bhclassic), as Partio and SPlisHSPlasH write it.

Big endian, version 5, often within gzip: ten numbers, what each point has, and then the points as
x, y, z, w and their attributes in a row. Primitives that follow are not read.
"""

import struct
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from viscoil.core.errors import ParticleFileError
from viscoil.geometry.particle_files.limits import GZIP, check_count, damaged, unpacked

_MAGIC, _NEW_FORMAT = b"BgeoV", b"\x7fNSJb"
_VERSION = 5
_FLOAT, _INTEGER, _TEXT, _VECTOR = 0, 1, 4, 5  # types of attributes
_MOST_ATTRIBUTES = 1000
_VELOCITY_NAMES = ("v", "velocity", "vel")

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class _Attribute:
    name: str
    width: int
    kind: int


class _Bytes:
    """A place in the file, never beyond its end."""

    def __init__(self, data: bytes) -> None:
        self.data, self.at = data, 0

    def numbers(self, layout: str) -> tuple[Any, ...]:
        layout = ">" + layout
        return struct.unpack(layout, self.take(struct.calcsize(layout)))

    def take(self, count: int) -> bytes:
        end = self.at + count
        if end > len(self.data):
            raise damaged("it ends too early")
        self.at, start = end, self.at
        return self.data[start:end]

    def text(self) -> str:
        (length,) = self.numbers("H")
        return self.take(length).decode("utf-8", "replace")


def is_bgeo(data: bytes) -> bool:
    """Whether the first bytes are those of binary geometry, classic or new, packed or not."""
    return data.startswith((_MAGIC, _NEW_FORMAT, GZIP))


def read_bgeo(data: bytes) -> tuple[Floats, Floats | None]:
    """Positions and, if there are any, velocities, both (n, 3), in the units of the file."""
    data = unpacked(data) if data.startswith(GZIP) else data
    if data.startswith((_NEW_FORMAT, b"[", b"{")):
        raise ParticleFileError(
            "is in Houdini's new format: save it as .bhclassic, which is the old one"
        )
    if not data.startswith(_MAGIC):
        raise damaged("it does not begin with BgeoV")
    source = _Bytes(data)
    source.take(len(_MAGIC))
    version, count, *_, attributes, _, _, _ = source.numbers("9i")
    if version != _VERSION:
        raise ParticleFileError(
            f"has version {version} and only {_VERSION} is read: export it again"
        )
    check_count(count)
    if not 0 <= attributes <= _MOST_ATTRIBUTES:
        raise damaged(f"it claims {attributes} attributes")
    return _points(source, count, [_attribute(source) for _ in range(attributes)])


def _attribute(source: _Bytes) -> _Attribute:
    name = source.text()
    width, kind = source.numbers("Hi")
    if kind == _TEXT:
        for _ in range(source.numbers("i")[0]):
            source.text()
    elif kind in (_FLOAT, _INTEGER, _VECTOR):
        source.take(4 * width)  # the value of points that have none
    else:
        raise ParticleFileError(
            f"has an attribute {name!r} of type {kind}, which is not read: remove it and export again"
        )
    return _Attribute(name, width, kind)


def _points(
    source: _Bytes, count: int, attributes: list[_Attribute]
) -> tuple[Floats, Floats | None]:
    width = 4 + sum(a.width for a in attributes)
    table = np.frombuffer(source.take(4 * width * count), dtype=">f4").reshape(count, width)
    position = table[:, :3].astype(np.float64)
    weight = table[:, 3].astype(np.float64)
    if not np.all((weight == 1.0) | (weight == 0.0)):
        raise ParticleFileError("has points with weights, which are no particles: export points")
    start = 4
    for attribute in attributes:
        columns = table[:, start : start + attribute.width]
        start += attribute.width
        if attribute.name.lower() in _VELOCITY_NAMES and _is_vector(attribute):
            return position, columns.astype(np.float64)
    return position, None


def _is_vector(attribute: _Attribute) -> bool:
    return attribute.width == 3 and attribute.kind in (_FLOAT, _VECTOR)
