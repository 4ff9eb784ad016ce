# mypy: disable-error-code="valid-type,no-untyped-def,no-untyped-call,misc"
"""The density constraint: calibrated lattices, and forces that are its gradient."""

from functools import cache

import numpy as np
import pytest
from density_rigs import displacements, measure
from numpy.typing import NDArray
from rigs import FLOOR, SPACING, Rig, jitter, lattice, numbers

from viscoil.constraints.density import WALL_TABLE, wall_table
from viscoil.neighbors.lattice import calibrate, smoothing_value
from viscoil.neighbors.scale import make_scale
from viscoil.neighbors.smoothing import Smoothing
from viscoil.solvers.dcpbd.position_projection import LEAST_STIFFNESS, lattice_stiffness

Float = NDArray[np.float64]
JACOBI_LENGTH = 0.35
DT = 1.0 / 240.0
KINDS = list(Smoothing)
CONSISTENT = [Smoothing.CUBIC_SPLINE, Smoothing.WENDLAND_C2]

pytestmark = [pytest.mark.usefixtures("compute"), pytest.mark.physics]


def body(points: Float, kind: Smoothing, floor: bool = False, support: float = 2.0) -> Rig:
    return Rig(
        points,
        colliders=[FLOOR] if floor else [],
        smoothing=kind.name.lower(),
        support=support,
        position_iterations=0,
        max_position_iterations=0,
    )


@cache
def table(kind: Smoothing) -> Float:
    return wall_table(kind, 2.0).astype(np.float64)


def exact_compression(kind: Smoothing, y: Float, floor: bool) -> Float:
    """C in double precision, by brute force; images lie as far below a floor as particles above it."""
    scale = make_scale(SPACING, 2.0, kind)
    square = ((y[:, None] - y[None]) ** 2).sum(axis=-1)
    total = smoothing_value(kind, np.sqrt(square) / scale.support).sum(axis=1)
    total += scale.own - smoothing_value(kind, np.zeros(1))
    unit = scale.volume * scale.value_scale
    if floor:
        images = np.sqrt(square + 4.0 * y[:, 1][:, None] * y[:, 1][None])
        total += smoothing_value(kind, images / scale.support).sum(axis=1)
    return np.asarray(unit * total - 1.0)


@pytest.mark.parametrize("support", [1.5, 2.0, 2.7])
@pytest.mark.parametrize("kind", KINDS)
def test_a_lattice_has_its_rest_density(kind: Smoothing, support: float) -> None:
    """To rounding: a sum of up to 81 values of order 1 and the spacing's own 1e-6."""
    m = 9
    rig = body(lattice((m, m, m)), kind, support=support)
    c = rig.prepare(DT)
    inner = np.abs(numbers(c.view.near.position, c.n)).max(axis=1) < (0.5 * (m - 1) - 2.6) * SPACING
    assert inner.sum() >= 27
    np.testing.assert_allclose(measure(rig, c)[0][inner], 0.0, atol=1e-5)


@pytest.mark.parametrize("kind", KINDS)
def test_a_lattice_half_a_spacing_from_a_wall(kind: Smoothing) -> None:
    """All layers exactly, by calibration: to the rounding of sums and of coordinates of 0.1 m."""
    m = 9
    block = lattice((m, 6, m), center=(0.0, 3.0 * SPACING, 0.0))
    rig = body(block, kind, floor=True)
    c = rig.prepare(DT)
    x = numbers(c.view.near.position, c.n)
    inner = (np.abs(x[:, [0, 2]]).max(axis=1) < 2.5 * SPACING) & (x[:, 1] < 3.0 * SPACING)
    found = measure(rig, c)[0][inner]
    np.testing.assert_allclose(found, 0.0, atol=2e-5)


