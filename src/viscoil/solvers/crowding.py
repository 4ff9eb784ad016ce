# mypy: disable-error-code="valid-type,no-untyped-def,no-untyped-call,misc"
"""How crowded particles are where they stand, whatever solver moves them on."""

import numpy as np
import numpy.typing as npt
import quadrants as qd

from viscoil.core.compute import Floats, scalars, view
from viscoil.neighbors.arrays import ParticleArrays
from viscoil.neighbors.period import separation
from viscoil.neighbors.resolution import pair_size, support_of, value_share
from viscoil.neighbors.scale import Scale
from viscoil.neighbors.smoothing import value
from viscoil.solvers.protocol import Solver, State
from viscoil.walls.arrays import WallArrays, wall_density


def crowding(solver: Solver, state: State) -> npt.NDArray[np.float32]:
    """C_i = Σ_j V_j W_ij + γ_i − 1 of every particle: 0 where it is full, more where it is crowded."""
    solver.find_neighbors(state)
    n = state.particles.count
    found = scalars(qd.f32, max(n, 1))
    if n:
        step = solver.view(state, 1.0)
        _crowding(n, step.scale, step.near, step.walls.arrays, found)
    crowded: npt.NDArray[np.float32] = view(found, n)
    return crowded


@qd.kernel(fastcache=True)
def _crowding(n: qd.i32, scale: Scale, near: ParticleArrays, walls: WallArrays, found: Floats):
    for i in range(n):
        x = near.position[i]
        total = scale.own
        for k in range(near.pairs.start[i], near.pairs.start[i + 1]):
            j = near.pairs.neighbor[k]
            r = separation(near.period, x, near.position[j]).norm()
            w = value(scale.kind, r / (pair_size(scale, near, i, j) * scale.support))
            total += value_share(scale, near, i, j) * w
        behind = wall_density(x, support_of(scale, near, i), walls)[3]
        found[i] = scale.volume * scale.value_scale * total + behind - 1.0
