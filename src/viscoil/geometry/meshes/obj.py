"""Wavefront OBJ: `v` and `f` lines; normals, texture coordinates, groups and materials are skipped."""

import re
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from viscoil.core.errors import MeshError
from viscoil.geometry.meshes.limits import check_triangles, check_vertices
from viscoil.geometry.meshes.mesh import TriangleMesh
from viscoil.geometry.meshes.text import (
    MAX_LINE_BYTES,
    Collector,
    Integers,
    Rows,
    long_line,
    parse_rows,
    text_blocks,
    whole_numbers,
)
from viscoil.geometry.meshes.topology import fan

_AFTER_SLASH = re.compile(rb"/\S*")
_COMMENT = re.compile(rb"#[^\n]*")
_CONTINUED = re.compile(rb"\\[ \t]*\n")
_INDENTED = re.compile(rb"\n[ \t]+")
_JOINT = b"\x0b"  # a blank that stands where two lines were joined, so that lines can be counted


def read_obj(data: bytes) -> TriangleMesh:
    """Vertices may have colours behind their coordinates; corners may be counted backwards."""
    reader = _ObjReader()
    unfinished = b""
    for block, first in text_blocks(data):
        line = first - unfinished.count(_JOINT)
        text = unfinished + _joined(block)
        end = text.rfind(b"\n") + 1
        reader.read(text[:end], line)
        unfinished = text[end:]
        if len(unfinished) > MAX_LINE_BYTES:
            raise long_line(line)
    if unfinished:
        reader.read(unfinished + b"\n", line)
    return reader.mesh()


def _joined(block: bytes) -> bytes:
    """A line that ends in a backslash goes on in the next, which may be in the next block."""
    if _JOINT in block:
        block = block.replace(_JOINT, b" ")
    if b"\\" in block:
        block = _CONTINUED.sub(_JOINT, block)
    return block


@dataclass(frozen=True)
class _Lines:
    """A block of lines, each without blanks before its first letter."""

    raw: npt.NDArray[np.uint8]
    starts: Integers
    lengths: Integers
    numbers: Integers

    @classmethod
    def of(cls, text: bytes, first: int) -> "_Lines":
        if b"\n " in text or b"\n\t" in text or text[:1] in (b" ", b"\t"):
            text = _INDENTED.sub(b"\n", b"\n" + text)[1:]
        raw = np.frombuffer(text, dtype=np.uint8)
        ends = np.flatnonzero(raw == ord("\n"))
        starts = np.concatenate(([0], ends[:-1] + 1))
        joints = np.searchsorted(np.flatnonzero(raw == ord(_JOINT)), starts)
        return cls(raw, starts, ends + 1 - starts, first + np.arange(len(ends)) + joints)

    def with_keyword(self, letter: str) -> Integers:
        """The lines that start with a letter and a blank."""
        found = np.flatnonzero((self.raw[self.starts] == ord(letter)) & (self.lengths > 1))
        after = self.raw[self.starts[found] + 1]
        blank = (after == ord(" ")) | (after == ord("\t")) | (after == ord(_JOINT))
        return np.compress(blank, found)

    def numbers_of(self, chosen: Integers) -> Rows:
        """The numbers of these lines; of 1/2/3, a corner with texture and normal, the first."""
        wanted = np.zeros(len(self.starts), dtype=np.bool_)
        wanted[chosen] = True
        raw = self.raw[np.repeat(wanted, self.lengths)]
        lengths = self.lengths[chosen]
        raw[np.cumsum(lengths) - lengths] = ord(" ")  # in place of the keyword
        text = raw.tobytes()
        if b"#" in text:
            text = _COMMENT.sub(b"", text)
        if b"/" in text:
            text = _AFTER_SLASH.sub(b"", text)
        return parse_rows(text, self.numbers[chosen])


class _ObjReader:
    def __init__(self) -> None:
        self._vertices = Collector(check_vertices, np.float64)
        self._colors = Collector(check_vertices, np.float32)
        self._has_colors = False
        self._triangles = Collector(check_triangles, np.int32)
        self._lines: list[npt.NDArray[np.int32]] = []

    def read(self, text: bytes, first: int) -> None:
        if not text:
            return
        lines = _Lines.of(text, first)
        vertices, faces = lines.with_keyword("v"), lines.with_keyword("f")
        known = self._vertices.count
        if len(vertices):
            self._add_vertices(lines.numbers_of(vertices))
        if len(faces):
            self._add_faces(lines.numbers_of(faces), known + np.searchsorted(vertices, faces))

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


def _no_vertex(line: int, index: int, known: str) -> MeshError:
    return MeshError(
        f"line {line}: a face refers to vertex {index} but {known}, counted from 1: "
        "repair or export the mesh again"
    )
