"""Writes a run: run.json, the scene's outputs, and checkpoints when it is time for them."""

import os
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from viscoil.core.files import reporting, sync
from viscoil.running.outputs import create_outputs
from viscoil.running.resume import Start
from viscoil.runs.checkpoint_store import KEEP
from viscoil.runs.folder import RunFolder

if TYPE_CHECKING:
    from viscoil.snapshots.snapshot import Snapshot

CHECKPOINT_SECONDS = 30.0


class Saveable(Protocol):
    """What a checkpoint is made of."""

    @property
    def frame(self) -> int:
        """Finished frames."""

    @property
    def steps(self) -> int:
        """Steps taken since the start of the scene."""

    def save(self, path: Path) -> None:
        """Write a checkpoint."""


@dataclass(frozen=True)
class CheckpointPlan:
    """When the state is saved, beside the end of a run, and how many of these files stay."""

    seconds: float = CHECKPOINT_SECONDS
    """Wall time after which it is saved at the next step."""
    frames: int | None = None
    """It is also saved whenever so many frames are finished."""
    keep: int = KEEP


class Recorder:
    """Feeds the outputs, and keeps run.json and the checkpoints."""

    def __init__(
        self,
        folder: RunFolder,
        start: Start,
        arch: str,
        threads: int | None,
        plan: CheckpointPlan,
        frame: int,
        figures: Sequence[Mapping[str, Any]] = (),
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`frame` is the one that the run starts with, `figures` those that its solver reports.

        `clock` tells wall time in s.
        """
        self._folder = folder
        self._about = (start.scene.to_toml(), arch, threads or os.cpu_count() or 1)
        self._past = {**start.record(), "figures": list(figures)}
        self._plan = plan
        self._clock = clock
        self._saved_at, self._saved_frame = clock(), frame
        self.state("running")
        self._outputs = create_outputs(start.scene, folder)

    def state(self, state: str) -> None:
        """Note in run.json how the run stands: running, finished, stopped or diverged."""
        self._folder.write_run(*self._about, state=state, **self._past)

    def step(self, stats: Mapping[str, Any]) -> None:
        """A step was taken."""
        for output in self._outputs:
            output.step(stats)

    def frame(self, snapshot: "Snapshot") -> None:
        """A frame was finished."""
        for output in self._outputs:
            output.frame(snapshot)

    def checkpoint_if_due(self, simulation: Saveable) -> None:
        """Save the state if it was not saved for long enough."""
        elapsed = self._clock() - self._saved_at
        passed = simulation.frame - self._saved_frame
        by_frames = self._plan.frames is not None and passed >= self._plan.frames
        if by_frames or elapsed > self._plan.seconds:
            self.checkpoint(simulation)

    def checkpoint(self, simulation: Saveable) -> None:
        """Save the state and drop checkpoints that are no longer needed."""
        store = self._folder.checkpoints
        store.make_folder()
        sync(
            self._folder.stats
        )  # statistics of steps before a checkpoint must be on the disk before it
        with reporting(store.path(simulation.steps)):
            simulation.save(store.path(simulation.steps))
        self._note_saved()
        store.thin()
        self._saved_at, self._saved_frame = self._clock(), simulation.frame

    def _note_saved(self) -> None:
        """After the first checkpoint run.json says that there is one, so that a loss is noticed."""
        if not self._past["saved"]:
            self._past["saved"] = True
            self.state("running")

    def close(self) -> None:
        """Ends the run; every output is closed, even if another one fails."""
        with ExitStack() as stack:
            for output in reversed(self._outputs):
                stack.callback(output.close)
