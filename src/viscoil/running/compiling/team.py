"""Compiles the kernels of a run before it starts, on all cores, and counts what is compiled later.

Quadrants compiles a kernel where it is first called, one after the other, and keeps it on disk. A
kernel here gets all its data through its parameters, so that arguments which make Quadrants compile
it can be made from its declaration alone. Other processes do that, each for the kernel that is next
on the list; what they leave on disk is seen by a backend that starts afterwards.

Nothing here is needed for right results: a kernel that is not on the list, or whose process fails,
is compiled where it is called.
"""

import dataclasses
import gc
import hashlib
import inspect
import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, suppress
from importlib import import_module
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any, Protocol

from viscoil.core.parallel import cores
from viscoil.running.compiling.counting import counter
from viscoil.running.compiling.needs import Needs, needs
from viscoil.scene import Scene

MOST_PROCESSES = 8  # the longest kernel takes a fifth of all the time: more would wait
MISSING, DONE = "missing", "done"


class Show(Protocol):
    """Opens a display for so many kernels; what it gives is called for each that is compiled."""

    def __call__(self, total: int) -> AbstractContextManager[Callable[[], None]]: ...


def prepare(scene: Scene, arch: str, threads: int | None, show: Show) -> None:
    """Has kernels compiled before a scene starts, if other processes can do that, and counts others.

    `show` is called as soon as a kernel turns out to be missing.
    """
    import_quadrants()
    from viscoil.core import compute

    counter.install()
    wanted = needs(scene)
    if arch == "cpu" and cores() > 1 and not compute.is_running():
        ahead(wanted, threads, show)
    elif not compute.is_running():
        counter.total = len(wanted.names)


def import_quadrants() -> None:
    """Imports Quadrants without what `compute` keeps it from doing for kernels of ours: 0.1 s."""
    real = inspect.getframeinfo

    def quick(frame: Any, context: int = 1) -> inspect.Traceback:
        code = getattr(frame, "f_code", None)
        if code is None or not code.co_filename.startswith("<frozen"):
            return real(frame, context)
        return inspect.Traceback(code.co_filename, frame.f_lineno, code.co_name, None, None)

    inspect.getframeinfo = quick
    try:
        import quadrants  # noqa: F401
    finally:
        inspect.getframeinfo = real


def ahead(wanted: Needs, threads: int | None, show: Show) -> None:
    """Compiles for the CPU what is not on disk yet; the backend must not have been started."""
    stamp = _stamp(wanted, threads)
    if stamp.exists():
        return
    with _Team(min(cores(), MOST_PROCESSES), wanted, threads) as team:
        import viscoil.simulation.simulation  # noqa: F401  # while the others work

        whole = _follow(team.reports(), len(wanted.names), show)
    if whole:
        with suppress(OSError):
            stamp.parent.mkdir(parents=True, exist_ok=True)
            stamp.touch()


def _follow(reports: Iterator[str], total: int, show: Show) -> bool:
    """Shows what is reported; whether all kernels were done."""
    ready = 0
    done: Callable[[], None] | None = None
    with ExitStack() as display:
        for report in reports:
            if report == MISSING and done is None:
                done = display.enter_context(show(total))
                for _ in range(ready):
                    done()
            if report == DONE:
                ready += 1
                if done is not None:
                    done()
    return ready == total


def _stamp(wanted: Needs, threads: int | None) -> Path:
    """A file that is there if these kernels of this program have been compiled before."""
    import quadrants
    from quadrants.lang import impl

    package = Path(__file__).parents[2]
    sources = [(str(path), path.stat()) for path in sorted(package.rglob("*.py"))]
    state = [
        *(wanted.names, sorted(wanted.values.items()), quadrants.__version__),
        *(sys.version, max(threads or 1, os.cpu_count() or 1)),
        *((path, about.st_size, about.st_mtime_ns) for path, about in sources),
    ]
    digest = hashlib.sha256(repr(state).encode()).hexdigest()[:24]
    default = impl.default_cfg().offline_cache_file_path
    return Path(os.environ.get("QD_OFFLINE_CACHE_FILE_PATH") or default) / "viscoil" / digest


