"""STL, text and binary: loose triangles, whose corners become one vertex where they are equal."""

import struct

import numpy as np
import numpy.typing as npt

from viscoil.core.errors import MeshError
from viscoil.geometry.meshes.limits import check_triangles, check_vertices
from viscoil.geometry.meshes.mesh import TriangleMesh
from viscoil.geometry.meshes.text import Collector, Integers, parse_rows, text_blocks
from viscoil.geometry.meshes.topology import equal_points

_HEADER_BYTES = 84
_RECORD = np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("attribute", "<u2")])


def read_stl(data: bytes) -> TriangleMesh:
    """Normals and attribute bytes are skipped."""
    corners = _read_text(data) if is_text_stl(data) else _read_binary(data)
    return _merged(corners)


def is_text_stl(data: bytes) -> bool:
    """Binary files may start with "solid" too, but have zeros in their count and coordinates."""
    head = data[:512]
    return b"\0" not in head and head.lstrip().lower().startswith(b"solid")


def is_binary_stl(data: bytes) -> bool:
    """Whether the size of the file is exactly that of its triangles."""
    return len(data) >= _HEADER_BYTES and _needed_bytes(data) == len(data)


def _needed_bytes(data: bytes) -> int:
    (count,) = struct.unpack_from("<I", data, 80)
    return _HEADER_BYTES + _RECORD.itemsize * int(count)


def _read_binary(data: bytes) -> npt.NDArray[np.float32]:
    if len(data) < _HEADER_BYTES:
        raise MeshError(f"is {len(data)} bytes, too short for an STL file: export it again")
    needed = _needed_bytes(data)
    count = (needed - _HEADER_BYTES) // _RECORD.itemsize
    if needed != len(data) and (needed > len(data) or data[needed:].strip(b"\0 \r\n")):
        raise MeshError(
            f"says that it has {count} triangles, which take {needed} bytes, but is {len(data)} "
            "bytes: the file is damaged or cut off, so export it again"
        )
    check_triangles(count)
    records = np.frombuffer(data, _RECORD, count, _HEADER_BYTES)
    return records["corners"].reshape(-1, 3)


def _read_text(data: bytes) -> npt.NDArray[np.float64]:
    corners = Collector(lambda n: check_triangles(n // 3), np.float64)
    done = facets = 0
    for block, first in text_blocks(data):
        lines = [text.strip() for text in block.lower().split(b"\n")]
        at = [i for i, text in enumerate(lines) if text[:6] == b"vertex"]
        ends = [i for i, text in enumerate(lines) if text[:7] == b"endloop"]
        _check_loops(corners.count + np.searchsorted(at, ends), 3 * facets, first + np.array(ends))
        facets += len(ends)
        if at:
            text = b"\n".join([lines[i][6:] for i in at]) + b"\n"
            corners.add(_points(text, first + np.array(at)))
        done += sum(text[:8] == b"endsolid" for text in lines)
    if not done or corners.count != 3 * facets:
        raise MeshError(
            f"ends within its triangle {facets}: the file is cut off, so export it again"
        )
    return corners.join()


def _check_loops(corners: Integers, before: int, lines: npt.NDArray[np.int64]) -> None:
    """Whether three corners come between the end of one triangle and the end of the next."""
    each = np.diff(corners, prepend=before)
    bad = np.flatnonzero(each != 3)
    if len(bad):
        raise MeshError(
            f"line {lines[bad[0]]}: a triangle ends that has {each[bad[0]]} corners, "
            "so export the mesh again"
        )


def _points(text: bytes, lines: Integers) -> npt.NDArray[np.float64]:
    rows = parse_rows(text, lines)
    bad = np.flatnonzero(rows.counts != 3)
    if len(bad):
        raise MeshError(
            f"line {lines[bad[0]]}: a vertex has {rows.counts[bad[0]]} numbers but needs 3, "
            "so repair the file"
        )
    return rows.values.reshape(-1, 3)


def _merged(corners: npt.NDArray[np.float32] | npt.NDArray[np.float64]) -> TriangleMesh:
    first = equal_points(corners, check_vertices)
    is_first = first == np.arange(len(first), dtype=np.int32)
    number = np.cumsum(is_first, dtype=np.int32) - np.int32(1)
    faces = number[first].reshape(-1, 3)
    return TriangleMesh(corners[is_first].astype(np.float64), faces)
