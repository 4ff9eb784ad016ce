# mypy: disable-error-code="valid-type,misc,no-untyped-def,no-untyped-call"
"""The particles of a step as kernels of walls, forces and solvers see them."""

import dataclasses
from typing import Any

import quadrants as qd

from viscoil.core.compute import Floats, Ints, Vec3s, scalars
from viscoil.neighbors.pairs import Neighbors, PairList
from viscoil.neighbors.period import Period
from viscoil.neighbors.scale import Scale
from viscoil.particles.store import ChannelKind, Particles


@dataclasses.dataclass
class ParticleArrays:
    """The particles at the start of a step; constant until it ends."""

    position: Vec3s  # x⁰, m
    material: Ints
    size: Floats  # s: spacing in units of the scene's; a single number where all are 1
    body: Ints  # number of the separate body, or 0; a single number where there are none
    inverse_mass: Floats  # 1/kg
    softness: Floats  # what heat makes of the material's compliance: a factor, 1 without
    contact: Ints  # index of the particle's contact with walls, -1 away from them
    pairs: PairList
    period: Period


class StepArrays:
    """Owns those of a step's arrays that are no channels, and makes the kernels' view of them.

    The view stays the same object, because a kernel that is launched with arguments it has seen
    before starts sooner.
    """

    def __init__(self) -> None:
        self._capacity = 0
        self._all_alike: Any = scalars(qd.f32, 1)  # in the place of sizes
        self._no_bodies: Any = scalars(qd.i32, 1)
        self._inverse_mass: Any = None
        self._softness: Any = None
        self._view: ParticleArrays | None = None

    def of(self, particles: Particles, neighbors: Neighbors) -> ParticleArrays:
        """Of the particles as they are; valid until they are sorted again."""
        self._follow(particles)
        arrays = {
            "position": particles.array("position"),
            "material": particles.array("material"),
            "size": particles.array("size") if "size" in particles else self._all_alike,
            "body": particles.array("body") if "body" in particles else self._no_bodies,
            "inverse_mass": self._inverse_mass,
            "softness": self._softness,
            "contact": particles.spare(ChannelKind("i32", 1)),
            "pairs": neighbors.pairs,
            "period": neighbors.period,
        }
        if self._view is None:
            self._view = ParticleArrays(**arrays)
        for name, array in arrays.items():
            setattr(self._view, name, array)
        return self._view

    def _follow(self, particles: Particles) -> None:
        """Takes other arrays if the particles have another capacity; the old ones are freed first."""
        if particles.capacity != self._capacity:
            self._capacity = particles.capacity
            self._view = self._inverse_mass = self._softness = None
            self._inverse_mass = scalars(qd.f32, self._capacity)
            self._softness = scalars(qd.f32, self._capacity)
            self._softness.fill(1.0)


@qd.kernel(fastcache=True)
def set_masses(n: qd.i32, scale: Scale, density: Floats, near: ParticleArrays):
    """1/m of volume times the density of the material, kg/m³."""
    for i in range(n):
        size = 1.0
        if qd.static(scale.mixed):
            size = near.size[i]
        mass = density[near.material[i]] * (size * size * size * scale.volume)
        near.inverse_mass[i] = 1.0 / mass
