"""Kills real runs of the real solver at random moments, and compares what becomes of them."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from fakes import ENVIRONMENT

from viscoil.runs.run import Run

SCENE = """\
[simulation]
spacing = 0.02
frames = 4

[[fluids]]
material = "honey"
shape = "sphere"
center = [0.0, 0.12, 0.0]
radius = 0.05

[[emitters]]
material = "honey"
shape = "disc"
center = [0.2, 0.3, 0.0]
direction = [0, -1, 0]
radius = 0.04
speed = 1.0

[[colliders]]
shape = "plane"

[camera]
width = 64
height = 48
"""
# What is being written when a run is killed on sight, by the name of the unfinished file.
SIGHTS = ("frames/.frame", "checkpoints/.step", "preview/.frame", ".video", ".stats", ".run")
# The command line, killed as it is about to open, rename or remove a file for the n-th time.
EXACTLY = """
import os, signal, sys

place, left = sys.argv[1], int(sys.argv[2])

def hook(event, arguments):
    global left
    if event in ("open", "os.rename", "os.remove") and place in str(arguments[0]):
        left -= 1
        if left == 0:
            os.kill(os.getpid(), signal.SIGKILL)

sys.addaudithook(hook)
from viscoil.cli import main
sys.exit(main(sys.argv[3:]))
"""
KILL: signal.Signals = getattr(signal, "SIGKILL", signal.SIGTERM)  # Windows has no SIGKILL
needs_kill = pytest.mark.skipif(
    not hasattr(signal, "SIGKILL"), reason="kills processes as POSIX does, by SIGKILL"
)
OPTIONS = ("--threads", "1", "--checkpoint-frames", "1", "--keep-checkpoints", "3", "--quiet")


@dataclass
class Moment:
    """When to kill: after a time (s), or at the n-th sight of an unfinished file of a kind."""

    seconds: float
    sight: str | None = None
    count: int = 1
    by: signal.Signals = KILL
    seen: set[tuple[str, int]] = field(default_factory=set)

    def is_now(self, folder: Path, elapsed: float) -> bool:
        if self.sight is None or elapsed > self.seconds:
            return elapsed > self.seconds
        place = folder / self.sight
        try:
            found = [e for e in os.scandir(place.parent) if e.name.startswith(place.name)]
            self.seen |= {(e.name, e.stat().st_mtime_ns // 10**7) for e in found}
        except OSError:
            return False
        return len(self.seen) >= self.count


def random_moment(chance: random.Random, length: float) -> Moment:
    """Half by the clock, half at the sight of a file; one in ten is a Ctrl-C."""
    number = signal.SIGINT if chance.random() < 0.1 else KILL
    if chance.random() < 0.5:
        return Moment(chance.uniform(0.0, length), by=number)
    return Moment(2 * length, chance.choice(SIGHTS), chance.choice((1, 1, 2, 3)), number)


def start(folder: Path, program: Sequence[str] = ("-m", "viscoil")) -> "subprocess.Popen[str]":
    """A run of the scene beside the folder, new or resumed."""
    scene = folder.with_name("drop.toml")
    scene.write_text(SCENE)
    command = [sys.executable, *program, "run", str(scene), "--out", str(folder)]
    return subprocess.Popen(
        [*command, "--resume", *OPTIONS],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=ENVIRONMENT,
    )  # fmt: skip


def finish(folder: Path) -> float:
    """Lets a run go on to its end; the seconds that it took."""
    begin = time.monotonic()
    process = start(folder)
    _, errors = process.communicate(timeout=300)
    assert process.returncode == 0, errors
    return time.monotonic() - begin


def kill(folder: Path, moment: Moment) -> bool:
    """Starts a run and kills it; whether it was still running."""
    begin = time.monotonic()
    process = start(folder)
    while process.poll() is None and not moment.is_now(folder, time.monotonic() - begin):
        time.sleep(0.0005)
    running = process.poll() is None
    process.send_signal(moment.by)
    _, errors = process.communicate(timeout=300)
    assert process.returncode in (0, -moment.by, 128 + moment.by), errors
    return running and process.returncode != 0


def kill_at(folder: Path, place: str, count: int = 1) -> None:
    """Kills a run just before it touches a file, whose path has `place` in it, for the n-th time."""
    process = start(folder, ("-c", EXACTLY, place, str(count)))
    _, errors = process.communicate(timeout=300)
    assert process.returncode == -KILL, errors


def is_readable(folder: Path) -> bool:
    """Whether the reader takes the folder and all its frames; one that was never begun is fine."""
    if not (folder / "run.json").exists():
        left = {path.name for path in folder.iterdir()} if folder.exists() else set()
        return left <= {".lock", ".run.part.json"}
    run = Run(folder)
    return all(len(run.snapshot(frame).channels["position"]) > 0 for frame in run.frames)


def contents(folder: Path) -> dict[str, Any]:
    """Every byte that a run leaves, but for wall times and the checkpoints before the last."""
    old = sorted((folder / "checkpoints").iterdir())[:-1]
    paths = [p for p in folder.rglob("*") if p.is_file() and p not in old and p.name != ".lock"]
    found: dict[str, Any] = {str(p.relative_to(folder)): p.read_bytes() for p in paths}
    found["run.json"] = json.loads(found["run.json"])
    found["stats.jsonl"] = [untimed(line) for line in found["stats.jsonl"].splitlines()]
    return found


def untimed(line: bytes) -> dict[str, Any]:
    record: dict[str, Any] = json.loads(line)
    del record["milliseconds"]
    return record


@dataclass
class Tally:
    """What became of the runs that were killed."""

    runs: int = 0
    kills: int = 0
    unreadable: int = 0
    same: int = 0


def kill_runs(place: Path, runs: int, most_kills: int, seed: int) -> Tally:
    """Kills so many runs, each once or more, and lets them go on to the end."""
    chance, tally = random.Random(seed), Tally()
    finish(place / "warm")  # compiles what is not in the cache yet
    length = finish(place / "whole")
    whole = contents(place / "whole")
    while tally.runs < runs:
        folder = place / f"run_{tally.runs}"
        kills = 0
        for _ in range(chance.randint(1, most_kills)):
            kills += kill(folder, random_moment(chance, length))
            tally.unreadable += not is_readable(folder)
        if kills:  # else it was done before its moment came
            finish(folder)
            tally.runs += 1
            tally.kills += kills
            tally.same += contents(folder) == whole
    return tally
