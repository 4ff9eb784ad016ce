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
    Unit,
    Vec2,
    Vec3,
    reject,
)
from viscoil.scene.channels import Made

MeshFile = Annotated[str, Field(min_length=1, json_schema_extra={"format": "path"})]


class Rotation(Model):
    """A turn about an axis through the centre of the shape, right-handed."""

    axis: Vec3
    """Axis of the turn; any length but zero."""
    angle: Number
    """Angle of the turn, rad."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        reject("Rotation", zero_vector("axis", self.axis))
        return self


class Keyframe(Model):
    """A pose relative to the initial one."""

    time: Number
    """When the pose is reached, s."""
    translation: Vec3 = ZERO
    """Displacement from the initial place, m."""
    rotation: Rotation | None = None
    """Turn from the initial orientation."""
    scale: Positive = 1.0
    """Size relative to the initial one."""


class _FluidBase(Made):
    center: Vec3
    """Centre of the shape, m."""
    spacing: Positive | None = None
    """Particle spacing of this fluid, m; simulation.spacing unless given."""
    rotation: Rotation | None = None
    """Turn of the shape and of its particle lattice about the centre."""
    velocity: Vec3 = ZERO
    """Initial velocity, m/s."""
    angular_velocity: Vec3 = ZERO
    """Initial spin about the centre, rad/s."""
    relax: Switch = False
    """Whether particles are first moved apart evenly, so that fluid cut to a shape, or to walls,
    starts without a jump in pressure; then all fluid of the scene is."""


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


class MeshFluid(_FluidBase):
    """Fluid that fills a triangle mesh; its centre is where the mesh's origin is put."""

    shape: Literal["mesh"] = "mesh"
    """Kind of shape."""
    file: MeshFile
    """Mesh file (.obj .ply .stl .glb .gltf .off), or "builtin:NAME"; relative to the scene file."""
    scale: Positive = 1.0
    """Size of the mesh in the scene over its size in the file."""


class ParticleFluid(_FluidBase):
    """Particles of another program, or of an earlier run; each becomes one of ours."""

    shape: Literal["particles"] = "particles"
    """Kind of shape."""
    file: MeshFile
    """Particle file (.bgeo .bhclassic .ply .vtp .npz), relative to the scene file."""
    center: Vec3 = ZERO
    """Where the origin of the file is put, m."""
    scale: Positive = 1.0
    """Size of the body in the scene over its size in the file, also for velocities."""
    velocities: Switch = True
    """Whether particles start with the velocities of the file, if it has any, beside `velocity`."""


LatticeFluid = BoxFluid | SphereFluid | CylinderFluid | TorusFluid | MeshFluid
"""Fluids whose shape is filled with a lattice."""
Fluid = Annotated[LatticeFluid | ParticleFluid, Field(discriminator="shape")]


class _EmitterBase(Made):
    center: Vec3
    """Centre of the nozzle, m."""
    spacing: Positive | None = None
    """Particle spacing of the flow, m; simulation.spacing unless given."""
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
        problems = zero_vector("direction", self.direction) if self.direction else []
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


class MeshEmitter(_EmitterBase):
    """A mesh that fluid comes out of."""

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
    source: Literal["faces", "volume"] = "faces"
    """Whether fluid flows out of the faces, or fills the inside whenever there is room."""
    direction: Vec3 | None = None  # type: ignore[assignment]
    """Direction of the flow; along the normals of the faces unless given."""
    profile: Literal["plug", "parabolic"] = "plug"
    """Speed over the faces: the same everywhere, or as in a pipe, from twice that to nothing."""
    inherit: Unit = 1.0
    """Share of the mesh's own velocity that the fluid starts with."""
    motion: tuple[Keyframe, ...] = ()
    """Keyframes of the motion; the first and last pose are held before and after."""
    interpolation: Literal["linear", "smooth"] = "linear"
    """How poses between keyframes are found: along straight lines, or along a smooth curve."""

    @model_validator(mode="after")
    def _check_motion(self) -> Self:
        reject("MeshEmitter", _motion_problems(self.motion))
        return self


