"""Volumes in which particles are removed, told apart by `shape`."""

from typing import Annotated

from pydantic import Field

from viscoil.scene._base import Switch
from viscoil.scene.activity import Limited
from viscoil.scene.geometry import Box, Mesh, Plane, Sphere


class PlaneKill(Limited, Plane):
    """Removes what goes behind a plane."""


class _VolumeBase(Limited):
    outside: Switch = False
    """Whether particles outside are removed, instead of those inside."""


class BoxKill(_VolumeBase, Box):
    """Removes what enters a box, or what leaves it."""


class SphereKill(_VolumeBase, Sphere):
    """Removes what enters a ball, or what leaves it."""


class MeshKill(_VolumeBase, Mesh):
    """Removes what enters a mesh, or what leaves it."""


Kill = Annotated[BoxKill | SphereKill | PlaneKill | MeshKill, Field(discriminator="shape")]
