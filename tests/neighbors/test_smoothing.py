# mypy: disable-error-code="valid-type"
"""Smoothing functions: calibration, right gradient, compact support."""

from typing import Any

import numpy as np
import pytest
import quadrants as qd

from viscoil.core.compute import Floats, scalars, view, write
from viscoil.neighbors.lattice import calibrate, smoothing_slope, smoothing_value
from viscoil.neighbors.smoothing import Smoothing, slope_over_q, value

KINDS = list(Smoothing)
CONSISTENT = [Smoothing.CUBIC_SPLINE, Smoothing.WENDLAND_C2]

pytestmark = pytest.mark.usefixtures("compute")


@qd.kernel(fastcache=True)
def evaluate(n: qd.i32, kind: qd.template(), q: Floats, values: Floats, slopes: Floats):
    for i in range(n):
        values[i] = value(kind, q[i])
        slopes[i] = slope_over_q(kind, q[i])


def sample(kind: Smoothing, q: Any) -> tuple[np.ndarray, np.ndarray]:
    """w(q) and w'(q)/q as kernels see them, through poisoned outputs."""
    n = len(q)
    arrays = [scalars(qd.f32, n) for _ in range(3)]
    write(arrays[0], q)
    for array in arrays[1:]:
        array.fill(np.nan)
    evaluate(n, int(kind), *arrays)
    return np.array(view(arrays[1], n), np.float64), np.array(view(arrays[2], n), np.float64)


def gradient_potential(q: np.ndarray) -> np.ndarray:
    """The function whose gradient `poly6_spiky` uses: (1 − q)³."""
    return np.asarray(np.maximum(1.0 - q, 0.0) ** 3)


@pytest.mark.parametrize("kind", KINDS)
def test_calibration_makes_the_integral_one(kind: Smoothing) -> None:
    """∫ W = s ∫₀¹ 4π q² w dq, once so many particles are in reach that a sum over them is an integral.

    Sums over a lattice with h = 7 spacings err by less than 1 %. By parts, ∫ q² w dq = −⅓ ∫ q³ w' dq:
    the same for the function behind the gradient. Gauss quadrature on both halves is exact.
    """
    nodes, weights = np.polynomial.legendre.leggauss(12)
    q = np.concatenate([0.25 * (nodes + 1.0), 0.5 + 0.25 * (nodes + 1.0)])
    w = np.tile(0.25 * weights, 2) * 4.0 * np.pi * 7.0**3
    values, slopes = sample(kind, q)
    found = calibrate(kind, 7.0)
    assert found.value * np.sum(w * q**2 * values) == pytest.approx(1.0, abs=0.01)
    assert -found.slope * np.sum(w * q**4 * slopes) / 3.0 == pytest.approx(1.0, abs=0.01)


@pytest.mark.parametrize("support", [1.5, 2.0, 2.7])
@pytest.mark.parametrize("kind", CONSISTENT)
def test_a_lattice_is_full_and_as_much_fuller_as_it_is_compressed(
    kind: Smoothing, support: float
) -> None:
    """Σ V W is 1, and 1 + ε when distances are shorter by a third of ε, to the first order in ε.

    W'' is below 50/h² for all of them; of ε = 1e-4 the second order makes less than 1e-3.
    """
    axis = np.arange(-3, 4)
    x = np.stack(np.meshgrid(axis, axis, axis, indexing="ij"), -1).reshape(-1, 3)
    r = np.linalg.norm(x[x.any(axis=1)], axis=1)
    found, epsilon = calibrate(kind, support), 1e-4

    def density(share: float) -> float:
        total = found.own + smoothing_value(kind, share * r / support).sum()
        return float(found.value * total)

    assert density(1.0) == pytest.approx(1.0, abs=1e-12)
    gained = density(1.0 - epsilon / 3.0) - density(1.0)
    assert gained == pytest.approx(epsilon, rel=2e-3)


@pytest.mark.parametrize("kind", KINDS)
def test_slopes_are_derivatives(kind: Smoothing) -> None:
    """Central differences in double precision err by h² w'''/6 < 2e-9 and 1e-16/h = 1e-11.

    Rounding of the kernel's slope, whose terms are up to 24 in size: 24 · 6e-8 · a few = 5e-6,
    and is divided by q in w'/q.
    """
    q = np.linspace(0.01, 0.999, 300)
    q = q[np.abs(q - 0.5) > 1e-4].astype(np.float32).astype(np.float64)
    w = gradient_potential if kind == Smoothing.POLY6_SPIKY else None
    h = 1e-5
    if w is None:
        change = smoothing_value(kind, q + h) - smoothing_value(kind, q - h)
    else:
        change = w(q + h) - w(q - h)
    _, slopes = sample(kind, q)
    np.testing.assert_allclose(slopes * q, change / (2.0 * h), atol=5e-6)
    np.testing.assert_allclose(smoothing_slope(kind, q), change / (2.0 * h), atol=1e-8)


@pytest.mark.parametrize("kind", KINDS)
def test_values_are_those_of_numpy(kind: Smoothing) -> None:
    q = np.linspace(0.0, 1.2, 400).astype(np.float32)
    np.testing.assert_allclose(
        sample(kind, q)[0], smoothing_value(kind, q.astype(np.float64)), atol=1e-6
    )


@pytest.mark.parametrize("kind", KINDS)
def test_the_support_is_compact(kind: Smoothing) -> None:
    inside, outside = sample(kind, [0.98]), sample(kind, [1.0, 1.0001, 1.5, 1e6])
    assert inside[0][0] > 0.0
    assert inside[1][0] < 0.0
    assert not outside[0].any()
    assert not outside[1].any()


@pytest.mark.parametrize("kind", KINDS)
def test_coincident_particles_make_no_infinity(kind: Smoothing) -> None:
    """∇W = s/h² · w'(q)/q · x must vanish with x, not blow up: |w'/q · q| stays below |w'|."""
    q = np.array([0.0, 1e-30, 1e-12, 1e-7, 1e-6, 1e-4])
    values, slopes = sample(kind, q)
    assert np.isfinite(slopes).all()
    assert np.isfinite(values).all()
    assert (np.abs(slopes * q) <= 3.0 + 1e-6).all()
    assert slopes[0] * q[0] == 0.0


@pytest.mark.parametrize("kind", CONSISTENT)
def test_smooth_ones_are_flat_at_the_centre(kind: Smoothing) -> None:
    _, slopes = sample(kind, [1e-4, 1e-3])
    assert np.abs(slopes * [1e-4, 1e-3]).max() < 0.05
