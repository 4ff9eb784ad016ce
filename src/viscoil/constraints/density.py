# mypy: disable-error-code="valid-type,no-untyped-def,no-untyped-call,misc"
"""The density constraint of position-based fluids, and what a wall adds to it.

C_i = Σ_j V_j W_ij − 1 with rest volumes V_j = m_j/ρ_j (Macklin and Müller 2013 with the mass
kept, DYVERSO eq. 1, and volumes instead of masses so that materials of different density meet
without a jump). Its multiplier is kept as a pressure p ≥ 0 that accumulates over the iterations:
C ≤ 0 with p ≥ 0 and p C = 0, so there is no attraction, and the result does not depend on the
iteration count.

What is behind a wall is a matter of images to DC-PBD (`walls.mirrors`). Where only a density is asked
for, as of crowded starts, open surfaces and the stiffness of bodies, it is γ, the share of the smoothing
function behind the wall. It is tabulated over the distance to a plane and calibrated so that every layer
of a lattice that starts half a spacing from the wall has exactly its rest density; several walls combine
as if independent: 1 − Π (1 − γ_k).
"""

import numpy as np
import quadrants as qd

from viscoil.core.compute import Floats
from viscoil.neighbors.lattice import calibrate, smoothing_value
from viscoil.neighbors.smoothing import Smoothing

WALL_TABLE = 128  # entries of γ from distance 0 to h


def wall_table(kind: Smoothing, support: float) -> np.ndarray:
    """γ at distances 0 ... h from a plane wall, `WALL_TABLE` + 1 values."""
    below = calibrate(kind, support).below
    layers = (np.arange(len(below)) + 0.5) / support
    layers = layers[layers < 1.0]
    t = np.linspace(0.0, 1.0, 4001)
    # The share of W at heights beyond t h: its profile over planes is ∫ w(√(t² + s²)) 2πs ds.
    s = np.linspace(0.0, 1.0, 801)
    planes = np.array(
        [np.trapezoid(smoothing_value(kind, np.hypot(height, s)) * s, s) for height in t]
    )
    beyond = np.concatenate([[0.0], np.cumsum(0.5 * (planes[1:] + planes[:-1]))])
    share = 0.5 * (1.0 - beyond / beyond[-1])
    share *= np.interp(t, layers, below[: len(layers)] / np.interp(layers, t, share))
    table = np.interp(np.linspace(0.0, 1.0, WALL_TABLE + 1), t, share)
    return np.asarray(table, dtype=np.float32)


@qd.func
def wall_share(distance: qd.f32, support: qd.f32, table: Floats):
    """(γ, dγ/ddistance) at a distance from a wall; the table is extended evenly below zero."""
    place = qd.max(distance / support, 0.0) * 128.0
    k = qd.max(0, qd.min(qd.cast(place, qd.i32), 127))
    low, high = table[k], table[k + 1]
    slope = (high - low) * 128.0 / support
    share = low + (high - low) * (place - qd.cast(k, qd.f32))
    if distance >= support:
        share = 0.0
        slope = 0.0
    if distance < 0.0:
        share = table[0] + slope * distance
    return qd.Vector([share, slope])


@qd.func
def pressure_stiffness() -> qd.f32:
    """k d²/p: pressure is a spring between particles, of a stiffness of up to k = 9.6 p/d² (Pa/m²).

    That is of a cubic lattice at its shortest waves, with Wendland's function and h = 2 d; with the cubic
    spline it is 8.3. A step in which such springs act at x⁰ is stable up to Δt² k/ρ = 4, or
    p = 0.42 ρ d²/Δt².
    """
    return 9.6


@qd.func
def projected_pressure(pressure: qd.f32, compression: qd.f32, stiffness: qd.f32) -> qd.f32:
    """One Jacobi step of the complementarity C ≤ 0, p ≥ 0; `stiffness` is −dC/dp over its length."""
    return qd.max(0.0, pressure + compression / stiffness)
