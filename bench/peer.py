"""A dam break against SPlisHSPlasH 2.19.0, both with five density iterations on two threads.

Same block, spacing, mass, smoothing function, step and iterations. The two take turns of ten steps,
so that whatever else the machine does hits both. The peer is installed into build/peer-venv.
"""

import json
import math
import os
import shutil
import subprocess
import tempfile
import time
import venv
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import mean, median
from typing import Any

import numpy as np
from measure import ROOT, Body, lattice, note, report

from viscoil.core import compute
from viscoil.scene import BoxCollider, Material

VENV = ROOT / "build/peer-venv"
THREADS = 2
SPACING, DT, ITERATIONS = 1 / 64, 0.002, 5
COUNTS = (31, 50, 62)  # particles along each axis, as the peer samples 0.5 x 0.8 x 1 m
TANK = (2.0, 1.0, 1.0)
CHUNK, WARM_UP, CHUNKS = 10, 3, 10  # steps in turn; chunks until the block has landed; and in all
RECORDED = 5000.0  # ns per particle and step of the peer on an idle two-core machine


def install() -> None:
    """Makes the peer's virtual environment, unless it is there."""
    python = VENV / "bin/python"
    if not (VENV / "installed").exists():
        venv.create(VENV, with_pip=True, clear=True)
        quiet = ["--quiet", "--disable-pip-version-check"]
        packages = ["pysplishsplash==2.19.0", "numpy"]
        subprocess.run([python, "-m", "pip", "install", *quiet, *packages], check=True)
        # the wheel's libGLdispatch crashes beside the system's other GL libraries
        for ours in VENV.glob("lib/python*/site-packages/pysplishsplash.libs/libGLdispatch-*"):
            for system in Path("/usr").glob("lib*/**/libGLdispatch.so.0"):
                shutil.copyfile(system, ours)
        (VENV / "installed").touch()


@contextmanager
def peer() -> Iterator[Iterator[dict[str, Any]]]:
    """The peer's chunks; each is computed when it is asked for."""
    settings = {
        "tank": TANK,
        "counts": COUNTS,
        "spacing": SPACING,
        "time_step": DT,
        "iterations": ITERATIONS,
        "chunk": CHUNK,
    }
    script = Path(__file__).parent / "splishsplash/dam_break.py"
    with tempfile.TemporaryDirectory() as folder, (Path(folder) / "log").open("w") as log:
        process = subprocess.Popen(
            [VENV / "bin/python", script, json.dumps(settings), folder],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, text=True, cwd=folder,
            env={**os.environ, "OMP_NUM_THREADS": str(THREADS)},
        )  # fmt: skip
        assert process.stdin and process.stdout
        try:
            yield _chunks(process.stdin, process.stdout)
        finally:
            process.stdin.close()
            process.wait()


def _chunks(orders: Any, answers: Any) -> Iterator[dict[str, Any]]:
    while line := answers.readline():
        yield json.loads(line)
        print(file=orders, flush=True)
    raise OSError("it ended early")


def ours(mass: float) -> Iterator[dict[str, Any]]:
    """The same chunks by our solver, with particles of the same mass (kg) and smoothing radius."""
    spacing = (mass / 1000.0) ** (1 / 3)
    depth = (COUNTS[2] - 1) * SPACING
    corner = np.array([2 * SPACING - 0.5 * TANK[0], 2 * SPACING, -0.5 * depth])
    x = corner + lattice(COUNTS, SPACING)
    tank = BoxCollider(container=True, center=(0.0, 0.5 * TANK[1], 0.0), size=TANK, contact="slip")
    body = Body(
        x, spacing, Material(density=1000.0, viscosity=0.0), [tank],
        support=2.0 * SPACING / spacing, position_iterations=ITERATIONS,
        max_position_iterations=ITERATIONS,
    )  # fmt: skip
    while True:
        seconds = []
        for _ in range(CHUNK):
            begin = time.perf_counter()
            error = body.step(DT).density.mean
            seconds.append(time.perf_counter() - begin)
        yield {"particles": len(x), "seconds": seconds, "density_error": error}


def cost(chunks: list[dict[str, Any]]) -> list[float]:
    """ns per particle and step: the median step of each chunk."""
    return [median(c["seconds"]) / c["particles"] * 1e9 for c in chunks]


def compare() -> None:
    with peer() as chunks:
        theirs = [next(chunks)]
        assert theirs[0]["particles"] == math.prod(COUNTS)
        our_chunks = ours(theirs[0]["mass"])
        own = [next(our_chunks)]
        while len(theirs) < CHUNKS:
            theirs.append(next(chunks))
            own.append(next(our_chunks))
    for name, side in (("SPlisHSPlasH", theirs), ("Viscoil", own)):
        errors = " ".join(f"{c['density_error']:.5f}" for c in side)
        print(f"  density error after each turn, {name}: {errors}")
    theirs, own = theirs[WARM_UP:], own[WARM_UP:]
    ratios = [a / b for a, b in zip(cost(theirs), cost(own), strict=True)]
    print(f"{math.prod(COUNTS)} particles, {THREADS} threads, medians of {len(own)} turns")
    note("SPlisHSPlasH", median(cost(theirs)), "ns per particle and step")
    note("Viscoil", median(cost(own)), "ns per particle and step")
    note("lowest and highest ratio of a turn", min(ratios), f"to {max(ratios):.4g}")
    report("times faster than SPlisHSPlasH", median(ratios), "", 4.0, least=True)
    there, here = (mean(c["density_error"] for c in side) for side in (theirs, own))
    note("mean density error of SPlisHSPlasH", there, "")
    note("mean density error of Viscoil", here, "")
    report("mean density error / that of SPlisHSPlasH", here / there, "", 1.0)


def alone(reason: str) -> None:
    print(f"SPlisHSPlasH could not be run here ({reason}): compared with its recorded time")
    chunks = ours(1000.0 * SPACING**3)
    own = [next(chunks) for _ in range(CHUNKS)][WARM_UP:]
    note("Viscoil", median(cost(own)), "ns per particle and step")
    report("times faster than recorded", RECORDED / median(cost(own)), "", 4.0, least=True)


def main() -> None:
    compute.initialize(threads=THREADS)
    try:
        install()
        compare()
    except (OSError, subprocess.CalledProcessError) as error:
        alone(str(error))


if __name__ == "__main__":
    main()
