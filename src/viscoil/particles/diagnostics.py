# mypy: disable-error-code="valid-type,no-untyped-def,no-untyped-call,misc"
"""What a step ended with: energy, momenta, speeds, and whether all numbers still are numbers."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import quadrants as qd

from viscoil.core.compute import Doubles, Floats, Ints, Vec3s, scalars, vec3, view
from viscoil.core.reductions import block_begin, block_count, block_end, blocks
from viscoil.particles.store import Particles

# kinetic energy, momentum, angular momentum, largest speed, broken particles, extremes of height
QUANTITIES = 11


@dataclass(frozen=True)
class Diagnosis:
    kinetic_energy: float  # J
    linear_momentum: tuple[float, float, float]  # kg m/s
    angular_momentum: tuple[float, float, float]  # kg m²/s, about the origin
    max_speed: float  # m/s
    broken: int  # particles whose position or velocity is not finite
    highest: float = 0.0  # m²/s²: the largest −g·x
    lowest: float = 0.0  # m²/s²: the least

    def trouble(self, speed_limit: float) -> str | None:
        """What is wrong with the particles, if anything: none should be faster than that (m/s)."""
        if self.broken:
            return f"{self.broken} particles are no longer at finite places"
        if self.max_speed > speed_limit:
            return f"a particle moves at {self.max_speed:.3g} m/s"
        return None


@qd.kernel(fastcache=True)
def _diagnose(
    n: qd.i32,
    volume: qd.f32,
    mixed: qd.template(),
    size: Floats,
    position: Vec3s,
    velocity: Vec3s,
    material: Ints,
    alive: Ints,
    density: Floats,
    gravity: vec3,
    sums: Doubles,
):
    for b in range(blocks(n)):
        energy = qd.f64(0.0)
        fastest = qd.f64(0.0)
        broken = qd.f64(0.0)
        highest = qd.f64(-1e30)
        lowest = qd.f64(1e30)
        momentum = qd.Vector([0.0, 0.0, 0.0], qd.f64)
        angular = qd.Vector([0.0, 0.0, 0.0], qd.f64)
        for i in range(block_begin(b), block_end(b, n)):
            if alive[i] == 0:
                continue
            m = qd.cast(density[material[i]] * volume, qd.f64)
            if qd.static(mixed):
                m *= qd.cast(size[i], qd.f64) ** 3
            x = qd.cast(position[i], qd.f64)
            u = qd.cast(velocity[i], qd.f64)
            square = u.dot(u)
            # comparisons with a NaN are false, so this finds infinities and NaNs alike
            if not (x.norm_sqr() + square < 1e30):
                broken += 1.0
            else:
                energy += 0.5 * m * square
                fastest = qd.max(fastest, square)
                height = -x.dot(qd.cast(gravity, qd.f64))
                highest = qd.max(highest, height)
                lowest = qd.min(lowest, height)
                momentum += m * u
                angular += m * x.cross(u)
        sums[b * 11] = energy
        for axis in qd.static(range(3)):
            sums[b * 11 + 1 + axis] = momentum[axis]
            sums[b * 11 + 4 + axis] = angular[axis]
        sums[b * 11 + 7] = fastest
        sums[b * 11 + 8] = broken
        sums[b * 11 + 9] = highest
        sums[b * 11 + 10] = lowest


class Diagnostics:
    """Measures the particles that are alive; keeps its scratch between calls."""

    def __init__(self) -> None:
        self._sums: Any = scalars(qd.f64, 1)

    def __call__(
        self,
        particles: Particles,
        volume: float,
        density: Any,
        gravity: tuple[float, float, float] = (0.0, 0.0, 0.0),
    ) -> Diagnosis:
        n = particles.count
        mixed = "size" in particles
        size = particles.array("size") if mixed else density  # not read if all sizes are 1
        rows = block_count(n)
        if self._sums.shape[0] < rows * QUANTITIES:
            self._sums = scalars(qd.f64, rows * QUANTITIES)
        _diagnose(
            n, volume, mixed, size, particles.array("position"), particles.array("velocity"),
            particles.array("material"), particles.alive, density, vec3(*gravity), self._sums,
        )  # fmt: skip
        table = view(self._sums, rows * QUANTITIES).reshape(rows, QUANTITIES)
        total = table.sum(axis=0) if rows else np.zeros(QUANTITIES)
        fastest = float(table[:, 7].max()) if rows else 0.0
        return Diagnosis(
            kinetic_energy=float(total[0]),
            linear_momentum=_triple(total[1:4]),
            angular_momentum=_triple(total[4:7]),
            max_speed=fastest**0.5,
            broken=int(total[8]),
            highest=float(table[:, 9].max()) if rows else 0.0,
            lowest=float(table[:, 10].min()) if rows else 0.0,
        )


def _triple(values: Any) -> tuple[float, float, float]:
    return float(values[0]), float(values[1]), float(values[2])
