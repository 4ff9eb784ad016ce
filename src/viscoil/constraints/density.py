# mypy: disable-error-code="valid-type,no-untyped-def,no-untyped-call,misc"
"""The density constraint of position-based fluids, and what a wall adds to it.

C_i = Σ_j V_j W_ij + γ_i − 1 with rest volumes V_j = m_j/ρ_j (Macklin and Müller 2013 with the mass
kept, DYVERSO eq. 1, and volumes instead of masses so that materials of different density meet
without a jump). Its multiplier is kept as a pressure p ≥ 0 that accumulates over the iterations:
C ≤ 0 with p ≥ 0 and p C = 0, so there is no attraction, and the result does not depend on the
iteration count.

γ is the share of the smoothing function behind a wall. It is tabulated over the distance to a plane
and calibrated so that every layer of a lattice that starts half a spacing from the wall has exactly its
rest density; several walls combine as if independent: 1 − Π (1 − γ_k).

That is how much is missing. How it changes as a particle moves is another matter: a wall mirrors
(`walls.mirrors`), so images move against the particle, and push with pressures of their own. Γ is
tabulated by its slope, which holds a lattice under pressure exactly where it is.
"""

import numpy as np
import quadrants as qd

from viscoil.core.compute import Floats
from viscoil.neighbors.lattice import lattice_pulls, lattice_sums, smoothing_value
from viscoil.neighbors.smoothing import Smoothing

WALL_TABLE = 128  # entries of γ from distance 0 to h


def wall_table(kind: Smoothing, support: float) -> np.ndarray:
    """γ at distances 0 ... h from a plane wall, `WALL_TABLE` + 1 values."""
    whole, below = lattice_sums(kind, support)
    layers = _layers(support)
    t, planes = _profile(kind)
    beyond = _integral(t, planes)
    share = 0.5 * (1.0 - beyond / beyond[-1])
    share *= np.interp(
        t, layers, np.divide(below[: len(layers)], whole) / np.interp(layers, t, share)
    )
    return _tabulated(t, share)


def approach_table(kind: Smoothing, support: float) -> np.ndarray:
    """Γ at distances 0 ... h from a plane wall, `WALL_TABLE` + 1 values; 0 at h.

    A layer of a lattice is pulled to the wall by what it lacks there, Σ_j V_j ∇W_ij, twice: by its own
    pressure and by those of its neighbours. dΓ/ddistance is the opposite of that at every layer, and
    between them in proportion to the smoothing function's profile over planes.
    """
    layers = _layers(support)
    t, planes = _profile(kind)
    needed = 2.0 * np.array(lattice_pulls(kind, support)[: len(layers)])
    slope = -planes * np.interp(t, layers, needed / np.interp(layers, t, planes))
    rise = _integral(t, slope * support)
    return _tabulated(t, rise - rise[-1])


def _layers(support: float) -> np.ndarray:
    """Of a lattice that starts half a spacing from a wall, those that it reaches; 1 is h."""
    layers = (np.arange(np.ceil(support)) + 0.5) / support
    return layers[layers < 1.0]


def _profile(kind: Smoothing) -> tuple[np.ndarray, np.ndarray]:
    """Heights t from 0 to 1, and ∫ w(√(t² + s²)) s ds: W over planes, in some unit."""
    t, s = np.linspace(0.0, 1.0, 4001), np.linspace(0.0, 1.0, 801)
    planes = [np.trapezoid(smoothing_value(kind, np.hypot(height, s)) * s, s) for height in t]
    return t, np.array(planes)


def _integral(t: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Of values over t, from 0."""
    return np.concatenate([[0.0], np.cumsum(0.5 * (values[1:] + values[:-1]) * np.diff(t))])


def _tabulated(t: np.ndarray, values: np.ndarray) -> np.ndarray:
    table = np.interp(np.linspace(0.0, 1.0, WALL_TABLE + 1), t, values)
    return np.asarray(table, dtype=np.float32)


@qd.func
def wall_share(distance: qd.f32, support: qd.f32, table: Floats):
    """(γ, dγ/ddistance), or those of Γ, at a distance from a wall; tables go on evenly below zero."""
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
def projected_pressure(pressure: qd.f32, compression: qd.f32, stiffness: qd.f32) -> qd.f32:
    """One Jacobi step of the complementarity C ≤ 0, p ≥ 0; `stiffness` is −dC/dp over its length."""
    return qd.max(0.0, pressure + compression / stiffness)
