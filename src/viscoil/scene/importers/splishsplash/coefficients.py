"""Coefficients of SPlisHSPlasH in SI units: exact where they are physical, estimates elsewhere.

d is the particle spacing (two radii), h = 2 d the support, V = 0.8 d³ the volume that its particles
have.
"""

import math

VOLUME = 0.8  # of a particle, in d³

# ∫ r⁵ min(W, W(d)) dr over the support for the cubic spline with h = 2 d, in h³: from 0 to h/2
# W(d) = 2/π h⁻³ is constant, and beyond it W = 16/π (1 − q)³ h⁻³.
_MOMENT = 2.0 / math.pi / 384.0 + 16.0 / math.pi * 191.0 / 129024.0
_COHESION = 10.0 / 7.0  # factor of the kernel of Jeske et al. 2023


def viscosity_of_share(share: float, density: float, spacing: float, step: float) -> float:
    """Viscosity (Pa s) that leaves this share of a strain rate after a step (s).

    Peer et al. and Bender and Koschier 2017 prescribe the share, whatever the scale. Here it is
    that of a shear wave of four spacings, which a viscosity leaves with exp(−ν k² Δt).
    """
    wave = 2.0 * math.pi / (4.0 * spacing)
    return density * -math.log(min(max(share, 1e-3), 0.999)) / (wave**2 * step)


def tension_of_pairs(coefficient: float) -> float:
    """Surface tension (N/m) of a pairwise pull c V W(r) r between particles (Jeske et al. 2023).

    Fowler's integral σ = π n²/8 ∫ r⁴ f(r) dr of the force f over distance, for a sharp surface and
    n = 1/V particles per volume.
    """
    return math.pi * coefficient * _COHESION * _MOMENT * 8.0 / (8.0 * VOLUME)


def adhesion_of_pairs(coefficient: float) -> float:
    """Work of adhesion (N/m) of the same pull from a wall: what separating two sides takes."""
    return 2.0 * tension_of_pairs(coefficient) / _COHESION


def tension_of_curvature(coefficient: float, spacing: float) -> float:
    """Surface tension (N/m) of a force k times curvature on each particle of the surface.

    Zorilla, Ritter et al. 2020; a particle has d² of the surface.
    """
    return coefficient / spacing**2


def shear_modulus(young: float, poisson: float) -> float:
    """G (Pa) of Young's modulus and Poisson's ratio."""
    return young / (2.0 * (1.0 + poisson))
