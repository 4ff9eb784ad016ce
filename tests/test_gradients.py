"""The discrete gradient and its adjoint: exact for linear fields, momentum and torque free."""

import numpy as np
import pytest
import quadrants as qd
from numpy.typing import NDArray
from rigs import (
    SPACING,
    VISCOUS,
    Discretisation,
    Rig,
    assemble,
    jitter,
    lattice,
    mandel,
    numbers,
    tensors,
    unmandel,
)

from viscoil.compute import Mat3s, Vec3s, matrices, vectors, write
from viscoil.solvers.operators import gradient
from viscoil.solvers.projections import StepContext
from viscoil.solvers.tables import Scale
from viscoil.solvers.velocity_kernels import load_direction, velocities_under_stress
from viscoil.solvers.workspace import Fluid

Float = NDArray[np.float64]
DT = 1.0 / 240.0
EPS = float(np.finfo(np.float32).eps)

pytestmark = pytest.mark.usefixtures("compute")


@qd.kernel(fastcache=True)
def gradients(
    n: qd.i32, periodic: qd.template(), scale: Scale, fluid: Fluid, field: Vec3s, out: Mat3s
):
    for i in range(n):
        out[i] = gradient(periodic, scale, fluid, field, i)


class Body:
    """A body of particles at the start of a step, and its operators as the kernels have them."""

    def __init__(self, rig: Rig) -> None:
        self.rig = rig
        self.c: StepContext = rig.prepare(DT)
        self.n = self.c.n
        self.position = numbers(self.c.fluid.position, self.n)
        self.correction = numbers(self.c.fluid.correction, self.n)
        self.assembled: Discretisation = assemble(rig, self.c)

    def gradient(self, field: Float) -> Float:
        array, out = vectors(3, self.n), matrices(self.n)
        write(array, field)
        out.fill(np.nan)
        gradients(self.n, self.c.periodic, self.c.scale, self.c.fluid, array, out)
        return numbers(out, self.n)

    def force(self, stress: Float) -> Float:
        """f(σ), N, from u = u* + Δt f/m at u* = 0."""
        c = self.c
        write(c.unknowns.direction, stress)
        c.unknowns.trial.fill(0.0)
        c.unknowns.velocity.fill(np.nan)
        c.unknowns.traction.fill(np.nan)
        load_direction(c.n, c.scale, c.fluid, c.unknowns)
        velocities_under_stress(c.n, c.periodic, c.scale, c.fluid, c.unknowns)
        return np.asarray(numbers(c.unknowns.velocity, c.n) * self.rig.mass / DT)

    def operator(self, stress: Float) -> Float:
        """A σ = −E(Δt f(σ)/m), without compliance."""
        moved = self.gradient(self.force(stress) * DT / self.rig.mass)
        strain = -DT * (moved + np.swapaxes(moved, 1, 2))
        return np.asarray(strain[:, [0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]])


@pytest.fixture(scope="module")
def bodies(compute: None) -> dict[str, Body]:
    block = lattice((6, 5, 6), center=(0.3, -0.2, 0.1))
    random = np.random.default_rng(0).uniform(0.0, 6 * SPACING, (250, 3))
    return {
        "lattice": Body(Rig(block)),
        "jittered": Body(Rig(jitter(block, 0.2))),
        "random": Body(Rig(random)),
        "sheet": Body(Rig(jitter(lattice((9, 2, 9)), 0.1))),
    }


KINDS = ["lattice", "jittered", "random", "sheet"]
each = pytest.mark.parametrize("kind", KINDS)


def random_stress(n: int, seed: int = 0) -> Float:
    return np.random.default_rng(seed).normal(size=(n, 6))


