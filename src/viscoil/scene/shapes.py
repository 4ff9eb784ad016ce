"""What is in a scene: bodies of fluid, emitters and colliders, told apart by `shape`.

Lengths in m, angles in rad, times in s; y is up.
"""

from itertools import pairwise
from typing import Annotated, Literal

from annotated_types import Lt
from pydantic import Field, model_validator
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
    Vec2,
    Vec3,
    reject,
)


class Rotation(Model):
    """A turn about an axis through the centre of the shape, right-handed."""

    axis: Vec3
    """Axis of the turn; any length but zero."""
    angle: Number
    """Angle of the turn, rad."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        reject("Rotation", _zero_vector("axis", self.axis))
        return self


class Keyframe(Model):
    """A pose relative to the initial one; poses between keyframes are interpolated linearly."""

    time: Number
    """When the pose is reached, s."""
    translation: Vec3 = ZERO
    """Displacement from the initial place, m."""
    rotation: Rotation | None = None
    """Turn from the initial orientation."""


class _FluidBase(Model):
    material: str
    """Name of a table under [materials], or of a preset."""
    center: Vec3
    """Centre of the shape, m."""
    rotation: Rotation | None = None
    """Turn of the shape and of its particle lattice about the centre."""
    velocity: Vec3 = ZERO
    """Initial velocity, m/s."""
    angular_velocity: Vec3 = ZERO
    """Initial spin about the centre, rad/s."""


class BoxFluid(_FluidBase):
    """A box of fluid."""

    shape: Literal["box"] = "box"
    """Kind of shape."""
    size: Size3
    """Edge lengths along x, y and z, m."""


class SphereFluid(_FluidBase):
    """A ball of fluid."""

    shape: Literal["sphere"] = "sphere"
    """Kind of shape."""
    radius: Positive
    """Radius, m."""


class CylinderFluid(_FluidBase):
    """A cylinder of fluid with its axis along y."""

    shape: Literal["cylinder"] = "cylinder"
    """Kind of shape."""
    radius: Positive
    """Radius, m."""
    height: Positive
    """Length along the axis, m."""


class TorusFluid(_FluidBase):
    """A ring of fluid with its axis along y."""

    shape: Literal["torus"] = "torus"
    """Kind of shape."""
    radius: Positive
    """Radius of the ring's centre line, m."""
    tube_radius: Positive
    """Radius of the tube, m."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.tube_radius >= self.radius:
            text = f"must be smaller than radius ({self.radius:g}), or the ring has no hole"
            reject("TorusFluid", [(("tube_radius",), text, self.tube_radius)])
        return self


Fluid = Annotated[BoxFluid | SphereFluid | CylinderFluid | TorusFluid, Field(discriminator="shape")]


class _EmitterBase(Model):
    material: str
    """Name of a table under [materials], or of a preset."""
    center: Vec3
    """Centre of the nozzle, m."""
    direction: Vec3
    """Direction of the flow; any length but zero."""
    speed: Positive | None = None
    """Speed of the flow, m/s; give either this or flow_rate."""
    flow_rate: Positive | None = None
    """Volume flow, m³/s; give either this or speed."""
    start: NonNegative = 0.0
    """When the flow begins, s."""
    stop: Positive | None = None
    """When the flow ends, s; without it the flow never ends."""
    jitter: Annotated[NonNegative, Lt(0.5)] = 0.15
    """How far particles may miss their lattice places, in spacings; 0 emits a perfect lattice."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        problems = _zero_vector("direction", self.direction)
        if (self.speed is None) == (self.flow_rate is None):
            problems.append(((), exactly_one("speed", "flow_rate", self.speed is None), None))
        if self.stop is not None and self.stop <= self.start:
            problems.append((("stop",), f"must be later than start ({self.start:g})", self.stop))
        reject("Emitter", problems)
        return self


class DiscEmitter(_EmitterBase):
    """A round nozzle."""

    shape: Literal["disc"] = "disc"
    """Kind of shape."""
    radius: Positive
    """Radius of the nozzle, m."""


class RectangleEmitter(_EmitterBase):
    """A rectangular nozzle."""

    shape: Literal["rectangle"] = "rectangle"
    """Kind of shape."""
    size: Vec2
    """Width and height of the nozzle, m."""


Emitter = Annotated[DiscEmitter | RectangleEmitter, Field(discriminator="shape")]

Contact = Literal["sticky", "slip", "friction"]
Face = Literal["+x", "-x", "+y", "-y", "+z", "-z"]


