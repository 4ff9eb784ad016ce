# mypy: disable-error-code="valid-type,misc,no-untyped-def,no-untyped-call"
"""The materials of a scene as kernels see them."""

import dataclasses
from collections.abc import Sequence

import quadrants as qd

from viscoil.core.compute import Floats, Ints, scalars, vec3, write
from viscoil.materials.registry import coefficients
from viscoil.scene import Material
from viscoil.scene.materials import EXTRAS


@dataclasses.dataclass
class MaterialTable:
    """One entry per material of the scene, for the current time step (see `Coefficients`)."""

    density: Floats  # ρ, kg/m³
    normal_compliance: Floats  # a of xx, yy, zz, 1/Pa
    shear_compliance: Floats  # a of xy, xz, yz, 1/Pa
    volume_compliance: Floats  # a of the mean stress, 1/Pa
    memory: Floats  # how much of the deviator of Q⁰ − I enters the constraint
    volume_memory: Floats  # how much of its mean does
    relaxation: Floats  # 1 / (1 + Δt/τ)
    pressure_memory: Floats  # strain per θ of a fluid without elastic memory
    surface_tension: Floats  # κ, N/m
    adhesion: Floats  # W, N/m
    xsph: Floats  # c
    wall_friction: Floats  # factor of the colliders' friction
    active: Ints  # 0: inviscid, carries no stress


FROM_LAWS = (
    "normal_compliance", "shear_compliance", "volume_compliance", "memory", "volume_memory",
    "relaxation", "pressure_memory", "active",
)  # fmt: skip


@qd.func
def compliance(materials: MaterialTable, m: qd.i32, softness: qd.f32) -> vec3:
    """a of material m, 1/Pa, against normal, shear and mean stress, times what heat makes of it.

    All that knows how soft a material is asks here.
    """
    return softness * vec3(
        materials.normal_compliance[m],
        materials.shear_compliance[m],
        materials.volume_compliance[m],
    )


class Materials:
    """The materials of a scene and their table, kept in step with the time step."""

    def __init__(self, materials: Sequence[Material]) -> None:
        self.materials = list(materials)
        count = len(self.materials)
        floats = [scalars(qd.f32, count) for _ in dataclasses.fields(MaterialTable)[:-1]]
        self.table = MaterialTable(*floats, active=scalars(qd.i32, count))
        write(self.table.density, [m.density for m in self.materials])
        self._key: tuple[object, ...] = ()
        self.any_active = False
        """Whether any of them carries stress."""

    def update(self, dt: float) -> None:
        """Recomputes the table if the step or a material has changed."""
        key = (dt, *self.materials)
        if key == self._key:
            return
        self._key = key
        rows = [coefficients(m, dt) for m in self.materials]
        for name in FROM_LAWS:
            write(getattr(self.table, name), [getattr(row, name) for row in rows])
        for name in ("density", *EXTRAS):
            write(getattr(self.table, name), [getattr(m, name) for m in self.materials])
        self.any_active = any(row.active for row in rows)

    def largest(self, name: str) -> float:
        """The largest value that a material of the scene has for a key."""
        return max((getattr(m, name) for m in self.materials), default=0.0)
