# mypy: disable-error-code="valid-type,misc"
"""Lengths and constants of the discretisation, which kernels share."""

from dataclasses import dataclass, field

import quadrants as qd

from viscoil.core.compute import COMPILED_IN
from viscoil.neighbors.lattice import calibrate
from viscoil.neighbors.smoothing import Smoothing


@dataclass
class Scale:
    """Lengths and constants of the discretisation; `dt` changes from step to step."""

    spacing: qd.f32  # d, m
    support: qd.f32  # h, m
    volume: qd.f32  # V of a particle, m³
    value_scale: qd.f32  # W = value_scale · w(q), 1/m³
    gradient_scale: qd.f32  # ∇W = gradient_scale · (w'(q)/q) · x, 1/m⁵
    own: qd.f32  # what a particle adds to its own density, in the place of w(0)
    beside: qd.f32  # Σ V W of half a lattice whose first layer is a spacing away
    dt: qd.f32  # s
    kind: qd.template() = field(default=0, metadata=COMPILED_IN)  # a Smoothing
    mixed: qd.template() = field(default=False, metadata=COMPILED_IN)  # whether sizes differ
    parted: qd.template() = field(default=False, metadata=COMPILED_IN)  # whether bodies collide


def make_scale(spacing: float, support: float, kind: Smoothing, mixed: bool = False) -> Scale:
    """Scales for particles of volume d³, calibrated on their cubic lattice (`calibrate`).

    The smoothing function is rescaled for that (by a few percent), and not the mass, so that both the
    mass of a body and the density that it sees are right.
    """
    volume = spacing**3
    radius = support * spacing
    lattice = calibrate(kind, support)
    return Scale(
        spacing, radius, volume, lattice.value / volume, lattice.slope / (volume * radius**2),
        lattice.own, lattice.below[0], 0.0, int(kind), mixed,
    )  # fmt: skip
