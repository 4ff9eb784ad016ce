"""Runs a scene into a folder: steps, outputs, progress, checkpoints, Ctrl-C and divergence."""

import math
import os
import signal
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any, Protocol

from viscoil import progress
from viscoil.errors import DivergedError, Stopped, ViscoilError
from viscoil.outputs import check_outputs, create_outputs
from viscoil.outputs.files import reporting
from viscoil.outputs.run_folder import RunFolder
from viscoil.resume import check_folder
from viscoil.scene import Scene

if TYPE_CHECKING:
    from viscoil.outputs.protocol import Snapshot

CHECKPOINT_SECONDS = 30.0
WHAT_TO_TRY = (
    "try a smaller simulation.max_time_step (or time_step), or more solver.velocity_iterations"
)


class Simulation(Protocol):
    """What the runner needs of a simulation; a step never goes past the end of a frame."""

    @property
    def time(self) -> float:
        """Simulated time, s."""

    @property
    def frame(self) -> int:
        """Finished frames; the initial state is frame 0."""

    @property
    def steps(self) -> int:
        """Steps taken since the start of the scene."""

    @property
    def notes(self) -> Sequence[str]:
        """What the user should know about the start of the scene, one sentence each."""

    def step(self) -> Mapping[str, Any]:
        """Take one time step; its statistics.

        Raises DivergedError, which says where, and is then in the last good state.
        """

    def snapshot(self) -> "Snapshot":
        """The present state in plain arrays."""

    def save(self, path: Path) -> None:
        """Write a checkpoint."""


class MakeSimulation(Protocol):
    """Builds a simulation, from a checkpoint if there is one."""

    def __call__(
        self, scene: Scene, *, arch: str, threads: int | None, checkpoint: Path | None
    ) -> Simulation: ...


@dataclass(frozen=True)
class Summary:
    """What a finished run amounts to."""

    folder: Path
    frames: int
    steps: int
    particles: int
    seconds: float
    """Wall time of this run, without what was done before a resume."""


def run(
    scene: Scene,
    out: str | Path | None = None,
    *,
    frames: int | None = None,
    resume: bool = False,
    overwrite: bool = False,
    quiet: bool = False,
    arch: str = "cpu",
    threads: int | None = None,
    checkpoint_seconds: float = CHECKPOINT_SECONDS,
    make: MakeSimulation | None = None,
) -> Summary:
    """Simulate the scene into a folder (default runs/NAME) and print how it went.

    Raises RunError for a folder that must not be written to, ResumeError for one that holds
    another scene, DivergedError, and Stopped after Ctrl-C.
    """
    scene = scene if frames is None else scene.with_frames(frames)
    folder = Path(out) if out is not None else Path("runs") / scene.name
    checkpoint = check_folder(folder, scene, resume=resume, overwrite=overwrite)
    check_outputs(scene)
    begin = time.monotonic()
    build = make or _make_simulation
    simulation = build(scene, arch=arch, threads=threads, checkpoint=checkpoint)
    recorder = Recorder(_open(folder, simulation, overwrite), scene, arch, threads)
    if not quiet:
        for note in simulation.notes:
            print(f"note: {note}", flush=True)
    display = progress.choose(simulation.frame, scene.frames, quiet)
    with _closing(recorder, display), _stop_signals() as stopped:
        _drive(simulation, scene.frames, recorder, display, checkpoint_seconds, stopped)
    particles = len(simulation.snapshot().channels["position"])
    seconds = time.monotonic() - begin
    summary = Summary(folder, simulation.frame, simulation.steps, particles, seconds)
    print(_final_line(scene.name, summary))
    return summary


def _open(path: Path, simulation: Simulation, overwrite: bool) -> RunFolder:
    """The folder without anything from after the present state of the simulation.

    Called when the simulation stands, so that a run that cannot start removes nothing.
    """
    folder = RunFolder(path)
    if overwrite:
        folder.clear()
    folder.cut_back(simulation.steps, simulation.frame)
    return folder


@contextmanager
def _closing(recorder: "Recorder", display: progress.Progress) -> Iterator[None]:
    """Finish display and outputs at any end; what went wrong first is what is reported."""
    states = {Stopped: "stopped", KeyboardInterrupt: "stopped", DivergedError: "diverged"}
    try:
        yield
    except BaseException as error:
        display.close()
        with suppress(ViscoilError):
            recorder.state(states.get(type(error), "failed"))
            recorder.close()
        raise
    display.close()
    recorder.state("finished")  # before the film, whose failure does not undo the simulation
    recorder.close()


