"""Smoothing functions in NumPy, and their sums over a cubic lattice: for tables and calibration."""

import math

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


def lattice_sums(kind: Smoothing, support: float) -> tuple[float, list[float]]:
    """Σ w over a whole cubic lattice of spacing 1, and over what is farther below than layer k.

    `support` is h in spacings; there are as many k, from 0, as layers within it.
    """
    reach = math.ceil(support)
    axis = np.arange(-reach, reach + 1)
    x, y, z = np.meshgrid(axis, axis, axis, indexing="ij")
    w = smoothing_value(kind, np.sqrt(x * x + y * y + z * z) / support)
    return float(w.sum()), [float(w[y < -k].sum()) for k in range(reach)]
