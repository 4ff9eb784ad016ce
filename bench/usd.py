"""A million particles with velocity and two channels to USD: seconds a frame, and memory.

Two processes read the frames of a run and write them, as an export does. The first frame of each
process, which loads the library, does not count.
"""

import os
import resource
import tempfile
import time
from functools import partial
from pathlib import Path
from statistics import median
from typing import NamedTuple

import numpy as np
from measure import note, report

from viscoil.core.parallel import each_frame
from viscoil.exchange.usd.format import UsdFormat
from viscoil.outputs.frames import FramesOutput, frame_name
from viscoil.runs.folder import RunFolder
from viscoil.runs.run import Run
from viscoil.scene import Scene
from viscoil.snapshots.snapshot import Snapshot

COUNT = 1_000_000
CHANNELS = ("temperature", "pressure")
FRAMES = 16
SCENE = """
[simulation]
name = "million"
spacing = 0.01
frames = 1
[[fluids]]
shape = "box"
material = "honey"
center = [0, 0.5, 0]
size = [1, 1, 1]
temperature = 300.0
"""


class Written(NamedTuple):
    """What a process saw while it wrote a frame."""

    process: int
    begin: float  # s
    end: float  # s
    work: float  # s of the processor: what it takes when nothing else runs
    before: float  # MB in memory when it began
    most: float  # MB, the most so far


def make_run(folder: Path) -> None:
    """Frames whose particles are in the order of their places, as a solver leaves them."""
    scene = Scene.from_toml(SCENE)
    run = RunFolder(folder)
    run.write_run(scene.to_toml(), "cpu", 2, state="finished")
    output = FramesOutput(run.frames, ("position", "velocity", "id", "material", *CHANNELS))
    random = np.random.default_rng(1)
    channels = {
        "position": random.random((COUNT, 3), dtype=np.float32),
        "velocity": random.random((COUNT, 3), dtype=np.float32),
        "id": random.permutation(COUNT).astype(np.int32),
        "material": np.zeros(COUNT, np.int32),
        **{name: random.random(COUNT, dtype=np.float32) for name in CHANNELS},
    }
    for frame in range(FRAMES):
        output.frame(Snapshot(frame, frame / 30, channels, (), (), 0.01))


def memory() -> float:
    """MB that this process has in memory now."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def convert(run: Path, folder: Path, frame: int) -> Written:
    begin, begin_work, before = time.perf_counter(), time.process_time(), memory()
    snapshot = Run(run).snapshot(frame)
    UsdFormat().write(folder / frame_name(frame, ".usdc"), snapshot, CHANNELS)
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3
    work = time.process_time() - begin_work
    return Written(os.getpid(), begin, time.perf_counter(), work, before, most)


def main() -> None:
    with tempfile.TemporaryDirectory() as place:
        run, folder = Path(place) / "run", Path(place) / "usd"
        folder.mkdir()
        make_run(run)
        work = partial(convert, run, folder)
        done = each_frame(work, range(FRAMES), what="frames", processes=2, quiet=True)
        begin = time.perf_counter()
        stage = UsdFormat().finish(folder, Run(run).scene, range(FRAMES))
        finish = time.perf_counter() - begin
        size = (folder / frame_name(0, ".usdc")).stat().st_size / 1e6
        assert stage.is_file()
    parts = [[w for w in done if w.process == p] for p in {w.process for w in done}]
    warm = [w for part in parts for w in sorted(part, key=lambda w: w.begin)[1:]]
    span = max(w.end for w in warm) - min(w.begin for w in warm)
    report("USD, a million particles, two processes", span / len(warm), "s a frame", 0.4)
    note("one frame in one process, median", median(w.end - w.begin for w in warm), "s")
    note("its processor time, median", median(w.work for w in warm), "s")
    note("a frame's file", size, "MB")
    note(f"the stage over {FRAMES} frames", finish, "s")
    grown = max(max(w.most for w in part) - min(w.before for w in part) for part in parts)
    report("USD, memory of a process above that at its start", grown, "MB", 300.0)


if __name__ == "__main__":
    main()
