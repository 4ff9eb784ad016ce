"""Shapes, each said once: fluids, emitters, colliders and kill volumes are built on them.

Lengths in m, angles in rad; y is up.
"""

from collections.abc import Iterator
from typing import Annotated, Literal

from pydantic import Field

from viscoil.scene._base import (
    UP,
    ZERO,
    Model,
    Number,
    Positive,
    Problem,
    Size3,
    Vec2,
    Vec3,
    zero_vector,
)

File = Annotated[str, Field(min_length=1, json_schema_extra={"format": "path"})]


class Rotation(Model):
    """A turn about an axis through the centre of the shape, right-handed."""

    axis: Vec3
    """Axis of the turn; any length but zero."""
    angle: Number
    """Angle of the turn, rad."""

    def _problems(self) -> Iterator[Problem]:
        yield from super()._problems()
        yield from zero_vector("axis", self.axis)


class Plane(Model):
    """A plane, and which side of it is meant."""

    shape: Literal["plane"] = "plane"
    """Kind of shape."""
    point: Vec3 = ZERO
    """A point on the plane, m."""
    normal: Vec3 = UP
    """Direction towards the side that fluid may be on; any length but zero."""

    def _problems(self) -> Iterator[Problem]:
        yield from super()._problems()
        yield from zero_vector("normal", self.normal)


class Disc(Model):
    """A round nozzle."""

    shape: Literal["disc"] = "disc"
    """Kind of shape."""
    center: Vec3
    """Centre of the nozzle, m."""
    radius: Positive
    """Radius of the nozzle, m."""


class Rectangle(Model):
    """A rectangular nozzle."""

    shape: Literal["rectangle"] = "rectangle"
    """Kind of shape."""
    center: Vec3
    """Centre of the nozzle, m."""
    size: Vec2
    """Width and height of the nozzle, m."""


class Box(Model):
    """A box."""

    shape: Literal["box"] = "box"
    """Kind of shape."""
    center: Vec3
    """Centre of the shape, m."""
    size: Size3
    """Edge lengths along x, y and z, m."""
    rotation: Rotation | None = None
    """Turn of the box about its centre."""


class Sphere(Model):
    """A ball."""

    shape: Literal["sphere"] = "sphere"
    """Kind of shape."""
    center: Vec3
    """Centre of the shape, m."""
    radius: Positive
    """Radius, m."""


class Cylinder(Model):
    """A cylinder with its axis along y."""

    shape: Literal["cylinder"] = "cylinder"
    """Kind of shape."""
    center: Vec3
    """Centre of the shape, m."""
    radius: Positive
    """Radius, m."""
    height: Positive
    """Length along the axis, m."""
    rotation: Rotation | None = None
    """Turn of the cylinder about its centre."""


class Torus(Model):
    """A ring with its axis along y."""

    shape: Literal["torus"] = "torus"
    """Kind of shape."""
    center: Vec3
    """Centre of the shape, m."""
    radius: Positive
    """Radius of the ring's centre line, m."""
    tube_radius: Positive
    """Radius of the tube, m."""
    rotation: Rotation | None = None
    """Turn of the ring about its centre."""

    def _problems(self) -> Iterator[Problem]:
        yield from super()._problems()
        if self.tube_radius >= self.radius:
            text = f"must be smaller than radius ({self.radius:g}), or the ring has no hole"
            yield ("tube_radius",), text, self.tube_radius


class Capsule(Model):
    """A rod with round ends."""

    shape: Literal["capsule"] = "capsule"
    """Kind of shape."""
    start: Vec3
    """Centre of one end, m."""
    end: Vec3
    """Centre of the other end, m."""
    radius: Positive
    """Radius, m."""

    def _problems(self) -> Iterator[Problem]:
        yield from super()._problems()
        if self.start == self.end:
            text = 'is the same point as start: move it, or use shape = "sphere"'
            yield ("end",), text, self.end


class Mesh(Model):
    """A triangle mesh."""

    shape: Literal["mesh"] = "mesh"
    """Kind of shape."""
    file: File
    """Mesh file (.obj .ply .stl .glb .gltf .off), or "builtin:NAME"; relative to the scene file."""
    center: Vec3 = ZERO
    """Where the origin of the mesh is put, m."""
    rotation: Rotation | None = None
    """Turn of the mesh about its origin."""
    scale: Positive = 1.0
    """Size of the mesh in the scene over its size in the file: 0.01 for a file in centimetres."""


class ParticleCloud(Model):
    """Particles of a file."""

    shape: Literal["particles"] = "particles"
    """Kind of shape."""
    file: File
    """Particle file (.bgeo .bhclassic .ply .vtp .npz), relative to the scene file."""
    center: Vec3 = ZERO
    """Where the origin of the file is put, m."""
    rotation: Rotation | None = None
    """Turn of the particles about the origin of the file."""
    scale: Positive = 1.0
    """Size of the body in the scene over its size in the file, also for velocities."""
