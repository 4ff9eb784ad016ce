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
from viscoil.outputs.stats import read_stats
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
        for key, value in _figures(record, ""):
            if wanted is None or any(key == w or key.startswith(f"{w}.") for w in wanted):
                columns.setdefault(key, _Column()).put(rows, value)
        rows += 1
    if rows == 0:
        raise RunError(f"{path.parent} has no statistics: let the run take a step first")
    found = Statistics({key: column.array(rows) for key, column in columns.items()})
    for key in wanted or ():
        if not any(known == key or known.startswith(f"{key}.") for known in found):
            found[key]  # raises, with the nearest key
    return found


def _figures(value: Any, key: str) -> Iterator[tuple[str, Any]]:
    """Numbers and lists of numbers in a record, and their dotted keys; texts are left out."""
    if isinstance(value, Mapping):
        for name, item in value.items():
            yield from _figures(item, f"{key}.{name}" if key else str(name))
    elif isinstance(value, list) and any(isinstance(item, list | Mapping) for item in value):
        for place, item in enumerate(value):
            yield from _figures(item, f"{key}.{place}")
    elif not isinstance(value, str):
        yield key, value


class _Column:
    """The values of one key, a step at a time."""

    def __init__(self) -> None:
        self._numbers = array("d")
        self._width = 0  # 0: not lists
        self._whole = True

    def put(self, row: int, value: Any) -> None:
        """Sets the value of a row; rows that were left out, and what does not fit, are NaN."""
        items = value if isinstance(value, list) else (value,)
        if not self._numbers and isinstance(value, list):
            self._width = len(value)
        width = self._width or 1
        self._fill(row)
        fits = len(items) == width and isinstance(value, list) == bool(self._width)
        self._whole &= fits and all(isinstance(item, int) for item in items)
        self._numbers.extend(map(_number, items) if fits else repeat(math.nan, width))

    def _fill(self, rows: int) -> None:
        missing = rows * (self._width or 1) - len(self._numbers)
        self._whole &= missing <= 0
        self._numbers.extend(repeat(math.nan, missing))

    def array(self, rows: int) -> Array:
        self._fill(rows)
        numbers = np.frombuffer(self._numbers) if self._numbers else np.empty(0)
        if self._whole:
            numbers = numbers.astype(np.int64)
        return numbers.reshape(rows, self._width) if self._width else numbers


def _number(value: Any) -> float:
    return float(value) if isinstance(value, int | float) else math.nan
