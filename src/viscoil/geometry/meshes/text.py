"""Numbers out of text files of any size: whole blocks of lines at a time, mistakes by line number."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from viscoil.core.errors import MeshError
from viscoil.geometry.meshes.topology import fan

BLOCK_BYTES = 2 << 20
MAX_LINE_BYTES = 1 << 20
_COMMENT = re.compile(rb"#[^\n]*")

Numbers = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Rows:
    """Numbers of some lines: row i is `values[start[i] : start[i] + counts[i]]`."""

    values: Numbers
    counts: Integers
    lines: Integers
    """Line of the file, from 1, of each row."""

    @property
    def start(self) -> Integers:
        return np.cumsum(self.counts) - self.counts


def text_blocks(data: bytes, start: int = 0, line: int = 1) -> Iterator[tuple[bytes, int]]:
    """Blocks of whole lines that end in a newline, and the number of the first line of each.

    Lines end as on any system: \\n, \\r\\n or \\r.
    """
    while start < len(data):
        end = _block_end(data, start, line)
        block = data[start:end]
        if b"\r" in block:
            block = block.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        if not block.endswith(b"\n"):
            block += b"\n"
        yield block, line
        line += block.count(b"\n")
        start = end


def _block_end(data: bytes, start: int, line: int) -> int:
    end = start + BLOCK_BYTES
    if end >= len(data):
        end = len(data)
    else:
        cut = data.rfind(b"\n", start, end)
        cut = data.rfind(b"\r", start, end - 1) if cut < 0 else cut
        if cut < 0:
            raise long_line(line)
        end = cut + 1
    return end


def long_line(line: int) -> MeshError:
    """A line that would take more memory than any mesh needs."""
    return MeshError(
        f"line {line} is longer than {MAX_LINE_BYTES >> 20} MiB: the file is damaged or no mesh"
    )


def token_counts(block: bytes, line: int = 1) -> tuple[Integers, Integers]:
    """How many words each line of a block has, and where each line ends."""
    raw = np.frombuffer(block, dtype=np.uint8)
    ends = np.flatnonzero(raw == ord("\n"))
    lengths = np.diff(ends, prepend=-1)
    if len(lengths) and lengths.max() > MAX_LINE_BYTES:
        raise long_line(line + int(lengths.argmax()))
    blank = raw <= ord(" ")
    starts = ~blank
    starts[1:] &= blank[:-1]
    words = np.searchsorted(np.flatnonzero(starts), ends)
    return np.diff(words, prepend=0), ends


def parse_rows(block: bytes, lines: Integers) -> Rows:
    """The numbers of a block of lines, whose place in the file `lines` tells."""
    counts, ends = token_counts(block)
    total = int(counts.sum())
    values = _numbers(block, total)
    if values is None:
        raise _not_numbers(block, counts, ends, lines)
    return Rows(values, counts, lines)


def _numbers(text: bytes, count: int) -> Numbers | None:
    """NumPy's own parser is hardly faster, and what it does with errors depends on its version."""
    words = text.split()
    if len(words) != count:  # control characters between them
        return None
    try:
        return np.fromiter(map(float, words), np.float64, count)
    except ValueError:
        return None


def _not_numbers(block: bytes, counts: Integers, ends: Integers, lines: Integers) -> MeshError:
    """Bisects for the first line that is at fault: all lines before it can be parsed."""
    good, bad = 0, len(ends)
    while bad - good > 1:
        middle = (good + bad) // 2
        begin = ends[good - 1] + 1 if good else 0
        text, count = block[begin : ends[middle - 1] + 1], int(counts[good:middle].sum())
        good, bad = (middle, bad) if _numbers(text, count) is not None else (good, middle)
    begin = ends[good - 1] + 1 if good else 0
    text = block[begin : ends[good]]
    word = next((w for w in text.split() if _numbers(w, 1) is None), text)
    return MeshError(f"line {lines[good]}: {quoted(word)} is no number, so repair the file")


def quoted(word: bytes) -> str:
    """A word of a file that may be damaged, short and printable."""
    text = word[:24].decode("utf-8", "replace")
    clean = "".join(c if c.isprintable() else "�" for c in text)
    return f'"{clean}{"..." if len(word) > 24 else ""}"'


