# mypy: disable-error-code="valid-type,no-untyped-def,no-untyped-call,misc"
"""Smoothing functions of SPH in three dimensions: W(r) with compact support h.

Each is written as W(r) = s w(q) with q = r/h; s is calibrated on a lattice (`lattice.calibrate`). The
gradient is ∇W(x) = s/h² · w'(q)/q · x: `slope_over_q` gives w'(q)/q, which is finite at q = 0 or
guarded there, so that coincident particles never make infinities.

`wendland_c2` (Wendland 1995) is the default: with it a cubic lattice under pressure is at rest. With
`cubic_spline` (Monaghan 1992) rows of it push each other out of line, and it collapses: of the springs
that pressure is between particles, the softest has −0.27 p/d², at waves of two spacings along two axes.
`poly6_spiky` pairs two different functions (Müller 2003): poly6 values, spiky gradients, so its density
and its gradient are not consistent with each other.
"""

import enum

import quadrants as qd


class Smoothing(enum.IntEnum):
    CUBIC_SPLINE = 0
    WENDLAND_C2 = 1
    POLY6_SPIKY = 2

    @property
    def is_consistent(self) -> bool:
        """Whether its gradients are those of its values."""
        return self != Smoothing.POLY6_SPIKY


@qd.func
def value(kind: qd.template(), q: qd.f32) -> qd.f32:
    """w(q)."""
    w = qd.f32(0.0)
    outer = qd.max(1.0 - q, 0.0)
    if qd.static(kind == Smoothing.CUBIC_SPLINE):
        inner = qd.max(0.5 - q, 0.0)
        w = 2.0 * outer * outer * outer - 8.0 * inner * inner * inner
    elif qd.static(kind == Smoothing.WENDLAND_C2):
        w = outer * outer * outer * outer * (1.0 + 4.0 * q)
    else:
        bell = qd.max(1.0 - q * q, 0.0)
        w = bell * bell * bell
    return w


@qd.func
def slope_over_q(kind: qd.template(), q: qd.f32) -> qd.f32:
    """w'(q)/q."""
    slope = qd.f32(0.0)
    outer = qd.max(1.0 - q, 0.0)
    if qd.static(kind == Smoothing.CUBIC_SPLINE):
        inner = qd.max(0.5 - q, 0.0)
        slope = (24.0 * inner * inner - 6.0 * outer * outer) / qd.max(q, 1e-6)
    elif qd.static(kind == Smoothing.WENDLAND_C2):
        slope = -20.0 * outer * outer * outer
    else:
        slope = -3.0 * outer * outer / qd.max(q, 1e-6)
    return slope
