# mypy: disable-error-code="valid-type,no-untyped-def,no-untyped-call,misc"
"""How much of each particle is open to the air.

The density that a particle lacks, 1 − Σ_j V_j W_ij − γ_i, comes from the space around it that neither
fluid nor wall fills. Over the layers below a flat lattice surface these lacks add up to a known number;
in units of it they are areas in d². A particle at an edge counts about twice, a lone one about four
times (its true area is 4.8 d²). Where particles lie unevenly it errs by some tenths.
"""

from typing import Any

import quadrants as qd

from viscoil.core.compute import Floats, Scratch
from viscoil.forces.protocol import StepView
from viscoil.neighbors.arrays import ParticleArrays
from viscoil.neighbors.lattice import calibrate
from viscoil.neighbors.period import separation
from viscoil.neighbors.scale import Scale
from viscoil.neighbors.smoothing import Smoothing, value
from viscoil.walls.arrays import WallArrays, wall_density


@qd.kernel(fastcache=True)
def _expose(
    n: qd.i32,
    flat: qd.f32,
    noise: qd.f32,
    scale: Scale,
    near: ParticleArrays,
    walls: WallArrays,
    exposure: Floats,
):
    """Lacks of density in units of `flat`; what unevenness alone can make fades out below 2 `noise`."""
    for i in range(n):
        xi = near.position[i]
        kernel_sum = scale.own
        for k in range(near.pairs.start[i], near.pairs.start[i + 1]):
            x = separation(near.period, xi, near.position[near.pairs.neighbor[k]])
            kernel_sum += value(scale.kind, x.norm() / scale.support)
        lack = 1.0 - scale.volume * scale.value_scale * kernel_sum
        if near.contact[i] >= 0:
            lack -= wall_density(xi, scale.support, walls)[3]
        lack /= flat
        exposure[i] = lack * qd.min(qd.max(lack / noise - 1.0, 0.0), 1.0)


def flat_lack(kind: Smoothing, support: float) -> float:
    """Σ over the layers of a lattice half space of the density that each lacks."""
    return sum(calibrate(kind, support).below)


class Exposure:
    """Keeps its array between steps; `NOISE` of a flat surface's lack is taken for unevenness."""

    NOISE = 0.15

    def __init__(self, smoothing: Smoothing, support: float) -> None:
        """`support` is h in spacings."""
        self._scratch = Scratch()
        self._flat = flat_lack(smoothing, support)

    def __call__(self, step: StepView) -> Any:
        """Open area of each particle in d², at x⁰; needs the contacts of the step."""
        exposure = self._scratch.floats("exposure", step.capacity)
        _expose(
            step.n, self._flat, self.NOISE, step.scale, step.near, step.walls.arrays, exposure
        )  # fmt: skip
        return exposure
