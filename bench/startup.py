"""How long a user waits: for help, and from `viscoil run honey` to the first finished step."""

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

from measure import report

REPETITIONS = 5
VISCOIL = [sys.executable, "-m", "viscoil"]


def first_step(folder: Path, cache: Path) -> float:
    """Seconds until the first line of stats.jsonl; the frame is finished, so that kernels are kept."""
    out = Path(tempfile.mkdtemp(dir=folder))
    stats = out / "stats.jsonl"
    command = [*VISCOIL, "run", "honey", "--frames", "1", "--quiet", "--overwrite"]
    command += ["--out", str(out)]
    environment = {**os.environ, "QD_OFFLINE_CACHE_FILE_PATH": str(cache)}
    begin = time.perf_counter()
    process = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL)
    while not (stats.exists() and stats.stat().st_size):
        if process.poll() not in (None, 0):
            raise SystemExit(f"viscoil run ended with code {process.returncode}")
        time.sleep(0.005)
    seconds = time.perf_counter() - begin
    if process.wait() != 0:
        raise SystemExit(f"viscoil run ended with code {process.returncode}")
    return seconds


def help_shown() -> float:
    begin = time.perf_counter()
    subprocess.run([*VISCOIL, "--help"], check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - begin


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        cache = folder / "cache"
        empty = first_step(folder, cache)
        filled = [first_step(folder, cache) for _ in range(REPETITIONS)]
        assert any(cache.rglob("*")), "kernels were cached elsewhere"
    print(f"median of {REPETITIONS}, but one run with an empty cache")
    report("first step, empty kernel cache", empty, "s", 30.0)
    report("first step, kernels cached", median(filled), "s", 3.0)
    report("viscoil --help", median(help_shown() for _ in range(REPETITIONS)), "s", 0.5)


if __name__ == "__main__":
    main()