class _Team:
    """Processes that compile, each with a thread here that gives it one kernel after the other."""

    def __init__(self, count: int, wanted: Needs, threads: int | None) -> None:
        self._wanted: SimpleQueue[str] = SimpleQueue()
        for name in wanted.names:
            self._wanted.put(name)
        self._reports: SimpleQueue[str | None] = SimpleQueue()
        self._leaving = threading.Lock()
        order = json.dumps(
            {
                "path": sys.path,
                "threads": threads,
                "modules": wanted.modules,
                "values": wanted.values,
            }
        )
        self._processes = [_start(order) for _ in range(count)]
        self._threads = [
            threading.Thread(target=self._lead, args=(process,), daemon=True)
            for process in self._processes
        ]
        for thread in self._threads:
            thread.start()

    def __enter__(self) -> "_Team":
        return self

    def __exit__(self, *error: object) -> None:
        for process in self._processes:
            process.kill()
        for process, thread in zip(self._processes, self._threads, strict=True):
            process.wait()
            thread.join()  # its process has ended, and so has all that it could wait for
            for pipe in (process.stdin, process.stdout):
                if pipe is not None:
                    with suppress(OSError):
                        pipe.close()

    def reports(self) -> Iterator[str]:
        """MISSING and DONE of all processes, until the last has ended."""
        for _ in self._threads:
            yield from iter(self._reports.get, None)

    def _lead(self, process: "subprocess.Popen[str]") -> None:
        assert process.stdin is not None and process.stdout is not None
        with suppress(OSError, Empty):
            while True:
                process.stdin.write(self._wanted.get_nowait() + "\n")
                process.stdin.flush()
                for line in process.stdout:
                    self._reports.put(line.strip())
                    if line.strip() == DONE:
                        break
                else:  # it has died
                    raise OSError
        with self._leaving, suppress(OSError):  # each keeps its kernels as it ends: one at a time
            process.stdin.close()
            process.wait()
        self._reports.put(None)


def _start(order: str) -> "subprocess.Popen[str]":
    program = (
        "import json, sys; order = json.loads(sys.argv[1]); sys.path[:] = order['path']; "
        "from viscoil.running.compiling.team import work; "
        "work(order['threads'], order['modules'], order['values'])"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", program, order],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    return process


def work(threads: int | None, modules: list[str], values: dict[str, Any]) -> None:
    """What another process does: compile the kernels whose names it is given, line by line."""
    gc.set_threshold(50_000, 20, 20)  # trees of source are many objects, and soon gone
    import_quadrants()
    from quadrants.lang.impl import Program

    for module in modules:
        import_module(module)
    from viscoil.core import compute

    answer = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)  # nothing but answers goes there
    compute.initialize("cpu", threads)
    compile_kernel = Program.compile_kernel

    def told(*arguments: Any) -> Any:
        print(MISSING, file=answer)
        return compile_kernel(*arguments)

    Program.compile_kernel = told  # which is not called for what is on disk
    Program.launch_kernel = lambda *_: None  # compiled, but not run
    for line in sys.stdin:
        for kernel in find_kernels(line.strip()):
            kernel(*made_up_arguments(kernel, values))
        print(DONE, file=answer)


def find_kernels(name: str) -> list[Any]:
    """The declared kernels of this name; the modules that declare them must be imported."""
    return _declared().get(name, [])


def _declared() -> dict[str, list[Any]]:
    from quadrants.lang import impl
    from quadrants.types.enums import AutodiffMode

    found: dict[str, list[Any]] = {}
    for kernel in impl.get_runtime().kernels:
        if kernel.autodiff_mode == AutodiffMode.NONE:
            module = kernel.func.__module__
            if not module.startswith("quadrants."):
                name = f"{module.rpartition('.')[2]}.{kernel.func.__name__}"
                found.setdefault(name, []).append(kernel)
    return found


def made_up_arguments(kernel: Any, values: dict[str, Any]) -> list[Any]:
    """Arguments of the types that a kernel declares; template parameters have values by name."""
    return [_made_up(meta.annotation, meta.name, values) for meta in kernel.arg_metas]


def _made_up(kind: Any, name: str, values: dict[str, Any]) -> Any:
    import quadrants as qd
    from quadrants.lang.matrix import VectorType
    from quadrants.types import template

    if kind is template or isinstance(kind, template):
        return values[name]
    if isinstance(kind, qd.types.NDArray):
        return qd.ndarray(kind.dtype, (1,) * kind.ndim)
    if dataclasses.is_dataclass(kind):
        make: Any = kind
        return make(**{f.name: _made_up(f.type, f.name, values) for f in dataclasses.fields(kind)})
    if isinstance(kind, VectorType):
        return kind(*[0.0] * kind.n)
    return 0.0 if kind in (qd.f32, qd.f64) else 0
