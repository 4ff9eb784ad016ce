"""The statistics of a run as arrays: a number of every step under each key.

Lines are read one after the other into compact columns, because a run may have millions of steps.
"""

import math
from array import array
from collections.abc import Iterable, Iterator, Mapping
from itertools import repeat
from pathlib import Path
from typing import Any

import numpy as np

from viscoil.core.errors import RunError
from viscoil.core.names import unknown_name
from viscoil.outputs.stats import last_record, read_stats
from viscoil.snapshots.snapshot import Array


class Statistics(Mapping[str, Array]):
    """Figures by key: (n,) each, or (n, 3) where a step has a vector; NaN where there is no number.

    Figures within others have dotted keys, as in `statistics["milliseconds.neighbors"]`.
    """

    def __init__(self, columns: Mapping[str, Array]) -> None:
        self._columns = dict(columns)

    @property
    def steps(self) -> int:
        """How many steps there are."""
        return len(next(iter(self._columns.values()), ()))

    def __getitem__(self, key: str) -> Array:
        if key not in self._columns:
            raise UnknownFigure(f"{key!r} {unknown_name('figure of this run', key, self._columns)}")
        return self._columns[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._columns)

    def __len__(self) -> int:
        return len(self._columns)

    def __repr__(self) -> str:
        return f"<Statistics of {self.steps} steps: {', '.join(self)}>"


class UnknownFigure(RunError, KeyError):
    """A key that the statistics of a run do not have."""

    __str__ = Exception.__str__  # that of a KeyError would put quotes around the sentence


def read_statistics(path: Path, keys: Iterable[str] | None = None) -> Statistics:
    """Of a file of steps: all figures, or those under these keys and within them."""
    wanted = None if keys is None else tuple(keys)
    columns: dict[str, _Column] = {}
    rows = 0
    for record in read_stats(path) if path.is_file() else ():
        for key, value in record.items() if wanted is None else _under(record, wanted):
            _put(columns, rows, key, value)
        rows += 1
    if rows == 0:
        raise RunError(f"{path.parent} has no statistics: let the run take a step first")
    chosen = {k: c for k, c in columns.items() if wanted is None or _named(k, wanted)}
    found = Statistics({key: column.array(rows) for key, column in chosen.items()})
    for key in wanted or ():
        if not any(_named(known, (key,)) for known in found):
            raise UnknownFigure(
                f"{key!r} {unknown_name('figure of this run', key, last_record(path) or ())}"
            )
    return found


def _named(key: str, wanted: Iterable[str]) -> bool:
    return any(key == name or key.startswith(f"{name}.") for name in wanted)


def _under(record: Mapping[str, Any], wanted: Iterable[str]) -> Iterator[tuple[str, Any]]:
    """The entries of a record in which the wanted keys are."""
    heads = {key.partition(".")[0] for key in wanted}
    return ((key, value) for key, value in record.items() if key in heads)


def _put(columns: "dict[str, _Column]", row: int, key: str, value: Any) -> None:
    """A value, or those within it, under dotted keys; texts are left out."""
    if isinstance(value, dict):
        for name, item in value.items():
            _put(columns, row, f"{key}.{name}", item)
    elif isinstance(value, list) and any(isinstance(item, list | dict) for item in value):
        for place, item in enumerate(value):
            _put(columns, row, f"{key}.{place}", item)
    elif not isinstance(value, str):
        column = columns.get(key)
        if column is None or (column.unknown and isinstance(value, list)):
            column = columns[key] = _Column(len(value) if isinstance(value, list) else 0)
        column.put(row, value)


class _Column:
    """The values of one key, a step at a time: numbers, or lists of `width` of them."""

    def __init__(self, width: int) -> None:
        self._numbers = array("d")
        self._width = width  # 0: no lists
        self._whole = True
        self.unknown = True
        """Whether there was no value yet that tells whether it holds lists."""

    def put(self, row: int, value: Any) -> None:
        """Sets the value of a row; rows that were left out, and what does not fit, are NaN."""
        if row * (self._width or 1) > len(self._numbers):
            self._fill(row)
        if not self._width and isinstance(value, float | int):
            self._whole = self._whole and isinstance(value, int)
            self._numbers.append(value)
            self.unknown = False
            return
        self.unknown = self.unknown and value is None
        fits = isinstance(value, list) and len(value) == self._width
        items = value if fits else [None] * (self._width or 1)
        self._whole = self._whole and all(isinstance(item, int) for item in items)
        self._numbers.extend(map(_number, items))

    def _fill(self, rows: int) -> None:
        missing = rows * (self._width or 1) - len(self._numbers)
        self._whole = self._whole and missing <= 0
        self._numbers.extend(repeat(math.nan, missing))

    def array(self, rows: int) -> Array:
        """(rows,), or (rows, width)."""
        self._fill(rows)
        numbers = np.array(self._numbers)
        if self._whole:
            numbers = numbers.astype(np.int64)
        return numbers.reshape(rows, self._width) if self._width else numbers


def _number(value: Any) -> float:
    return float(value) if isinstance(value, int | float) else math.nan
