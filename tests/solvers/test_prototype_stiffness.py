"""One stiffness for all, from a prototype neighbourhood (DYVERSO, eqs. 3 and 4)."""

from typing import Any

import numpy as np
import pytest
from rigs import SPACING, Rig, jitter, lattice, numbers

from viscoil.scene import Material
from viscoil.solvers.dcpbd.context import StepContext
from viscoil.solvers.dcpbd.position_projection import MARGIN
from viscoil.solvers.dcpbd.tallies import Tally

WATER = Material(density=1000.0, viscosity=0.0)
HEAVY = Material(density=4000.0, viscosity=0.0)
DT = 1.0 / 240.0

pytestmark = [pytest.mark.usefixtures("compute"), pytest.mark.physics]


def begun(
    stiffness: str,
    position: np.ndarray,
    velocity: np.ndarray | float = 0.0,
    material: Material = WATER,
    **solver: Any,
) -> tuple[Rig, StepContext]:
    rig = Rig(position, velocity, material, stiffness=stiffness, **solver)
    c = rig.prepare(DT)
    rig.solver._project_positions.predict(c)
    return rig, c


def stiffnesses(stiffness: str, position: np.ndarray, material: Material = WATER) -> np.ndarray:
    """By id, 1/Pa."""
    rig, c = begun(stiffness, position, material=material)
    return numbers(c.unknowns.stiffness, c.n)[np.argsort(rig.particles["id"])]


def test_it_is_the_exact_one_of_a_full_lattice() -> None:
    """A particle with all neighbours on a lattice: the same sum, but for the rounding of floats.

    At a face the particle's own gradient, which in the middle is 0, makes the exact one larger.
    """
    points = lattice((7, 7, 7))
    middle = np.linalg.norm(points, axis=1).argmin()
    face = np.linalg.norm(points - [3.0 * SPACING, 0.0, 0.0], axis=1).argmin()
    exact, prototype = (stiffnesses(s, points) for s in ("exact", "prototype"))
    assert prototype[middle] == pytest.approx(exact[middle], rel=1e-5)
    assert exact[face] > 1.3 * exact[middle]
    assert prototype[face] == prototype[middle]


def test_it_is_one_for_all_and_goes_with_the_mass() -> None:
    """S = Δt² V Σ|V ∇W|²/m: whatever the neighbourhood, and a quarter at four times the density."""
    points = jitter(lattice((6, 6, 6)), 0.2)
    light, heavy = (stiffnesses("prototype", points, m) for m in (WATER, HEAVY))
    assert len(set(light.tolist())) == 1
    np.testing.assert_allclose(heavy, light / 4.0, rtol=1e-6)


def test_it_converges_as_the_exact_one_does() -> None:
    """A ball pressed together by 4 % of its spacing: 12 % too dense, back to 0.1 % in the mean.

    There the exact stiffness is 1.2 times the constant, at faces and edges 1.5 times, and both are
    divided by the same length of a step: iterations must not differ by more than twice that.
    """
    points = jitter(lattice((9, 9, 9)), 0.02)
    points = 0.96 * points[np.linalg.norm(points, axis=1) < 4.2 * SPACING]
    used = {}
    for stiffness in ("exact", "prototype"):
        rig = Rig(points, 0.0, WATER, stiffness=stiffness, max_position_iterations=200)
        c = rig.prepare(DT)
        rig.solver._project_positions.predict(c)
        convergence, error = rig.solver._project_positions(c)
        assert error.unbalanced < rig.solver.settings.density_tolerance
        used[stiffness] = convergence.iterations
    assert used["exact"] / 3 <= used["prototype"] <= 3 * used["exact"]


@pytest.mark.parametrize(("speed", "outrunning"), [(0.0, False), (0.05, False), (1.0, True)])
def test_who_outran_the_pair_list_is_still_seen(speed: float, outrunning: bool) -> None:
    """Two halves that meet: at 2 · 1 m/s · Δt they approach by 0.4 d and the margin is 0.04 d.

    At 0.05 m/s it is 0.02 d. The count is a lower bound of the exact one.
    """
    points = lattice((8, 6, 6))
    right = points[:, 0] > 0.0
    velocity = np.where(right, -speed, speed)[:, None] * np.array([1.0, 0.0, 0.0])
    counts = []
    for stiffness in ("exact", "prototype"):
        rig, _ = begun(stiffness, points, velocity)
        counts.append(rig.solver._project_positions._loop.number(Tally.OUTRAN))
    exact, sampled = counts
    assert sampled <= exact
    assert (sampled > 0) == outrunning == (exact > 0)
    assert MARGIN == 0.02
