"""Filling shapes with particles: a cubic lattice or a file per body of fluid, and how a scene starts."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations_with_replacement, product
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from viscoil.colliders import ColliderSet
from viscoil.colliders.motion import turn
from viscoil.core.errors import SceneError
from viscoil.geometry import quaternions
from viscoil.geometry.solid_mesh import SolidMesh, solid_mesh
from viscoil.sampling.seed_files import seeded, spacing_note
from viscoil.scene import Fluid, MeshFluid, Scene
from viscoil.scene.fluids import LatticeFluid

Float = NDArray[np.float64]
Float32 = NDArray[np.float32]

# In spacings: by how much a size may miss a multiple of the spacing and still count as one (a
# third of a metre is written with a few digits), and how exactly points on a rim are kept.
_FIT = 0.01
_ROUNDING = 1e-6
# The coarsest coordinates that a spacing can bear, of it. A choice: a dam break at 0.0012 spacings is the
# same within 0.2 %, and at 0.02 within 1.3 %.
COARSEST = 2e-3
# Particle indices are 32-bit.
_MOST_PARTICLES = 2**31 - 1


@dataclass
class Seeding:
    """The particles that a scene starts with."""

    position: Float32
    """(n, 3), m; within [0, L) along periodic axes."""
    velocity: Float32
    """(n, 3), m/s."""
    material: NDArray[np.int32]
    """(n,), index into the scene's materials."""
    fluid: NDArray[np.int32]
    """(n,), index into the scene's fluids, in ascending order."""
    size: Float32
    """(n,), spacing of the particle in units of simulation.spacing."""
    notes: list[str] = field(default_factory=list)
    """What the user should know, one sentence each."""


def body(fluid: Fluid, spacing: float) -> tuple[Float32, Float32]:
    """Positions (m) and velocities (m/s), both (n, 3), of the particles that a fluid starts with."""
    if fluid.shape != "particles":
        return lattice(fluid, spacing)
    offset, velocity = seeded(fluid)
    return (np.asarray(fluid.center) + offset).astype(np.float32), velocity.astype(np.float32)


def lattice(fluid: LatticeFluid, spacing: float) -> tuple[Float32, Float32]:
    """Positions (m) and velocities (m/s), both (n, 3), of a cubic lattice that fills the shape.

    The lattice is centred in the shape and turned with it. A box of k spacings gets k particles,
    the outer ones half a spacing from the faces; each shape gets at least one layer per axis.
    """
    offset = _offsets(fluid, spacing)
    velocity = np.asarray(fluid.velocity) + np.cross(fluid.angular_velocity, offset)
    return (np.asarray(fluid.center) + offset).astype(np.float32), velocity.astype(np.float32)


def centred_lattice(lengths: Iterable[float], spacing: float) -> Float:
    """Points (n, axes) about 0, `spacing` apart: as many as fit half a spacing inside `lengths` (m)."""
    counts = [max(int(float(length) / spacing + _FIT), 1) for length in lengths]
    axes = [(np.arange(count) - 0.5 * (count - 1)) * spacing for count in counts]
    return np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, len(axes))


def seed(scene: Scene, colliders: ColliderSet) -> Seeding:
    """The scene's first particles; those inside colliders are left out, with a note.

    Raises SceneError for a scene that never has fluid and for fluids that overlap.
    """
    if not scene.fluids and not scene.emitters:
        raise SceneError("the scene has no fluid: add a [[fluids]] or an [[emitters]] table")
    spacings = [scene.spacing_of(fluid) for fluid in scene.fluids]
    bodies = [body(fluid, d) for fluid, d in zip(scene.fluids, spacings, strict=True)]
    _reject_thin(scene, [len(position) for position, _ in bodies])
    _reject_overlaps(scene, [position for position, _ in bodies])
    positions = [_wrapped(position, scene) for position, _ in bodies]
    kept = [
        colliders.distance(position, 0.0) >= 1e-3 * d
        for position, d in zip(positions, spacings, strict=True)
    ]
    if bodies and not scene.emitters and not any(k.any() for k in kept):
        raise SceneError("all fluid lies inside colliders: move the fluids or the colliders apart")
    return Seeding(
        position=_joined([p[k] for p, k in zip(positions, kept, strict=True)]),
        velocity=_joined([v[k] for (_, v), k in zip(bodies, kept, strict=True)]),
        material=_material_indices(scene, kept),
        fluid=np.repeat(np.arange(len(kept), dtype=np.int32), [int(k.sum()) for k in kept]),
        size=_sizes(scene, spacings, kept),
        notes=_notes(scene, kept) + _far_notes(scene, positions),
    )


def _offsets(fluid: LatticeFluid, spacing: float) -> Float:
    """World-axis offsets (n, 3) of the lattice points from the centre of the shape."""
    count = float(np.prod(_extent(fluid))) / spacing**3
    if count > _MOST_PARTICLES:
        raise SceneError(
            f"the {fluid.shape} of {fluid.material} would need {count:.2g} particles: "
            f"make it smaller or raise {_spacing_key(fluid)} (now {spacing:g} m)"
        )
    grid = centred_lattice(_extent(fluid), spacing) + _middle(fluid)
    inside = grid[_curved_depth(fluid, grid) >= -_ROUNDING * spacing]
    return quaternions.rotate(turn(fluid.rotation), inside)


