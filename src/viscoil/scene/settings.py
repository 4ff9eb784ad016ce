"""How a scene is run and what is written: simulation, solver, outputs and camera settings."""

import math
from collections.abc import Iterator
from typing import Annotated, Literal

from annotated_types import Ge, Gt, Lt

from viscoil.scene._base import (
    Model,
    NonNegative,
    Positive,
    Problem,
    Switch,
    Vec3,
    Whole,
    exactly_one,
)


class Bounds(Model):
    """A box along the axes."""

    min: Vec3
    """Lowest corner, m."""
    max: Vec3
    """Highest corner, m."""

    def _problems(self) -> Iterator[Problem]:
        yield from super()._problems()
        if any(low >= high for low, high in zip(self.min, self.max, strict=True)):
            yield ("max",), "must exceed min along every axis", self.max


class SimulationSettings(Model):
    """The [simulation] table."""

    spacing: Positive
    """Particle spacing, m."""
    scale: Positive = 1.0
    """Particles in the scene over those at the spacings as written, which become finer with it."""
    duration: Positive | None = None
    """Simulated time, s; give either this or frames."""
    frames: Annotated[Whole, Gt(0)] | None = None
    """Number of frames; give either this or duration."""
    name: str = "untitled"
    """Name of the scene and of its run folder; the file's name unless given."""
    description: str = ""
    """One line that `viscoil scenes` shows."""
    fps: Positive = 30.0
    """Frames per second of simulated time."""
    gravity: Vec3 = (0.0, -9.81, 0.0)
    """Acceleration of gravity, m/s²."""
    time_step: Positive | None = None
    """Fixed time step, s; without it the step adapts to the flow."""
    cfl: Positive = 0.4
    """Most that a particle may move in an adaptive step, in spacings."""
    max_time_step: Positive = 1.0 / 120.0
    """Longest adaptive step, s."""
    min_time_step: Positive = 1e-5
    """Shortest adaptive step, s."""
    seed: Annotated[Whole, Ge(0)] = 0
    """Seed of random numbers."""
    kill_bounds: Bounds | None = None
    """Particles that leave this box are removed."""
    max_age: Positive | None = None
    """Particles older than this are removed, s."""
    periodic: tuple[NonNegative, NonNegative, NonNegative] = (0.0, 0.0, 0.0)
    """Length of the periodic box [0, L) along each axis, m; 0 is an open axis."""
    max_particles: Annotated[Whole, Gt(0)] | None = None
    """Emitters stop at this number of particles."""
    report_forces: Switch = False
    """Whether the figures of a step tell the force on every collider; dynamic ones always do."""

    ambient_temperature: NonNegative | None = None
    """Temperature of the air, and of fluid that has none of its own, K."""
    cooling: NonNegative | None = None
    """Heat that a free surface loses to the air, W/(m² K); still air takes about 10."""

    def _problems(self) -> Iterator[Problem]:
        yield from super()._problems()
        if self.cooling is not None and self.ambient_temperature is None:
            text = "needs ambient_temperature beside it: add it"
            yield ("cooling",), text, self.cooling
        yield from exactly_one("duration", "frames", (self.duration, self.frames))
        if self.min_time_step > self.max_time_step:
            text = f"must not exceed max_time_step ({self.max_time_step:g})"
            yield ("min_time_step",), text, self.min_time_step
        if self.name in ("", ".", "..") or any(c in self.name for c in '/\\\0\n\r\t:*?"<>|'):
            text = "names the run folder: use letters, digits, spaces, dashes or underscores"
            yield ("name",), text, self.name

    @property
    def frame_count(self) -> int:
        """Number of frames to simulate after the initial one, enough to cover the duration."""
        if self.frames is not None:
            return self.frames
        assert self.duration is not None  # the validator made sure
        # A duration such as 0.1 s at 30 fps must not become 4 frames through rounding.
        return max(1, math.ceil(self.duration * self.fps - 1e-6))


WITH_CHANNELS = ("frames", "export")  # types of outputs that hold particles
DEFAULT_CHANNELS = ("position", "velocity", "id", "material")


ExportFormat = Literal["npz", "ply", "bgeo", "bhclassic", "vtp", "vdb", "usd", "alembic", "blender"]


class OutputSpec(Model):
    """One [[outputs]] table; statistics, run.json and checkpoints are always written."""

    type: Literal["frames", "preview", "video", "colliders", "export"]
    """Particle files, a picture per frame, a film of those pictures, the distance and velocity
    fields of mesh colliders as .vdb, or particles in another program's format."""
    format: ExportFormat | None = None
    """The format of an export (type "export" only), which goes to the run's folder export/FORMAT."""
    channels: tuple[str, ...] = DEFAULT_CHANNELS
    """What a particle file or an export holds (types "frames" and "export" only): any channels that
    the scene's particles have."""

    def _problems(self) -> Iterator[Problem]:
        yield from super()._problems()
        if self.type not in WITH_CHANNELS and self.channels != DEFAULT_CHANNELS:
            types = " or ".join(f'"{name}"' for name in WITH_CHANNELS)
            text = f'works only with type = {types}, and type is "{self.type}": remove it'
            yield ("channels",), text, self.channels
        if self.type != "export" and self.format is not None:
            text = f'works only with type = "export", and type is "{self.type}": remove it'
            yield ("format",), text, self.format
        if self.type == "export" and self.format is None:
            text = 'needs format beside it, such as format = "vtp": add it'
            yield ("type",), text, self.type
        if not self.channels and self.type in WITH_CHANNELS:
            text = 'is empty: name at least one channel, such as "position", or remove it'
            yield ("channels",), text, self.channels


class Camera(Model):
    """The [camera] table: where the preview looks from; what is left out is chosen for you."""

    position: Vec3 | None = None
    """Place of the camera, m."""
    target: Vec3 | None = None
    """Point that it looks at, m."""
    fov: Annotated[Positive, Lt(math.pi)] = 0.7
    """Vertical field of view, rad."""
    width: Annotated[Whole, Ge(16)] = 960
    """Width of the picture, pixels."""
    height: Annotated[Whole, Ge(16)] = 540
    """Height of the picture, pixels."""

    def _problems(self) -> Iterator[Problem]:
        yield from super()._problems()
        if self.position is not None and self.position == self.target:
            text = "must differ from position, or the camera has nowhere to look"
            yield ("target",), text, self.target
