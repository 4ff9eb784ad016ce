"""Force fields and kill volumes: what acts on particles wherever they are, and what removes them.

Lengths in m, angles in rad, times in s; y is up.
"""

from typing import Annotated, Literal

from annotated_types import Ge
from pydantic import Field as Choice
from pydantic import model_validator
from typing_extensions import Self

from viscoil.scene._base import (
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
    reject,
)
from viscoil.scene.shapes import MeshFile, Rotation, exactly_one, zero_vector


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

    @model_validator(mode="after")
    def _check(self) -> Self:
        wanted, other = ("size", "radius") if self.shape == "box" else ("radius", "size")
        problems: list[Problem] = []
        if getattr(self, wanted) is None:
            problems.append(((wanted,), f"is missing: a {self.shape} needs it", None))
        if getattr(self, other) is not None:
            text = f"does not go with a {self.shape}: remove it"
            problems.append(((other,), text, getattr(self, other)))
        reject("Region", problems)
        return self


class Limited(Model):
    """What acts for a while, on some materials."""

    start: NonNegative = 0.0
    """When it begins, s."""
    stop: Positive | None = None
    """When it ends, s; without it, never."""
    materials: tuple[str, ...] = ()
    """Names of the materials that it acts on; all of them unless given."""

    @model_validator(mode="after")
    def _check_times(self) -> Self:
        if self.stop is not None and self.stop <= self.start:
            text = f"must be later than start ({self.start:g})"
            reject("Limited", [(("stop",), text, self.stop)])
        return self


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
    axis: Vec3 = (0.0, 1.0, 0.0)
    """Axis of the whirl, right-handed; any length but zero."""
    radius: Positive
    """Distance from the axis at which the whirl is strongest, m."""
    angular_speed: Number | None = None
    """Spin at the axis that the fluid is dragged to, rad/s; give either this or strength."""
    rate: Positive | None = None
    """How fast the fluid takes on that spin, 1/s; 1 unless given."""
    strength: Number | None = None
    """Largest acceleration around the axis, m/s²; give either this or angular_speed."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        problems = zero_vector("axis", self.axis)
        if (self.angular_speed is None) == (self.strength is None):
            text = exactly_one("angular_speed", "strength", self.strength is None)
            problems.append(((), text, None))
        elif self.strength is not None and self.rate is not None:
            text = "works only beside angular_speed: remove it"
            problems.append((("rate",), text, self.rate))
        reject("VortexField", problems)
        return self


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

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.linear == 0.0 and self.quadratic == 0.0:
            reject("DragField", [((), "does nothing: give linear, quadratic or both", None)])
        return self


Field = Annotated[
    UniformField | WindField | VortexField | NoiseField | AttractorField | DragField,
    Choice(discriminator="type"),
]


class BoxKill(Limited):
    """Removes what enters a box, or what leaves it."""

    shape: Literal["box"] = "box"
    """Kind of shape."""
    center: Vec3
    """Centre, m."""
    size: Size3
    """Edge lengths along x, y and z, m."""
    rotation: Rotation | None = None
    """Turn of the box about its centre."""
    outside: Switch = False
    """Whether particles outside are removed, instead of those inside."""


class SphereKill(Limited):
    """Removes what enters a ball, or what leaves it."""

    shape: Literal["sphere"] = "sphere"
    """Kind of shape."""
    center: Vec3
    """Centre, m."""
    radius: Positive
    """Radius, m."""
    outside: Switch = False
    """Whether particles outside are removed, instead of those inside."""


class PlaneKill(Limited):
    """Removes what goes behind a plane."""

    shape: Literal["plane"] = "plane"
    """Kind of shape."""
    point: Vec3 = ZERO
    """A point on the plane, m."""
    normal: Vec3 = (0.0, 1.0, 0.0)
    """Direction towards the side that particles may be on; any length but zero."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        reject("PlaneKill", zero_vector("normal", self.normal))
        return self


class MeshKill(Limited):
    """Removes what enters a mesh, or what leaves it."""

    shape: Literal["mesh"] = "mesh"
    """Kind of shape."""
    file: MeshFile
    """Mesh file (.obj .ply .stl .glb .gltf .off), or "builtin:NAME"; relative to the scene file."""
    center: Vec3 = ZERO
    """Where the origin of the mesh is put, m."""
    rotation: Rotation | None = None
    """Turn of the mesh about its origin."""
    scale: Positive = 1.0
    """Size of the mesh in the scene over its size in the file."""
    outside: Switch = False
    """Whether particles outside are removed, instead of those inside."""


Kill = Annotated[BoxKill | SphereKill | PlaneKill | MeshKill, Choice(discriminator="shape")]
