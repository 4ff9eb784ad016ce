"""Kernels before a run: which are needed, how they are compiled, and what the user sees of it."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import quadrants as qd
from simulation_rigs import block, weightless

from viscoil.core import compute, progress, quadrants_patches
from viscoil.core.parallel import cores
from viscoil.running.compiling import needs as lists
from viscoil.running.compiling import team
from viscoil.scene import Scene


@contextmanager
def counted(shown: list[int], total: int) -> Iterator[Callable[[], None]]:
    shown.append(total)
    yield lambda: shown.append(len(shown))


@pytest.mark.usefixtures("compute")
def test_the_list_of_kernels_is_what_a_step_calls(monkeypatch: pytest.MonkeyPatch) -> None:
    """Arguments that are made up from declarations ask for kernels that are there already.

    And kernels take them: a process that fails in one call would compile again in every run.
    """
    from quadrants.lang.impl import Program

    from viscoil.preview import render
    from viscoil.preview.camera import Camera
    from viscoil.simulation.simulation import Simulation

    scene = Scene.load("honey")
    simulation = Simulation(scene)
    simulation.step()
    render(simulation.snapshot(), Camera.frame_scene(scene), 32, 24)
    needs = lists.needs(scene)
    monkeypatch.setattr(Program, "launch_kernel", lambda *_: None)
    for name in sorted(needs.names):
        kernels = [k for k in team.find_kernels(name) if k.mapper.mapping]
        assert kernels, f"{name} is not called"
        for kernel in kernels:
            before = len(kernel.mapper.mapping)
            kernel(*team.made_up_arguments(kernel, needs.values))
            assert len(kernel.mapper.mapping) == before, f"{name} is called otherwise"


def test_scenes_need_what_they_use() -> None:
    names = ("honey", "floating", "melting")
    honey, floating, melting = (lists.needs(Scene.load(name)) for name in names)
    assert not honey.values["coupled"] and floating.values["coupled"]
    assert {*lists.BODIES} <= {*floating.names} and not {*lists.BODIES} & {*honey.names}
    assert {*lists.HEAT} <= {*melting.names} and not {*lists.HEAT} & {*honey.names}


PROGRAM = """
import sys
from contextlib import contextmanager
from viscoil.running.compiling import needs, team

@contextmanager
def show(total):
    print("total", total)
    yield lambda: print("done")

