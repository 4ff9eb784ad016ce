"""The numbers by which a material enters a step, whatever its law."""

from dataclasses import dataclass

INVISCID_COMPLIANCE = 1e30  # 1/Pa: so soft that no stress builds up
USUAL_STEP = 0.01  # s: θ is the strain that pressure stands for in a step of this length
VOLUME_STIFFNESS = 50.0  # how much more a viscous fluid resists a change of volume than of shape


@dataclass(frozen=True)
class Coefficients:
    """The numbers of one material for one time step: σ = (memory (Q⁰ − I) + Δt (L + Lᵀ)) / a.

    The mean stress is `VOLUME_STIFFNESS` times stiffer against a change of volume, but not against the
    mean of Q, which grows in shear: `volume_memory` weights that down, and the volume is remembered by
    itself. That makes the flow of a viscous fluid free of divergence also where it is pulled: a
    stretched thread thins (and resists with three times its viscosity, Trouton's ratio) instead of
    falling apart, which the density constraint, that only pushes, cannot bring about.

    Pressure that is remembered as a strain must be the same pressure if the next step is shorter. That
    strain is in proportion to the step, so it is told for a usual one, θ: `pressure_memory` is the
    strain per θ.
    """

    normal_compliance: float  # a of xx, yy, zz, 1/Pa
    shear_compliance: float  # a of xy, xz, yz, 1/Pa
    volume_compliance: float  # a of the mean stress, 1/Pa
    memory: float  # how much of the deviator of Q⁰ − I enters the constraint
    volume_memory: float  # how much of its mean does
    relaxation: float  # 1 / (1 + Δt/τ)
    active: bool  # whether the material carries any stress
    pressure_memory: float = 1.0


INVISCID = Coefficients(
    INVISCID_COMPLIANCE, INVISCID_COMPLIANCE, INVISCID_COMPLIANCE, 0.0, 0.0, 0.0, False
)


def relaxation(tau: float, dt: float) -> float:
    """1/(1 + Δt/τ) of the relaxation time τ (s, may be infinite)."""
    if tau == float("inf"):
        return 1.0
    return tau / (tau + dt) if tau > 0.0 else 0.0
