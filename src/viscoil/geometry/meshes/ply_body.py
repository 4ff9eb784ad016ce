"""The elements of a PLY file, text or binary, as structured arrays and as lists of indices."""

import struct
from array import array
from collections.abc import Iterator
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from viscoil.core.errors import MeshError
from viscoil.geometry.meshes.limits import MAX_TRIANGLES, check_triangles
from viscoil.geometry.meshes.ply_header import Element, Header, Property
from viscoil.geometry.meshes.text import RowReader, Rows, whole_numbers

_MAX_TABLE_BYTES = 1 << 30
_SCAN_ROWS = 1 << 18

Table = npt.NDArray[Any]
Lists = tuple[npt.NDArray[Any], npt.NDArray[np.int64]]
"""Numbers of some lists one after another, and how many each has."""


class Body(Protocol):
    """Reads element after element, in the order of the file."""

    def table(self, element: Element) -> Table:
        """An element without lists, as a structured array."""

    def lists(self, element: Element, wanted: str) -> Iterator[Lists]:
        """One list property of an element, in parts."""

    def finish(self) -> None:
        """Refuse what the header does not account for."""


def open_body(data: bytes, header: Header) -> Body:
    return BinaryBody(data, header) if header.order else TextBody(data, header)


class BinaryBody:
    """Elements in binary; lists of equal length are read at once, others row by row."""

    def __init__(self, data: bytes, header: Header) -> None:
        self._data = data
        self._at = header.size
        self._order = header.order

    def table(self, element: Element) -> Table:
        record = element.record(self._order)
        self._need(element.count * record.itemsize, element)
        if not record.itemsize:
            return np.zeros(0, dtype=record)
        rows = np.frombuffer(self._data, record, element.count, self._at)
        self._at += rows.nbytes
        return rows

    def lists(self, element: Element, wanted: str) -> Iterator[Lists]:
        _check_rows(element)
        if element.count:
            equal = self._equal_lists(element, wanted)
            yield from [equal] if equal is not None else self._scanned_lists(element, wanted)

    def finish(self) -> None:
        if self._data[self._at :].strip(b"\0 \r\n"):
            raise MeshError(
                f"has {len(self._data) - self._at} bytes more than its header says: "
                "the file is damaged, so export it again"
            )

    def _need(self, size: int, element: Element) -> None:
        left = len(self._data) - self._at
        if size > left:
            raise _cut_off(element, f"{size} bytes", f"{left} are left")

    def _equal_lists(self, element: Element, wanted: str) -> Lists | None:
        """All rows at once if every list is as long as in the first row, else nothing."""
        lengths = self._first_lengths(element)
        fields: list[Any] = []
        for i, p in enumerate(element.properties):
            if p.count is not None:
                fields.append((f"count {i}", self._order + p.count))
            shape = () if p.count is None else (lengths[i],)
            fields.append((f"{i}", self._order + p.type, shape))
        record = np.dtype(fields)
        if element.count * record.itemsize > len(self._data) - self._at:
            return None
        rows = np.frombuffer(self._data, record, element.count, self._at)
        if any((rows[f"count {i}"] != n).any() for i, n in lengths.items()):
            return None
        self._at += rows.nbytes
        at = next(i for i, p in enumerate(element.properties) if p.name == wanted)
        check_triangles(element.count * max(lengths[at] - 2, 0))
        return rows[f"{at}"].reshape(-1), np.full(element.count, lengths[at])

    def _first_lengths(self, element: Element) -> dict[int, int]:
        lengths: dict[int, int] = {}
        at = self._at
        for i, p in enumerate(element.properties):
            size = int(p.type[1])
            if p.count is not None:
                number = self._data[at : at + int(p.count[1])]
                if len(number) < int(p.count[1]):
                    raise _cut_off(element, "more bytes", f"{len(self._data) - self._at} are left")
                (length,) = struct.unpack(_code(self._order, p.count), number)
                if length < 0:
                    raise _negative(element, 0, length)
                lengths[i] = length
                at += int(p.count[1]) + length * size
            else:
                at += size
            if at > len(self._data):
                raise _cut_off(element, "more bytes", f"{len(self._data) - self._at} are left")
        return lengths

    def _scanned_lists(self, element: Element, wanted: str) -> Iterator[Lists]:
        steps, tail = self._steps(element, wanted)
        kind = next(p for p in element.properties if p.name == wanted)
        triangles = 0
        for done in range(0, element.count, _SCAN_ROWS):
            rows = range(done, min(done + _SCAN_ROWS, element.count))
            starts, counts = self._scan(element, rows, steps, tail)
            triangles += int(np.maximum(counts - 2, 0).sum())
            check_triangles(triangles)
            useful = counts >= 3
            yield self._gather(starts[useful], counts[useful], kind), counts[useful]

    def _steps(self, element: Element, wanted: str) -> tuple[list[tuple[Any, ...]], int]:
        """What to do for each list of a row, and how many bytes follow the last."""
        steps, lead = [], 0
        for p in element.properties:
            if p.count is None:
                lead += int(p.type[1])
            else:
                unpack = struct.Struct(_code(self._order, p.count)).unpack_from
                steps.append((lead, unpack, int(p.count[1]), int(p.type[1]), p.name == wanted))
                lead = 0
        return steps, lead

    def _scan(
        self, element: Element, rows: range, steps: list[tuple[Any, ...]], tail: int
    ) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """Where the wanted list of each row begins, and its length: the one loop over rows."""
        starts, counts = array("q"), array("q")
        data, at, size, row = self._data, self._at, len(self._data), 0
        try:
            for row in rows:
                for lead, unpack, width, item, is_wanted in steps:
                    at += lead
                    (length,) = unpack(data, at)
                    if length < 0:
                        raise _negative(element, row, length)
                    at += width
                    if is_wanted:
                        starts.append(at)
                        counts.append(length)
                    at += length * item
                at += tail
                if at > size:
                    raise _cut_off(element, "more bytes", f"the file ends in row {row}")
        except struct.error:
            raise _cut_off(element, "more bytes", f"the file ends in row {row}") from None
        self._at = at
        return np.frombuffer(starts, np.int64), np.frombuffer(counts, np.int64)

    def _gather(
        self, starts: npt.NDArray[np.int64], counts: npt.NDArray[np.int64], kind: Property
    ) -> npt.NDArray[Any]:
        size = int(kind.type[1])
        before = np.repeat(np.cumsum(counts) - counts, counts)
        place = np.repeat(starts, counts) + (np.arange(len(before)) - before) * size
        raw = np.frombuffer(self._data, np.uint8)
        columns = [raw[place + i] for i in range(size)]
        return np.stack(columns, axis=1).view(self._order + kind.type).reshape(-1)


