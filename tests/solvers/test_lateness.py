# mypy: disable-error-code="valid-type,no-untyped-def,no-untyped-call,misc"
"""Where on their way pressures push particles."""

import numpy as np
import pytest
import quadrants as qd
from rigs import SPACING, Float, Rig, lattice, numbers

from viscoil import Material
from viscoil.core.compute import Vec3s, write
from viscoil.neighbors.arrays import ParticleArrays
from viscoil.neighbors.scale import Scale
from viscoil.solvers.dcpbd.arrays import Unknowns
from viscoil.solvers.dcpbd.lateness import set_lateness, way_of_push

DT = 1.0 / 120.0
HALF_OF_STABLE = 2.0 / 9.6 * 1000.0 * (SPACING / DT) ** 2  # Pa

pytestmark = pytest.mark.usefixtures("compute")


@qd.kernel
def _ways(
    n: qd.i32,
    late: qd.template(),
    scale: Scale,
    near: ParticleArrays,
    unknowns: Unknowns,
    forth: Vec3s,
    back: Vec3s,
):
    """Of each particle to the first of its neighbours, and the other way round."""
    for i in range(n):
        set_lateness(scale, near, unknowns, i)
    for i in range(n):
        j = near.pairs.neighbor[near.pairs.start[i]]
        forth[i] = way_of_push(late, scale, near, unknowns, i, j)
        back[i] = way_of_push(late, scale, near, unknowns, j, i)


def shares(pressure: float, moved: float, late: bool = False) -> Float:
    """θ of pairs under this pressure (Pa), of which every other particle moves (spacings)."""
    rig = Rig(lattice((5, 5, 5)), material=Material(density=1000.0, viscosity=0.0))
    c = rig.prepare(DT)
    x = numbers(c.view.near.position, c.n)
    step = np.zeros_like(x)
    step[::2, 1] = moved * SPACING
    write(c.unknowns.place, (x + step).astype(np.float32))
    write(c.unknowns.pressure, np.full(c.n, pressure, dtype=np.float32))
    forth, back = (qd.Vector.ndarray(3, qd.f32, (c.n,)) for _ in range(2))
    _ways(c.n, late, c.view.scale, c.view.near, c.unknowns, forth, back)
    there, again = numbers(forth, c.n), numbers(back, c.n)
    np.testing.assert_allclose(there, -again, atol=1e-9)  # what is opposite keeps momentum
    start, neighbor = rig.neighbors.as_numpy(c.n)
    other = neighbor[start[:-1]]
    apart = step - step[other]
    pairs = np.abs(apart[:, 1]) > 0.0
    taken = there[pairs, 1] - (x - x[other])[pairs, 1]
    return np.asarray(taken / apart[pairs, 1])


@pytest.mark.parametrize("multiple", [0.0, 0.9, 2.0, 10.0])
def test_springs_act_at_the_start_of_the_step_while_that_is_stable(multiple: float) -> None:
    """(1 − θ) Δt² k/ρ is 2 at most; coordinates of 0.05 m round a way of 1e-3 m by 1e-5 of it."""
    found = shares(multiple * HALF_OF_STABLE, moved=0.05)
    expected = 1.0 - 1.0 / max(multiple, 1.0)
    np.testing.assert_allclose(found, expected, atol=1e-4)


def test_pairs_that_move_far_push_where_they_end() -> None:
    assert np.allclose(shares(0.0, moved=0.09), 0.0, atol=1e-4)
    assert np.allclose(shares(0.0, moved=0.175), 0.5, atol=1e-2)
    assert np.allclose(shares(0.0, moved=0.3), 1.0, atol=1e-4)


def test_the_variants_of_the_paper_push_where_the_step_ends() -> None:
    assert np.allclose(shares(0.0, moved=0.05, late=True), 1.0, atol=1e-4)
