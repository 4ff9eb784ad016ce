"""Wavefront OBJ: `v` and `f` lines; normals, texture coordinates, groups and materials are skipped."""

import re

import numpy as np
import numpy.typing as npt

from viscoil.errors import MeshError
from viscoil.meshes.limits import check_triangles, check_vertices
from viscoil.meshes.mesh import TriangleMesh
from viscoil.meshes.text import (
    MAX_LINE_BYTES,
    Collector,
    Integers,
    Rows,
    long_line,
    parse_rows,
    text_blocks,
    whole_numbers,
)
from viscoil.meshes.topology import fan

_VERTEX = (b"v ", b"v\t")
_FACE = (b"f ", b"f\t")
_AFTER_SLASH = re.compile(rb"/\S*")


def read_obj(data: bytes) -> TriangleMesh:
    """Vertices may have colours behind their coordinates; corners may be counted backwards."""
    reader = _ObjReader()
    carried: list[bytes] = []
    for block, first in text_blocks(data):
        lines = carried + block.split(b"\n")[:-1]
        number = first - len(carried)
        lines, carried = _joined(lines, number) if b"\\" in block or carried else (lines, [])
        reader.read(lines, number)
    if carried:
        reader.read(_joined([*carried, b""], 0)[0], number + len(lines))
    return reader.mesh()


class _ObjReader:
    def __init__(self) -> None:
        self._vertices = Collector(check_vertices, np.float64)
        self._colors = Collector(check_vertices, np.float32)
        self._has_colors = False
        self._triangles = Collector(check_triangles, np.int32)
        self._lines: list[npt.NDArray[np.int32]] = []

    def read(self, lines: list[bytes], line: int) -> None:
        if any(text[:1] in (b" ", b"\t") for text in lines):
            lines = [text.lstrip() for text in lines]
        vertex_at = [i for i, text in enumerate(lines) if text[:2] in _VERTEX]
        face_at = [i for i, text in enumerate(lines) if text[:2] in _FACE]
        known = self._vertices.count
        if vertex_at:
            self._add_vertices(_rows(lines, vertex_at, line))
        if face_at:
            before = known + np.searchsorted(vertex_at, face_at)
            self._add_faces(_rows(lines, face_at, line), before)

    def _add_vertices(self, rows: Rows) -> None:
        short = np.flatnonzero(rows.counts < 3)
        if len(short):
            raise MeshError(
                f"line {rows.lines[short[0]]}: a vertex has {rows.counts[short[0]]} numbers "
                "but needs 3, so repair the file"
            )
        start = rows.start
        self._vertices.add(rows.values[start[:, None] + np.arange(3)])
        # Coordinates, an optional weight, and then red, green and blue: 6 or 7 numbers.
        colored = rows.counts >= 6
        colors = np.ones((len(start), 3), dtype=np.float32)
        colors[colored] = rows.values[(start + rows.counts - 3)[colored, None] + np.arange(3)]
        self._has_colors |= bool(colored.any())
        self._colors.add(colors)

    def _add_faces(self, rows: Rows, before: Integers) -> None:
        row = np.repeat(np.arange(len(rows.counts)), rows.counts)
        index = whole_numbers(rows.values, rows.lines[row], "a vertex index")
        corners = np.where(index < 0, index + before[row], index - 1)
        bad = np.flatnonzero((corners < 0) | (index == 0))
        if len(bad):
            at = row[bad[0]]
            raise _no_vertex(
                int(rows.lines[at]), int(index[bad[0]]), f"{before[at]} come before it"
            )
        triangles, polygon = fan(corners, rows.counts)
        self._triangles.add(triangles)
        self._lines.append(rows.lines[polygon].astype(np.int32))

    def mesh(self) -> TriangleMesh:
        faces, count = self._triangles.join(), self._vertices.count
        if faces.size and faces.max() >= count:
            bad = np.flatnonzero(faces.max(axis=1) >= count)[0]
            line = int(np.concatenate(self._lines)[bad])
            raise _no_vertex(line, int(faces[bad].max()) + 1, f"there are {count}")
        colors: dict[str, npt.NDArray[np.float32]] = {}
        if self._has_colors:
            colors["color"] = self._colors.join()
        return TriangleMesh(self._vertices.join(), faces, colors)


def _joined(lines: list[bytes], number: int) -> tuple[list[bytes], list[bytes]]:
    """Lines that end in a backslash become one with those that follow, which are left empty.

    Also gives the last lines if they are still to be continued.
    """
    joined: list[bytes] = []
    parts: list[bytes] = []
    for text in lines:
        text = text.rstrip()
        more = text.endswith(b"\\")
        parts.append(text[:-1] if more else text)
        if not more:
            joined.append(b" ".join(parts))
            joined += [b""] * (len(parts) - 1)
            parts = []
    if sum(map(len, parts)) + len(parts) > MAX_LINE_BYTES:
        raise long_line(number + len(joined))
    return joined, [part + b"\\" for part in parts]


def _rows(lines: list[bytes], at: list[int], first_line: int) -> Rows:
    block = b"\n".join([lines[i][2:] for i in at]) + b"\n"
    if b"#" in block:
        block = re.sub(rb"#[^\n]*", b"", block)
    if b"/" in block:
        block = _AFTER_SLASH.sub(b"", block)
    return parse_rows(block, first_line + np.asarray(at))


def _no_vertex(line: int, index: int, known: str) -> MeshError:
    return MeshError(
        f"line {line}: a face refers to vertex {index} but {known}, counted from 1: "
        "repair or export the mesh again"
    )
