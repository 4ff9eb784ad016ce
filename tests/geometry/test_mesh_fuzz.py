"""Damaged and hostile mesh files: each is read, or refused in one sentence, in little time and memory.

The files are read in a process of their own, whose memory is limited to 2 GiB more than it has
after its imports. Running out of it would be told as a MeshError, so that message counts as a failure.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import mesh_bombs
import mesh_files
import pytest
from fakes import ENVIRONMENT, RIGS

from viscoil.core.errors import MeshError
from viscoil.geometry.meshes import read_mesh

CASES = 10_000
SEED = 20171
SECONDS = 10.0
GIBIBYTE = 1 << 30


def outcome(path: Path) -> tuple[str, str]:
    """What became of a file: "read", "refused" or "failed", and the message."""
    try:
        mesh = read_mesh(path)
    except MeshError as error:
        text = str(error)
        one_line = text.startswith(f"mesh {path}: ") and text.isprintable() and len(text) < 600
        return ("refused" if one_line and "into memory" not in text else "failed"), text
    except Exception as error:
        return "failed", f"{type(error).__name__}: {error}"
    return ("read" if len(mesh.faces) else "failed"), ""


def measure(files: Iterator[tuple[str, bytes]], folder: Path) -> dict[str, object]:
    """Reads all files with limited memory; the figures that the test looks at."""
    import resource  # here, because Windows has no such module

    warnings.simplefilter("error")
    before = peak_mebibytes()
    size = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (size + 2 * GIBIBYTE, resource.RLIM_INFINITY))
    counts: Counter[str] = Counter()
    failures, slowest = [], (0.0, "")
    for name, data in files:
        path = folder / name
        path.write_bytes(data)
        del data
        start = time.perf_counter()
        kind, message = outcome(path)
        slowest = max(slowest, (time.perf_counter() - start, name))
        path.unlink()
        counts[kind] += 1
        if kind == "failed":
            failures.append(f"{name}: {message}")
    grown = round(peak_mebibytes() - before)
    return {**counts, "failures": failures[:20], "slowest": slowest, "mebibytes": grown}


def peak_mebibytes() -> float:
    """Most memory that was resident; getrusage would start with that of the parent process."""
    (line,) = [x for x in Path("/proc/self/status").read_text().splitlines() if "VmHWM" in x]
    return int(line.split()[1]) / 1024


def in_own_process(what: str) -> dict:
    command = [sys.executable, __file__, what]
    env = {**ENVIRONMENT, "PYTHONPATH": os.pathsep.join([ENVIRONMENT["PYTHONPATH"], str(RIGS)])}
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, env=env)
    assert done.returncode == 0, done.stderr[-2000:]
    figures = json.loads(done.stdout)
    print(what, figures)
    return figures


linux = pytest.mark.skipif(sys.platform != "linux", reason="limits memory as Linux does")


@linux
def test_damaged_files_are_read_or_refused():
    """Enough of both kinds, or the damage would be too coarse or too fine to say anything."""
    figures = in_own_process("damaged")
    assert figures["failures"] == []
    assert figures["read"] + figures["refused"] == CASES
    assert figures["read"] > CASES // 50
    assert figures["refused"] > CASES // 2
    assert figures["slowest"][0] < SECONDS
    assert figures["mebibytes"] < 2048


@linux
def test_bombs_are_refused():
    """Small files that stand for much, and larger ones that are slow or costly to take apart."""
    figures = in_own_process("bombs")
    assert figures["failures"] == []
    assert figures["read"] + figures["refused"] == len(mesh_bombs.BOMBS)
    assert figures["slowest"][0] < SECONDS
    assert figures["mebibytes"] < 2048


if __name__ == "__main__":
    bombs = ((name, make()) for name, make in mesh_bombs.BOMBS.items())
    chosen = bombs if sys.argv[1] == "bombs" else mesh_files.cases(CASES, SEED)
    with tempfile.TemporaryDirectory() as folder:
        print(json.dumps(measure(chosen, Path(folder))))
