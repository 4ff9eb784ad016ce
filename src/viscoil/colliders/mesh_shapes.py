"""The distance field of a mesh collider, in the frame of its pose."""

from dataclasses import replace
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from viscoil.core.errors import SceneError
from viscoil.geometry.bricks.brick_field import BrickField
from viscoil.geometry.bricks.build import Request, build
from viscoil.geometry.bricks.cache import cached
from viscoil.geometry.bricks.openvdb import from_grids
from viscoil.geometry.bricks.orient import volume
from viscoil.geometry.bricks.secondary import with_vertex_values
from viscoil.geometry.mesh_source import attribute, open_source
from viscoil.geometry.quaternions import Float
from viscoil.geometry.vdb import read_vdb
from viscoil.scene import MeshCollider

LEVEL_SET = ".vdb"
BAND = 1.5  # over the reach of walls: distances must be known where a particle may be after a step
COARSEST = 0.125  # of a mesh's length: default cells are no larger, so that 8 span the mesh
MOST_POINTS = 240  # vertices of a rigid body that are tested for contact: 120 outermost, 120 others
THICK = 0.5  # cells on either side: thinner shells lie between the corners of cells and vanish


class Shape(Protocol):
    """What has a distance field in the frame of a collider's pose."""

    animated: bool
    points: Float
    """(n, 3) m: places on the surface, in the frame of the pose."""

    def distance_field(self, time: float, dt: float) -> BrickField:
        """The distances at `time` (s), with the mean velocities since time - dt of an animation."""


def shape(spec: MeshCollider, spacing: float, wall_reach: float) -> Shape:
    """The surface that a scene names, for particles that interact with walls up to `wall_reach` (m)."""
    is_level_set = Path(spec.file).suffix.lower() == LEVEL_SET
    return LevelSetShape(spec) if is_level_set else MeshShape(spec, spacing, wall_reach)


class LevelSetShape:
    """A distance field that another program has written."""

    animated = False

    def __init__(self, spec: MeshCollider) -> None:
        if not Path(spec.file).exists():
            raise SceneError(f"there is no file {spec.file}: check the path")
        if spec.dynamic:
            raise SceneError(f"the level set {spec.file} cannot be dynamic: give a mesh file")
        self.points = np.zeros((0, 3))
        grids = read_vdb(spec.file)
        field = from_grids(grids, spec.file, spec.mode, (spec.offset or 0.0) / spec.scale)
        self._field = replace(
            field,
            cell=spec.scale * field.cell,
            origin=spec.scale * field.origin,
            band=spec.scale * field.band,
            distance=np.float32(spec.scale) * field.distance,
            secondary={n: np.float32(spec.scale) * v for n, v in field.secondary.items()},
        )

    def distance_field(self, time: float, dt: float) -> BrickField:
        return self._field


class MeshShape:
    """A mesh collider's surface, which an animation changes from step to step."""

    def __init__(self, spec: MeshCollider, spacing: float, wall_reach: float) -> None:
        self.spec = spec
        self._source = open_source(spec.file, spec.fps, spec.loop)
        self.animated = self._source.animated
        if self.animated and spec.dynamic:
            raise SceneError(f"the animated mesh {spec.file} cannot be dynamic: remove one of both")
        self.points = _contact_points(spec.scale * self._source.vertices(0.0))
        self.request = request(
            spec, spacing, wall_reach, float(np.ptp(self._mesh(0.0)[0], axis=0).max())
        )
        self._check_solid()
        self._still: BrickField | None = None

    def distance_field(self, time: float, dt: float) -> BrickField:
        """The distances at `time` (s), with the mean velocities since time - dt of an animation."""
        if not self.animated:
            if self._still is None:
                self._still = self._with_friction(cached(*self._mesh(time), self.request), time)
            return self._still
        vertices, faces = self._mesh(time)
        # built for every step: without cutting hidden faces, which takes as long again
        field = self._with_friction(build(vertices, faces, replace(self.request, cut=False)), time)
        before = self._mesh(time - dt)[0] if dt > 0.0 else vertices
        return with_vertex_values(
            field, "velocity", vertices, faces, (vertices - before) / (dt or 1.0)
        )

    def _check_solid(self) -> None:
        """Faces without thickness and without an inside are no solid."""
        vertices, faces = self._mesh(0.0)
        thin = abs(volume(vertices, faces)) < 1e-9 * float(np.ptp(vertices, axis=0).max()) ** 3
        if thin and self.spec.mode == "solid" and self.request.offset == 0.0:
            raise SceneError(
                f"the mesh {self.spec.file} encloses no volume: "
                'give it an offset, or mode = "shell"'
            )

    def _mesh(self, time: float) -> tuple[Float, NDArray[np.int32]]:
        return self.spec.scale * self._source.vertices(time), self._source.mesh.faces

    def _with_friction(self, field: BrickField, time: float) -> BrickField:
        name = self.spec.friction_attribute
        if name is None:
            return field
        values = attribute(self._source.mesh, name, self.spec.file)
        values = np.where(
            np.isnan(values), self.spec.friction, values
        )  # NaN: the part has no such attribute
        if not ((values >= 0.0) & (values < np.inf)).all():
            raise SceneError(
                f"the vertex attribute {name!r} of the mesh {self.spec.file} is no friction: "
                "it has numbers below 0 or without end"
            )
        return with_vertex_values(field, "friction", *self._mesh(time), values)


def _contact_points(vertices: Float) -> Float:
    """At most MOST_POINTS vertices: the outermost along many directions, and others between."""
    k = np.arange(MOST_POINTS // 2) + 0.5
    polar, turn = np.arccos(1.0 - 4.0 * k / MOST_POINTS), np.pi * (1.0 + 5.0**0.5) * k
    ways = np.stack(
        [np.sin(polar) * np.cos(turn), np.cos(polar), np.sin(polar) * np.sin(turn)], axis=1
    )
    outer = np.array([np.argmax(vertices @ way) for way in ways])  # one way at a time: memory
    between = np.linspace(0, len(vertices) - 1, MOST_POINTS // 2).astype(np.int64)
    return np.asarray(vertices[np.unique(np.concatenate([outer, between]))])


def request(spec: MeshCollider, spacing: float, wall_reach: float, extent: float) -> Request:
    """How to build the distances of a mesh of some extent (m): what the scene says, and defaults."""
    cell = spec.cell_size or min(spacing, max(COARSEST * extent, 1e-3 * spacing))
    if spec.cell_size is not None and spec.cell_size > 0.5 * extent and spec.mode != "shell":
        raise SceneError(
            f"cell_size ({cell:g} m) is too large for the mesh {spec.file}, which is "
            f"{extent:g} m long: make it smaller or leave it out"
        )
    wall_reach /= min(
        [1.0, *(key.scale for key in spec.motion)]
    )  # of the mesh while it is smallest
    if spec.band is not None and spec.band < wall_reach:
        raise SceneError(
            f"the band of the mesh {spec.file} ({spec.band:g} m) is narrower than what particles "
            f"feel of a wall ({wall_reach:g} m): widen it or leave it out"
        )
    thick = THICK * cell if spec.mode == "shell" else 0.0
    return Request(
        cell=cell,
        band=spec.band or max(BAND * wall_reach, 2.0 * cell),
        offset=thick if spec.offset is None else spec.offset,
        mode=spec.mode,
    )
