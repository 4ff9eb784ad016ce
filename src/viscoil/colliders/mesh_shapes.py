"""The distance field of a mesh collider, in the frame of its pose."""

import numpy as np
from numpy.typing import NDArray

from viscoil.bricks.build import Request, build
from viscoil.bricks.cache import cached
from viscoil.bricks.field import BrickField
from viscoil.bricks.secondary import carry
from viscoil.colliders.mesh_source import attribute, open_source
from viscoil.colliders.quaternions import Float
from viscoil.scene import MeshCollider

LEVEL_SET = ".vdb"
BAND = 3.0  # spacings: what a particle can feel, and a step's motion
THICK = 0.5  # cells: half the least thickness of a shell that the field can show


class MeshShape:
    """A mesh collider's surface, which an animation changes from step to step."""

    def __init__(self, spec: MeshCollider, spacing: float) -> None:
        self.spec = spec
        self._source = open_source(spec.file, spec.fps, spec.loop)
        self.animated = self._source.animated
        self.request = request(spec, spacing)
        self._still: BrickField | None = None

    def field(self, time: float, dt: float) -> BrickField:
        """The field at `time` (s), with the mean velocities since time - dt of an animation."""
        if not self.animated:
            if self._still is None:
                self._still = self._with_friction(cached(*self._mesh(time), self.request))
            return self._still
        vertices, faces = self._mesh(time)
        field = self._with_friction(build(vertices, faces, self.request))
        before = self._mesh(time - dt)[0] if dt > 0.0 else vertices
        return carry(field, "velocity", vertices, faces, (vertices - before) / (dt or 1.0))

    @property
    def triangles(self) -> Float:
        """(m, 3, 3) The surface at its start, m."""
        vertices, faces = self._mesh(0.0)
        return np.asarray(vertices[faces])

    def _mesh(self, time: float) -> tuple[Float, NDArray[np.int32]]:
        return self.spec.scale * self._source.vertices(time), self._source.mesh.faces

    def _with_friction(self, field: BrickField) -> BrickField:
        name = self.spec.friction_attribute
        if name is None:
            return field
        values = attribute(self._source.mesh, name, self.spec.file)
        return carry(field, "friction", *self._mesh(0.0), values)


def request(spec: MeshCollider, spacing: float) -> Request:
    """What the scene asks of the field, with what it leaves open."""
    cell = spec.cell_size or spacing
    thick = THICK * cell if spec.mode == "shell" else 0.0
    return Request(
        cell=cell,
        band=spec.band or max(BAND * spacing, 2.0 * cell),
        offset=thick if spec.offset is None else spec.offset,
        mode=spec.mode,
    )
