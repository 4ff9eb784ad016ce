"""The loop that a user drives: frames made of steps, emitters, removal, checkpoints.

In a script:

    from viscoil import Scene, Simulation

    simulation = Simulation(Scene.load("honey"))
    for frame in simulation.frames():
        print(frame.time, frame.channels["position"].mean(axis=0))
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from viscoil.bodies.arrays import BodyArrays
from viscoil.bodies.rigid_bodies import RigidBodies
from viscoil.colliders import ColliderSet
from viscoil.core import compute, memory
from viscoil.core.checkpoint import load_checkpoint, save_checkpoint
from viscoil.core.errors import DivergedError, ResumeError, ViscoilError
from viscoil.core.figures import Figure, doubtful, trouble
from viscoil.core.timing import PhaseClock
from viscoil.emitters.inflow import Inflow
from viscoil.forces.registry import Setting, make_forces
from viscoil.materials.table import Materials
from viscoil.particles.diagnostics import Diagnosis, Diagnostics
from viscoil.particles.store import Particles
from viscoil.sampling.initial_channels import ItemChannels
from viscoil.sampling.seeding import seed
from viscoil.scene import Material, Scene
from viscoil.scene.channels import OF_SOLVER
from viscoil.simulation import channels, memory_need
from viscoil.simulation.controls import Controls
from viscoil.simulation.removal import Removal
from viscoil.simulation.safety import UNUSUAL, Safety, Saved, SpeedLimit, too_fast
from viscoil.simulation.starting import check_solver, first_particles, make_neighbors, spread_out
from viscoil.simulation.stepping import next_step, step_limit, step_note
from viscoil.snapshots.snapshot import ColliderPose, MaterialLook, Snapshot
from viscoil.solvers.protocol import State
from viscoil.solvers.registry import make_solver
from viscoil.walls.contact_walls import ContactWalls


class Simulation(Controls):
    """A scene in motion. Several may live in one process; they share the compute backend."""

    def __init__(
        self,
        scene: Scene,
        *,
        arch: str = "cpu",
        threads: int | None = None,
        checkpoint: Path | str | None = None,
        keep_settings: bool = True,
    ) -> None:
        """Starts the scene, or goes on from a checkpoint of it.

        Gravity and materials may have been changed on the way: with `keep_settings` they are those
        of the checkpoint, and else those of the scene.
        """
        memory_need.check(scene)
        compute.initialize(arch, threads)
        super().__init__(scene)
        self.time = 0.0
        """Simulated time, s."""
        self.frame = 0
        """Finished frames; the initial state is frame 0."""
        self.steps = 0
        """Steps taken since the start."""
        self.gravity = scene.simulation.gravity
        """m/s²; may be changed between steps."""
        self.notes: list[str] = []
        """What the user should know about the start of the scene."""
        self._clock = PhaseClock()
        self._diagnose = Diagnostics()
        self._colliders = ColliderSet.of(scene)
        self._materials = Materials(list(scene.materials.values()))
        self._neighbors = make_neighbors(scene)
        spacing = scene.simulation.spacing
        self._solver = make_solver(scene.solver, spacing, self._neighbors, self._clock)
        self._channels = ItemChannels(scene)
        self._inflow = Inflow(scene, self._channels, self._colliders)
        self.bodies = RigidBodies(self._colliders, spacing, scene.simulation.report_forces)
        self._walls = self._make_walls(self.bodies.arrays, len(self.bodies.slots))
        support = scene.solver.support
        setting = Setting(spacing, self._solver.smoothing, support, scene, self._colliders)
        self._forces = make_forces(setting, self._clock)
        self._removal = Removal(scene)
        self._last_step = 0.0
        self._removed = 0  # in the last step; they are dropped by the next one
        self._stepping = False
        self._limit = SpeedLimit()
        self._safety = Safety(self._state, self._return_to, scene)
        self.particles = self._restore(checkpoint, keep_settings) if checkpoint else self._start()
        """All particles; `particles["velocity"]` is like a NumPy array until the next step."""
        if checkpoint:
            self._restored = {*self.particles} - {*scene.channel_widths}
        memory.give_back()  # what seeding took
        limit = step_limit(self._solver, self._solver_state())
        self.notes += self._inflow.notes + step_note(scene.simulation, *limit)
        self._diagnosis = self._measure()
        self.particles.take_written()  # by starting
        self._limit.admit(self._max_speed())
        self._safety.remember_frame(self.particles.count)

    # What a user calls

    @property
    def figures(self) -> Sequence[Figure]:
        """What the solver reports of every step, beside what any solver's step has."""
        return self._solver.figures

    @property
    def advice(self) -> str:
        """What to try if it diverges, beside shorter steps; "" if the solver knows nothing."""
        return self._solver.advice

    def frames(self) -> Iterator[Snapshot]:
        """Simulates to the end of the scene and yields each frame, the present one first."""
        yield self.snapshot()
        while self.frame < self.scene.frames:
            yield self.next_frame()

    def __iter__(self) -> Iterator[Snapshot]:
        return self.frames()

    def next_frame(self) -> Snapshot:
        """Steps to the end of the frame."""
        frame = self.frame
        while self.frame == frame:
            self.step()
        return self.snapshot()

    def step(self, dt: float | None = None) -> dict[str, Any]:
        """Advances by one time step (s; by default as the scene says) and returns its figures.

        Raises DivergedError and goes back to the last finished frame if the step went wrong (above
        half a million particles it cannot, and says so in `state_kept`); it also goes back if
        anything else is raised within the step, as by a force of the user. What
        the user has changed since stays: gravity, materials, and added channels (at rest).
        """
        if dt is not None and not 0.0 < dt < math.inf:
            raise ViscoilError(f"a time step must be positive and finite, not {dt}")
        if self._stepping:
            raise ViscoilError(
                "this simulation is within a step already: take no steps from its callbacks, nor "
                "from several threads"
            )
        self._stepping = True
        try:
            return self._step(dt or self._next_step())
        finally:
            self._stepping = False

    def __repr__(self) -> str:
        return (
            f"<Simulation {self.scene.name!r}: frame {self.frame} of {self.scene.frames}, "
            f"t = {self.time:.4g} s, {channels.living(self.particles).sum()} particles>"
        )

    def snapshot(self) -> Snapshot:
        """The present state in plain arrays, copied, without particles that were just removed."""
        p, alive = self.particles, channels.living(self.particles)
        kept = slice(None) if alive.all() else alive
        return Snapshot(
            frame=self.frame,
            time=self.time,
            channels={name: np.array(p.numpy(name)[kept]) for name in p},
            materials=[
                MaterialLook(name, material.color, material.transmission)
                for name, material in zip(
                    self._material_names, self._materials.materials, strict=True
                )
            ],
            colliders=[
                ColliderPose(spec, *self.bodies.pose(k, self.time), self._colliders.field(k))
                for k, spec in enumerate(self._colliders.specs)
            ],
            spacing=self.scene.simulation.spacing,
        )

    def save(self, path: Path | str) -> None:
        """Writes a checkpoint from which the run goes on to the same bits."""
        save_checkpoint(path, *self._state())

    def _step(self, dt: float) -> dict[str, Any]:
        frame = self.frame
        report, dt, halvings = self._advance(dt)
        if self._remove():
            self._diagnosis = self._measure()
        figures = {**self._figures(dt, report), "halvings": halvings}
        self._on_step(figures)
        if self.frame != frame and len(self._on_frame):
            self._on_frame(self.snapshot())
        self._finish()
        return figures

    def _advance(self, dt: float) -> tuple[Mapping[str, float], float, int]:
        """A step, with half its length as often as it goes wrong; the length, and how often that was."""
        self._safety.remember_step(self.particles.count)
        speed = self._diagnosis.max_speed
        length: float | None = dt
        while length is not None:
            dt = length
            with self._back_if_it_fails():
                report = self._try(dt)
            self._admit_what_drives(dt)
            reason = self._what_is_wrong(report)
            doubt = doubtful(self.figures, report) or self._limit.is_exceeded(UNUSUAL, speed)
            length = self._safety.try_again(dt, reason is not None, doubt)
        if reason is None:
            self._safety.in_doubt = doubt
            return report, dt, self._safety.halvings
        where = f"step {self.steps}, t = {self.time:.6g} s"
        kept = self._safety.back_to_frame()
        raise DivergedError(f"the simulation diverged at {where} ({reason})", state_kept=kept)

    def _try(self, dt: float) -> Mapping[str, float]:
        """All that a step does to particles, bodies and the clock."""
        self._inflow.add_to(self.particles, self.time, self._last_step)
        self._colliders.move_to(self.time + dt, dt)
        self.bodies.begin(self.time, dt, self.gravity)
        report = self._solver.step(self._solver_state(), dt)
        self.particles.end_views()
        self.bodies.finish(dt)
        self._advance_clock(dt)
        return report

    def _next_step(self) -> float:
        """Length of the next step, s."""
        if self.particles.take_written():
            self._diagnosis = self._measure()  # velocities may be the user's
            self._limit.admit(self._diagnosis.max_speed)
        settings = self.scene.simulation
        return next_step(
            settings, self.time, self.frame, self._max_speed(),
            self._forces.drive(self.time, settings.max_time_step), self.scene.spacings[0],
            step_limit(self._solver, self._solver_state())[0], self._last_step,
        )  # fmt: skip

    @contextmanager
    def _back_if_it_fails(self) -> Iterator[None]:
        """Leaves no step half done, whatever is raised."""
        try:
            yield
        except BaseException:
            self._safety.back_to_frame()
            raise

    def _finish(self) -> None:
        """Remembers a finished frame, with what callbacks made of it, unless that is nonsense."""
        written = self.particles.take_written()
        if written:
            self._diagnosis = self._measure()
            self._limit.admit(self._diagnosis.max_speed)
        finished = self.time == self.frame / self.scene.simulation.fps
        if finished and not (written and self._what_is_wrong({})):
            self._safety.remember_frame(self.particles.count)

    def _solver_state(self) -> State:
        return State(
            self.particles, self._materials, self._walls, self._forces, self.gravity, self.time
        )

    def _make_walls(self, bodies: BodyArrays | None = None, body_count: int = 0) -> ContactWalls:
        """Around the colliders; without `bodies` none of them is moved by what it does."""
        walls = ContactWalls(
            self._colliders.arrays, self._colliders.count, self._solver.smoothing,
            self.scene.solver.support, bodies, body_count,
        )  # fmt: skip
        walls.set_nozzles(self._inflow.nozzles)
        return walls

    def _max_speed(self) -> float:
        """Of particles and colliders, m/s."""
        ahead = self.scene.simulation.max_time_step
        walls = self._colliders.max_speed(self.time, ahead)
        return max(self._diagnosis.max_speed, self.bodies.max_speed, walls)

    def _advance_clock(self, dt: float) -> None:
        self.steps += 1
        self._last_step = dt
        self.time += dt
        rounding = 1e-6 * dt  # the end of a frame may be missed by this much
        while (self.frame + 1) / self.scene.simulation.fps <= self.time + rounding:
            self.frame += 1
        frame_end = self.frame / self.scene.simulation.fps
        if abs(self.time - frame_end) <= rounding:
            self.time = frame_end

    def _what_is_wrong(self, report: Mapping[str, float]) -> str | None:
        """With the state after a step that reported this, if anything is."""
        self._diagnosis = self._measure()
        self._limit.see(self._diagnosis)
        limit = self._limit.speed(math.hypot(*self.gravity), self.scene)
        bodies = too_fast("a rigid body", self.bodies.max_speed, limit)
        return self._diagnosis.trouble(limit) or bodies or trouble(self.figures, report)

    def _admit_what_drives(self, dt: float) -> None:
        """Tells the limit of speeds what may make particles fast in a step of `dt` (s)."""
        drive = self._forces.drive(self.time, dt)
        self._limit.push(drive.acceleration + sum(force.given for force in self._forces), dt)
        walls = max(self._colliders.max_speed(self.time, dt), self._inflow.max_speed)
        waves = self.scene.spacings[0] / step_limit(self._solver, self._solver_state())[0]
        self._limit.admit(max(walls, waves, drive.wind))

    def _return_to(self, saved: Saved) -> None:
        """To a state that was saved, with the channels that were added since."""
        kinds = dict(self.particles.kinds)
        self.particles.become(self._load_state(*saved))
        for name, kind in kinds.items():
            if name not in self.particles:
                self.particles.add_channel(name, kind)
        self._diagnosis = self._measure()

    def _measure(self) -> Diagnosis:
        table = self._materials.table
        volume = self._solver.scale.volume
        return self._diagnose(self.particles, volume, table.density, self.gravity)

    def _figures(self, dt: float, report: Mapping[str, float]) -> dict[str, Any]:
        diagnosis = self._diagnosis
        forces = {"collider_forces": [asdict(force) for force in self.collider_forces]}
        lost = {"lost_connections": self.particles.lost_connections}
        return {
            "step": self.steps,
            "time": self.time,
            "dt": dt,
            "particles": self.particles.count - self._removed,
            **report,
            "kinetic_energy": diagnosis.kinetic_energy,
            "linear_momentum": list(diagnosis.linear_momentum),
            "angular_momentum": list(diagnosis.angular_momentum),
            "max_speed": diagnosis.max_speed,
            **(forces if self.bodies.slots else {}),
            **(lost if self.particles.connections else {}),
            "milliseconds": self._clock.take(),
        }

    def _remove(self) -> bool:
        """Marks what has to go, and says if anything had; the next sort drops it."""
        self._removed = self._removal(self.particles, self.time, self._last_step)
        return self._removed > 0

    def _start(self) -> Particles:
        start = seed(self.scene, self._colliders)
        self.notes += start.notes
        particles = first_particles(self.scene, start, self._channels)
        standing = self._make_walls()  # bodies too
        self.notes += spread_out(self.scene, self._solver, particles, self._materials, standing)
        return particles

    def _state(self) -> tuple[dict[str, Any], dict[str, Any]]:
        arrays, metadata = self.particles.save()
        arrays["bodies"] = self.bodies.save()
        arrays |= {f"{OF_SOLVER}{name}": array for name, array in self._solver.save().items()}
        metadata |= {
            "solver": self.scene.solver.method,
            "time": self.time,
            "frame": self.frame,
            "steps": self.steps,
            "last_step": self._last_step,
            "in_doubt": self._safety.in_doubt,
            "layers": list(self._inflow.layers),
            "gravity": [float(g) for g in self.gravity],
            "materials": [material.minimal() for material in self._materials.materials],
        }
        return arrays, metadata

    def _load_state(self, arrays: dict[str, Any], metadata: dict[str, Any]) -> Particles:
        particles = Particles.load(arrays, metadata)
        self.time, self.frame = metadata["time"], metadata["frame"]
        self.steps, self._last_step = metadata["steps"], metadata["last_step"]
        self._safety.in_doubt = metadata.get("in_doubt", False)  # earlier versions did not save it
        self._inflow.layers = list(metadata["layers"])
        self._colliders.move_to(self.time, self._last_step)
        self.bodies.load(arrays["bodies"])
        own = {n.removeprefix(OF_SOLVER): a for n, a in arrays.items() if n.startswith(OF_SOLVER)}
        self._solver.load(own)
        return particles

    def _restore(self, path: Path | str, keep_settings: bool) -> Particles:
        saved = load_checkpoint(path)
        check_solver(path, saved.metadata, self.scene.solver.method)
        try:
            if keep_settings:
                x, y, z = saved.metadata["gravity"]
                self.gravity = (x, y, z)
                self._materials = Materials(
                    [Material.model_validate(table) for table in saved.metadata["materials"]]
                )
            return self._load_state(saved.arrays, saved.metadata)
        except (KeyError, ValueError) as error:
            raise ResumeError(f"{path} lacks {error}: it was written by another version") from error