names = ("reductions._scan_in_place", "zorder._survey_total", "no_such.kernel")
modules = ["viscoil.core.reductions", "viscoil.neighbors.zorder"]
team.ahead(needs.Needs(names, modules, {}), int(sys.argv[1]), show)
from quadrants.lang.impl import Program
from viscoil.core import compute, reductions
import quadrants as qd
compute.initialize("cpu", int(sys.argv[1]))
compiled = []
compile_kernel = Program.compile_kernel
Program.compile_kernel = lambda *a: compiled.append(a) or compile_kernel(*a)
blocks = compute.scalars(qd.i32, 8)
reductions._scan_in_place(8, blocks)
print("compiled here", len(compiled))
"""


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> list[list[str]]:
    """What is printed with an empty cache, with a full one, and on another number of threads."""
    cache = tmp_path_factory.mktemp("cache")
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(sys.path),
        "QD_OFFLINE_CACHE_FILE_PATH": str(cache),
    }
    return [
        subprocess.run(
            [sys.executable, "-c", PROGRAM, threads],
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        ).stdout.splitlines()[-6:]
        for threads in ("2", "2", "1")
    ]


@pytest.mark.skipif(cores() < 2, reason="on one core kernels are compiled where called")
def test_other_processes_compile_and_this_one_finds_it(runs: list[list[str]]) -> None:
    first = runs[0]
    assert first[-1] == "compiled here 0"
    assert "total 3" in first and first.count("done") == 3


@pytest.mark.skipif(cores() < 2, reason="on one core kernels are compiled where called")
def test_nothing_is_shown_or_compiled_again(runs: list[list[str]]) -> None:
    for run in runs[1:]:
        assert run[-1] == "compiled here 0"
        assert not any(line.startswith("total") for line in run)


def test_a_number_of_threads_is_kept_though_kernels_are_the_same(tmp_path: Path) -> None:
    program = (
        "import glob, sys\n"
        "import quadrants as qd\n"
        "from viscoil.core import compute\n"
        "compute.initialize('cpu', 1)\n"
        "sys.path.insert(0, sys.argv[1])\n"
        "import busy\n"
        "a = compute.scalars(qd.f64, 20000)\n"
        "busy.work(1, a)\n"
        "def ticks(): return {t: sum(map(int, open(t).read().rsplit(')', 1)[1].split()[11:13]))"
        " for t in glob.glob('/proc/self/task/*/stat')}\n"
        "before = ticks(); busy.work(20000, a); after = ticks()\n"
        "print(sum(after[t] - before.get(t, 0) > 2 for t in after))\n"
    )
    (tmp_path / "busy.py").write_text(
        "import quadrants as qd\n"
        "@qd.kernel\n"
        "def work(n: qd.i32, a: qd.types.NDArray[qd.f64, 1]):\n"
        "    for i in range(n):\n"
        "        x = 0.0\n"
        "        for k in range(1500):\n"
        "            x = qd.sin(x + k + i)\n"
        "        a[i] = x\n"
    )
    if sys.platform != "linux":
        pytest.skip("threads are counted in /proc")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path)],
        env={**environment, "QD_OFFLINE_CACHE_FILE_PATH": str(tmp_path / "cache")},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.splitlines()[-1] == "1"


def test_plain_lines_tell_of_kernels_at_once(capsys: pytest.CaptureFixture[str]) -> None:
    with progress.compiling(3, quiet=False) as done:
        assert capsys.readouterr().out == "compiling kernels (once): 0/3\n"
        for _ in range(3):
            done()
    assert capsys.readouterr().out == "compiling kernels (once): 3/3\n"


def test_nothing_is_told_of_kernels_to_who_wants_quiet(capsys: pytest.CaptureFixture[str]) -> None:
    with progress.compiling(1, quiet=True) as done:
        done()
    progress.choose(0, 1, quiet=True).compiled("1/2")
    assert capsys.readouterr().out == ""


def test_kernels_that_nobody_foresaw_are_told_of(capsys: pytest.CaptureFixture[str]) -> None:
    lines = progress.Lines(0, 1)
    lines.compiled("1")
    lines.compiled("2")  # within five seconds
    assert capsys.readouterr().out == "compiling kernels (once): 1\n"


def test_the_display_starts_with_the_first_missing_kernel() -> None:
    shown: list[int] = []
    reports = [team.DONE, team.MISSING, team.DONE, team.MISSING]
    whole = team._follow(iter(reports), 3, lambda total: counted(shown, total))
    assert not whole
    assert shown == [3, 1, 2]


@pytest.mark.usefixtures("compute")
def test_new_arrays_hold_zeros() -> None:
    for make in (compute.scalars, compute.vectors, compute.matrices):
        first: Any = {"scalars": (qd.i64,), "vectors": (6,), "matrices": ()}[make.__name__]
        for _ in range(20):
            numbers = compute.view(make(*first, 5000))  # type: ignore[call-arg]
            assert not numbers.any()
            numbers[...] = 7


@pytest.mark.usefixtures("compute")
def test_steps_leave_nothing_in_the_keys_of_kernels() -> None:
    """A key with a new object in it is a new kernel: memory grew with every array of vectors."""
    from quadrants.lang import impl

    from viscoil.simulation.simulation import Simulation

    simulation = Simulation(weightless(block(6)))

    def keys() -> int:
        return sum(len(kernel.mapper.mapping) for kernel in impl.get_runtime().kernels)

    for _ in range(3):
        simulation.step()
    before = keys()
    for _ in range(5):
        simulation.step()
        compute.vectors(3, 100)
    assert keys() == before


@pytest.mark.usefixtures("compute")
def test_calls_leave_little_behind() -> None:
    """Whatever numbers a kernel is called with, which are new objects each time."""
    from viscoil.core import reductions

    blocks = compute.scalars(qd.i32, 2000)
    for n in range(1000, 1500):
        reductions._scan_in_place(n, blocks)
    (kernel,) = team.find_kernels("reductions._scan_in_place")
    assert len(kernel.mapper._mapping_cache) <= quadrants_patches.MOST_CALLS + 1
    assert len(kernel.mapper._mapping_cache_tracker) <= quadrants_patches.MOST_CALLS + 1
