"""Runs a scene into a folder: steps, outputs, progress, checkpoints, Ctrl-C and divergence."""

import signal
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any, Protocol

from viscoil.core import progress
from viscoil.core.commands import command
from viscoil.core.errors import DivergedError, RunError, Stopped, ViscoilError
from viscoil.core.figures import Figure, to_record, trouble
from viscoil.running import disk
from viscoil.running.compiling.counting import told_of
from viscoil.running.hindsight import Hindsight
from viscoil.running.outputs import check_outputs
from viscoil.running.recording import CheckpointPlan, Recorder
from viscoil.running.resume import Start, find_start
from viscoil.running.summary import Summary, final_line, summary_of_folder, what_next
from viscoil.runs.folder import RunFolder
from viscoil.runs.lock import FolderLock
from viscoil.scene import Scene

if TYPE_CHECKING:
    from viscoil.snapshots.snapshot import Snapshot

WHAT_TO_TRY = "try a smaller simulation.max_time_step (or time_step)"
ENERGY = Figure("kinetic_energy", "kinetic energy", "J")
GOING_ON = "; --resume --force goes on with that from the last good state"


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

    @property
    def figures(self) -> Sequence[Figure]:
        """What the solver reports of every step."""

    @property
    def advice(self) -> str:
        """What else to try if it diverges, beside shorter steps."""

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
        self,
        scene: Scene,
        *,
        arch: str,
        threads: int | None,
        checkpoint: Path | None,
        keep_settings: bool,
    ) -> Simulation: ...


def run(
    scene: Scene | str | Path,
    out: str | Path | None = None,
    *,
    frames: int | None = None,
    resume: bool = False,
    overwrite: bool = False,
    force: bool = False,
    quiet: bool = False,
    arch: str = "cpu",
    threads: int | None = None,
    checkpoints: CheckpointPlan | None = None,
    prepare: Callable[[Any], object] | None = None,
    make: MakeSimulation | None = None,
) -> Summary:
    """Simulate the scene into a folder (default runs/NAME) and print how it went.

    The scene may be given by the name of a file or of a built-in one. Options are those of
    `viscoil run`. `prepare` is called with the simulation before its first step, also when it goes
    on from a checkpoint (`simulation.steps` is not 0 then), to add forces, channels and callbacks.

    Raises RunError for a folder that must not be written to, ResumeError for one that holds
    another scene, DivergedError, and Stopped after Ctrl-C.
    """
    scene = scene if isinstance(scene, Scene) else Scene.load(scene)
    path = Path(out) if out is not None else Path("runs") / scene.name
    plan = checkpoints or CheckpointPlan()
    begin = time.monotonic()
    find = partial(
        find_start, path, scene, frames=frames, resume=resume, overwrite=overwrite, force=force
    )
    with FolderLock(path) as lock:
        if (path / "run.json").is_file():
            lock.take()
        start = find()
        if start.passed:
            _show([] if quiet else start.notes)
            return _printed(scene.name, summary_of_folder(path, start.scene.frames), quiet)
        check_outputs(start.scene)
        simulation = (make or partial(_make_simulation, quiet))(
            start.scene, arch=arch, threads=threads, checkpoint=start.checkpoint,
            keep_settings=start.keep_settings,
        )  # fmt: skip
        if prepare is not None:
            prepare(simulation)
        folder = RunFolder(path, plan.keep)
        _take(lock, find, start)
        room = disk.check(folder, start.scene, simulation.frame, _count(simulation), overwrite)
        _show([] if quiet else [*start.notes, *simulation.notes, *room])
        _prepare(folder, simulation, overwrite)
        recorder = Recorder(
            folder, start, arch, threads, plan, simulation.frame, to_record(simulation.figures)
        )
        _simulate(simulation, start.scene.frames, recorder, quiet)
    seconds = time.monotonic() - begin
    summary = Summary(path, simulation.frame, simulation.steps, _count(simulation), seconds)
    return _printed(scene.name, summary, quiet)


def _printed(name: str, summary: Summary, quiet: bool) -> Summary:
    print(final_line(name, summary))
    _show([] if quiet else [what_next(summary.folder)], "")
    return summary


def _take(lock: FolderLock, find: Callable[[], Start], start: Start) -> None:
    """Locks the folder; another process may have taken it while the simulation was made."""
    if not lock.held:
        lock.take()
        if find() != start:
            raise RunError(
                f"another process has written to {lock.folder} just now: look what it left with "
                f"`{command('info', lock.folder)}`, then give the command again"
            )


