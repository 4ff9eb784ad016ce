# mypy: disable-error-code="valid-type,misc"
"""The materials of a scene as kernels of forces, walls and solvers see them."""

import dataclasses
from collections.abc import Sequence

import quadrants as qd

from viscoil.core.compute import Floats, Ints, scalars, write
from viscoil.scene import Material
from viscoil.scene.materials import EXTRAS


@dataclasses.dataclass
class MaterialTable:
    """One entry per material of the scene. Solvers make what stress needs of `registry.element`."""

    density: Floats  # ρ, kg/m³
    surface_tension: Floats  # κ, N/m
    adhesion: Floats  # W, N/m
    xsph: Floats  # c
    wall_friction: Floats  # factor of the colliders' friction
    body_friction: Floats  # μ between separate bodies
    active: Ints  # 0: inviscid, carries no stress


class Materials:
    """The materials of a scene and their table."""

    def __init__(self, materials: Sequence[Material]) -> None:
        self.materials = list(materials)
        count = len(self.materials)
        floats = [scalars(qd.f32, count) for _ in dataclasses.fields(MaterialTable)[:-1]]
        self.table = MaterialTable(*floats, active=scalars(qd.i32, count))
        self._written: list[Material] = []
        write(self.table.density, [m.density for m in self.materials])

    def update(self) -> None:
        """Rewrites the table if a material has changed."""
        if self._written == self.materials:
            return
        self._written = list(self.materials)
        for name in ("density", *EXTRAS):
            write(getattr(self.table, name), [getattr(m, name) for m in self.materials])
        write(self.table.active, [int(m.carries_stress) for m in self.materials])

    def largest(self, name: str) -> float:
        """The largest value that a material of the scene has for a key."""
        return max((getattr(m, name) for m in self.materials), default=0.0)
