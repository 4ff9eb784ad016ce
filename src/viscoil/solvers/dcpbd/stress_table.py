# mypy: disable-error-code="valid-type,misc,no-untyped-def,no-untyped-call"
"""What kernels of DC-PBD read of materials."""

import dataclasses
from collections.abc import Sequence

import quadrants as qd

from viscoil.core.compute import Floats, Ints, scalars, vec3, write
from viscoil.materials.registry import element
from viscoil.scene import Material
from viscoil.solvers.dcpbd.coefficients import coefficients


@dataclasses.dataclass
class StressTable:
    """One entry per material of the scene, for the current time step (see `Coefficients`)."""

    normal_compliance: Floats  # a of xx, yy, zz, 1/Pa
    shear_compliance: Floats  # a of xy, xz, yz, 1/Pa
    volume_compliance: Floats  # a of the mean stress, 1/Pa
    memory: Floats  # how much of the deviator of Q⁰ − I enters the constraint
    volume_memory: Floats  # how much of its mean does
    relaxation: Floats  # 1 / (1 + Δt/τ)
    pressure_memory: Floats  # strain per θ of a fluid without elastic memory
    active: Ints  # 0: inviscid, carries no stress


@qd.func
def compliance(materials: StressTable, m: qd.i32, softness: qd.f32) -> vec3:
    """a of material m, 1/Pa, against normal, shear and mean stress, times what heat makes of it.

    All that knows how soft a material is asks here.
    """
    return softness * vec3(
        materials.normal_compliance[m],
        materials.shear_compliance[m],
        materials.volume_compliance[m],
    )


class StressTables:
    """Keeps the table of a solver in step with the materials and the time step."""

    def __init__(self) -> None:
        self.table = _allocate(0)
        self.any_active = False
        """Whether any material carries stress."""
        self._key: tuple[object, ...] = ()

    def update(self, materials: Sequence[Material], dt: float) -> None:
        """Recomputes the table if the step or a material has changed."""
        key = (dt, *materials)
        if key == self._key:
            return
        if len(key) != len(self._key):
            self.table = _allocate(len(materials))
        self._key = key
        rows = [coefficients(element(m), dt) for m in materials]
        for field in dataclasses.fields(StressTable):
            write(getattr(self.table, field.name), [getattr(row, field.name) for row in rows])
        self.any_active = any(row.active for row in rows)


def _allocate(count: int) -> StressTable:
    fields = dataclasses.fields(StressTable)
    types = [qd.i32 if field.type is Ints else qd.f32 for field in fields]
    return StressTable(*(scalars(dtype, count) for dtype in types))
