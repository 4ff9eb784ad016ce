"""Force fields: what acts on particles wherever they are, told apart by `type`.

Lengths in m, times in s; y is up.
"""

from collections.abc import Iterator
from typing import Annotated, Literal

from annotated_types import Ge
from pydantic import Field as Choice

from viscoil.scene._base import (
    UP,
    ZERO,
    Model,
    NonNegative,
    Number,
    Positive,
    Problem,
    Size3,
    Switch,
    Vec3,
    Whole,
    exactly_one,
    zero_vector,
)
from viscoil.scene.activity import Limited


class Region(Model):
    """A part of space, a box along the axes or a ball, that fades out over its soft edge."""

    shape: Literal["box", "sphere"]
    """Kind of shape."""
    center: Vec3 = ZERO
    """Centre, m."""
    size: Size3 | None = None
    """Edge lengths along x, y and z, m; of a box."""
    radius: Positive | None = None
    """Radius, m; of a sphere."""
    soft_edge: NonNegative = 0.0
    """Distance outside the shape over which the effect fades to nothing, m."""

    def _problems(self) -> Iterator[Problem]:
        yield from super()._problems()
        wanted, other = ("size", "radius") if self.shape == "box" else ("radius", "size")
        if getattr(self, wanted) is None:
            yield (wanted,), f"is missing: a {self.shape} needs it", None
        if getattr(self, other) is not None:
            yield (other,), f"does not go with a {self.shape}: remove it", getattr(self, other)


class _FieldBase(Limited):
    region: Region | None = None
    """Where it acts; everywhere unless given."""


class UniformField(_FieldBase):
    """The same acceleration everywhere, beside gravity."""

    type: Literal["uniform"] = "uniform"
    """Kind of field."""
    acceleration: Vec3
    """Acceleration, m/s²."""


class WindField(_FieldBase):
    """Air that moves and takes the fluid along."""

    type: Literal["wind"] = "wind"
    """Kind of field."""
    velocity: Vec3
    """Velocity of the air, m/s."""
    rate: Positive = 1.0
    """How fast the fluid takes on that velocity, 1/s."""
    surface_only: Switch = False
    """Whether only particles at the free surface feel it."""


class VortexField(_FieldBase):
    """A whirl about an axis: rigid rotation inside the radius, fading as 1/distance outside."""

    type: Literal["vortex"] = "vortex"
    """Kind of field."""
    center: Vec3 = ZERO
    """A point on the axis, m."""
    axis: Vec3 = UP
    """Axis of the whirl, right-handed; any length but zero."""
    radius: Positive
    """Distance from the axis at which the whirl is strongest, m."""
    angular_speed: Number | None = None
    """Spin at the axis that the fluid is dragged to, rad/s; give either this or strength."""
    rate: Positive | None = None
    """How fast the fluid takes on that spin, 1/s; 1 unless given."""
    strength: Number | None = None
    """Largest acceleration around the axis, m/s²; give either this or angular_speed."""

    def _problems(self) -> Iterator[Problem]:
        yield from super()._problems()
        yield from zero_vector("axis", self.axis)
        given = (self.angular_speed, self.strength)
        yield from exactly_one("angular_speed", "strength", given)
        if self.angular_speed is None and self.strength is not None and self.rate is not None:
            yield ("rate",), "works only beside angular_speed: remove it", self.rate


class NoiseField(_FieldBase):
    """Turbulence: a random acceleration without divergence, so that it stirs and does not squeeze."""

    type: Literal["noise"] = "noise"
    """Kind of field."""
    amplitude: Positive
    """Root mean square of the acceleration, m/s²."""
    length: Positive
    """Size of the eddies, m."""
    time_scale: Positive | None = None
    """Time over which the pattern becomes another one, s; without it, it stays."""
    velocity: Vec3 = ZERO
    """Velocity with which the pattern drifts, m/s."""
    seed: Annotated[Whole, Ge(0), Choice(lt=2**31)] = 0
    """Which pattern; equal seeds give equal patterns."""


class AttractorField(_FieldBase):
    """A pull towards a point, or with a negative strength a push away from it."""

    type: Literal["attractor"] = "attractor"
    """Kind of field."""
    center: Vec3
    """The point, m."""
    strength: Number
    """Acceleration towards the point at the distance `radius`, m/s²."""
    radius: Positive
    """Distance within which the pull fades linearly to nothing at the point, m."""
    falloff: NonNegative = 2.0
    """Power of the distance with which the pull fades beyond the radius; 2 is that of gravitation."""


class DragField(_FieldBase):
    """Resistance to motion; stable for any rate and step."""

    type: Literal["drag"] = "drag"
    """Kind of field."""
    linear: NonNegative = 0.0
    """Share of the velocity that is lost per time, 1/s."""
    quadratic: NonNegative = 0.0
    """Share of the velocity that is lost per distance travelled, 1/m."""

    def _problems(self) -> Iterator[Problem]:
        yield from super()._problems()
        if self.linear == 0.0 and self.quadratic == 0.0:
            yield (), "does nothing: give linear, quadratic or both", None


Field = Annotated[
    UniformField | WindField | VortexField | NoiseField | AttractorField | DragField,
    Choice(discriminator="type"),
]
