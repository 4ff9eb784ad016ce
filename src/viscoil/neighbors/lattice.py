"""Smoothing functions in NumPy, and their sums over a cubic lattice: for tables and calibration."""

import math
from dataclasses import dataclass

import numpy as np

from viscoil.neighbors.smoothing import Smoothing


def smoothing_value(kind: Smoothing, q: np.ndarray) -> np.ndarray:
    """w(q) in NumPy, for tables and calibration."""
    outer, inner = np.maximum(1.0 - q, 0.0), np.maximum(0.5 - q, 0.0)
    if kind == Smoothing.CUBIC_SPLINE:
        return np.asarray(2.0 * outer**3 - 8.0 * inner**3)
    if kind == Smoothing.WENDLAND_C2:
        return np.asarray(outer**4 * (1.0 + 4.0 * q))
    return np.asarray(np.maximum(1.0 - q * q, 0.0) ** 3)


def smoothing_slope(kind: Smoothing, q: np.ndarray) -> np.ndarray:
    """w'(q) of the gradients in NumPy."""
    outer, inner = np.maximum(1.0 - q, 0.0), np.maximum(0.5 - q, 0.0)
    if kind == Smoothing.CUBIC_SPLINE:
        return np.asarray(24.0 * inner**2 - 6.0 * outer**2)
    if kind == Smoothing.WENDLAND_C2:
        return np.asarray(-20.0 * outer**3 * q)
    return np.asarray(-3.0 * outer**2)


@dataclass(frozen=True)
class Calibration:
    """What makes a cubic lattice right: full, and as much fuller as it is compressed."""

    value: float  # V W = value · w(q)
    slope: float  # V h² ∇W = slope · w'(q)/q · x
    own: float  # what a particle adds to its own density, in the place of w(0)
    below: tuple[float, ...]  # Σ V W over what is farther below than layer k


def calibrate(kind: Smoothing, support: float) -> Calibration:
    """Of a smoothing function whose support is h = `support` spacings.

    Gradients are scaled so that −Σ V x ⊗ ∇W = I, as in the continuum: pressure then pushes as much as it
    should, and a body compressed by a share ε has a density of 1 + ε. Values have the same scale, so that
    gradients are theirs. With it the sum of a lattice is not quite one; the difference goes to a
    particle's own share, which moves nothing. Where gradients are of another function than values
    (`poly6_spiky`), values are scaled to that sum instead. All of it is a matter of a few percent.
    """
    reach = math.ceil(support)
    axis = np.arange(-reach, reach + 1)
    x, y, z = np.meshgrid(axis, axis, axis, indexing="ij")
    q = np.sqrt(x * x + y * y + z * z) / support
    w = smoothing_value(kind, q)
    own = float(smoothing_value(kind, np.zeros(1))[0])
    slope = -3.0 / float((smoothing_slope(kind, q) * q).sum())
    value = 1.0 / float(w.sum())
    if kind.is_consistent:
        value = slope
        own += 1.0 / value - float(w.sum())
    below = tuple(value * float(w[y < -k].sum()) for k in range(reach))
    return Calibration(value, slope, own, below)
