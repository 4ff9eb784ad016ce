"""Closed forms that a viscoelastic fluid must follow; mathematics only, nothing is simulated here.

The fluid is Oldroyd-B: a Maxwell element of modulus G (Pa) and relaxation time τ (s), of viscosity
η = G τ, beside a Newtonian solvent of viscosity η_s (Pa s). Conformation A, stress σ:

    dA/dt = L A + A Lᵀ − (A − I)/τ,   σ = G (A − I) + η_s (L + Lᵀ),   L_ab = ∂u_a/∂x_b

In simple shear ∂u_x/∂y = γ̇ the component A_xy is linear in γ̇, however large that is, so the laws of
the shear stress hold for large strains too. Times are in s, stresses in Pa.
"""

import cmath
import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Float = npt.NDArray[np.float64]


@dataclass(frozen=True)
class OldroydB:
    """Responses of a fluid to shear that is prescribed and the same everywhere."""

    modulus: float  # G, Pa
    relaxation_time: float  # τ, s
    solvent_viscosity: float = 0.0  # η_s, Pa s

    @property
    def polymer_viscosity(self) -> float:
        return self.modulus * self.relaxation_time

    @property
    def viscosity(self) -> float:
        """η₀ = G τ + η_s, that of slow flow."""
        return self.polymer_viscosity + self.solvent_viscosity

    def step_strain(self, strain: float, time: npt.ArrayLike) -> Float:
        """Shear stress after a sudden strain γ: G γ e^(−t/τ). At t > 0 the solvent has no part in it."""
        decay: Float = np.exp(-np.asarray(time, float) / self.relaxation_time)
        return self.modulus * strain * decay

    def complex_modulus(self, omega: float) -> complex:
        """G* = G′ + i G″ of small oscillations at ω (rad/s): G iωτ/(1 + iωτ) + iω η_s."""
        turn = 1j * omega * self.relaxation_time
        return self.modulus * turn / (1.0 + turn) + 1j * omega * self.solvent_viscosity

    def start_up(self, rate: float, time: npt.ArrayLike) -> Float:
        """Shear stress at t > 0 when shear at the rate γ̇ (1/s) starts from rest."""
        t = np.asarray(time, float) / self.relaxation_time
        return rate * (self.solvent_viscosity - self.polymer_viscosity * np.expm1(-t))

    def start_up_normal(self, rate: float, time: npt.ArrayLike) -> Float:
        """N₁ = σ_xx − σ_yy of the same: 2 η τ γ̇² [1 − (1 + t/τ) e^(−t/τ)]."""
        t = np.asarray(time, float) / self.relaxation_time
        scale = 2.0 * self.polymer_viscosity * self.relaxation_time * rate**2
        return scale * (1.0 - (1.0 + t) * np.exp(-t))

    def steady_conformation(self, rate: float) -> Float:
        """A (3×3) in steady shear: A_xy = τγ̇, A_xx = 1 + 2 (τγ̇)²."""
        turn = self.relaxation_time * rate
        return np.array([[1.0 + 2.0 * turn**2, turn, 0.0], [turn, 1.0, 0.0], [0.0, 0.0, 1.0]])

    def shear_wave(self, density: float, wave_number: float, time: npt.ArrayLike) -> Float:
        """Amplitude, 1 at t = 0, of a standing transverse wave let go at full speed, unstressed.

        u′ = −(k/ρ) σ,  σ = s + η_s k u,  s′ = G k u − s/τ: the roots of
        m² + m (1/τ + ν_s k²) + (G k²/ρ + ν_s k²/τ) = 0.
        """
        solvent = self.solvent_viscosity * wave_number**2 / density
        elastic = self.modulus * wave_number**2 / density
        half = 0.5 * (1.0 / self.relaxation_time + solvent)
        root = cmath.sqrt(half**2 - elastic - solvent / self.relaxation_time)
        return _decay(half, root, half - solvent, np.asarray(time, float))


def newtonian_wave(
    viscosity: float, density: float, wave_number: float, time: npt.ArrayLike
) -> Float:
    """Amplitude, 1 at t = 0, of a shear wave in a Newtonian fluid: e^(−ν k² t), ν = η/ρ."""
    rate = viscosity * wave_number**2 / density
    decay: Float = np.exp(-rate * np.asarray(time, float))
    return decay


def waters_king(
    height: npt.ArrayLike, time: float, elasticity: float, solvent_share: float, terms: int = 200
) -> Float:
    """u/u_avg of Poiseuille flow that a body force starts from rest (Waters and King 1970).

    `height` Y from −1 to 1 across the gap 2h, `time` T = t/τ, `elasticity` E = τ η₀/(ρ h²),
    `solvent_share` β = η_s/η₀. u_avg = f h²/(3 η₀) is the steady mean, f the force per volume.
    """
    y = np.asarray(height, float)
    profile = 1.5 * (1.0 - y**2)
    for k in range(1, terms + 1):
        n = (2 * k - 1) * math.pi
        a = 1.0 + 0.25 * solvent_share * elasticity * n**2
        b = cmath.sqrt(a**2 - elasticity * n**2)
        c = 1.0 - 0.25 * (2.0 - solvent_share) * elasticity * n**2
        decay = _decay(0.5 * a, 0.5 * b, 0.5 * c, np.asarray(time, float))
        profile = profile - 48.0 * np.sin(0.5 * (1.0 + y) * n) / n**3 * decay
    return profile


def start_up_couette(height: npt.ArrayLike, time: float, terms: int = 200) -> Float:
    """u/V of a Newtonian layer whose upper wall moves at V from t = 0 on; Y = 0 … 1, T = ν t/H²."""
    y = np.asarray(height, float)
    profile = y.copy()
    for n in range(1, terms + 1):
        wave = (-1.0) ** n * np.sin(n * math.pi * y) / n
        profile = profile + 2.0 / math.pi * wave * math.exp(-((n * math.pi) ** 2) * time)
    return profile


def _decay(half: float, root: complex, slope: float, time: Float) -> Float:
    """e^(−a t) [cosh(b t) + (c/b) sinh(b t)], b real or imaginary, without overflow."""
    if abs(root) < 1e-9 * half:
        limit: Float = np.exp(-half * time) * (1.0 + slope * time)
        return limit
    up = np.exp((root - half) * time)
    down = np.exp(-(root + half) * time)
    result: Float = np.real(0.5 * (up + down) + 0.5 * slope / root * (up - down))
    return result
