# mypy: disable-error-code="valid-type,no-untyped-def,no-untyped-call,misc"
"""The mathematics of heat: numbers in, numbers out."""

import math

import quadrants as qd

from viscoil.core.compute import Floats, Ints


@qd.func
def pair_conductivity(a: qd.f32, b: qd.f32) -> qd.f32:
    """4 a b/(a + b), W/(m K): the flux between unlike materials is continuous (Cleary, Monaghan 1999)."""
    return 4.0 * a * b / qd.max(a + b, 1e-30)


@qd.func
def transferred(temperature: qd.f32, damping: qd.f32, target: qd.f32) -> qd.f32:
    """Implicit change by heat transfer, K: damping = Δt Σ rate, target = Δt Σ rate T around."""
    return (target - damping * temperature) / (1.0 + damping)


@qd.func
def curve(x: qd.f32, first: qd.i32, count: qd.i32, knots: Floats, values: Floats) -> qd.f32:
    """Values at the `count` knots from `first` on, linear between them and held at the ends."""
    found = values[first]
    for k in range(first, first + count - 1):
        if x >= knots[k]:
            t = qd.min((x - knots[k]) / (knots[k + 1] - knots[k]), 1.0)
            found = values[k] + t * (values[k + 1] - values[k])
    return found


@qd.func
def softness(
    temperature: qd.f32, m: qd.i32, start: Ints, knots: Floats, log_stiffening: Floats
) -> qd.f32:
    """The factor on the compliance of material m: 1 over its stiffening; 1 if it has no curve."""
    count = start[m + 1] - start[m]
    factor = 1.0
    if count > 0:
        factor = qd.exp(-curve(temperature, start[m], count, knots, log_stiffening))
    return factor


def stages(dt: float, rate: float) -> int:
    """How many stages make a step of `dt` stable, for a largest rate Σ_j Λ_ij/C_i of 1/s.

    Explicit Euler is for Δt rate ≤ 1; s stages of Runge-Kutta-Legendre (Meyer, Balsara and Aslam 2012)
    for (s² + s)/2 times that. An odd number damps the shortest waves as well; one in ten is left
    for safety.
    """
    needed = dt * rate / 0.9
    if needed <= 1.0:
        return 1
    count = math.ceil(0.5 * (math.sqrt(1.0 + 8.0 * needed) - 1.0))
    return count + 1 - count % 2


def stage_weights(j: int, count: int) -> tuple[float, float, float]:
    """μ, ν and μ̃ of stage j (from 1): D_j = μ D_{j−1} + ν D_{j−2} + μ̃ Δt M (T + D_{j−1})."""
    mu = (2.0 * j - 1.0) / j
    return mu, 1.0 - mu, mu * 2.0 / (count * count + count)
