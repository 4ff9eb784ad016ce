"""Exports a million particles with velocity, id, material and two more channels, format by format.

Seconds per frame are those of the steady state, with two processes, from when a frame was finished to
when a later one was; with and without waiting for the disk (fsync). Processor time, shared by two cores,
is what an idle machine would need at least. Memory is the most that all processes of an export held.
"""

import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

import numpy as np

COUNT, FRAMES, WARM_UP = 100, 24, 8  # particles along an edge; frames, of which some warm up
FORMATS = ("npz", "ply", "bgeo", "vtp")
SECONDS, MEGABYTES = 0.15, 300.0
NO_SYNC = "VISCOIL_BENCH_NO_SYNC"

if os.environ.get(NO_SYNC):  # also in the processes of the export, which import this file
    os.fsync = lambda fd: None


def make_run(folder: Path) -> None:
    """Frames of a jittered lattice."""
    from viscoil.outputs.frames import FramesOutput, frame_name
    from viscoil.runs.folder import RunFolder
    from viscoil.scene import Scene
    from viscoil.snapshots.snapshot import Snapshot

    scene = Scene.load("honey")
    run = RunFolder(folder)
    run.write_run(scene.to_toml(), "cpu", 2, state="finished")
    rng = np.random.default_rng(0)
    place = np.moveaxis(np.indices((COUNT,) * 3), 0, -1).reshape(-1, 3) + rng.random((COUNT**3, 3))
    count = len(place)
    channels = {
        "position": (0.01 * place).astype(np.float32),
        "velocity": rng.random((count, 3), np.float32),
        "id": np.arange(count, dtype=np.int32),
        "material": np.zeros(count, np.int32),
        "pressure": rng.random(count, np.float32),
        "birth": rng.random(count, np.float32),
    }
    FramesOutput(run.frames, tuple(channels)).frame(Snapshot(0, 0.0, channels, (), [], 0.01))
    for number in range(1, FRAMES):
        data = run.frame(0).read_bytes()
        (run.frames / frame_name(number, ".npz")).write_bytes(data)


class Cost(NamedTuple):
    """What an export took."""

    seconds: float  # per frame, in the steady state
    processor: float  # s, of all processes, from their start
    memory: float  # MB, at most


def measure(folder: Path, form: str, sync: bool, frames: int = FRAMES) -> Cost:
    """Exports the first frames."""
    out = folder / f"out_{form}_{sync}"
    environment = {**os.environ, **({} if sync else {NO_SYNC: "yes"})}
    command = [sys.executable, __file__, str(folder / "run"), form, str(out), str(frames - 1)]
    before = processor_time()
    process = subprocess.Popen(command, env=environment)
    most = 0.0
    while process.poll() is None:
        most = max(most, sum(map(held, [process.pid, *children(process.pid)])))
        time.sleep(0.02)
    if process.returncode:
        sys.exit(process.returncode)
    times = sorted(path.stat().st_mtime_ns for path in out.glob("frame_*"))
    warm_up = min(WARM_UP, len(times) // 3)
    shutil.rmtree(out)
    seconds = (times[-1] - times[warm_up]) * 1e-9 / (len(times) - 1 - warm_up)
    return Cost(seconds, processor_time() - before, most)


def processor_time() -> float:
    """Of all processes that have ended, s."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def children(pid: int) -> list[int]:
    """Processes that a process started."""
    found = []
    for path in Path(f"/proc/{pid}/task").glob("*/children"):
        try:
            found += [int(child) for child in path.read_text().split()]
        except OSError:
            continue
    return found


def held(pid: int) -> float:
    """Memory of a process, MB, of which it counts its share of what it shares."""
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0.0
    return next((int(line.split()[1]) / 1024 for line in lines if line.startswith("Pss:")), 0.0)


def main() -> None:
    from measure import note, report

    with tempfile.TemporaryDirectory() as text:
        folder = Path(text)
        make_run(folder / "run")
        for form in FORMATS:
            short = measure(folder, form, sync=False, frames=WARM_UP)
            cost = measure(folder, form, sync=False)
            report(f"export to {form}, per frame", cost.seconds, "s", SECONDS)
            report(f"export to {form}, memory", cost.memory, "MB", MEGABYTES)
            processor = (cost.processor - short.processor) / (FRAMES - WARM_UP) / 2
            note(f"{form}, processor time, shared by two cores", processor, "s per frame")
            waiting = measure(folder, form, sync=True)
            note(f"{form}, waiting for the disk", waiting.seconds, "s per frame")
        volumes = measure(folder, "vdb", sync=True, frames=6)
        note("vdb", volumes.seconds, "s per frame")
        note("vdb, memory", volumes.memory, "MB")


def export_one(run: str, form: str, out: str, last: str) -> None:
    from viscoil.exchange import export

    export(run, form, out=out, frames=f"0:{last}", processes=2, quiet=True)


if __name__ == "__main__":
    main() if len(sys.argv) == 1 else export_one(*sys.argv[1:])
