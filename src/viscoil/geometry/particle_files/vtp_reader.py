"""VTK's XML files of points (.vtp): text, base64 or appended, packed with zlib or not."""

import xml.etree.ElementTree as xml

import numpy as np
import numpy.typing as npt

from viscoil.core.errors import ParticleFileError
from viscoil.geometry.particle_files.limits import check_count, damaged
from viscoil.geometry.particle_files.vtk_arrays import Appended, Encoding, read_array

_LOOK_BYTES = 4096
_APPENDED = b"<AppendedData"
_MOST_XML_BYTES = 512 << 20
_MOST_PIECES = 10_000
_VELOCITY_NAMES = ("velocity", "velocities", "v", "vel")
_COMPRESSORS = ("", "vtkZLibDataCompressor")

Floats = npt.NDArray[np.float64]


def is_vtp(data: bytes) -> bool:
    """Whether this is an XML file of VTK."""
    return b"<VTKFile" in data[:_LOOK_BYTES]


def read_vtp(data: bytes) -> tuple[Floats, Floats | None]:
    """Positions and, if all pieces have them, velocities, both (n, 3)."""
    text, appended = _split(data)
    root = _parsed(text)
    if root.get("type") != "PolyData":
        raise ParticleFileError(
            f"is a VTK file of {root.get('type', 'no type')}: export points as PolyData (.vtp)"
        )
    encoding = _encoding(root)
    pieces = root.findall("PolyData/Piece")[: _MOST_PIECES + 1]
    if len(pieces) > _MOST_PIECES:
        raise damaged(f"it has more than {_MOST_PIECES} pieces")
    found = [p for p in (_piece(piece, encoding, appended) for piece in pieces) if len(p[0])]
    check_count(sum(len(position) for position, _ in found))
    velocities = [velocity for _, velocity in found if velocity is not None]
    whole = len(velocities) == len(found)
    return np.concatenate([p for p, _ in found]), np.concatenate(velocities) if whole else None


def _split(data: bytes) -> tuple[bytes, Appended | None]:
    """The XML, closed where raw bytes would begin, and those bytes."""
    at = data.find(_APPENDED)
    if at < 0:
        return data, None
    opened = data.find(b">", at)
    mark = data.find(b"_", opened)
    if opened < 0 or mark < 0:
        raise damaged("its appended data have no beginning")
    raw = b'encoding="base64"' not in data[at:opened]
    return data[:at] + b"</VTKFile>", Appended(data, mark + 1, raw)


def _parsed(text: bytes) -> xml.Element:
    if b"<!DOCTYPE" in text or b"<!ENTITY" in text:  # which could unpack to any size
        raise ParticleFileError("has a document type, which is not read: export it again")
    if len(text) > _MOST_XML_BYTES:
        raise ParticleFileError("has too much text: save it as binary or appended data")
    try:
        root = xml.fromstring(text)
    except (xml.ParseError, ValueError, LookupError):
        raise damaged("its XML cannot be read") from None
    if root.tag != "VTKFile":
        raise damaged("it is no VTKFile")
    return root


def _encoding(root: xml.Element) -> Encoding:
    compressor = root.get("compressor", "")
    if compressor not in _COMPRESSORS:
        raise ParticleFileError(
            f"is packed with {compressor}: save it with ZLib compression, or with none"
        )
    order = ">" if root.get("byte_order") == "BigEndian" else "<"
    header = {"UInt32": "u4", "UInt64": "u8"}.get(root.get("header_type", "UInt32"))
    if header is None:
        raise damaged(f"its headers are {root.get('header_type')}")
    return Encoding(order, order + header, packed=bool(compressor))


def _piece(
    piece: xml.Element, encoding: Encoding, appended: Appended | None
) -> tuple[Floats, Floats | None]:
    count = _whole(piece.get("NumberOfPoints", "0"))
    if count == 0:
        return np.zeros((0, 3)), None
    check_count(count)
    points = piece.find("Points/DataArray")
    if points is None:
        raise damaged("a piece has no points")
    velocity = next(
        (
            array
            for array in piece.findall("PointData/DataArray")
            if (array.get("Name") or "").lower() in _VELOCITY_NAMES
            and array.get("NumberOfComponents") == "3"
        ),
        None,
    )
    position = _vectors(points, count, encoding, appended)
    return position, None if velocity is None else _vectors(velocity, count, encoding, appended)


def _vectors(
    array: xml.Element, count: int, encoding: Encoding, appended: Appended | None
) -> Floats:
    values = read_array(array, 3 * count, encoding, appended)
    return values.reshape(count, 3).astype(np.float64)


def _whole(text: str) -> int:
    if not text.strip().isdecimal() or len(text) > 18:
        raise damaged(f"it has {text[:20]!r} points")
    return int(text)