def whole_numbers(values: Numbers, lines: Integers, what: str) -> Integers:
    """Indices and counts as integers; those that are none, or absurd, are refused by their line."""
    good = (np.abs(values) < 2**31) & (values == np.trunc(values))
    if not good.all():
        bad = int(np.argmin(good))
        raise MeshError(f"line {lines[bad]}: {values[bad]:.10g} cannot be {what}: repair the file")
    return values.astype(np.int64)


def polygon_triangles(rows: Rows, first: Integers, sides: Integers, vertices: int) -> Integers:
    """Triangles of polygons that have `sides` corners from `first` on among the values of rows."""
    row = np.repeat(np.arange(len(sides)), sides)
    step = np.arange(len(row)) - np.repeat(np.cumsum(sides) - sides, sides)
    index = whole_numbers(rows.values[first[row] + step], rows.lines[row], "a vertex index")
    bad = np.flatnonzero((index < 0) | (index >= vertices))
    if len(bad):
        raise MeshError(
            f"line {rows.lines[row[bad[0]]]}: a face refers to vertex {index[bad[0]]} but there "
            f"are {vertices}, counted from 0: repair or export the mesh again"
        )
    return fan(index, sides)[0]


class RowReader:
    """Reads a text file as rows of numbers, one row a line, without lines that are empty."""

    def __init__(self, data: bytes, start: int = 0, line: int = 1, comments: bool = False) -> None:
        self._blocks = text_blocks(data, start, line)
        self._comments = comments
        self._text = b""
        self._begin = self._end = self._lines = np.zeros(0, dtype=np.int64)
        self._at = 0

    def rows(self, count: int, what: str) -> Iterator[Rows]:
        """The next `count` rows, in parts."""
        left = count
        while left > 0:
            if not self._more():
                raise MeshError(
                    f"ends after {count - left} of {count} {what}: the file is truncated or its "
                    "counts are wrong, so export it again"
                )
            part = self._take(min(left, len(self._lines) - self._at))
            left -= len(part.counts)
            yield part

    def next_line(self) -> tuple[bytes, int] | None:
        """The next line that is not empty, and its number."""
        if not self._more():
            return None
        at, self._at = self._at, self._at + 1
        return self._text[self._begin[at] : self._end[at]], int(self._lines[at])

    def finish(self) -> None:
        """Refuse what the counts of the file do not account for."""
        if self._more():
            raise MeshError(
                f"line {self._lines[self._at]}: there is more in the file than its counts say, "
                "so export it again"
            )

    def _more(self) -> bool:
        while self._at == len(self._lines):
            block = next(self._blocks, None)
            if block is None:
                return False
            self._start_block(*block)
        return True

    def _start_block(self, text: bytes, line: int) -> None:
        text = text if not self._comments else _COMMENT.sub(b"", text)
        counts, ends = token_counts(text, line)
        full = np.flatnonzero(counts)
        self._text, self._at = text, 0
        self._begin = (np.concatenate(([0], ends[:-1] + 1)))[full]
        self._end, self._lines = ends[full], line + full

    def _take(self, count: int) -> Rows:
        part = slice(self._at, self._at + count)
        self._at += count
        first, last = self._lines[part][[0, -1]]
        block = self._text[self._begin[part][0] : self._end[part][-1] + 1]
        rows = parse_rows(block, np.arange(first, last + 1))
        full = rows.counts > 0
        return Rows(rows.values, rows.counts[full], rows.lines[full])


class Collector:
    """Gathers arrays of shape (n, 3); `check` refuses when there are too many rows."""

    def __init__(self, check: Callable[[int], None], dtype: npt.DTypeLike | None = None) -> None:
        self._check = check
        self._dtype = dtype  # None: that of what is gathered
        self._parts: list[npt.NDArray[Any]] = []
        self.count = 0

    def add(self, rows: npt.NDArray[Any]) -> None:
        self._check(self.count + len(rows))
        self._parts.append(rows.astype(self._dtype or rows.dtype))
        self.count += len(rows)

    def join(self) -> npt.NDArray[Any]:
        """All rows, shape (count, 3); parts are let go one by one, so memory does not double."""
        kinds = {part.dtype for part in self._parts} or {np.dtype(self._dtype or np.int32)}
        result = np.empty((self.count, 3), dtype=np.result_type(*kinds))
        end = self.count
        while self._parts:
            part = self._parts.pop()
            result[end - len(part) : end] = part
            end -= len(part)
        return result
