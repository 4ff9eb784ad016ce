"""Where fluid flows into a scene, told apart by `shape`."""

from collections.abc import Iterator
from typing import Annotated, Literal

from annotated_types import Lt
from pydantic import Field

from viscoil.scene._base import (
    NonNegative,
    Positive,
    Problem,
    Unit,
    Vec3,
    exactly_one,
    zero_vector,
)
from viscoil.scene.activity import Timed
from viscoil.scene.channels import Made
from viscoil.scene.geometry import Disc, Mesh, Rectangle
from viscoil.scene.motion import Moving


class _EmitterBase(Timed, Made):
    spacing: Positive | None = None
    """Particle spacing of the flow, m; simulation.spacing unless given."""
    direction: Vec3 | None = None
    """Direction of the flow; along the normals of the faces unless given."""
    speed: Positive | None = None
    """Speed of the flow, m/s; give either this or flow_rate."""
    flow_rate: Positive | None = None
    """Volume flow, m³/s; give either this or speed."""
    jitter: Annotated[NonNegative, Lt(0.5)] = 0.15
    """How far particles may miss their lattice places, in spacings; 0 emits a perfect lattice."""

    def _problems(self) -> Iterator[Problem]:
        yield from super()._problems()
        if self.direction is not None:
            yield from zero_vector("direction", self.direction)
        yield from exactly_one("speed", "flow_rate", (self.speed, self.flow_rate))


class _NozzleBase(_EmitterBase):
    direction: Vec3
    """Direction of the flow; any length but zero."""


class DiscEmitter(_NozzleBase, Disc):
    """A round nozzle."""


class RectangleEmitter(_NozzleBase, Rectangle):
    """A rectangular nozzle."""


class MeshEmitter(_EmitterBase, Moving, Mesh):
    """A mesh that fluid comes out of."""

    source: Literal["faces", "volume"] = "faces"
    """Whether fluid flows out of the faces, or fills the inside whenever there is room."""
    profile: Literal["plug", "parabolic"] = "plug"
    """Speed over the faces: the same everywhere, or as in a pipe, from twice that to nothing."""
    inherit: Unit = 1.0
    """Share of the mesh's own velocity that the fluid starts with."""


Emitter = Annotated[DiscEmitter | RectangleEmitter | MeshEmitter, Field(discriminator="shape")]