class _ColliderBase(Model):
    contact: Contact = "sticky"
    """How fluid meets the surface: it sticks, slips freely, or slips against friction."""
    friction: NonNegative = 0.0
    """Coulomb friction coefficient, for contact = "friction"."""
    adhesion: NonNegative = 1.0
    """Factor of the adhesion of materials to this surface; 0 wets nothing."""
    motion: tuple[Keyframe, ...] = ()
    """Keyframes of the motion; the first and last pose are held before and after."""
    visible: Switch = True
    """Whether the preview draws it."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        reject("Collider", [*_friction_problems(self), *_motion_problems(self.motion)])
        return self


def _friction_problems(collider: _ColliderBase) -> list[Problem]:
    if collider.contact == "friction" and "friction" not in collider.model_fields_set:
        return [(("contact",), 'needs a coefficient: add for example "friction = 0.4"', "friction")]
    if collider.contact != "friction" and collider.friction > 0:
        text = f'works only with contact = "friction", and contact is "{collider.contact}"'
        return [(("friction",), text, collider.friction)]
    return []


def _motion_problems(motion: tuple[Keyframe, ...]) -> list[Problem]:
    return [
        (("motion", i, "time"), f"must be later than the keyframe before it ({a.time:g})", b.time)
        for i, (a, b) in enumerate(pairwise(motion), start=1)
        if b.time <= a.time
    ]


class PlaneCollider(_ColliderBase):
    """A half space: everything behind the plane is solid."""

    shape: Literal["plane"] = "plane"
    """Kind of shape."""
    point: Vec3 = ZERO
    """A point on the plane, m."""
    normal: Vec3 = (0.0, 1.0, 0.0)
    """Direction out of the solid, towards the fluid; any length but zero."""

    @model_validator(mode="after")
    def _check_normal(self) -> Self:
        reject("PlaneCollider", _zero_vector("normal", self.normal))
        return self


class BoxCollider(_ColliderBase):
    """A solid box, or with `container` a hollow one that holds the fluid."""

    shape: Literal["box"] = "box"
    """Kind of shape."""
    center: Vec3
    """Centre, m."""
    size: Size3
    """Edge lengths along x, y and z, m."""
    rotation: Rotation | None = None
    """Turn of the box about its centre."""
    container: Switch = False
    """Whether fluid is kept inside the box instead of outside."""
    open: tuple[Face, ...] = ()
    """Faces that are left out of a container, such as ["+y"] for a box without a lid."""

    @model_validator(mode="after")
    def _check_open(self) -> Self:
        if self.open and not self.container:
            text = 'works only for a container: add "container = true"'
            reject("BoxCollider", [(("open",), text, self.open)])
        return self


class SphereCollider(_ColliderBase):
    """A solid ball."""

    shape: Literal["sphere"] = "sphere"
    """Kind of shape."""
    center: Vec3
    """Centre, m."""
    radius: Positive
    """Radius, m."""


class CylinderCollider(_ColliderBase):
    """A solid cylinder with its axis along y."""

    shape: Literal["cylinder"] = "cylinder"
    """Kind of shape."""
    center: Vec3
    """Centre, m."""
    radius: Positive
    """Radius, m."""
    height: Positive
    """Length along the axis, m."""
    rotation: Rotation | None = None
    """Turn of the cylinder about its centre."""


class CapsuleCollider(_ColliderBase):
    """A solid rod with round ends."""

    shape: Literal["capsule"] = "capsule"
    """Kind of shape."""
    start: Vec3
    """Centre of one end, m."""
    end: Vec3
    """Centre of the other end, m."""
    radius: Positive
    """Radius, m."""

    @model_validator(mode="after")
    def _check_ends(self) -> Self:
        if self.start == self.end:
            text = 'is the same point as start: move it, or use shape = "sphere"'
            reject("CapsuleCollider", [(("end",), text, self.end)])
        return self


Collider = Annotated[
    PlaneCollider | BoxCollider | SphereCollider | CylinderCollider | CapsuleCollider,
    Field(discriminator="shape"),
]


def _zero_vector(key: str, vector: Vec3) -> list[Problem]:
    if any(vector):
        return []
    return [((key,), "must not be the zero vector, because it gives a direction", vector)]


def exactly_one(first: str, second: str, neither: bool) -> str:
    """The sentence for two keys of which exactly one must be given."""
    if neither:
        return f"needs either {first} or {second}: add one of them"
    return f"has both {first} and {second}: remove one of them"
