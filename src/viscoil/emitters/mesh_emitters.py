"""Inflow from meshes: out of their faces, or wherever there is room inside of them."""

from math import floor, inf

import numpy as np
from numpy.typing import NDArray

from viscoil.colliders.motion import Pose, moved, turn, velocities
from viscoil.core.errors import SceneError
from viscoil.emitters.nozzles import Emission
from viscoil.geometry import quaternions
from viscoil.geometry.mesh_source import open_source
from viscoil.geometry.meshes.triangles import areas, unit_normals
from viscoil.geometry.quaternions import Float, unit
from viscoil.geometry.solid_mesh import solid_mesh
from viscoil.sampling.seeding import centred_lattice
from viscoil.scene import MeshEmitter as MeshEmitterSpec

# Points on faces are random ones that are at least APART spacings from those chosen before. That fills
# a plane with up to 0.70/APART² = 1.09 points per square spacing (random sequential adsorption covers
# 54.7 %); with CROWD tries per square spacing it is 0.9, where a square lattice has 1.
CROWD = 12
APART = 0.8


class MeshEmitter:
    """Particles appear on the faces of a mesh layer by layer, or fill its volume where it is free.

    Layer k leaves the faces at start + k d / speed. A volume is filled up again at every step. Where
    another particle is in the way none appears: `Inflow` checks that by `clear_of`.
    """

    frame = None  # it drives no particles after they have appeared

    def __init__(
        self, spec: MeshEmitterSpec, material_index: int, spacing: float, seed: int
    ) -> None:
        self.spec = spec
        self.material_index = material_index
        self.spacing = spacing
        self._seed = seed
        self._rest = Pose(np.array(spec.center), turn(spec.rotation))
        if spec.source == "faces":
            self._points, self._outward, self._share = _on_faces(spec, spacing, seed)
        else:
            self._points = _in_volume(spec, spacing)
            self._outward = np.zeros_like(self._points)
            self._share = np.ones(len(self._points))
        if not len(self._points):
            raise SceneError(
                f"the mesh emitter {spec.file} has no room for a particle: make it larger, "
                "or use a smaller spacing"
            )
        area = len(self._points) * spacing**2
        self.speed = spec.speed if spec.speed is not None else (spec.flow_rate or 0.0) / area
        """m/s."""

    def emit(self, time: float, dt: float, first_layer: int) -> Emission | None:
        """What appears by `time` (s), where it then is; see `Emitter.emit`."""
        stop = inf if self.spec.stop is None else self.spec.stop
        if time < self.spec.start or time >= stop:
            return None
        if self.spec.source == "volume":
            return self._emission(first_layer, time, 0.0)
        interval = self.spacing / self.speed
        last = floor((time - self.spec.start) / interval + 1e-6)
        first = max(first_layer, last - floor(dt / interval))
        layers = [
            self._emission(k, time, time - self.spec.start - k * interval)
            for k in range(first, last + 1)
        ]
        if not layers:
            return None
        return Emission(
            np.concatenate([layer.positions for layer in layers]),
            np.concatenate([layer.velocities for layer in layers]),
            next_layer=last + 1,
        )

    def _emission(self, layer: int, time: float, age: float) -> Emission:
        """Of a layer that appeared `age` (s) ago and has moved on since."""
        pose, velocity = self._motion(time - age)
        random = np.random.default_rng([self._seed, layer])
        scatter = self.spec.jitter * self.spacing * random.uniform(-1, 1, self._points.shape)
        way = quaternions.rotate(pose.orientation, self._outward)
        if self.spec.direction is not None:
            way = np.broadcast_to(unit(self.spec.direction), way.shape)
        at = pose.to_world(self._points)
        rate = self.speed * self._share[:, None] * way
        rate = rate + self.spec.inherit * velocity(at)
        positions = (at + scatter + age * rate).astype(np.float32)
        return Emission(positions, rate.astype(np.float32), next_layer=layer + 1)

    def _motion(self, time: float) -> tuple[Pose, "_Carry"]:
        step = 1e-4  # s: over which the mesh's own velocity is taken
        keys, way = self.spec.motion, self.spec.interpolation
        before, after = (moved(self._rest, keys, t, way) for t in (time - step, time))
        rates = velocities(before, after, step)
        return after, _Carry(after, rates.velocity, rates.angular_velocity, rates.growth)


