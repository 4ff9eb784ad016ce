# mypy: disable-error-code="valid-type,no-untyped-def,no-untyped-call,misc"
"""One stiffness for all: the density constraint as in DYVERSO (eqs. 3 and 4).

The exact stiffness of a constraint takes a loop over pairs (`density.prepare_stiffness`). Its value in a
full neighbourhood on a lattice is a constant of the material and the spacing. It is bad where
neighbourhoods are not full: at surfaces, where the exact one is up to 1.5 times as large, steps are
too long by as much, and drops of a few particles, where it is a quarter, take too short ones.
"""

import quadrants as qd

from viscoil.core.reductions import total_blocks
from viscoil.neighbors.arrays import ParticleArrays
from viscoil.neighbors.period import separation
from viscoil.neighbors.resolution import size_of, volume_of
from viscoil.neighbors.scale import Scale
from viscoil.solvers.dcpbd.arrays import Unknowns
from viscoil.solvers.dcpbd.density import jacobi_length
from viscoil.solvers.dcpbd.tallies import Tally
from viscoil.solvers.linear.conjugate_gradients import sum_terms
from viscoil.solvers.linear.iterations import LoopArrays
from viscoil.walls.arrays import WallArrays
from viscoil.walls.body_positions import body_stiffness


@qd.func
def prepare_prototype_stiffness(
    n: qd.i32,
    full: qd.f32,
    margin: qd.f32,
    scale: Scale,
    near: ParticleArrays,
    walls: WallArrays,
    unknowns: Unknowns,
    loop: LoopArrays,
):
    """S_i = Δt² V full/m_i, over the length of a Jacobi step (β in eq. 4).

    Whether a particle outran the pair list is judged by four of its neighbours, spread over its row
    and so over all sides of it: what is counted is a lower bound.
    """
    for i in range(n):
        size = size_of(scale, near, i)
        step = scale.dt * scale.dt * volume_of(scale, near, i)
        stiffness = step * full / (size * size) * near.inverse_mass[i] / jacobi_length()
        more = body_stiffness(unknowns.place[i], scale, near, walls, i)
        unknowns.stiffness[i] = stiffness + more
        begin = near.pairs.start[i]
        count = near.pairs.start[i + 1] - begin
        approach = 0.0
        if count > 0:
            for s in qd.static(range(4)):
                j = near.pairs.neighbor[begin + s * count // 4]
                before = separation(near.period, near.position[i], near.position[j])
                x = separation(near.period, unknowns.place[i], unknowns.place[j])
                approach = qd.max(approach, before.norm() - x.norm())
        unknowns.term[i] = qd.cast(approach > margin * size * scale.support, qd.f32)
    sum_terms(n, unknowns.term, loop.sums)
    total_blocks(n, loop.sums, loop.numbers, Tally.OUTRAN)
