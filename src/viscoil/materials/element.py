"""What a material is to any solver, whatever its law, spacing, step and iterations."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Element:
    """A Maxwell element, spring and dashpot in series, beside a Newtonian solvent.

    The element's stress is that of its spring, G (Q − I), where the conformation Q is convected and
    forgets over τ; the solvent's is η_s (L + Lᵀ). Compliances, strains per stress, of what is in series
    add up, and so do stiffnesses of what is side by side.
    """

    normal_compliance: float  # 1/G of xx, yy, zz, 1/Pa; 0: no spring, infinite: no element at all
    shear_compliance: float  # 1/G of xy, xz, yz, 1/Pa
    viscosity: float  # η of the dashpot, Pa s; infinite: there is none
    solvent_viscosity: float  # η_s, Pa s
    relaxation_time: float  # τ, s; infinite: Q never forgets
