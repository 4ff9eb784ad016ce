"""Inflow: nozzles that emit layers of a cubic lattice, at any step size without gap or clump."""

from collections.abc import Callable
from dataclasses import dataclass
from math import ceil, floor, inf

import numpy as np
from numpy.typing import NDArray

from viscoil.geometry.quaternions import unit
from viscoil.sampling.seeding import centred_lattice
from viscoil.scene import DiscEmitter, RectangleEmitter

Float = NDArray[np.float64]
Nozzle = DiscEmitter | RectangleEmitter
Vector = tuple[float, float, float]

# Points on the rim, and layers due now, may miss by rounding only; in spacings.
_ROUNDING = 1e-6


@dataclass(frozen=True)
class EmitterFrame:
    """A nozzle in numbers, for kernels: fluid flows along `direction` through `origin`."""

    origin: Vector
    """Centre of the nozzle plane, m."""
    direction: Vector
    """Unit vector of the flow."""
    width_axis: Vector
    """Unit vector of a rectangle's width: horizontal, or x for vertical flow."""
    height_axis: Vector
    """Unit vector of a rectangle's height."""
    half_size: tuple[float, float]
    """Half width and half height, m; the radius twice for a disc."""
    is_disc: bool
    """Whether the nozzle is a disc."""
    speed: float
    """m/s."""
    run_in: float
    """Length of the zone before the nozzle plane in which particles are driven, m."""


@dataclass(frozen=True)
class Emission:
    """New particles, layer by layer."""

    positions: NDArray[np.float32]
    """(n, 3), m."""
    velocities: NDArray[np.float32]
    """(n, 3), m/s."""
    next_layer: int
    """The layer counter after this emission."""

    def where(self, kept: NDArray[np.bool_]) -> "Emission":
        """Only the chosen ones of the new particles."""
        return Emission(self.positions[kept], self.velocities[kept], self.next_layer)


