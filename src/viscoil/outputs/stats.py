"""stats.jsonl: a line of JSON per time step, readable while the run goes on."""

import json
import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from viscoil.outputs.files import reporting, write_whole
from viscoil.outputs.protocol import Snapshot


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


def cut_back(path: Path | str, step: int) -> None:
    """Removes the steps after `step`, which a run that is resumed there will do again."""
    path = Path(path)
    if not path.exists():
        return
    kept = [line for line, record in _records(path) if record["step"] <= step]
    with write_whole(path) as file:
        file.writelines(kept)


def _records(path: Path) -> Iterator[tuple[bytes, dict[str, Any]]]:
    """Lines and what they say; whatever follows a damaged line is not to be trusted."""
    with reporting(path):
        lines = path.read_bytes().splitlines(keepends=True)
    for line in lines:
        try:
            record = json.loads(line)
        except ValueError:
            return
        if not (line.endswith(b"\n") and isinstance(record, dict) and "step" in record):
            return
        yield line, record


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