def _make_simulation(
    scene: Scene, *, arch: str, threads: int | None, checkpoint: Path | None
) -> Simulation:
    from viscoil.simulation import Simulation as RealSimulation

    return RealSimulation(scene, arch=arch, threads=threads, checkpoint=checkpoint)


def _drive(
    simulation: Simulation,
    frames: int,
    recorder: "Recorder",
    display: progress.Progress,
    checkpoint_seconds: float,
    stopped: Callable[[], int | None],
) -> None:
    """Step to the last frame, saving the state now and then and at the end."""
    if simulation.steps == 0:
        recorder.frame(simulation.snapshot())
    saved = time.monotonic()
    while simulation.frame < frames:
        _step(simulation, recorder, display)
        if (number := stopped()) is not None:
            recorder.checkpoint(simulation)
            raise Stopped(_stopped_text(simulation, frames), 128 + number)
        if time.monotonic() - saved > checkpoint_seconds:
            recorder.checkpoint(simulation)
            saved = time.monotonic()
    recorder.checkpoint(simulation)


def _step(simulation: Simulation, recorder: "Recorder", display: progress.Progress) -> None:
    frame = simulation.frame
    try:
        stats = simulation.step()
    except DivergedError as error:
        if error.state_kept:
            recorder.checkpoint(simulation)
        raise DivergedError(f"{error}: {WHAT_TO_TRY}", error.state_kept) from error
    _check_finite(stats)
    recorder.step(stats)
    if simulation.frame != frame:
        recorder.frame(simulation.snapshot())
    display.step(simulation.frame, stats)


def _check_finite(stats: Mapping[str, Any]) -> None:
    for key in ("kinetic_energy", "density_error_mean", "density_error_max"):
        if key in stats and not math.isfinite(stats[key]):
            where = f"step {stats['step']}, t = {stats['time']:.6g} s"
            raise DivergedError(
                f"the simulation diverged at {where} ({key} is {stats[key]}): {WHAT_TO_TRY}"
            )


def _stopped_text(simulation: Simulation, frames: int) -> str:
    return (
        f"stopped at frame {simulation.frame} of {frames}, step {simulation.steps}; "
        "the state is saved: give the same command with --resume to go on"
    )


def _final_line(name: str, summary: Summary) -> str:
    return (
        f"{name}: {summary.frames} frames, {summary.steps} steps, {summary.particles} particles, "
        f"{progress.clock_text(summary.seconds)} of work, in {summary.folder}"
    )


class Recorder:
    """Writes a run: run.json, the scene's outputs, and the last checkpoints."""

    def __init__(self, folder: RunFolder, scene: Scene, arch: str, threads: int | None) -> None:
        self._folder = folder
        self._about = (scene.to_toml(), arch, threads or os.cpu_count() or 1)
        self.state("running")
        self._outputs = create_outputs(scene, folder)

    def state(self, state: str) -> None:
        """Note in run.json how the run stands: running, finished, stopped or diverged."""
        self._folder.write_run(*self._about, state=state)

    def step(self, stats: Mapping[str, Any]) -> None:
        """A step was taken."""
        for output in self._outputs:
            output.step(stats)

    def frame(self, snapshot: "Snapshot") -> None:
        """A frame was finished."""
        for output in self._outputs:
            output.frame(snapshot)

    def checkpoint(self, simulation: Simulation) -> None:
        """Save the state and drop the oldest checkpoints."""
        store = self._folder.checkpoints
        with reporting(store.folder):
            store.folder.mkdir(exist_ok=True)
            simulation.save(store.path(simulation.steps))
            for old in store.all()[: -store.keep]:
                old.unlink(missing_ok=True)

    def close(self) -> None:
        """The run has ended; each output finishes, whatever befalls another."""
        with ExitStack() as stack:
            for output in reversed(self._outputs):
                stack.callback(output.close)


@contextmanager
def _stop_signals() -> Iterator[Callable[[], int | None]]:
    """Note the first Ctrl-C or termination, so that the step under way ends well; obey a second."""
    received: list[int] = []

    def note(number: int, frame: FrameType | None) -> None:
        if received:
            raise KeyboardInterrupt
        received.append(number)

    before: dict[signal.Signals, Any] = {}
    for wanted in (signal.SIGINT, signal.SIGTERM):
        try:
            before[wanted] = signal.signal(wanted, note)
        except ValueError:  # not the main thread, which alone may handle signals
            break
    try:
        yield lambda: received[0] if received else None
    finally:
        for caught, handler in before.items():
            signal.signal(caught, handler)
