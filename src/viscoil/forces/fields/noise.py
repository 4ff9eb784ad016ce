# mypy: disable-error-code="valid-type,no-untyped-def,no-untyped-call,misc"
"""Curl noise: a random vector field without divergence (Bridson et al. 2007).

The potential ψ = Σ_c B(x − c) P_c has a random vector P_c at each point c of the integer lattice and the
cubic B-spline B, so its curl Σ_c ∇B × P_c is known in closed form, once differentiable, and free of
divergence to rounding. (Gradient noise, as in the paper, has a derivative with visible kinks.)

P_c comes from an integer hash (Wellons' lowbias32 of a linear mix of the coordinates), ten bits for each
component: the same numbers on every backend.
"""

import math

import quadrants as qd

from viscoil.core.compute import vec3

# Variance of (v − 511.5)/511.5 with v uniform on 0 ... 1023.
_VARIANCE = (1024.0**2 - 1.0) / 12.0 / 511.5**2
# E |curl ψ|² = 6 s² ∫b'² (∫b²)² of the B-spline b: ∫b'² = 2/3, ∫b² = 151/315.
UNIT_RMS = 2.0 * math.sqrt(_VARIANCE) * 151.0 / 315.0


def salt(seed: int, picture: int) -> int:
    """A 32-bit integer, as signed, that tells one random potential from another (splitmix64)."""
    mask = 2**64 - 1
    z = (seed * 0x9E3779B97F4A7C15 + picture * 0xD1B54A32D192ED03 + 0x632BE59BD9B4E019) & mask
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & mask
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & mask
    low = (z ^ (z >> 31)) & 0xFFFFFFFF
    return low - 2**32 if low >= 2**31 else low


def blend(phase: float) -> tuple[float, float]:
    """Weights of two independent pictures, for phases 0 to 1 from one to the other.

    Smooth, with the squares summing to one, so that turbulence keeps its strength.
    """
    w = phase * phase * (3.0 - 2.0 * phase)
    length = math.hypot(1.0 - w, w)
    return (1.0 - w) / length, w / length


@qd.func
def corner(x: qd.i32, y: qd.i32, z: qd.i32, salted: qd.i32) -> vec3:
    """P_c: each component uniform on 1024 values from −1 to 1."""
    h = qd.cast(salted, qd.u32)
    h = h ^ (qd.cast(x, qd.u32) * qd.u32(1640531527))
    h = h ^ (qd.cast(y, qd.u32) * qd.u32(1013904223))
    h = h ^ (qd.cast(z, qd.u32) * qd.u32(805459861))
    h = h ^ (h >> qd.u32(16))
    h = h * qd.u32(2146121005)
    h = h ^ (h >> qd.u32(15))
    h = h * qd.u32(2221713035)
    h = h ^ (h >> qd.u32(16))
    ten = qd.u32(1023)
    return (
        vec3(
            qd.cast(h & ten, qd.f32),
            qd.cast((h >> qd.u32(10)) & ten, qd.f32),
            qd.cast((h >> qd.u32(20)) & ten, qd.f32),
        )
        - 511.5
    ) / 511.5


@qd.func
def spline(x: qd.f32) -> qd.f32:
    """The cubic B-spline b(x)."""
    a = qd.abs(x)
    b = 2.0 / 3.0 - a * a + 0.5 * a * a * a
    if a >= 1.0:
        rest = qd.max(2.0 - a, 0.0)
        b = rest * rest * rest / 6.0
    return b


@qd.func
def spline_slope(x: qd.f32) -> qd.f32:
    """b'(x)."""
    a = qd.abs(x)
    slope = 1.5 * a * a - 2.0 * a
    if a >= 1.0:
        rest = qd.max(2.0 - a, 0.0)
        slope = -0.5 * rest * rest
    return qd.select(x < 0.0, -slope, slope)


@qd.func
def curl_noise(x: vec3, salted: qd.i32) -> vec3:
    """curl ψ at x, in units of the lattice; its root mean square is `UNIT_RMS`."""
    base = qd.cast(qd.floor(x), qd.i32)
    t = x - qd.floor(x)
    curl = vec3(0.0)
    for i in range(4):
        wx = spline(t[0] + 1.0 - i)
        dx = spline_slope(t[0] + 1.0 - i)
        for j in range(4):
            wy = spline(t[1] + 1.0 - j)
            dy = spline_slope(t[1] + 1.0 - j)
            for k in range(4):
                wz = spline(t[2] + 1.0 - k)
                dz = spline_slope(t[2] + 1.0 - k)
                slope = vec3(dx * wy * wz, wx * dy * wz, wx * wy * dz)
                curl += slope.cross(
                    corner(base[0] + i - 1, base[1] + j - 1, base[2] + k - 1, salted)
                )
    return curl