def _count(simulation: Simulation) -> int:
    """Particles that there are."""
    return len(simulation.snapshot().channels["position"])


def _show(sentences: Sequence[str], before: str = "note: ") -> None:
    for sentence in sentences:
        print(f"{before}{sentence}", flush=True)


def _prepare(folder: RunFolder, simulation: Simulation, overwrite: bool) -> None:
    """Removes what is in the folder from after the present state of the simulation.

    Called when the simulation stands, so that a run that cannot start removes nothing.
    """
    if overwrite:
        folder.clear()
    folder.cut_back(simulation.steps, simulation.frame)


def _simulate(simulation: Simulation, frames: int, recorder: Recorder, quiet: bool) -> None:
    display = progress.choose(simulation.frame, frames, quiet, simulation.figures)
    hindsight = Hindsight(simulation.figures)
    with _closing(recorder, display), _stop_signals() as stopped, told_of(display.compiled):
        _drive(simulation, frames, recorder, display, stopped, hindsight)
    _show([] if quiet else hindsight.notes())


@contextmanager
def _closing(recorder: Recorder, display: progress.Progress) -> Iterator[None]:
    """Finish display and outputs at any end; what went wrong first is what is reported."""
    states = {Stopped: "stopped", KeyboardInterrupt: "stopped", DivergedError: "diverged"}
    try:
        yield
        recorder.state("finished")  # before the film, whose failure does not undo the simulation
    except BaseException as error:
        display.close()
        with suppress(ViscoilError):
            recorder.state(states.get(type(error), "failed"))
        with suppress(ViscoilError):  # also if a full disk did not take the state
            recorder.close()
        raise
    display.close()
    recorder.close()


def _make_simulation(
    quiet: bool, scene: Scene, *, arch: str, threads: int | None, **how: Any
) -> Simulation:
    from viscoil.running.compiling import team
    from viscoil.simulation import memory_need

    memory_need.check(scene)  # before kernels are compiled
    team.prepare(scene, arch, threads, partial(progress.compiling, quiet=quiet))
    from viscoil.simulation.simulation import Simulation as RealSimulation

    return RealSimulation(scene, arch=arch, threads=threads, **how)


def _drive(
    simulation: Simulation,
    frames: int,
    recorder: Recorder,
    display: progress.Progress,
    stopped: Callable[[], int | None],
    hindsight: Hindsight,
) -> None:
    """Step to the last frame, saving the state now and then and at the end."""
    if simulation.steps == 0:
        recorder.frame(simulation.snapshot())
    while simulation.frame < frames:
        stats = _step(simulation, recorder, display)
        hindsight.take(simulation.time, stats)
        if (number := stopped()) is not None:
            recorder.checkpoint(simulation)
            raise Stopped(_stopped_text(simulation, frames), 128 + number)
        recorder.checkpoint_if_due(simulation)
    recorder.checkpoint(simulation)


def _step(
    simulation: Simulation, recorder: Recorder, display: progress.Progress
) -> Mapping[str, Any]:
    frame = simulation.frame
    try:
        stats = simulation.step()
    except DivergedError as error:
        if error.state_kept:
            recorder.checkpoint(simulation)
        going_on = GOING_ON if error.state_kept else ""
        raise DivergedError(
            f"{error}: {_what_to_try(simulation)}{going_on}", error.state_kept
        ) from error
    _check_figures(simulation, stats)
    recorder.step(stats)
    if simulation.frame != frame:
        recorder.frame(simulation.snapshot())
    display.step(simulation.frame, stats)
    return stats


def _check_figures(simulation: Simulation, stats: Mapping[str, Any]) -> None:
    """A simulation looks itself; this is for what callbacks make of the figures."""
    reason = trouble([ENERGY, *simulation.figures], stats)
    if reason is not None:
        where = f"step {stats['step']}, t = {stats['time']:.6g} s"
        advice = _what_to_try(simulation)
        raise DivergedError(f"the simulation diverged at {where} ({reason}): {advice}")


def _what_to_try(simulation: Simulation) -> str:
    return f"{WHAT_TO_TRY}, or {simulation.advice}" if simulation.advice else WHAT_TO_TRY


def _stopped_text(simulation: Simulation, frames: int) -> str:
    return (
        f"stopped at frame {simulation.frame} of {frames}, step {simulation.steps}; "
        "the state is saved: give the same command with --resume to go on"
    )


@contextmanager
def _stop_signals() -> Iterator[Callable[[], int | None]]:
    """Notes the first Ctrl-C or SIGTERM, so that the present step is finished; a second one ends it."""
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
