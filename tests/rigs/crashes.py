"""Ends runs of the fake simulation at every single thing that they do to a file, and resumes them.

Run as a program: `python crashes.py FOLDER`. It forks, so that each end is as sudden as `kill -9`: no
handler runs, and nothing is flushed. Python tells of every file that is opened, renamed or removed
before that happens, so the ends are all the moments between such events.
"""

import json
import os
import random
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from fakes import make

from viscoil.core.errors import RunError
from viscoil.running.recording import CheckpointPlan
from viscoil.running.runner import run
from viscoil.runs.run import Run
from viscoil.scene import Scene

TEXT = """\
[simulation]
name = "drop"
spacing = 0.1
frames = 3

[materials.a]
density = 1
viscosity = 1

[[fluids]]
material = "a"
shape = "sphere"
center = [0, 0, 0]
radius = 1

[[outputs]]
type = "frames"
channels = ["position", "id"]
"""
SCENE = Scene.from_toml(TEXT)
EVENTS = {"open", "os.rename", "os.remove", "os.mkdir", "os.rmdir"}
PLAN = CheckpointPlan(seconds=1e9, frames=1, keep=2)
KILLED = 9


def simulate(folder: Path, **how: Any) -> None:
    run(SCENE, folder, quiet=True, checkpoints=PLAN, make=make(), **how)


def end_at(folder: Path, moment: int) -> None:
    """From now on, this process ends before the event of that number that concerns the folder."""
    count = 0

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        nonlocal count
        if event in EVENTS and str(arguments[0]).startswith(str(folder)):
            count += 1
            if count > moment:
                os._exit(KILLED)

    sys.addaudithook(hook)


def killed(folder: Path, moment: int, **how: Any) -> bool:
    """Simulates in another process that ends at the moment; whether it got that far."""
    child = os.fork()
    if child == 0:
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115
        end_at(folder, moment)
        simulate(folder, **how)
        os._exit(0)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    assert code in (0, KILLED), (folder, moment, how, code)
    return code == KILLED


def contents(folder: Path) -> dict[str, bytes]:
    """What has to be the same in the end: all files, but of checkpoints only the last."""
    paths = [p for p in folder.rglob("*") if p.is_file() and p.name not in ("run.json", ".lock")]
    old = sorted((folder / "checkpoints").iterdir())[:-1]
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(paths) if p not in old}


def check_readable(folder: Path) -> None:
    """The reader takes the folder, and every frame in it is whole."""
    if not (folder / "run.json").exists():  # nothing was begun
        left = [p.name for p in folder.iterdir()] if folder.exists() else []
        assert set(left) <= {".lock", ".run.part.json"}, left
        return
    there = Run(folder)
    for frame in there.frames:
        there.snapshot(frame)


def half_line(folder: Path) -> None:
    """A full disk cuts the line of a step."""
    if (folder / "stats.jsonl").exists():
        with (folder / "stats.jsonl").open("a") as file:
            file.write('{"step": 99, "ti')


def finished(folder: Path) -> None:
    simulate(folder)


def with_damaged_checkpoint(folder: Path) -> None:
    """The newest checkpoint is cut off, so the one before it is taken."""
    simulate(folder)
    newest = sorted((folder / "checkpoints").iterdir())[-1]
    newest.write_bytes(newest.read_bytes()[:-100])


def with_missing_frame(folder: Path) -> None:
    """The last frame is gone, so the run has to go back to the checkpoint before it."""
    simulate(folder)
    (folder / "frames" / "frame_000003.npz").unlink()


def nothing(folder: Path) -> None:
    """The run starts."""


CASES: list[tuple[Callable[[Path], None], dict[str, bool]]] = [
    (nothing, {}),
    (finished, {"overwrite": True}),
    (with_damaged_checkpoint, {"resume": True}),
    (with_missing_frame, {"resume": True}),
]


def kill_everywhere(
    folder: Path, prepare: Callable[[Path], None], how: dict[str, bool], whole: dict[str, bytes]
) -> int:
    """Ends a run at every moment, resumes it, sometimes ended again; the number of ends."""
    before, kills, chance = folder.with_name("before"), 0, random.Random(7)
    shutil.rmtree(before, ignore_errors=True)
    prepare(before)
    while True:
        shutil.rmtree(folder, ignore_errors=True)
        if before.exists():
            shutil.copytree(before, folder)
        if not killed(folder, kills, **how):
            return kills
        kills += 1
        check_readable(folder)
        if kills % 3 == 0:
            half_line(folder)
        if kills % 2 == 0 and killed(folder, chance.randrange(40), resume=True):
            check_readable(folder)
        simulate(folder, resume=True)
        assert contents(folder) == whole, (prepare.__name__, kills)
        assert Run(folder).state == "finished"


def main(place: Path) -> None:
    os.fsync = lambda fd: None  # a process that ends loses nothing that the system has
    sys.stdout = open(os.devnull, "w")  # noqa: SIM115
    simulate(place / "whole")
    whole = contents(place / "whole")
    kills = {
        prepare.__name__: kill_everywhere(place / "out", prepare, how, whole)
        for prepare, how in CASES
    }
    print(json.dumps(kills), file=sys.__stdout__)


if __name__ == "__main__":
    try:
        main(Path(sys.argv[1]))
    except RunError as error:
        sys.exit(f"a run could not be resumed: {error}")
