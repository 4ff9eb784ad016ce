# mypy: disable-error-code="valid-type,misc"
"""What the kernels of a step are given besides particles: scales of the discretisation, materials."""

import dataclasses
import math
from collections.abc import Sequence

import quadrants as qd

from viscoil.core.compute import Floats, Ints, scalars, write
from viscoil.scene import Material
from viscoil.scene.materials import EXTRAS

INVISCID_COMPLIANCE = 1e30  # 1/Pa: so soft that no stress builds up
USUAL_STEP = 0.01  # s: θ is the strain that pressure stands for in a step of this length
VOLUME_STIFFNESS = 50.0  # how much more a viscous fluid resists a change of volume than of shape


@dataclasses.dataclass
class MaterialTable:
    """One entry per material of the scene, for the current time step."""

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


@dataclasses.dataclass(frozen=True)
class Coefficients:
    """The numbers of one material for one time step: σ = (memory (Q⁰ − I) + Δt (L + Lᵀ)) / a."""

    normal_compliance: float
    shear_compliance: float
    volume_compliance: float
    memory: float
    volume_memory: float
    relaxation: float
    active: bool
    pressure_memory: float = 1.0


def coefficients(material: Material, dt: float) -> Coefficients:
    """A Maxwell element, spring 1/G and dashpot Δt/η in series, beside a Newtonian solvent.

    With c = Δt (L + Lᵀ) the polymer carries (Q⁰ − I + c)/a_p, a_p = 1/G + Δt/η, and the solvent c η_s/Δt.
    Both together are again one constraint, of compliance 1/a = 1/a_p + η_s/Δt, in which the memory
    Q⁰ − I is weighted by a/a_p. Neither the particle spacing nor the step enters the material.

    The mean stress is `VOLUME_STIFFNESS` times stiffer against a change of volume, but not against the
    mean of Q, which grows in shear: `volume_memory` weights that down, and the volume is remembered by
    itself. That makes the flow of a viscous fluid free of divergence also where it is pulled: a
    stretched thread thins (and resists with three times its viscosity, Trouton's ratio) instead of
    falling apart, which the density constraint, that only pushes, cannot bring about.

    Pressure that is remembered as a strain must be the same pressure if the next step is shorter. That
    strain is in proportion to the step, so it is told for a usual one, θ.

    A material given as in Barreiro 2017 has the compliance α of particles of unit mass, one for all
    six components: a = α/(2ρ) for normal and α/ρ for shear components; its volume is as above.
    """
    tau = material.relaxation_time
    relaxation = 1.0 if math.isinf(tau) else (tau / (tau + dt) if tau > 0.0 else 0.0)
    if material.compliance is not None:
        a = material.compliance / material.density
        soft, share = 0.5 * a, 1.0 / VOLUME_STIFFNESS
        return Coefficients(soft, a, share * soft, 1.0, share, relaxation, True)
    solvent = material.solvent_viscosity / dt
    polymer = _polymer_compliance(material, dt)
    stiffness = solvent + (1.0 / polymer if polymer else 0.0)
    if stiffness <= 1.0 / INVISCID_COMPLIANCE:
        soft = INVISCID_COMPLIANCE
        return Coefficients(soft, soft, soft, 0.0, 0.0, 0.0, False)
    compliance = 1.0 / stiffness
    memory = compliance / polymer if polymer else 0.0
    volume = compliance / VOLUME_STIFFNESS
    volume_memory = volume / polymer if polymer else 0.0
    return Coefficients(
        compliance, compliance, volume, memory, volume_memory, relaxation, True, dt / USUAL_STEP
    )


def _polymer_compliance(material: Material, dt: float) -> float:
    """1/G + Δt/η; 0 stands for no polymer at all."""
    if material.modulus <= 0.0 or material.viscosity <= 0.0:
        return 0.0
    return 1.0 / material.modulus + dt / material.viscosity


class Materials:
    """The materials of a scene as kernels see them, kept in step with the time step."""

    def __init__(self, materials: Sequence[Material]) -> None:
        self.materials = list(materials)
        count = len(self.materials)
        floats = [scalars(qd.f32, count) for _ in dataclasses.fields(MaterialTable)[:-1]]
        self.table = MaterialTable(*floats, active=scalars(qd.i32, count))
        write(self.table.density, [m.density for m in self.materials])
        self._key: tuple[object, ...] = ()
        self.any_active = False

    def update(self, dt: float) -> None:
        """Recomputes the coefficients if the step or a material has changed."""
        key = (dt, *self.materials)
        if key == self._key:
            return
        self._key = key
        rows = [coefficients(m, dt) for m in self.materials]
        table = self.table
        write(table.density, [m.density for m in self.materials])
        write(table.normal_compliance, [r.normal_compliance for r in rows])
        write(table.shear_compliance, [r.shear_compliance for r in rows])
        write(table.volume_compliance, [r.volume_compliance for r in rows])
        write(table.memory, [r.memory for r in rows])
        write(table.volume_memory, [r.volume_memory for r in rows])
        write(table.relaxation, [r.relaxation for r in rows])
        write(table.pressure_memory, [r.pressure_memory for r in rows])
        for name in EXTRAS:
            write(getattr(table, name), [getattr(m, name) for m in self.materials])
        write(table.active, [int(r.active) for r in rows])
        self.any_active = any(r.active for r in rows)

    def largest(self, name: str) -> float:
        """The largest value that a material of the scene has for a key."""
        return max((getattr(m, name) for m in self.materials), default=0.0)
