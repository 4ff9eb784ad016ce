"""The numbers by which a material enters a step of DC-PBD: σ = (memory (Q⁰ − I) + c) / a.

Here c = Δt (L + Lᵀ). In a step the spring 1/G and the dashpot Δt/η of the polymer are one compliance
a_p = 1/G + Δt/η, and it carries (Q⁰ − I + c)/a_p; the solvent carries c η_s/Δt. Both together are again
one constraint, of compliance 1/a = 1/a_p + η_s/Δt, in which the memory Q⁰ − I is weighted by a/a_p.
Neither the particle spacing nor the step enters the material.
"""

from dataclasses import dataclass
from math import inf

from viscoil.materials.element import Element

INVISCID_COMPLIANCE = 1e30  # 1/Pa: so soft that no stress builds up
# s: θ is the strain that pressure stands for in a step of this length. It is a unit and changes nothing.
USUAL_STEP = 0.01
# How many times more a viscous fluid resists a change of volume than one of shape. Chosen, not derived:
# much more than 1, so that what is pulled thins, and no more, as the system's condition grows with it.
VOLUME_STIFFNESS = 50.0


@dataclass(frozen=True)
class Coefficients:
    """Of one material for one time step.

    The mean stress is `VOLUME_STIFFNESS` times stiffer against a change of volume, but not against the
    mean of Q, which grows in shear: `volume_memory` weights that down, and the volume is remembered by
    itself. That makes the flow of a viscous fluid free of divergence also where it is pulled: a
    stretched thread thins (and resists with three times its viscosity, Trouton's ratio) instead of
    falling apart, which the density constraint, that only pushes, cannot bring about.

    Pressure that is remembered as a strain must be the same pressure if the next step is shorter. Where
    the material has no spring that strain is in proportion to the step, so what is kept is that of a
    usual step, θ: `pressure_memory` is the strain per θ.
    """

    normal_compliance: float  # a of xx, yy, zz, 1/Pa
    shear_compliance: float  # a of xy, xz, yz, 1/Pa
    volume_compliance: float  # a of the mean stress, 1/Pa
    memory: float  # how much of the deviator of Q⁰ − I enters the constraint
    volume_memory: float  # how much of its mean does
    relaxation: float  # 1 / (1 + Δt/τ)
    pressure_memory: float  # strain per θ of a fluid without elastic memory
    active: bool  # whether the material carries any stress


INVISCID = Coefficients(
    INVISCID_COMPLIANCE, INVISCID_COMPLIANCE, INVISCID_COMPLIANCE, 0.0, 0.0, 0.0, 1.0, False
)


def coefficients(element: Element, dt: float) -> Coefficients:
    """Of a step of `dt` (s)."""
    solvent = element.solvent_viscosity / dt
    polymer = element.normal_compliance + dt / element.viscosity
    normal = _beside(polymer, solvent)
    if normal >= INVISCID_COMPLIANCE:
        return INVISCID
    volume = normal / VOLUME_STIFFNESS
    has_spring = 0.0 < element.normal_compliance < inf
    return Coefficients(
        normal_compliance=normal,
        shear_compliance=_beside(element.shear_compliance + dt / element.viscosity, solvent),
        volume_compliance=volume,
        memory=normal / polymer if polymer else 1.0,
        volume_memory=volume / polymer if polymer else 1.0 / VOLUME_STIFFNESS,
        relaxation=relaxation(element.relaxation_time, dt),
        pressure_memory=1.0 if has_spring else dt / USUAL_STEP,
        active=True,
    )


def relaxation(tau: float, dt: float) -> float:
    """1/(1 + Δt/τ) of the relaxation time τ (s, may be infinite)."""
    if tau == inf:
        return 1.0
    return tau / (tau + dt) if tau > 0.0 else 0.0


def _beside(polymer: float, solvent: float) -> float:
    """a of a polymer of compliance a_p (1/Pa) beside a solvent of stiffness η_s/Δt (Pa)."""
    stiffness = solvent + (1.0 / polymer if polymer else inf)
    return 1.0 / stiffness if stiffness else inf
