# mypy: disable-error-code="valid-type,no-untyped-def,no-untyped-call,misc"
"""One stiffness for all: the density constraint as in DYVERSO (eqs. 3 and 4).

The exact stiffness of a constraint takes a loop over pairs (`density_kernels.prepare_stiffness`). Its
value in a full neighbourhood on a lattice is a constant of the material and the spacing. It is bad where
neighbourhoods are not full: at surfaces, where the exact one is up to 1.5 times as large, steps are
too long by as much, and drops of a few particles, where it is a quarter, take too short ones.
"""

import quadrants as qd

from viscoil.core.compute import Doubles
from viscoil.core.reductions import total_blocks
from viscoil.neighbors.pairs import separation
from viscoil.neighbors.resolution import size_of, volume_of
from viscoil.neighbors.scale import Scale
from viscoil.solvers.dcpbd.density_kernels import Tally
from viscoil.solvers.dcpbd.relaxation import sum_terms
from viscoil.solvers.dcpbd.workspace import Fluid, Unknowns


@qd.func
def prepare_prototype_stiffness(
    n: qd.i32,
    periodic: qd.template(),
    full: qd.f32,
    margin: qd.f32,
    scale: Scale,
    fluid: Fluid,
    unknowns: Unknowns,
    sums: Doubles,
    progress: Doubles,
):
    """S_i = Δt² V full/m_i, over the length β = 0.35 of a Jacobi step (eq. 4).

    Whether a particle outran the pair list is judged by four of its neighbours, spread over its row
    and so over all sides of it: what is counted is a lower bound.
    """
    for i in range(n):
        size = size_of(scale, fluid, i)
        step = scale.dt * scale.dt * volume_of(scale, fluid, i)
        unknowns.stiffness[i] = step * full / (size * size) * fluid.inverse_mass[i] / 0.35
        begin = fluid.pairs.start[i]
        count = fluid.pairs.start[i + 1] - begin
        approach = 0.0
        if count > 0:
            for s in qd.static(range(4)):
                j = fluid.pairs.neighbor[begin + s * count // 4]
                before = separation(periodic, fluid.period, fluid.position[i], fluid.position[j])
                x = separation(periodic, fluid.period, unknowns.trial[i], unknowns.trial[j])
                approach = qd.max(approach, before.norm() - x.norm())
        unknowns.term[i] = qd.cast(approach > margin * size * scale.support, qd.f32)
    sum_terms(n, unknowns, sums)
    total_blocks(n, sums, progress, Tally.OUTRAN)
