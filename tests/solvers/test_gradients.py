# mypy: disable-error-code="valid-type"
"""Gradients, bends and their adjoints: exact for linear fields, momentum and torque free."""

import numpy as np
import pytest
import quadrants as qd
from numpy.typing import ArrayLike, NDArray
from rigs import (
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
    tensors,
    unmandel,
)

from viscoil.core.compute import Mat3s, Vec3s, matrices, vectors, write
from viscoil.neighbors.arrays import ParticleArrays
from viscoil.neighbors.scale import Scale
from viscoil.solvers.dcpbd.acting_stress import let_stress_act, velocities_under_stress
from viscoil.solvers.dcpbd.arrays import Stencil
from viscoil.solvers.dcpbd.context import StepContext
from viscoil.solvers.dcpbd.operators import differences, gradient
from viscoil.walls.arrays import WallArrays

Float = NDArray[np.float64]
DT = 1.0 / 240.0
EPS = float(np.finfo(np.float32).eps)

pytestmark = [pytest.mark.usefixtures("compute"), pytest.mark.physics]


@qd.kernel(fastcache=True)
def gradients(
    n: qd.i32,
    scale: Scale,
    near: ParticleArrays,
    walls: WallArrays,
    stencil: Stencil,
    field: Vec3s,
    out: Mat3s,
):
    for i in range(n):
        out[i] = gradient(scale, near, walls, stencil, field, i)


@qd.kernel(fastcache=True)
def bends(
    n: qd.i32,
    scale: Scale,
    near: ParticleArrays,
    walls: WallArrays,
    stencil: Stencil,
    field: Vec3s,
    out: Vec3s,
):
    for i in range(n):
        _rate, bend, _squeeze = differences(scale, near, walls, stencil, field, False, i)
        out[i] = bend


class Body:
    """A body of particles at the start of a step, and its operators as the kernels have them."""

    def __init__(self, rig: Rig) -> None:
        self.rig = rig
        self.c: StepContext = rig.prepare(DT)
        self.n = self.c.n
        self.position = numbers(self.c.view.near.position, self.n)
        self.correction = numbers(self.c.stencil.correction, self.n)
        self.kept = np.abs(self.correction).max(axis=1) > 0.0  # has a gradient
        self.assembled: Discretisation = assemble(rig, self.c)
        self.assembled_bends: Discretisation = assemble_bends(rig, self.c)

    def gradient(self, field: ArrayLike) -> Float:
        array, out = vectors(3, self.n), matrices(self.n)
        write(array, field)
        out.fill(np.nan)
        view = self.c.view
        gradients(self.n, view.scale, view.near, view.walls.arrays, self.c.stencil, array, out)
        return numbers(out, self.n)

    def bend(self, field: ArrayLike) -> Float:
        """e/Δt, 1/s; 0 without a gradient, as `bend_constraint` has it."""
        array, out = vectors(3, self.n), vectors(3, self.n)
        write(array, field)
        out.fill(np.nan)
        view = self.c.view
        bends(self.n, view.scale, view.near, view.walls.arrays, self.c.stencil, array, out)
        return np.asarray(numbers(out, self.n) * self.kept[:, None])

    def force(self, stress: Float | None = None, bend: Float | None = None) -> Float:
        """f(σ, μ), N, from u = u* + Δt f/m at u* = 0; μ is 0 without a gradient, as in a solve."""
        c = self.c
        write(c.unknowns.stress, np.zeros((c.n, 6)) if stress is None else stress)
        bend = np.zeros((c.n, 3)) if bend is None else bend
        write(c.unknowns.bend, bend * self.kept[:, None])
        c.unknowns.free_velocity.fill(0.0)
        c.unknowns.velocity.fill(np.nan)
        c.unknowns.traction.fill(np.nan)
        c.unknowns.pull.fill(np.nan)
        let_stress_act(c.n, c.view.scale, c.view.near, c.stencil, c.unknowns)
        walls = c.view.walls.arrays
        velocities_under_stress(c.n, c.view.scale, c.view.near, walls, c.stencil, c.unknowns)
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