class TextBody:
    """Elements as text, one row a line."""

    def __init__(self, data: bytes, header: Header) -> None:
        self._left = len(data) - header.size
        self._rows = RowReader(data, header.size, header.lines + 1)

    def table(self, element: Element) -> Table:
        record, width = element.record(), len(element.properties)
        # Every number takes a digit and a space, so a count that lies is found before it costs.
        if 2 * element.count * width > self._left + 1:
            raise _cut_off(element, "more text", f"{self._left} bytes are left")
        if element.count * record.itemsize > _MAX_TABLE_BYTES:
            raise MeshError(f'has too many numbers in its element "{element.name}": leave some out')
        if not width:
            return np.zeros(0, dtype=record)
        table, done = np.empty(element.count, record), 0
        for part in self._rows.rows(element.count, f'rows of "{element.name}"'):
            _check_lengths(part, np.full(len(part.counts), width), element)
            values = part.values.reshape(-1, width)
            for i in range(width):
                table[f"{i}"][done : done + len(values)] = values[:, i]
            done += len(values)
        return table

    def lists(self, element: Element, wanted: str) -> Iterator[Lists]:
        _check_rows(element)
        for part in self._rows.rows(element.count, f'rows of "{element.name}"'):
            yield _text_lists(part, element, wanted)

    def finish(self) -> None:
        self._rows.finish()


def _text_lists(part: Rows, element: Element, wanted: str) -> Lists:
    at, end = part.start, part.start + part.counts
    first, counts = at, np.zeros_like(at)
    for p in element.properties:
        if p.count is not None:
            _check_lengths(part, np.where(at < end, part.counts, at - part.start + 1), element)
            lengths = whole_numbers(part.values[at], part.lines, "a list length")
            if (lengths < 0).any():
                raise _negative(element, int(np.argmin(lengths)), int(lengths.min()))
            if p.name == wanted:
                first, counts = at + 1, lengths
            at = at + lengths
        at = at + 1
    _check_lengths(part, at - part.start, element)
    row = np.repeat(np.arange(len(counts)), counts)
    step = np.arange(len(row)) - np.repeat(np.cumsum(counts) - counts, counts)
    values = part.values[first[row] + step]
    return whole_numbers(values, part.lines[row], "a vertex index").astype(np.int32), counts


def _check_rows(element: Element) -> None:
    lists = element.count * sum(p.count is not None for p in element.properties)
    if lists > MAX_TRIANGLES:
        raise MeshError(
            f'has {lists} lists in its element "{element.name}" but at most {MAX_TRIANGLES} '
            "are read: the file is damaged, or reduce the mesh"
        )


def _check_lengths(part: Rows, wanted: npt.NDArray[np.int64], element: Element) -> None:
    bad = np.flatnonzero(part.counts != wanted)
    if len(bad):
        raise MeshError(
            f'line {part.lines[bad[0]]}: a row of "{element.name}" has {part.counts[bad[0]]} '
            f"numbers but should have {wanted[bad[0]]}, so repair the file"
        )


def _code(order: str, kind: str) -> str:
    return order + {"i1": "b", "u1": "B", "i2": "h", "u2": "H", "i4": "i", "u4": "I"}[kind]


def _cut_off(element: Element, needed: str, left: str) -> MeshError:
    return MeshError(
        f'says that it has {element.count} rows of "{element.name}", which need {needed}, but '
        f"{left}: the file is cut off or its counts are wrong, so export it again"
    )


def _negative(element: Element, row: int, length: int) -> MeshError:
    return MeshError(
        f'row {row} of "{element.name}" has a list of {length} numbers: '
        "the file is damaged, so export it again"
    )
