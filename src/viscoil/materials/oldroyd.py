"""Oldroyd-B: a Maxwell element, spring 1/G and dashpot Δt/η in series, beside a Newtonian solvent.

With c = Δt (L + Lᵀ) the polymer carries (Q⁰ − I + c)/a_p, a_p = 1/G + Δt/η, and the solvent c η_s/Δt.
Both together are again one constraint, of compliance 1/a = 1/a_p + η_s/Δt, in which the memory Q⁰ − I is
weighted by a/a_p. Neither the particle spacing nor the step enters the material. Newtonian fluids
(no modulus of their own), elastic solids (no relaxation) and inviscid ones are its limits.
"""

from viscoil.materials.coefficients import (
    INVISCID,
    INVISCID_COMPLIANCE,
    USUAL_STEP,
    VOLUME_STIFFNESS,
    Coefficients,
    relaxation,
)
from viscoil.scene import Material


def applies(material: Material) -> bool:
    """To all materials that are given by what a laboratory measures."""
    return material.compliance is None


def coefficients(material: Material, dt: float) -> Coefficients:
    """Of a step of `dt` (s)."""
    polymer = _polymer_compliance(material, dt)
    stiffness = material.solvent_viscosity / dt + (1.0 / polymer if polymer else 0.0)
    if stiffness <= 1.0 / INVISCID_COMPLIANCE:
        return INVISCID
    compliance = 1.0 / stiffness
    volume = compliance / VOLUME_STIFFNESS
    return Coefficients(
        normal_compliance=compliance,
        shear_compliance=compliance,
        volume_compliance=volume,
        memory=compliance / polymer if polymer else 0.0,
        volume_memory=volume / polymer if polymer else 0.0,
        relaxation=relaxation(material.relaxation_time, dt),
        active=True,
        pressure_memory=dt / USUAL_STEP,
    )


def _polymer_compliance(material: Material, dt: float) -> float:
    """1/G + Δt/η; 0 stands for no polymer at all."""
    if material.modulus <= 0.0 or material.viscosity <= 0.0:
        return 0.0
    return 1.0 / material.modulus + dt / material.viscosity