def _middle(fluid: LatticeFluid) -> Float:
    """Of the upright bounding box, seen from the centre; a mesh has its own origin."""
    return _solid_mesh(fluid).middle if fluid.shape == "mesh" else np.zeros(3)


def _solid_mesh(fluid: MeshFluid) -> SolidMesh:
    return solid_mesh(fluid.file, fluid.scale)


def _extent(fluid: LatticeFluid) -> tuple[float, float, float]:
    """Edge lengths (m) of the upright bounding box."""
    match fluid.shape:
        case "box":
            return fluid.size
        case "sphere":
            return (2.0 * fluid.radius,) * 3
        case "cylinder":
            return 2.0 * fluid.radius, fluid.height, 2.0 * fluid.radius
        case "torus":
            width = 2.0 * (fluid.radius + fluid.tube_radius)
            return width, 2.0 * fluid.tube_radius, width
        case "mesh":
            x, y, z = _solid_mesh(fluid).extent
            return float(x), float(y), float(z)


def _curved_depth(fluid: LatticeFluid, p: Float) -> Float:
    """How far (m) body points of the bounding box are inside the curved surface, if any."""
    from_axis = np.hypot(p[:, 0], p[:, 2])
    match fluid.shape:
        case "box":
            return np.full(len(p), np.inf)
        case "sphere":
            return np.asarray(fluid.radius - np.hypot(from_axis, p[:, 1]))
        case "cylinder":
            return np.asarray(fluid.radius - from_axis)
        case "torus":
            return np.asarray(fluid.tube_radius - np.hypot(from_axis - fluid.radius, p[:, 1]))
        case "mesh":
            return _solid_mesh(fluid).depth(p)


def _material_indices(scene: Scene, kept: Sequence[NDArray[np.bool_]]) -> NDArray[np.int32]:
    index = {name: i for i, name in enumerate(scene.materials)}
    each = [index[fluid.material] for fluid in scene.fluids]
    return np.repeat(np.array(each, dtype=np.int32), [np.count_nonzero(k) for k in kept])


def _sizes(scene: Scene, spacings: Sequence[float], kept: Sequence[NDArray[np.bool_]]) -> Float32:
    each = np.array(spacings, dtype=np.float64) / scene.simulation.spacing
    return np.repeat(each.astype(np.float32), [np.count_nonzero(k) for k in kept])


def _notes(scene: Scene, kept: Sequence[NDArray[np.bool_]]) -> list[str]:
    """A sentence for each fluid that colliders cut into, or whose file does not fit the spacing."""
    files = [
        spacing_note(fluid, scene.spacing_of(fluid))
        for fluid in scene.fluids
        if fluid.shape == "particles"
    ]
    return [note for note in files if note is not None] + [
        f"{_label(scene, i)}: {np.count_nonzero(~k)} of {len(k)} particles lie inside colliders "
        "and are left out"
        for i, k in enumerate(kept)
        if not k.all()
    ]


def _far_notes(scene: Scene, positions: Sequence[Float32]) -> list[str]:
    """A sentence for each fluid that starts where coordinates are too coarse for its spacing."""
    notes = []
    for i, (fluid, x) in enumerate(zip(scene.fluids, positions, strict=True)):
        farthest = np.abs(x).max(initial=0.0)
        spacing = scene.spacing_of(fluid)
        if float(np.spacing(np.float32(farthest))) > COARSEST * spacing:
            safe = float(f"{COARSEST * spacing / float(np.finfo(np.float32).eps):.2g}")
            notes.append(
                f"{_label(scene, i)} starts {farthest:g} m from the origin, where coordinates are too "
                f"coarse for a spacing of {spacing:g} m: bring the scene within {safe:g} m of it"
            )
    return notes


def _reject_thin(scene: Scene, counts: Sequence[int]) -> None:
    """Raise for a torus whose tube is so thin that no lattice point is in it."""
    for i, count in enumerate(counts):
        if count == 0:
            raise SceneError(
                f"{_label(scene, i)} is too thin to hold a particle: "
                f"thicken it or lower {_spacing_key(scene.fluids[i])} "
                f"(now {scene.spacing_of(scene.fluids[i]):g} m)"
            )


def _reject_overlaps(scene: Scene, bodies: Sequence[Float32]) -> None:
    """Raise if two fluids, or one and its periodic image, overlap."""
    period = np.asarray(scene.simulation.periodic)
    homes = [
        _brought_home(fluid, scene.spacing_of(fluid), body, period)
        for fluid, body in zip(scene.fluids, bodies, strict=True)
    ]
    for i, j in combinations_with_replacement(range(len(homes)), 2):
        shifts = [s for s in _shifts(period) if i != j or s.any()]
        if any(_overlap(homes[i], homes[j].shifted(s)) for s in shifts):
            raise SceneError(_overlap_message(scene, i, j))