@pytest.mark.parametrize("kind", KINDS)
def test_wall_table(kind: Smoothing) -> None:
    """Falls from about a half to nothing; where layers of a lattice are, it is what they miss."""
    share = table(kind)
    assert (np.diff(share) <= 0.0).all()
    assert share[-1] == pytest.approx(0.0, abs=1e-6)
    # a half if walls were fluid without particles; the calibration to a lattice takes some of it
    assert 0.25 < share[0] <= 0.5
    below = calibrate(kind, 2.0).below
    assert share[WALL_TABLE // 4] == pytest.approx(below[0], rel=1e-5)
    assert share[3 * WALL_TABLE // 4] == pytest.approx(below[1], abs=1e-6)


@pytest.mark.parametrize("floor", [False, True])
@pytest.mark.parametrize("kind", CONSISTENT)
def test_pressure_pushes_against_the_gradient_of_the_constraint(
    kind: Smoothing, floor: bool
) -> None:
    """f = −∂/∂y Σ V p C, by central differences in double precision.

    Differences of step 1e-6 d err by 1e-12 relatively, and by the kinks of W'' (cubic)
    only if one lies within the step. The kernel rounds 30 terms and coordinates of 0.1 m
    to 5 ε of the spacing: 1e-5 of the largest force is left as tolerance.
    """
    block = jitter(lattice((4, 4, 4), center=(0.0, 2.0 * SPACING, 0.0)), 0.15, seed=3)
    rig = body(block, kind, floor)
    c = rig.prepare(DT)
    y = numbers(c.view.near.position, c.n)
    pressure = np.random.default_rng(0).uniform(0.0, 1.0, c.n).astype(np.float32)
    force = displacements(rig, c, pressure) * rig.mass / DT**2

    def potential(y: Float) -> float:
        return float(SPACING**3 * (pressure @ exact_compression(kind, y, floor)))

    h = 1e-6 * SPACING
    checked = np.random.default_rng(1).choice(c.n, 20, replace=False)
    if floor:
        checked = np.concatenate([checked, np.argsort(y[:, 1])[:8]])
    for i in checked:
        for axis in range(3):
            shift = np.zeros_like(y)
            shift[i, axis] = h
            slope = (potential(y + shift) - potential(y - shift)) / (2.0 * h)
            assert force[i, axis] == pytest.approx(-slope, abs=1e-5 * np.abs(force).max())


@pytest.mark.parametrize("floor", [False, True])
@pytest.mark.parametrize("kind", CONSISTENT)
def test_stiffness_is_the_answer_to_pressure(kind: Smoothing, floor: bool) -> None:
    """S_i = −dC_i/dp_i: put pressure on one particle, move all as the kernel says, see C_i fall.

    The kernel's displacements are used as directions (1e-6 accurate) in a central difference in
    double precision. S has a floor of a tenth of that of a full neighbourhood.
    """
    block = jitter(lattice((4, 4, 4), center=(0.0, 2.2 * SPACING, 0.0)), 0.15, seed=5)
    rig = body(block, kind, floor)
    c = rig.prepare(DT)
    y = numbers(c.view.near.position, c.n)
    _, stiffness = measure(rig, c)
    stiffness = JACOBI_LENGTH * stiffness
    least = LEAST_STIFFNESS * lattice_stiffness(kind, 2.0, c.view.scale)
    lowest = DT**2 * SPACING**3 * least / rig.mass
    for i in [*range(0, c.n, 7), int(np.argmin(y[:, 1]))]:
        direction = displacements(rig, c, np.eye(c.n)[i])
        h = 1e-6 * SPACING / np.abs(direction).max()
        ahead = exact_compression(kind, y + h * direction, floor)[i]
        behind = exact_compression(kind, y - h * direction, floor)[i]
        measured = -(ahead - behind) / (2.0 * h)
        assert stiffness[i] == pytest.approx(max(measured, lowest), rel=2e-4)


@pytest.mark.parametrize("kind", KINDS)
def test_the_stiffness_floor_is_a_tenth_of_a_lattice(kind: Smoothing) -> None:
    """S in the middle of a lattice is Δt² V/m Σ V² |∇W|², what the floor is a share of."""
    rig = body(lattice((7, 7, 7)), kind)
    c = rig.prepare(DT)
    _, stiffness = measure(rig, c)
    middle = int(np.argmin(np.abs(numbers(c.view.near.position, c.n)).max(axis=1)))
    share = lattice_stiffness(kind, 2.0, c.view.scale)
    expected = DT**2 * SPACING**3 / rig.mass * share / JACOBI_LENGTH
    assert stiffness[middle] == pytest.approx(expected, rel=1e-4)
    assert LEAST_STIFFNESS == 0.1


def test_coincident_particles_push_all_others_away() -> None:
    """Three in one place, where a direction from one to another does not exist.

    Their density is that of brute force, to the rounding of some 30 terms. Pressure has no direction
    among themselves, and pushes the others straight away from them, without momentum as a whole.
    """
    points = np.concatenate([lattice((3, 3, 3)), np.zeros((2, 3))])
    rig = body(points, Smoothing.CUBIC_SPLINE)
    rig.particles["position"] = points  # also where starts are moved a little
    c = rig.prepare(DT)
    x = numbers(c.view.near.position, c.n)
    compression, stiffness = measure(rig, c)
    expected = exact_compression(Smoothing.CUBIC_SPLINE, x, False)
    np.testing.assert_allclose(compression, expected, atol=1e-5)
    assert (stiffness > 0.0).all()
    inner = np.linalg.norm(x, axis=1) < 0.1 * SPACING
    assert inner.sum() == 3
    moved = displacements(rig, c, np.where(inner, 1.0, 0.0))
    largest = np.abs(moved).max()
    np.testing.assert_allclose(moved[inner], 0.0, atol=1e-6 * largest)
    assert ((x * moved).sum(axis=1)[~inner] > 0.0).all()
    np.testing.assert_allclose(moved.sum(axis=0), 0.0, atol=1e-6 * len(x) * largest)
