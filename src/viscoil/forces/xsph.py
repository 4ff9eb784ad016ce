# mypy: disable-error-code="valid-type,no-untyped-def,no-untyped-call,misc"
"""Iterative XSPH smoothing of velocities (DYVERSO, eq. 6; Monaghan 1994).

v_i += c/N Σ_j V_j (v_j − v_i) W_ij, N = ⌈c/0.5⌉ times. Deviation: the pair takes the mean of the two
c, and the mass 2 m_j/(m_i + m_j), so that what i gains is what j loses and momentum is kept to
round-off also between materials. Σ V W without the own term is at most 0.7, so a pass takes a
particle at most 0.7 of the way to its neighbours: any c is stable.

It comes last in a step, on the velocities that the projections ended with. Before them, it would be
undone where constraints act, and it would take part of gravity from particles at walls.

When it is bad: the forces are not central, so a spinning body loses spin.
"""

import math
from typing import Any, ClassVar

import quadrants as qd

from viscoil.core.compute import Scratch, Vec3s, vec3
from viscoil.forces.protocol import Force, StepView
from viscoil.materials.table import MaterialTable
from viscoil.neighbors.arrays import ParticleArrays
from viscoil.neighbors.bodies import apart
from viscoil.neighbors.period import separation
from viscoil.neighbors.scale import Scale
from viscoil.neighbors.smoothing import value

LARGEST_SHARE = 0.5  # of c in one pass


def passes(c: float) -> int:
    """N of the largest c: how many passes it is spread over."""
    return math.ceil(c / LARGEST_SHARE)


@qd.kernel(fastcache=True)
def smooth(
    n: qd.i32,
    share: qd.f32,
    scale: Scale,
    materials: MaterialTable,
    near: ParticleArrays,
    velocity: Vec3s,
    change: Vec3s,
):
    """One pass, with c/N = c · share."""
    for i in range(n):
        xi = near.position[i]
        ui = velocity[i]
        m = near.material[i]
        gain = vec3(0.0)
        for k in range(near.pairs.start[i], near.pairs.start[i + 1]):
            j = near.pairs.neighbor[k]
            other = near.material[j]
            x = separation(near.period, xi, near.position[j])
            both = materials.xsph[m] + materials.xsph[other]
            mass = materials.density[other] / (materials.density[m] + materials.density[other])
            weight = both * mass * value(scale.kind, x.norm() / scale.support)
            if not apart(scale, near, i, j):
                gain += weight * (velocity[j] - ui)
        change[i] = share * scale.volume * scale.value_scale * gain
    for i in range(n):
        velocity[i] = velocity[i] + change[i]


class VelocitySmoothing(Force):
    """All passes at the end of a step; none where no material asks for it."""

    name: ClassVar[str] = "xsph"

    def __init__(self) -> None:
        self._scratch = Scratch()

    def finish(self, step: StepView, velocity: Any) -> None:
        """v ← what N passes leave of it."""
        count = passes(step.materials.largest("xsph"))
        if count == 0:
            return
        change = self._scratch.vectors("change", 3, step.capacity)
        for _ in range(count):
            smooth(
                step.n, 1.0 / count, step.scale, step.materials.table, step.near, velocity, change
            )
