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

import quadrants as qd

from viscoil.core.compute import vec3
from viscoil.materials.table import MaterialTable
from viscoil.neighbors.pairs import separation
from viscoil.neighbors.scale import Scale
from viscoil.neighbors.smoothing import value
from viscoil.solvers.dcpbd.projections import StepContext
from viscoil.solvers.dcpbd.workspace import Fluid, Unknowns

LARGEST_SHARE = 0.5  # of c in one pass


def passes(c: float) -> int:
    """N."""
    return math.ceil(c / LARGEST_SHARE)


@qd.kernel(fastcache=True)
def smooth(
    n: qd.i32,
    kind: qd.template(),
    periodic: qd.template(),
    share: qd.f32,
    scale: Scale,
    materials: MaterialTable,
    fluid: Fluid,
    unknowns: Unknowns,
):
    """One pass, with c/N = c · share."""
    for i in range(n):
        xi = fluid.position[i]
        ui = unknowns.velocity[i]
        m = fluid.material[i]
        gain = vec3(0.0)
        for k in range(fluid.pairs.start[i], fluid.pairs.start[i + 1]):
            j = fluid.pairs.neighbor[k]
            other = fluid.material[j]
            x = separation(periodic, fluid.period, xi, fluid.position[j])
            both = materials.xsph[m] + materials.xsph[other]
            mass = materials.density[other] / (materials.density[m] + materials.density[other])
            weight = both * mass * value(kind, x.norm() / scale.support)
            gain += weight * (unknowns.velocity[j] - ui)
        unknowns.change[i] = share * scale.volume * scale.value_scale * gain
    for i in range(n):
        unknowns.velocity[i] = unknowns.velocity[i] + unknowns.change[i]


def smooth_velocities(c: StepContext, kind: int) -> None:
    """All passes; none where no material asks for it."""
    count = passes(c.materials.largest("xsph"))
    for _ in range(count):
        smooth(
            c.n, kind, c.periodic, 1.0 / count, c.scale, c.materials.table, c.fluid, c.unknowns
        )  # fmt: skip
