"""A simulation that is quick, deterministic and can be told to fail."""

import json
import os
import signal
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

import viscoil
from viscoil.core.checkpoint import load_checkpoint, save_checkpoint
from viscoil.core.errors import DivergedError
from viscoil.core.figures import Figure
from viscoil.scene import Scene
from viscoil.snapshots.snapshot import Array, MaterialLook, Snapshot

STEPS_PER_FRAME = 3
FIGURES = (
    Figure(
        "density_error_mean", "mean", panel="density-error", axis="compression, relative",
        logarithmic=True, progress="density error {:.1e}",
    ),
    Figure("density_error_max", "largest", panel="density-error"),
)  # fmt: skip
RIGS = Path(__file__).parent
# For commands in other folders: a relative path to the source would not lead there.
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(Path(viscoil.__file__).parents[1])}


class FakeSimulation:
    """Particles that move by a pseudo-random rule: a lost or repeated step changes the result."""

    def __init__(self, scene: Scene, *, checkpoint: Path | None = None, **plan: Any) -> None:
        self.spacing = scene.simulation.spacing
        self.fps = scene.simulation.fps
        self.steps = 0
        self.position: Array = np.zeros((5, 3), dtype=np.float32)
        self.plan = plan
        self.notes: list[str] = plan.get("notes", [])
        self.figures = FIGURES
        self.advice = "more solver.velocity_iterations"
        if checkpoint is not None:
            saved = load_checkpoint(checkpoint)
            self.steps, self.position = saved.metadata["steps"], saved.arrays["position"]

    @property
    def frame(self) -> int:
        return self.steps // STEPS_PER_FRAME

    @property
    def time(self) -> float:
        return self.steps / (self.fps * STEPS_PER_FRAME)

    def step(self) -> Mapping[str, Any]:
        if self.steps % STEPS_PER_FRAME == 0:
            self.good = self.steps, self.position
        self.steps += 1
        time.sleep(self.plan.get("seconds", 0.0))
        random = np.random.default_rng(self.steps)
        self.position = (self.position * 1.5 + random.random((5, 3))).astype(np.float32) % 7
        if self.steps == self.plan.get("interrupt_at"):
            for _ in range(self.plan.get("times", 1)):
                os.kill(os.getpid(), self.plan.get("signal", signal.SIGINT))
        if self.steps == self.plan.get("diverge_at"):
            where = f"step {self.steps}, t = {self.time:.6g} s"
            self.steps, self.position = self.good
            raise DivergedError(f"the simulation diverged at {where} (faster than sound)")
        bad = self.steps == self.plan.get("nan_at")
        return {
            "step": self.steps,
            "time": self.time,
            "dt": 1 / (self.fps * STEPS_PER_FRAME),
            "particles": 5,
            "density_error_mean": float("nan") if bad else 0.001,
            "density_error_max": 0.01,
            "kinetic_energy": 1.0,
        }

    def snapshot(self) -> Snapshot:
        channels: dict[str, Array] = {"position": self.position.copy(), "id": np.arange(5)}
        looks = [MaterialLook("water", (0.1, 0.2, 0.3))]
        return Snapshot(self.frame, self.time, channels, looks, [], self.spacing)

    def save(self, path: Path) -> None:
        metadata = {"steps": self.steps, "frame": self.frame}
        save_checkpoint(path, {"position": self.position}, metadata)


def make(**plan: Any) -> Any:
    """What builds a fake that follows the plan."""

    def build(
        scene: Scene,
        *,
        arch: str,
        threads: int | None,
        checkpoint: Path | None,
        keep_settings: bool,
    ) -> FakeSimulation:
        return FakeSimulation(scene, checkpoint=checkpoint, keep_settings=keep_settings, **plan)

    return build


if __name__ == "__main__":  # the command line with a fake in place of the solver
    import sys

    from viscoil.cli import main
    from viscoil.running import runner

    fake = make(**json.loads(sys.argv[1]))
    runner._make_simulation = lambda quiet, scene, **how: fake(scene, **how)
    sys.exit(main(sys.argv[2:]))
