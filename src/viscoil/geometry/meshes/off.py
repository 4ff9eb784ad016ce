"""OFF, also with colours and normals (COFF, NOFF, CNOFF, STOFF), as text.

Not through trimesh (5.2), which drops colours and normals, accepts files that are cut off, and takes 50
times as much memory as the text.
"""

import re
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from viscoil.core.errors import MeshError
from viscoil.geometry.meshes.limits import check_triangles, check_vertices
from viscoil.geometry.meshes.mesh import TriangleMesh
from viscoil.geometry.meshes.text import (
    Collector,
    RowReader,
    Rows,
    polygon_triangles,
    quoted,
    whole_numbers,
)

_HEADER = re.compile(rb"\s*(ST)?(C)?(N)?(4)?(n)?(?:OFF|off)(\s+BINARY)?\b")
_COMMENT = re.compile(rb"#[^\r\n]*")
_LOOK_BYTES = 4096


@dataclass(frozen=True)
class _Header:
    has_colors: bool
    has_normals: bool
    vertices: int
    faces: int


def is_off(data: bytes) -> bool:
    """Whether the file starts with one of the words that OFF files start with."""
    return _HEADER.match(_COMMENT.sub(b"", data[:_LOOK_BYTES])) is not None


def read_off(data: bytes) -> TriangleMesh:
    """Vertices of a COFF file have colours as attribute "color", those of NOFF have "normal"."""
    rows = RowReader(data, comments=True)
    header = _read_header(rows)
    vertices, attributes = _read_vertices(rows, header)
    faces = _read_faces(rows, header)
    rows.finish()
    return TriangleMesh(vertices, faces, attributes)


def _read_header(rows: RowReader) -> _Header:
    text, line = rows.next_line() or (b"", 1)
    match = _HEADER.match(text)
    if match and (match[4] or match[5] or match[6]):
        raise MeshError(f"line {line}: {quoted(text)} is not read: export it as plain OFF")
    colors, normals = (bool(match[2]), bool(match[3])) if match else (False, False)
    rest = text[match.end() :] if match else text
    if not rest.split():
        rest, line = rows.next_line() or (b"", line)
    words = rest.split()
    if not words:
        raise MeshError("ends before the numbers of vertices and faces: export it again")
    if len(words) not in (2, 3) or not all(w.isdigit() and len(w) < 16 for w in words):
        raise MeshError(
            f"line {line}: {quoted(rest)} should be the numbers of vertices, faces and edges, "
            "so repair the file"
        )
    check_vertices(int(words[0]))
    check_triangles(int(words[1]))
    return _Header(colors, normals, int(words[0]), int(words[1]))


def _read_vertices(
    rows: RowReader, header: _Header
) -> tuple[npt.NDArray[Any], dict[str, npt.NDArray[Any]]]:
    points = Collector(check_vertices, np.float64)
    normals = Collector(check_vertices, np.float32)
    colors = Collector(check_vertices, np.float32)
    color_at = 6 if header.has_normals else 3
    least = color_at + (3 if header.has_colors else 0)
    for part in rows.rows(header.vertices, "vertices"):
        _check_length(part, least)
        points.add(part.values[part.start[:, None] + np.arange(3)])
        if header.has_normals:
            normals.add(part.values[part.start[:, None] + np.arange(3, 6)])
        if header.has_colors:
            colors.add(part.values[part.start[:, None] + np.arange(color_at, color_at + 3)])
    attributes: dict[str, npt.NDArray[Any]] = {}
    if header.has_normals:
        attributes["normal"] = normals.join()
    if header.has_colors:
        attributes["color"] = _unit_colors(colors.join())
    return points.join(), attributes


def _check_length(part: Rows, least: int) -> None:
    short = np.flatnonzero(part.counts < least)
    if len(short):
        raise MeshError(
            f"line {part.lines[short[0]]}: a vertex has {part.counts[short[0]]} numbers "
            f"but needs {least}, so repair the file"
        )


def _unit_colors(colors: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    """Colours are 0 to 255 or 0 to 1, and only their values tell which."""
    return colors / np.float32(255) if colors.size and colors.max() > 1 else colors


def _read_faces(rows: RowReader, header: _Header) -> npt.NDArray[np.int32]:
    """Numbers behind the corners are the colour of the face and are skipped."""
    triangles = Collector(check_triangles, np.int32)
    for part in rows.rows(header.faces, "faces"):
        sides = whole_numbers(part.values[part.start], part.lines, "a corner count")
        bad = np.flatnonzero((sides < 0) | (sides >= part.counts))
        if len(bad):
            raise MeshError(
                f"line {part.lines[bad[0]]}: a face says that it has {sides[bad[0]]} corners but "
                f"{part.counts[bad[0]] - 1} numbers follow, so repair the file"
            )
        triangles.add(polygon_triangles(part, part.start + 1, sides, header.vertices))
    return triangles.join()