@each
def test_gradients_of_linear_fields_are_exact(bodies: dict[str, Body], kind: str) -> None:
    """Everywhere, also at free surfaces and corners, but where K was refused as singular.

    Rounding: differences of coordinates of 0.4 m lose 0.4/0.02 ε = 20 ε of the spacing, twice
    (positions and field), and K amplifies by its condition, which `invert_moment` keeps below 100
    (det > 4e-3 trace³); near-lattices have at most 10.
    """
    body = bodies[kind]
    g = np.random.default_rng(1).normal(size=(3, 3))
    measured = body.gradient(body.position @ g.T + [1.0, -2.0, 0.5])
    kept = body.correction.any(axis=1)
    assert kept.mean() > (0.9 if kind == "random" else 0.999)
    condition = np.linalg.cond(tensors(body.correction[kept]))
    error = np.abs(measured[kept] - g).max(axis=(1, 2))
    # the constant 2 m/s of the field is rounded too: to ε 2/0.02 = 100 ε per spacing
    assert (error <= 2.0 * (20.0 + 20.0 + 100.0) * EPS * condition).all()
    assert not measured[~kept].any()


@each
def test_rigid_rotation_has_no_strain(bodies: dict[str, Body], kind: str) -> None:
    body = bodies[kind]
    spin = np.array([3.0, -7.0, 5.0])
    measured = body.gradient(np.cross(spin, body.position - body.position.mean(axis=0)))
    strain = measured + np.swapaxes(measured, 1, 2)
    kept = body.correction.any(axis=1)
    condition = np.linalg.cond(tensors(body.correction[kept]))[:, None, None]
    assert (np.abs(strain[kept]) <= 100.0 * EPS * condition * np.linalg.norm(spin)).all()


def test_plain_gradients_see_strain_at_the_surface(compute: None) -> None:
    """The counter-example that the correction is there for."""
    body = Body(Rig(lattice((6, 6, 6)), gradients="plain"))
    measured = body.gradient(np.cross([0.0, 0.0, 1.0], body.position))
    strain = np.abs(measured + np.swapaxes(measured, 1, 2)).max(axis=(1, 2))
    surface = np.abs(body.position).max(axis=1) > 2.4 * SPACING
    assert strain[surface].max() > 0.1
    # inside, lattice sums of W' are calibrated for density and not for gradients, but isotropic
    assert strain[~surface].max() < 1e-4


@each
def test_forces_are_minus_the_derivative_of_virtual_work(
    bodies: dict[str, Body], kind: str
) -> None:
    """V Σ σ : L(u) = −Σ u · f(σ) for every σ and u.

    Both sides are sums of n · 30 products that round independently: ε √(30 n) of the sum of their
    sizes, which is bounded by Σ |u| |f| taken absolutely; 10 leaves room for K.
    """
    body = bodies[kind]
    rng = np.random.default_rng(2)
    stress, u = random_stress(body.n), rng.normal(size=(body.n, 3)).astype(np.float32)
    stress[~body.correction.any(axis=1)] = 0.0
    measured = body.gradient(u)
    work = SPACING**3 * np.einsum("nab,nab->", tensors(stress), measured)
    power = np.einsum("na,na->", u, body.force(stress))
    size = SPACING**3 * np.einsum("nab,nab->", np.abs(tensors(stress)), np.abs(measured))
    assert work == pytest.approx(-power, abs=10.0 * EPS * np.sqrt(30.0) * size)


@each
def test_kernels_agree_with_the_assembled_matrix(bodies: dict[str, Body], kind: str) -> None:
    """Force and operator against sparse matrices in double precision, to 100 ε of the largest."""
    body = bodies[kind]
    stress = random_stress(body.n, 3)
    force = body.assembled.force(mandel(stress)).reshape(-1, 3)
    assert np.abs(body.force(stress) - force).max() <= 100.0 * EPS * np.abs(force).max()
    expected = unmandel(body.assembled.operator() @ mandel(stress))
    error = np.abs(body.operator(stress) - expected).max()
    assert error <= 300.0 * EPS * np.abs(expected).max()