def random_bend(n: int, seed: int = 0) -> Float:
    return np.random.default_rng(seed).normal(size=(n, 3))


def condition(body: Body) -> Float:
    """Of K, particle by particle where there is one: by how much it amplifies rounding."""
    return np.asarray(np.linalg.cond(tensors(body.correction[body.kept])))


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
    kept = body.kept
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
    kept = body.kept
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
    assert mandel(p) @ mandel(aq) == pytest.approx(
        mandel(ap) @ mandel(q), abs=float(100.0 * EPS * sizes)
    )
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
    measured = numbers(body.c.stencil.diagonal, body.n)
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
    diagonal = numbers(body.c.stencil.diagonal, body.n)
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


@each
def test_linear_fields_do_not_bend(bodies: dict[str, Body], kind: str) -> None:
    """Σ_j g (1 + s·x) x = 0 by the choice of s, also at free surfaces and corners.

    Rounding is that of the gradient, 140 ε amplified by K; b Σ g x/V and b s have no dimension and
    are below 10.
    """
    body = bodies[kind]
    g = np.random.default_rng(1).normal(size=(3, 3))
    measured = np.abs(body.bend(body.position @ g.T + [1.0, -2.0, 0.5])).max(axis=1)
    assert (measured[body.kept] <= 10.0 * 140.0 * EPS * condition(body)).all()
    asymmetry = np.linalg.norm(numbers(body.c.stencil.asymmetry, body.n), axis=1)
    assert SPACING * asymmetry.max() > 0.1  # lopsided, so that something had to be taken away


@each
def test_kernels_agree_with_the_assembled_bends(bodies: dict[str, Body], kind: str) -> None:
    """Bends and their forces against sparse matrices in double precision."""
    body = bodies[kind]
    u, mu = random_bend(body.n, 2).astype(np.float32), random_bend(body.n, 3)
    expected = body.assembled_bends.strain @ u.reshape(-1).astype(np.float64) / DT
    error = np.abs(body.bend(u).reshape(-1) - expected).max()
    assert error <= 100.0 * EPS * np.abs(expected).max()
    force = body.assembled_bends.force(mu.reshape(-1)).reshape(-1, 3)
    assert np.abs(body.force(bend=mu) - force).max() <= 100.0 * EPS * np.abs(force).max()


@each
def test_bend_forces_are_minus_the_derivative_of_virtual_work(
    bodies: dict[str, Body], kind: str
) -> None:
    """V/2 Σ μ·e(u)/Δt = −Σ u·f(μ), as V Σ σ:L = V/2 Σ σ:(L + Lᵀ): the same work, so A is symmetric.

    Together with stresses: the kernels add both into one force.
    """
    body = bodies[kind]
    stress, mu = random_stress(body.n, 1), random_bend(body.n, 1)
    u = random_bend(body.n, 2).astype(np.float32)
    rate, bent = body.gradient(u), body.bend(u)
    products = np.concatenate([(tensors(stress) * rate).reshape(-1), 0.5 * (mu * bent).reshape(-1)])
    power = np.einsum("na,na->", u, body.force(stress, mu))
    size = SPACING**3 * np.abs(products).sum()
    assert SPACING**3 * products.sum() == pytest.approx(-power, abs=10.0 * EPS * 30.0**0.5 * size)


