"""stats.jsonl: a line of JSON per time step, readable while the run goes on."""

import json
import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from viscoil.core.files import reporting, write_whole
from viscoil.snapshots.snapshot import Snapshot

TAIL = 2**17  # bytes, of which a line of statistics takes about a hundredth


class StatsOutput:
    """Appends a line per step and hands it to the system at once, so that `tail -f` works."""

    def __init__(self, path: Path | str) -> None:
        self.path = Path(path)
        with reporting(self.path):
            self._file = open(self.path, "ab", buffering=0)  # noqa: SIM115

    def frame(self, snapshot: Snapshot) -> None:
        """Steps are all that is written."""

    def step(self, stats: Mapping[str, object]) -> None:
        line = json.dumps(_plain(stats), allow_nan=False) + "\n"
        with reporting(self.path):
            rest = line.encode()
            while rest:
                rest = rest[self._file.write(rest) :]

    def close(self) -> None:
        with reporting(self.path):
            self._file.close()


def read_stats(path: Path | str) -> Iterator[dict[str, Any]]:
    """The steps in a file, up to a line that a crash left half-written."""
    for _, record in _records(Path(path)):
        yield record


def last_record(path: Path | str) -> dict[str, Any] | None:
    """The last whole line of a file, found from its end; None if there is none."""
    path = Path(path)
    if not path.is_file():
        return None
    with reporting(path), open(path, "rb") as file:
        file.seek(-min(TAIL, path.stat().st_size), 2)
        lines = file.read().splitlines(keepends=True)
    return next((r for line in reversed(lines) if (r := _record(line)) is not None), None)


def cut_back(path: Path | str, step: int) -> None:
    """Removes the steps after `step`, which a run that is resumed there will do again."""
    path = Path(path)
    if not path.exists():
        return
    with write_whole(path) as file:
        file.writelines(line for line, record in _records(path) if record["step"] <= step)


def _records(path: Path) -> Iterator[tuple[bytes, dict[str, Any]]]:
    """Lines and their records, up to the first damaged line."""
    with reporting(path), open(path, "rb") as file:
        for line in file:
            record = _record(line)
            if record is None:
                return
            yield line, record


def _record(line: bytes) -> dict[str, Any] | None:
    """The record of a line; None if it is damaged."""
    try:
        record = json.loads(line)
    except ValueError:
        return None
    whole = line.endswith(b"\n") and isinstance(record, dict) and "step" in record
    return record if whole else None


def _plain(value: Any) -> Any:
    """JSON types only; JSON has no infinities and no NaN, so they become null."""
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, np.ndarray | np.generic):
        return _plain(value.tolist())
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
