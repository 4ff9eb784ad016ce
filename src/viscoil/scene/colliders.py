"""Solids that fluid meets, told apart by `shape`."""

from collections.abc import Iterator
from typing import Annotated, Literal

from pydantic import Field

from viscoil.scene._base import (
    ZERO,
    NonNegative,
    Positive,
    Problem,
    Switch,
    Unit,
    Vec3,
    exactly_one,
)
from viscoil.scene.geometry import Box, Capsule, Cylinder, File, Mesh, Plane, Sphere
from viscoil.scene.motion import Moving

Contact = Literal["sticky", "slip", "friction"]
Face = Literal["+x", "-x", "+y", "-y", "+z", "-z"]


class _ColliderBase(Moving):
    contact: Contact = "sticky"
    """How fluid meets the surface: it sticks, slips freely, or slips against friction."""
    friction: NonNegative = 0.0
    """Coulomb friction coefficient, for contact = "friction"."""
    adhesion: NonNegative = 1.0
    """Factor of the adhesion of materials to this surface; 0 wets nothing."""
    visible: Switch = True
    """Whether the preview draws it."""
    temperature: NonNegative | None = None
    """Temperature that the solid keeps, K; without it no heat passes its surface."""
    heat_transfer: NonNegative | None = None
    """Heat that passes between the solid and fluid that touches it, W/(m² K); 500 unless given."""

    def _problems(self) -> Iterator[Problem]:
        yield from super()._problems()
        if self.contact == "friction" and "friction" not in self.model_fields_set:
            yield ("contact",), 'needs a coefficient: add for example "friction = 0.4"', "friction"
        if self.contact != "friction" and self.friction > 0:
            text = f'works only with contact = "friction", and contact is "{self.contact}"'
            yield ("friction",), text, self.friction
        if self.temperature is None and self.heat_transfer is not None:
            yield ("heat_transfer",), "needs temperature beside it: add it", self.heat_transfer


_BODY_KEYS = ("density", "mass", "velocity", "angular_velocity", "restitution")


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

    def _problems(self) -> Iterator[Problem]:
        yield from super()._problems()
        yield from self._body_problems() if self.dynamic else self._idle_body_keys()

    def _body_problems(self) -> Iterator[Problem]:
        yield from exactly_one("density", "mass", (self.density, self.mass))
        if self.motion:
            text = "excludes dynamic = true, which leaves the motion to forces: remove one of them"
            yield ("motion",), text, None

    def _idle_body_keys(self) -> Iterator[Problem]:
        for key in _BODY_KEYS:
            value = getattr(self, key)
            if value != type(self).model_fields[key].default:
                yield (key,), 'works only for a rigid body: add "dynamic = true"', value


class PlaneCollider(_ColliderBase, Plane):
    """A half space: everything behind the plane is solid."""


class BoxCollider(_SolidBase, Box):
    """A solid box, or with `container` a hollow one that holds the fluid."""

    container: Switch = False
    """Whether fluid is kept inside the box instead of outside."""
    open: tuple[Face, ...] = ()
    """Faces that are left out of a container, such as ["+y"] for a box without a lid."""

    def _problems(self) -> Iterator[Problem]:
        yield from super()._problems()
        if self.open and not self.container:
            yield ("open",), 'works only for a container: add "container = true"', self.open
        if self.dynamic and self.container:
            text = "cannot be a rigid body: remove dynamic, or make it a solid box"
            yield ("container",), text, self.container


class SphereCollider(_SolidBase, Sphere):
    """A solid ball."""


class CylinderCollider(_SolidBase, Cylinder):
    """A solid cylinder with its axis along y."""


class CapsuleCollider(_SolidBase, Capsule):
    """A solid rod with round ends."""


class MeshCollider(_SolidBase, Mesh):
    """A triangle mesh, which may be open, overlap itself, or have wrong normals."""

    file: File
    """Mesh file (.obj .ply .stl .glb .gltf .off), level set (.vdb), a folder of meshes with the same
    faces (an animation), or "builtin:NAME"; a path is relative to the scene file."""
    mode: Literal["solid", "container", "shell"] = "solid"
    """What is solid: the inside of the mesh, all outside of it, or a thin shell about its faces."""
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

    def _problems(self) -> Iterator[Problem]:
        yield from super()._problems()
        if self.friction_attribute is not None and self.contact != "friction":
            text = 'works only with contact = "friction": add it, with a friction for bare places'
            yield ("friction_attribute",), text, self.friction_attribute
        if self.dynamic and self.mode == "container":
            text = "cannot be a rigid body: remove dynamic, or give mode solid or shell"
            yield ("dynamic",), text, self.dynamic


Collider = Annotated[
    PlaneCollider
    | BoxCollider
    | SphereCollider
    | CylinderCollider
    | CapsuleCollider
    | MeshCollider,
    Field(discriminator="shape"),
]
