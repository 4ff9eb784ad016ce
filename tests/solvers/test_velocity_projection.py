"""The velocity projection is one linear system: compared with its dense solution."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from bars import below, near
from numpy.typing import NDArray
from projection_rigs import Problem, compliance
from rigs import (
    FLOOR,
    SPACING,
    VISCOUS,
    Discretisation,
    Rig,
    assemble,
    assemble_bends,
    jitter,
    lattice,
    mandel,
    numbers,
    unmandel,
)
from scipy.linalg import eigh

from viscoil.core.compute import view
from viscoil.scene import Material
from viscoil.walls.arrays import Mode

Float = NDArray[np.float64]
DT = 1.0 / 240.0
ELASTIC = Material(density=1000.0, modulus=5e3, relaxation_time=0.2, solvent_viscosity=2.0)
PAPER = Material(density=1000.0, relaxation_time=0.1, compliance=2e-3)

pytestmark = [pytest.mark.usefixtures("compute"), pytest.mark.physics]


def problem(
    floor: bool = False, material: Material = VISCOUS, landing: bool = False, **solver: Any
) -> Problem:
    """5³ particles; with a floor they move down onto it, if `landing` as a whole.

    Without corotation, whose strain is not linear in u*, and until nothing more can be gained.
    """
    settings: dict[str, Any] = {
        "velocity_iterations": 2000,
        "velocity_tolerance": 1e-6,
        "corotation": False,
    }
    center = (0.0, 2.55 * SPACING, 0.0) if floor else (0.3, -0.1, 0.2)
    points = jitter(lattice((5, 5, 5), center=center), 0.1, seed=1)
    rig = Rig(points, material=material, colliders=[FLOOR] if floor else [], **settings | solver)
    rng = np.random.default_rng(2)
    gradient = 4.0 * rng.normal(size=(3, 3))
    x = np.array(rig.particles["position"]) - np.array(center)
    flow = x @ gradient.T + np.sin(60.0 * x) + [0.3, -1.0 if floor else 0.0, 0]
    rig.particles["velocity"] = [0.0, -1.0, 0.0] if landing else flow
    if material.relaxation_time > 0.0:
        rig.particles["conformation"] += 0.05 * rng.normal(size=(len(points), 6))
        rig.particles["dilation"] = 0.01 * rng.normal(size=len(points))
        rig.particles["curvature"] = 0.05 * rng.normal(size=(len(points), 3))
    c = rig.prepare(DT)
    memory = numbers(c.memory.conformation, c.n) - [1.0, 1.0, 1.0, 0.0, 0.0, 0.0]
    return Problem(rig, c, np.array(rig.particles["velocity"], np.float64), memory)


def right_side(p: Problem, system: Discretisation, velocity: Float) -> Float:
    """Remembered Q⁰ − I, of which the mean part has its own weight, and the strain of u.

    Bends, if the system has them, remember the curvature.
    """
    table = p.c.materials
    memory, volume_memory = float(view(table.memory)[0]), float(view(table.volume_memory)[0])
    mean = np.zeros((p.n, 6))
    mean[:, :3] = p.memory[:, :3].mean(axis=1)[:, None]
    remembered = memory * p.memory + (volume_memory - memory) * mean
    remembered[:, :3] += memory * numbers(p.c.memory.dilation, p.n)[:, None]
    diagonal = numbers(p.c.stencil.diagonal, p.n)[:, None]
    slack = 100.0 * float(view(table.normal_compliance)[0])
    b = system.strain @ velocity.reshape(-1)
    b[: 6 * p.n] += mandel((slack + 0.2 * diagonal) / (slack + diagonal) * remembered)
    b[6 * p.n :] += memory * numbers(p.c.memory.curvature, p.n).reshape(-1)[: len(b) - 6 * p.n]
    return np.asarray(b)


@dataclass
class Exact:
    velocity: Float  # u**
    stress: Float  # σ
    bend: Float  # μ; none in a system without
    matrix: Float


def dense(p: Problem, bends: bool = True) -> Exact:
    """The solution of the system with the contacts as they are now."""
    system = assemble(p.rig, p.c)
    if bends:
        system = system.above(assemble_bends(p.rig, p.c))
    free, base = np.ones((p.n, 3)), p.free_velocity.copy()
    contacts, count = p.rig.walls.arrays.contacts, p.rig.walls.count
    particle, mode = view(contacts.particle, count), view(contacts.mode, count)
    stuck, held = particle[mode == Mode.FIXED], particle[mode != Mode.FREE]
    free[stuck] = base[stuck] = 0.0
    free[held, 1] = 0.0
    # on a floor that does not move: along it stress holds them, or contact; down they come to its height
    target = 0.5 * SPACING + 0.05 * np.maximum(view(contacts.height, count) - 0.5 * SPACING, 0.0)
    height = numbers(p.c.view.near.position, p.n)[held, 1]
    base[held, 1] = (target[mode != Mode.FREE] - height) / DT
    matrix = system.operator(free.reshape(-1)).toarray() + compliance(p, bends)
    multipliers = np.linalg.solve(matrix, right_side(p, system, base))
    velocity = base + free * (DT / p.rig.mass * system.force(multipliers)).reshape(-1, 3)
    stress, bend = multipliers[: 6 * p.n], multipliers[6 * p.n :]
    return Exact(velocity, unmandel(stress), bend.reshape(-1, 3), matrix)


@pytest.mark.parametrize("floor", [False, True])
@pytest.mark.parametrize("material", [VISCOUS, ELASTIC, PAPER], ids=["viscous", "elastic", "paper"])
def test_it_solves_the_linear_system(material: Material, floor: bool) -> None:
    """u, σ and μ of conjugate gradients against the dense solution.

    Single precision holds velocities of a few m/s to 1e-7 each; strains are differences of
    neighbours, so the residual cannot fall below about 1e-6 of the right side, and stresses are
    off by that times the root of the condition number (below 1000): 1e-4, velocities by less.
    """
    p = problem(floor, material)
    velocity, stress, report = p.solve()
    bend = numbers(p.c.unknowns.bend, p.n)
    exact = dense(p)
    below(report.residual, 2e-6, "residual", derived=True)
    if floor:
        contacts, count = p.rig.walls.arrays.contacts, p.rig.walls.count
        assert (view(contacts.mode, count) == Mode.SLIDING).any()
        assert view(contacts.linked, count).sum() >= 5
    scale = np.abs(p.free_velocity).max()
    near(velocity, exact.velocity, "velocity, m/s", abs=5e-5 * scale)
    size = np.abs(exact.stress).max()
    near(stress, exact.stress, "stress, Pa", abs=1e-3 * size)
    near(bend, exact.bend, "bend, Pa", abs=1e-3 * size)
    assert np.abs(exact.bend).max() > 0.01 * size


def test_the_residual_falls_as_predicted() -> None:
    """√(r·z) after k iterations is at most √κ · 2 ((√κ − 1)/(√κ + 1))ᵏ of that at the start.

    κ is the condition of the preconditioned matrix, here from its dense eigenvalues; the bound of
    conjugate gradients in the energy norm, and √κ to go from there to the norm of r·z and back.
    """
    p = problem()
    diagonal = np.repeat(numbers(p.c.stencil.diagonal, p.n), 6)
    bend_diagonal = np.repeat(numbers(p.c.stencil.bend_diagonal, p.n), 3)
    a = compliance(p) + np.diag(np.concatenate([diagonal, bend_diagonal]))
    values = eigh(dense(p).matrix, a, eigvals_only=True)
    kappa = np.sqrt(values[-1] / values[0])
    rate = (kappa - 1.0) / (kappa + 1.0)
    last = 1.0
    for k in (3, 6, 12, 24):
        q = problem(velocity_iterations=k, velocity_tolerance=0.0)
        residual = q.solve()[2].residual
        assert residual <= max(2.0 * kappa * rate**k, 2e-6)
        assert residual < last
        last = residual


def test_the_tolerance_stops_it() -> None:
    """At the first iterate that is good enough."""
    report = problem(velocity_tolerance=1e-2).solve()[2]
    assert report.residual <= 1e-2
    before = problem(velocity_tolerance=0.0, velocity_iterations=report.iterations - 1).solve()[2]
    assert before.residual > 1e-2


def test_jacobi_finds_the_same_without_bends() -> None:
    """Damped Jacobi converges to the solution of the same system without bends, only slower.

    Away from walls: on them Jacobi opens and closes contacts in each iteration, conjugate gradients
    once, and they end with different ones.
    """
    p = problem(velocity_solver="jacobi", velocity_iterations=3000)
    velocity, _, report = p.solve()
    exact = dense(p, bends=False).velocity
    near(velocity, exact, "velocity, m/s", abs=1e-3 * np.abs(p.free_velocity).max())
    below(report.residual, 1e-3, "residual of Jacobi")


@pytest.mark.parametrize("landing", [False, True])
def test_a_warm_start_does_not_change_the_answer(landing: bool) -> None:
    """Neither a good nor a bad guess: the system has one solution (as long as its contacts stay)."""
    p = problem(landing, landing=landing)
    cold, stress, _ = p.solve()
    scale = np.abs(p.free_velocity).max()
    rng = np.random.default_rng(5)
    for guess in (stress, 0.3 * stress, -stress, 1e3 * rng.normal(size=stress.shape)):
        warm, _, report = p.solve(guess)
        below(report.residual, 1e-5, "residual from a guess")
        near(warm, cold, "velocity from a guess, m/s", abs=1e-4 * scale)


def test_a_good_guess_saves_iterations() -> None:
    """From the stresses and bends of the solution nothing is left to do but to find that out."""
    p = problem(velocity_tolerance=1e-3)
    _, stress, cold = p.solve()
    _, _, warm = p.solve(stress)
    assert cold.iterations > 10
    assert warm.iterations <= 2


def test_it_keeps_momentum_and_spin() -> None:
    """Stresses make no force and no torque as a whole: momenta of u* and u** agree to rounding."""
    p = problem()
    velocity, _, _ = p.solve()
    x = numbers(p.c.view.near.position, p.n)
    x -= x.mean(axis=0)
    change = velocity - p.free_velocity
    size = np.abs(p.free_velocity).max()
    np.testing.assert_allclose(change.mean(axis=0), 0.0, atol=1e-6 * size)
    torque = np.cross(x, change).mean(axis=0)
    np.testing.assert_allclose(torque, 0.0, atol=1e-5 * size * 2.0 * SPACING)


def test_rigid_motion_is_left_alone() -> None:
    """Translation and (without corotation) rotation have no strain and are answered by nothing."""
    p = problem()
    x = numbers(p.c.view.near.position, p.n)
    flow = np.array([1.0, 2.0, 3.0]) + np.cross([0.0, 5.0, 2.0], x)
    p.free_velocity = flow.astype(np.float32).astype(np.float64)
    velocity, _, _ = p.solve()
    np.testing.assert_allclose(velocity, p.free_velocity, atol=1e-5)