class _Carry:
    """Velocities of points that move with a mesh."""

    def __init__(self, pose: Pose, velocity: Float, spin: Float, growth: float) -> None:
        self._pose, self._velocity, self._spin, self._growth = pose, velocity, spin, growth

    def __call__(self, points: Float) -> Float:
        arm = points - self._pose.position
        return np.asarray(self._velocity + np.cross(self._spin, arm) + self._growth * arm)


def clear_of(points: NDArray[np.float32], others: NDArray[np.float32], spacing: float) -> "Mask":
    """Which points have none of the others within half a spacing."""
    low, high = points.min(axis=0) - spacing, points.max(axis=0) + spacing
    near = others[((others > low) & (others < high)).all(axis=1)]
    if not len(near):
        return np.ones(len(points), dtype=bool)
    edge = 0.5 * spacing
    size = np.ceil((high - low) / edge).astype(np.int64) + 3
    taken = np.unique(_cells(near, low, edge) @ _weights(size))
    here = _cells(points, low, edge)
    free = np.ones(len(points), dtype=bool)
    for step in np.ndindex(3, 3, 3):
        free &= ~np.isin((here + np.array(step) - 1) @ _weights(size), taken)
    # A grid of cells clears most points; for the others distances are computed.
    doubtful = np.flatnonzero(~free)
    for part in np.array_split(doubtful, len(doubtful) * len(near) // 10**7 + 1):
        gaps = ((points[part, None] - near[None]) ** 2).sum(axis=2)
        free[part] = gaps.min(axis=1, initial=np.inf) >= edge * edge
    return free


Mask = NDArray[np.bool_]


def _cells(points: NDArray[np.float32], low: Float, edge: float) -> NDArray[np.int64]:
    return np.asarray(((points - low) / edge).astype(np.int64) + 1)


def _weights(size: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.array([size[1] * size[2], size[2], 1], dtype=np.int64)


def _on_faces(spec: MeshEmitterSpec, spacing: float, seed: int) -> tuple[Float, Float, Float]:
    """Points (n, 3) about a spacing apart, normals, and the share of the speed at each."""
    mesh = open_source(spec.file).mesh
    corners = spec.scale * mesh.vertices[mesh.faces]
    area = areas(corners)
    if not area.sum() > 0.0:
        raise SceneError(f"the mesh emitter {spec.file} has no area: give another mesh")
    random = np.random.default_rng(seed)
    count = max(int(CROWD * area.sum() / spacing**2), 1)
    face = np.sort(random.choice(len(area), count, p=area / area.sum()))
    u, v = random.random((2, count))
    outside = u + v > 1.0
    u, v = np.where(outside, 1.0 - u, u), np.where(outside, 1.0 - v, v)
    a, b, c = np.moveaxis(corners[face], 1, 0)
    points = a + u[:, None] * (b - a) + v[:, None] * (c - a)
    chosen = _spread(points, APART * spacing)
    return points[chosen], unit_normals(corners)[face[chosen]], _profile(spec, points[chosen])


def _spread(points: Float, apart: float) -> NDArray[np.int64]:
    """Points, taken in turn, that are at least `apart` (m) from those taken before."""
    cells: dict[tuple[int, int, int], list[int]] = {}
    chosen = []
    order = np.random.default_rng(len(points)).permutation(len(points))
    places = np.floor(points / apart).astype(np.int64)
    for k in order:
        x, y, z = (int(i) for i in places[k])
        near = [
            j
            for i in np.ndindex(3, 3, 3)
            for j in cells.get((x + i[0] - 1, y + i[1] - 1, z + i[2] - 1), ())
        ]
        if not near or (((points[near] - points[k]) ** 2).sum(axis=1) >= apart**2).all():
            cells.setdefault((x, y, z), []).append(int(k))
            chosen.append(int(k))
    return np.array(sorted(chosen), dtype=np.int64)


def _profile(spec: MeshEmitterSpec, points: Float) -> Float:
    """1 everywhere, or as in a pipe: from 2 in the middle of the points to 0 at their rim."""
    if spec.profile == "plug":
        return np.ones(len(points))
    middle = points.mean(axis=0)
    distance = np.linalg.norm(points - middle, axis=1)
    rim = max(float(distance.max()), 1e-30)
    return np.asarray(2.0 * (1.0 - (distance / rim) ** 2))


def _in_volume(spec: MeshEmitterSpec, spacing: float) -> Float:
    mesh = solid_mesh(spec.file, spec.scale)
    grid = centred_lattice(mesh.extent, spacing) + mesh.middle
    return np.asarray(grid[mesh.depth(grid) >= 0.0])
