# mypy: disable-error-code="valid-type,misc"
"""Lengths and constants of the discretisation, which kernels share."""

from dataclasses import dataclass, field

import quadrants as qd

from viscoil.core.compute import COMPILED_IN
from viscoil.neighbors.lattice import lattice_sums
from viscoil.neighbors.smoothing import Smoothing


@dataclass
class Scale:
    """Lengths and constants of the discretisation; `dt` changes from step to step."""

    spacing: qd.f32  # d, m
    support: qd.f32  # h, m
    volume: qd.f32  # V of a particle, m³
    value_scale: qd.f32  # W = value_scale · w(q), 1/m³
    gradient_scale: qd.f32  # ∇W = gradient_scale · (w'(q)/q) · x, 1/m⁵
    beside: qd.f32  # Σ V W of half a lattice whose first layer is a spacing away
    dt: qd.f32  # s
    kind: qd.template() = field(default=0, metadata=COMPILED_IN)  # a Smoothing
    mixed: qd.template() = field(default=False, metadata=COMPILED_IN)  # whether sizes differ
    parted: qd.template() = field(default=False, metadata=COMPILED_IN)  # whether bodies collide


def make_scale(spacing: float, support: float, kind: Smoothing, mixed: bool = False) -> Scale:
    """Scales for particles of volume d³ on whose cubic lattice Σ V W is exactly one.

    The smoothing function is rescaled for that (by less than a percent), and not the mass, so that
    both the mass of a body and the density that it sees are right.
    """
    volume = spacing**3
    radius = support * spacing
    whole, below = lattice_sums(kind, support)
    value_scale = 1.0 / (volume * whole)
    calibration = value_scale * radius**3 / kind.value_constant
    gradient_scale = calibration * kind.gradient_constant / radius**5
    beside = below[0] / whole
    return Scale(
        spacing, radius, volume, value_scale, gradient_scale, beside, 0.0, int(kind), mixed
    )