@each
def test_the_operator_is_symmetric_and_semidefinite(bodies: dict[str, Body], kind: str) -> None:
    """p·A q = A p·q and p·A p = 2/V Σ m |w|² ≥ 0, in the Frobenius product."""
    body = bodies[kind]
    p, q = random_stress(body.n, 4), random_stress(body.n, 5)
    ap, aq = body.operator(p), body.operator(q)
    sizes = np.linalg.norm(mandel(p)) * np.linalg.norm(mandel(aq))
    assert mandel(p) @ mandel(aq) == pytest.approx(mandel(ap) @ mandel(q), abs=100.0 * EPS * sizes)
    w = body.force(p) * DT / body.rig.mass
    energy = 2.0 * body.rig.mass / SPACING**3 * (w**2).sum()
    assert mandel(p) @ mandel(ap) == pytest.approx(energy, rel=100.0 * EPS)


@each
def test_no_momentum_and_no_torque(bodies: dict[str, Body], kind: str) -> None:
    """Σ f = 0 and Σ x × f = 0: forces come in opposite pairs, and Σ_j g x ⊗ K x = −V I.

    Each f_i is a sum of 30 terms that round to ε |f_i|; n of them add up as a random walk. Torques
    are taken about the middle of the body; the identity behind them holds to the rounding of K,
    10 ε times its condition.
    """
    body = bodies[kind]
    force = body.force(random_stress(body.n, 6))
    size = np.linalg.norm(force, axis=1)
    assert np.abs(force.sum(axis=0)).max() <= 30.0 * EPS * np.sqrt((size**2).sum())
    arm = body.position - body.position.mean(axis=0)
    torque = np.cross(arm, force).sum(axis=0)
    lever = np.linalg.norm(arm, axis=1) * size
    condition = np.linalg.cond(tensors(body.correction[body.correction.any(axis=1)])).max()
    assert np.abs(torque).max() <= 10.0 * EPS * condition * np.sqrt((lever**2).sum())


@each
def test_the_diagonal_is_that_of_the_matrix(bodies: dict[str, Body], kind: str) -> None:
    """D_i is the mean of the six diagonal entries of particle i; a sum of squares, so 30 ε."""
    body = bodies[kind]
    expected = body.assembled.operator().diagonal().reshape(-1, 6).mean(axis=1)
    measured = numbers(body.c.fluid.diagonal, body.n)
    np.testing.assert_allclose(measured, expected, rtol=60.0 * EPS, atol=1e-30)


def test_periodic_body_has_no_surface(compute: None) -> None:
    """A lattice that fills a periodic box: all particles alike, and a sine has its derivative.

    For sin(kx) on a lattice L = cos(kx) (1 − O(k²h²)): with k h = 2π/8 · 2 = 1.6 the factor is
    that of the discrete sum, the same for all particles.
    """
    m = 8
    length = m * SPACING
    rig = Rig(lattice((m, m, m), center=[0.5 * length] * 3), periodic=(length,) * 3)
    body = Body(rig)
    diagonal = numbers(body.c.fluid.diagonal, body.n)
    np.testing.assert_allclose(diagonal, diagonal[0], rtol=1e-4)
    k = 2.0 * np.pi / length
    field = np.zeros((body.n, 3))
    field[:, 1] = np.sin(k * body.position[:, 0])
    measured = body.gradient(field)[:, 1, 0]
    shape = k * np.cos(k * body.position[:, 0])
    factor = (measured @ shape) / (shape @ shape)
    assert 0.7 < factor < 1.0
    np.testing.assert_allclose(measured, factor * shape, atol=1e-3 * k)


def test_lonely_particles_carry_nothing(compute: None) -> None:
    """One, two and three in a line have no gradient: no stress, no force, no NaN."""
    points = [[0, 0, 0], [1, 0, 0], [1.01, 0, 0], [2, 0, 0], [2.01, 0, 0], [2.02, 0, 0]]
    body = Body(Rig(np.array(points)))
    assert not body.correction.any()
    assert not body.force(random_stress(body.n)).any()
    assert not body.gradient(body.position).any()


def test_inactive_materials_carry_nothing(compute: None) -> None:
    water = VISCOUS.model_copy(update={"viscosity": 0.0, "modulus": 0.0})
    body = Body(Rig(lattice((4, 4, 4)), material=water))
    assert not body.correction.any()
    assert not body.force(random_stress(body.n)).any()
