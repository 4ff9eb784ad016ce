"""Bodies of fluid at the start, told apart by `shape`."""

from typing import Annotated

from pydantic import Field

from viscoil.scene._base import ZERO, Positive, Switch, Vec3
from viscoil.scene.channels import Made
from viscoil.scene.geometry import Box, Cylinder, Mesh, ParticleCloud, Rotation, Sphere, Torus


class _FluidBase(Made):
    rotation: Rotation | None = None
    """Turn of the shape and of its particle lattice about the centre."""
    spacing: Positive | None = None
    """Particle spacing of this fluid, m; simulation.spacing unless given."""
    velocity: Vec3 = ZERO
    """Initial velocity, m/s."""
    angular_velocity: Vec3 = ZERO
    """Initial spin about the centre, rad/s."""
    separate: Switch | None = None
    """Whether it stays a body of its own: it collides with other separate bodies and parts from them,
    and does not grow together with them. Elastic solids do, unless it is false."""
    relax: Switch | None = None
    """Whether particles are first moved apart evenly, so that fluid cut to a shape, or to walls, starts
    without a jump in pressure; then all fluid of the scene is. Unless a fluid says anything, it is done
    where particles start too close to walls or to other fluid, and the run tells of it."""


class BoxFluid(_FluidBase, Box):
    """A box of fluid."""


class SphereFluid(_FluidBase, Sphere):
    """A ball of fluid."""


class CylinderFluid(_FluidBase, Cylinder):
    """A cylinder of fluid with its axis along y."""


class TorusFluid(_FluidBase, Torus):
    """A ring of fluid with its axis along y."""


class MeshFluid(_FluidBase, Mesh):
    """Fluid that fills a triangle mesh; its centre is where the mesh's origin is put."""

    center: Vec3
    """Where the origin of the mesh is put, m."""


class ParticleFluid(_FluidBase, ParticleCloud):
    """Particles of another program, or of an earlier run; each becomes one of ours."""

    velocities: Switch = True
    """Whether particles start with the velocities of the file, if it has any, beside `velocity`."""


LatticeFluid = BoxFluid | SphereFluid | CylinderFluid | TorusFluid | MeshFluid
"""Fluids whose shape is filled with a lattice."""
Fluid = Annotated[LatticeFluid | ParticleFluid, Field(discriminator="shape")]