Emitter = Annotated[DiscEmitter | RectangleEmitter | MeshEmitter, Field(discriminator="shape")]

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
    interpolation: Literal["linear", "smooth"] = "linear"
    """How poses between keyframes are found: along straight lines, or along a smooth curve."""
    visible: Switch = True
    """Whether the preview draws it."""
    temperature: NonNegative | None = None
    """Temperature that the solid keeps, K; without it no heat passes its surface."""
    heat_transfer: NonNegative | None = None
    """Heat that passes between the solid and fluid that touches it, W/(m² K); 500 unless given."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        problems = [*_friction_problems(self), *_motion_problems(self.motion)]
        if self.temperature is None and self.heat_transfer is not None:
            text = "needs temperature beside it: add it"
            problems.append((("heat_transfer",), text, self.heat_transfer))
        reject("Collider", problems)
        return self


class _SolidBase(_ColliderBase):
    """A collider of finite size, which may be a rigid body."""

    dynamic: Switch = False
    """Whether fluid, gravity and other colliders move it as a rigid body."""
    density: Positive | None = None
    """Density of a dynamic body, kg/m³; give either this or mass."""
    mass: Positive | None = None
    """Mass of a dynamic body, kg; give either this or density."""
    velocity: Vec3 = ZERO
    """Initial velocity of a dynamic body, m/s."""
    angular_velocity: Vec3 = ZERO
    """Initial spin of a dynamic body about its centre of mass, rad/s."""
    restitution: Unit = 0.0
    """Share of the speed that a dynamic body keeps when it hits a collider."""

    @model_validator(mode="after")
    def _check_body(self) -> Self:
        reject("Collider", _body_problems(self))
        return self


_BODY_KEYS = ("density", "mass", "velocity", "angular_velocity", "restitution")


def _body_problems(collider: _SolidBase) -> list[Problem]:
    if not collider.dynamic:
        text = 'works only for a rigid body: add "dynamic = true"'
        fields = type(collider).model_fields
        given = [key for key in _BODY_KEYS if getattr(collider, key) != fields[key].default]
        return [((key,), text, getattr(collider, key)) for key in given]
    problems: list[Problem] = []
    if (collider.density is None) == (collider.mass is None):
        problems.append(((), exactly_one("density", "mass", collider.density is None), None))
    if collider.motion:
        text = "excludes dynamic = true, which leaves the motion to forces: remove one of them"
        problems.append((("motion",), text, None))
    return problems


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
        reject("PlaneCollider", zero_vector("normal", self.normal))
        return self


class BoxCollider(_SolidBase):
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
        if self.dynamic and self.container:
            text = "cannot be a rigid body: remove dynamic, or make it a solid box"
            reject("BoxCollider", [(("container",), text, self.container)])
        return self


class SphereCollider(_SolidBase):
    """A solid ball."""

    shape: Literal["sphere"] = "sphere"
    """Kind of shape."""
    center: Vec3
    """Centre, m."""
    radius: Positive
    """Radius, m."""


class CylinderCollider(_SolidBase):
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


class CapsuleCollider(_SolidBase):
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


class MeshCollider(_SolidBase):
    """A triangle mesh, which may be open, overlap itself, or have wrong normals."""

    shape: Literal["mesh"] = "mesh"
    """Kind of shape."""
    file: MeshFile
    """Mesh file (.obj .ply .stl .glb .gltf .off), level set (.vdb), a folder of meshes with the same
    faces (an animation), or "builtin:NAME"; a path is relative to the scene file."""
    mode: Literal["solid", "container", "shell"] = "solid"
    """What is solid: the inside of the mesh, all outside of it, or a thin shell about its faces."""
    center: Vec3 = ZERO
    """Where the origin of the mesh is put, m."""
    rotation: Rotation | None = None
    """Turn of the mesh about its origin."""
    scale: Positive = 1.0
    """Size of the mesh in the scene over its size in the file: 0.01 for a file in centimetres."""
    cell_size: Positive | None = None
    """Cell of the distance field, m; the particle spacing unless given."""
    offset: NonNegative | None = None
    """How far the surface is moved out, m: 0 unless given, but half a cell for a shell."""
    band: Positive | None = None
    """Distance up to which the field is kept, m; 3 spacings unless given."""
    friction_attribute: str | None = None
    """Name of a vertex attribute of the file that holds the friction coefficient."""
    fps: Positive = 30.0
    """Meshes per second of an animation."""
    loop: Switch = False
    """Whether an animation starts again when it is over."""

    @model_validator(mode="after")
    def _check_mesh(self) -> Self:
        if self.friction_attribute is not None and self.contact != "friction":
            text = 'works only with contact = "friction": add it, with a friction for bare places'
            reject("MeshCollider", [(("friction_attribute",), text, self.friction_attribute)])
        if self.dynamic and self.mode == "container":
            text = "cannot be a rigid body: remove dynamic, or give mode solid or shell"
            reject("MeshCollider", [(("dynamic",), text, self.dynamic)])
        return self


Collider = Annotated[
    PlaneCollider
    | BoxCollider
    | SphereCollider
    | CylinderCollider
    | CapsuleCollider
    | MeshCollider,
    Field(discriminator="shape"),
]


def zero_vector(key: str, vector: Vec3) -> list[Problem]:
    """The problem with a direction that has no length, if it has none."""
    if any(vector):
        return []
    return [((key,), "must not be the zero vector, because it gives a direction", vector)]


def exactly_one(first: str, second: str, neither: bool) -> str:
    """The sentence for two keys of which exactly one must be given."""
    if neither:
        return f"needs either {first} or {second}: add one of them"
    return f"has both {first} and {second}: remove one of them"