def _overlap_message(scene: Scene, i: int, j: int) -> str:
    if i == j:
        return (
            f"{_label(scene, i)} overlaps its own periodic image: "
            "make it smaller than simulation.periodic"
        )
    return f"{_label(scene, i)} and {_label(scene, j)} overlap: move one of them or make it smaller"


class _Body(NamedTuple):
    """A fluid at one of its periodic places."""

    fluid: Fluid
    spacing: float
    center: Float
    points: Float

    def shifted(self, offset: Float) -> "_Body":
        return self._replace(center=self.center + offset, points=self.points + offset)

    def depth(self, points: Float) -> Float:
        """How far (m) world points are inside the shape at least; negative outside.

        Particles of a file have no shape, so only their distances to other points count.
        """
        if self.fluid.shape == "particles":
            return np.full(len(points), -np.inf)
        back = quaternions.conjugate(turn(self.fluid.rotation))
        p = quaternions.rotate(back, points - self.center)
        p = np.asarray(p)
        faces = (0.5 * np.array(_extent(self.fluid)) - np.abs(p - _middle(self.fluid))).min(axis=1)
        return np.asarray(np.minimum(faces, _curved_depth(self.fluid, p)))


def _brought_home(fluid: Fluid, spacing: float, points: Float32, period: Float) -> _Body:
    """The fluid shifted as a whole so that its centre lies in the periodic box."""
    center = np.asarray(fluid.center)
    whole = np.floor(center / np.where(period > 0.0, period, np.inf))
    return _Body(fluid, spacing, center, points.astype(np.float64)).shifted(-whole * period)


def _shifts(period: Float) -> Iterator[Float]:
    """The offsets of the periodic images next to the box, and of the box itself."""
    for images in product(*([-1.0, 0.0, 1.0] if length > 0.0 else [0.0] for length in period)):
        yield np.array(images) * period


def _overlap(a: _Body, b: _Body) -> bool:
    """Whether points come closer than d / 2, or lie deeper than d / 4 in the other shape.

    The first alone would miss lattices that interlock, the second those of thin shapes. Between
    different spacings the first d is their mean, the second the smaller one.
    """
    if a.spacing < b.spacing:
        a, b = b, a
    reach = 0.25 * (a.spacing + b.spacing)
    low = np.maximum(a.points.min(axis=0), b.points.min(axis=0)) - reach
    high = np.minimum(a.points.max(axis=0), b.points.max(axis=0)) + reach
    near_a, near_b = (p[((p >= low) & (p <= high)).all(axis=1)] for p in (a.points, b.points))
    deep = 0.25 * b.spacing
    if (b.depth(near_a) > deep).any() or (a.depth(near_b) > deep).any():
        return True
    return bool(len(near_a) and len(near_b)) and _too_close(near_a, near_b, reach)


def _too_close(a: Float, b: Float, reach: float) -> bool:
    """Whether points of two lattices, that of `a` at least 2 `reach` wide, come closer than `reach`."""
    low, high = np.minimum(a.min(axis=0), b.min(axis=0)), np.maximum(a.max(axis=0), b.max(axis=0))
    # Cells of half a spacing hold at most one point of `a`: their diagonal is 0.87 d.
    cells = np.ceil((high - low) / reach).astype(np.int64) + 3
    key_a, key_b = (
        _pack(np.floor((points - low) / reach).astype(np.int64) + 1, cells) for points in (a, b)
    )
    order = np.argsort(key_a)
    for step in product((-1, 0, 1), repeat=3):
        wanted = key_b + _pack(np.array(step), cells)
        found = order[np.minimum(np.searchsorted(key_a, wanted, sorter=order), len(a) - 1)]
        same_cell = key_a[found] == wanted
        if (np.linalg.norm(a[found] - b, axis=1)[same_cell] < reach).any():
            return True
    return False


def _pack(index: NDArray[np.int64], cells: NDArray[np.int64]) -> NDArray[np.int64]:
    """One number per cell (..., 3)."""
    return np.asarray((index[..., 0] * cells[1] + index[..., 1]) * cells[2] + index[..., 2])


def _joined(parts: Sequence[Float32]) -> Float32:
    return np.concatenate([np.zeros((0, 3), dtype=np.float32), *parts])


def _wrapped(position: Float32, scene: Scene) -> Float32:
    """Positions within [0, L) along periodic axes."""
    position = position.copy()
    for axis, length in enumerate(scene.simulation.periodic):
        if length > 0.0:
            inside = np.mod(position[:, axis], np.float32(length))
            # A tiny negative coordinate rounds up to L itself.
            position[:, axis] = np.where(inside < np.float32(length), inside, 0.0)
    return position


def _spacing_key(fluid: Fluid) -> str:
    """What sets the spacing of a fluid."""
    return "simulation.spacing" if fluid.spacing is None else "its spacing"


def _label(scene: Scene, index: int) -> str:
    fluid = scene.fluids[index]
    return f"fluids.{index} ({fluid.shape} of {fluid.material})"
