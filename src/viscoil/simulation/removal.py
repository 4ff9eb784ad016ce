# mypy: disable-error-code="valid-type,no-untyped-def,no-untyped-call,misc"
"""What takes particles away: bounds, kill volumes and age.

Particles are only marked; the next sort drops them. Kill volumes are solids to the kernels, with the
distances of colliders: whatever shape a collider can have, `solid` can give to a kill volume.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import quadrants as qd

from viscoil.colliders import ColliderSet
from viscoil.colliders.arrays import ColliderArrays, distance_and_normal
from viscoil.core.compute import Floats, Ints, Vec3s, scalars, view, write
from viscoil.particles.store import Particles
from viscoil.scene import (
    BoxCollider,
    Collider,
    Kill,
    MeshCollider,
    PlaneCollider,
    Scene,
    SphereCollider,
)
from viscoil.scene.activity import overlap


@qd.kernel(fastcache=True)
def _kill_outside(
    n: qd.i32,
    x0: qd.f32,
    y0: qd.f32,
    z0: qd.f32,
    x1: qd.f32,
    y1: qd.f32,
    z1: qd.f32,
    position: Vec3s,
    alive: Ints,
):
    for i in range(n):
        x = position[i]
        outside = x[0] < x0 or x[1] < y0 or x[2] < z0 or x[0] > x1 or x[1] > y1 or x[2] > z1
        if outside:
            alive[i] = 0


@qd.kernel(fastcache=True)
def _kill_born_before(n: qd.i32, earliest: qd.f32, birth: Floats, alive: Ints):
    for i in range(n):
        if birth[i] < earliest:
            alive[i] = 0


@qd.kernel(fastcache=True)
def _kill_outlived(n: qd.i32, time: qd.f32, birth: Floats, lifespan: Floats, alive: Ints):
    for i in range(n):
        if time - birth[i] > lifespan[i]:
            alive[i] = 0


@qd.kernel(fastcache=True)
def _kill_in_volumes(
    n: qd.i32,
    count: qd.i32,
    materials: qd.i32,
    volumes: ColliderArrays,
    side: Ints,
    acts_on: Ints,
    position: Vec3s,
    material: Ints,
    alive: Ints,
):
    """`side` is 1 to kill inside, −1 outside and 0 not at all."""
    for i in range(n):
        for k in range(count):
            if side[k] != 0 and acts_on[k * materials + material[i]] == 1:
                if side[k] * distance_and_normal(volumes, k, position[i])[3] < 0.0:
                    alive[i] = 0


def solid(kill: Kill) -> Collider:
    """The kill volume as a solid: what is inside it is inside the volume."""
    match kill.shape:
        case "box":
            return BoxCollider(center=kill.center, size=kill.size, rotation=kill.rotation)
        case "sphere":
            return SphereCollider(center=kill.center, radius=kill.radius)
        case "plane":
            return PlaneCollider(point=kill.point, normal=kill.normal)
        case "mesh":
            return MeshCollider(
                file=kill.file, center=kill.center, rotation=kill.rotation, scale=kill.scale
            )


class KillVolumes:
    """All [[kill]] tables of a scene."""

    def __init__(self, kills: Sequence[Kill], materials: Sequence[str], spacing: float) -> None:
        self._kills = tuple(kills)
        self._sides = [-1 if kill.shape != "plane" and kill.outside else 1 for kill in kills]
        self._volumes = ColliderSet([solid(kill) for kill in kills], spacing).arrays
        self._materials = len(materials)
        self._side: Any = scalars(qd.i32, len(kills))
        self._acts_on: Any = scalars(qd.i32, len(kills) * len(materials))
        acts = [int(not kill.materials or m in kill.materials) for kill in kills for m in materials]
        write(self._acts_on, acts)

    def mark(self, particles: Particles, begin: float, dt: float) -> None:
        """Marks what is in a volume that was active at any time of the step."""
        active = [overlap(kill.start, kill.stop, begin, dt) > 0.0 for kill in self._kills]
        if not any(active):
            return
        write(self._side, [side * on for side, on in zip(self._sides, active, strict=True)])
        _kill_in_volumes(
            particles.count, len(self._kills), self._materials, self._volumes, self._side,
            self._acts_on, particles.array("position"), particles.array("material"),
            particles.alive,
        )  # fmt: skip


def _kill_volumes(scene: Scene) -> KillVolumes:
    return KillVolumes(scene.kill, list(scene.materials), scene.simulation.spacing)


class Removal:
    """Every rule by which a scene removes particles."""

    def __init__(self, scene: Scene) -> None:
        settings = scene.simulation
        self._bounds, self._max_age = settings.kill_bounds, settings.max_age
        self._lifespans = "lifespan" in scene.channel_widths
        self._volumes = _kill_volumes(scene) if scene.kill else None
        rules = (self._bounds, self._max_age, self._lifespans or None, self._volumes)
        self._idle = all(rule is None for rule in rules)

    def __call__(self, particles: Particles, time: float, dt: float) -> int:
        """Marks what has to go after the step of `dt` that ended at `time`; how many are marked."""
        if self._idle or particles.count == 0:
            return 0
        p, n = particles, particles.count
        if self._bounds is not None:
            _kill_outside(n, *self._bounds.min, *self._bounds.max, p.array("position"), p.alive)
        if self._max_age is not None:
            _kill_born_before(n, time - self._max_age, p.array("birth"), p.alive)
        if self._lifespans:
            _kill_outlived(n, time, p.array("birth"), p.array("lifespan"), p.alive)
        if self._volumes is not None:
            self._volumes.mark(p, time - dt, dt)
        return n - int(np.count_nonzero(view(p.alive, n)))