@each
def test_bends_have_no_momentum_no_torque_and_no_mean_stress(
    bodies: dict[str, Body], kind: str
) -> None:
    """Σ f = 0 because forces are opposite in pairs; Σ x ⊗ f = 0 because linear fields do not bend.

    The force between two particles does not lie along their line, but the work of f in u = G x is
    −V/2 Σ μ·e(G x)/Δt = 0 for every G: with an antisymmetric G there is no torque, with the others
    no pull on the body as a whole. This holds for each μ_i alone, about any point, as Σ f = 0.
    """
    body = bodies[kind]
    force = body.force(bend=random_bend(body.n, 6))
    size = np.linalg.norm(force, axis=1)
    assert np.abs(force.sum(axis=0)).max() <= 30.0 * EPS * np.sqrt((size**2).sum())
    arm = body.position - body.position.mean(axis=0)
    lever = np.sqrt(((np.linalg.norm(arm, axis=1) * size) ** 2).sum())
    assert np.abs(arm.T @ force).max() <= 10.0 * EPS * condition(body).max() * lever
    one = np.zeros((body.n, 3))
    one[np.flatnonzero(body.kept)[0]] = [1.0, -2.0, 3.0]
    force = body.force(bend=one)
    lever = np.abs(arm).T @ np.abs(force)
    assert (np.abs(arm.T @ force) <= 10.0 * EPS * condition(body).max() * lever).all()


@each
def test_the_bend_diagonal_is_that_of_the_matrix(bodies: dict[str, Body], kind: str) -> None:
    """All three entries of a particle are the same; sums of squares of 1 + s·x."""
    body = bodies[kind]
    expected = body.assembled_bends.operator().diagonal().reshape(-1, 3)[body.kept]
    measured = numbers(body.c.stencil.bend_diagonal, body.n)[body.kept]
    rtol = 60.0 * EPS * condition(body).max()
    np.testing.assert_allclose(expected, np.repeat(measured[:, None], 3, axis=1), rtol=rtol)


@pytest.fixture(scope="module")
def endless(compute: None) -> Body:
    """A lattice without surfaces."""
    length = 8 * SPACING
    return Body(Rig(lattice((8, 8, 8), center=[0.5 * length] * 3), periodic=(length,) * 3))


@pytest.mark.parametrize("axes", [(0,), (0, 1), (0, 1, 2)], ids=["layers", "rods", "checkerboard"])
def test_bends_see_what_gradients_do_not(endless: Body, axes: tuple[int, ...]) -> None:
    """Neighbours that move against each other along some axes.

    By symmetry of the lattice there is no gradient. The bend is −2 b/V Σ g u over those that move
    the other way; in layers −Σ g/V = −Σ g x²/(V d²) ≈ 1/d² over them makes that 2 b u/d²,
    that is 2.8 u/d; the other patterns have more.
    """
    index = np.floor(endless.position / SPACING).astype(int)
    sign = (-1.0) ** index[:, list(axes)].sum(axis=1)
    field = sign[:, None] * [1.0, -2.0, 3.0]
    assert np.abs(endless.gradient(field)).max() * SPACING < 1e-3
    bend = endless.bend(field) * SPACING
    factor = (bend * field).sum() / (field * field).sum()
    np.testing.assert_allclose(bend, factor * field, atol=1e-3)
    assert factor > 2.5


@pytest.mark.parametrize("waves", [1, 2, 3, 4])
def test_stress_and_bend_share_shear_waves(endless: Body, waves: int) -> None:
    """Work of what one compliance gives, against 2 k² |u|²: it is that of second differences.

    The gradient of a lattice sees sin(kd)/d of k, the bend (1 − cos kd)/d with b = √2 d, their
    squares add up to 2 (1 − cos kd)/d². The bend is not corrected: −Σ g x²/V is 1.02, not 1.
    """
    kd = 2.0 * np.pi * waves / 8.0
    field = np.zeros((endless.n, 3))
    field[:, 1] = np.sin(kd * (endless.position[:, 0] / SPACING - 0.25))
    rate = endless.gradient(field)
    strain = rate + np.swapaxes(rate, 1, 2)
    work = (strain**2).sum() + (endless.bend(field) ** 2).sum()
    share = work * SPACING**2 / (2.0 * (field**2).sum())
    assert share == pytest.approx(2.0 * (1.0 - np.cos(kd)), rel=0.05)