class Emitter:
    """A nozzle whose layer k crosses its plane at start + k d / speed, until stop.

    Layers appear up to `run_in` before the plane, so that what leaves is already surrounded by
    fluid: at `start` the run-in zone fills, and from then on each layer appears at its far end.
    What is emitted depends only on the time and on a layer counter that the caller keeps.

    Particles miss their lattice places by up to `jitter` spacings. A perfect lattice that is pulled
    along its axis comes apart in layers; a scattered one rearranges, as a liquid does.
    """

    def __init__(
        self,
        spec: Nozzle,
        material_index: int,
        spacing: float,
        support: float = 2.0,
        seed: int = 0,
        clear: Callable[[Float], NDArray[np.bool_]] | None = None,
    ) -> None:
        """`spacing` d in m; `support` is the length of the run-in zone in spacings.

        `clear` tells which points are free: what would appear at others, or pass them in the run-in
        zone, is left out, and `left_out` counts it.
        """
        self._jitter = spec.jitter
        self._seed = seed
        self.material_index = material_index
        self.spacing = spacing
        self.start = spec.start
        self.stop = inf if spec.stop is None else spec.stop
        self.left_out = 0
        """Places of a layer that are not clear of colliders."""
        half_size, is_disc = _opening(spec)
        width_axis, height_axis, direction = _axes(spec.direction)
        flat = _layer(half_size, is_disc, spacing)
        across = np.stack([width_axis, height_axis])
        if clear is not None:
            before = np.arange(ceil(support) + 1)[:, None, None] * spacing * direction
            passed = np.asarray(spec.center) + flat @ across - before
            free = clear(passed.reshape(-1, 3)).reshape(passed.shape[:2]).all(axis=0)
            self.left_out = int(np.count_nonzero(~free))
            flat = flat[free]
        self.frame = EmitterFrame(
            origin=spec.center,
            direction=_vector(direction),
            width_axis=_vector(width_axis),
            height_axis=_vector(height_axis),
            half_size=half_size,
            is_disc=is_disc,
            speed=_speed(spec, len(flat) * spacing**2),
            run_in=support * spacing,
        )
        self._layer = np.asarray(spec.center) + flat @ across
        self._velocity = self.frame.speed * direction

    @property
    def points(self) -> int:
        """Particles per layer."""
        return len(self._layer)

    @property
    def flow_rate(self) -> float:
        """Volume flow while the emitter is open, m³/s."""
        return self.points * self.spacing**2 * self.frame.speed

    def emit(self, time: float, dt: float, first_layer: int) -> Emission | None:
        """Layers from `first_layer` on that appear by `time` (s), where they then are.

        Layers that were due before the step of `dt` (s) are skipped, not stacked up: a caller who
        stops for a while (at a cap on particles) can go on with the flow as it then is.
        """
        end = self._layers_by(time)
        # Half a layer of slack, because time - dt need not be the last step's time to the bit.
        slack = 0.5 * self.spacing / self.frame.speed
        first = max(first_layer, self._layers_by(time - dt - slack))
        if first >= end:
            return None
        travel = self.frame.speed * (time - self.start) - self.spacing * np.arange(first, end)
        offset = travel[:, None, None] * np.asarray(self.frame.direction)
        scatter = np.stack([self._scatter(layer) for layer in range(first, end)])
        positions = (self._layer + offset + scatter).reshape(-1, 3).astype(np.float32)
        velocities = np.tile(self._velocity, (len(positions), 1)).astype(np.float32)
        return Emission(positions, velocities, next_layer=end)

    def _scatter(self, layer: int) -> Float:
        """By how much the particles of a layer miss the lattice, m; the same in every run."""
        random = np.random.default_rng([self._seed, layer])
        return self._jitter * self.spacing * random.uniform(-1.0, 1.0, self._layer.shape)

    def _layers_by(self, time: float) -> int:
        """How many layers have appeared by `time` (s)."""
        if time < self.start:
            return 0
        ahead = self.frame.speed * (time - self.start) + self.frame.run_in
        count = floor(ahead / self.spacing + _ROUNDING) + 1
        if self.stop == inf:
            return count
        # The last layer is the last to cross the nozzle plane before `stop`.
        open_for = self.frame.speed * (self.stop - self.start)
        return min(count, ceil(open_for / self.spacing - _ROUNDING))


def _opening(spec: Nozzle) -> tuple[tuple[float, float], bool]:
    """Half width and height (m), and whether the nozzle is round."""
    match spec.shape:
        case "disc":
            return (spec.radius, spec.radius), True
        case "rectangle":
            return (0.5 * spec.size[0], 0.5 * spec.size[1]), False


def _axes(direction: Vector) -> tuple[Float, Float, Float]:
    """Width axis, height axis and direction of the flow: orthonormal and right-handed."""
    along = unit(direction)
    vertical = abs(along[1]) > 1.0 - 1e-9
    width = unit(np.cross([0.0, 0.0, 1.0] if vertical else [0.0, 1.0, 0.0], along))
    return width, np.cross(along, width), along


def _layer(half_size: tuple[float, float], is_disc: bool, spacing: float) -> Float:
    """Points (n, 2) of a square lattice in the nozzle, m."""
    grid = centred_lattice([2.0 * half for half in half_size], spacing)
    if not is_disc:
        return grid
    return grid[np.hypot(grid[:, 0], grid[:, 1]) <= half_size[0] + _ROUNDING * spacing]


def _speed(spec: Nozzle, area: float) -> float:
    """The given speed, or the one at which layers of `area` (m²) carry exactly the given flow."""
    if spec.speed is not None:
        return spec.speed
    assert spec.flow_rate is not None, "the scene has exactly one of speed and flow_rate"
    return spec.flow_rate / area if area else 0.0


def _vector(v: Float) -> Vector:
    return float(v[0]), float(v[1]), float(v[2])
