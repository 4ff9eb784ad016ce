"""The constitutive law on thousands of random tensors, and against closed forms."""

from typing import Any

import numpy as np
import pytest
import quadrants as qd
from numpy.typing import NDArray
from rigs import tensors
from scipy.linalg import expm, polar

from viscoil.constraints.conformation import (
    convect,
    implicit_euler,
    rotation_strain,
    spin_of,
    strain_of_deformation,
    strain_step,
)
from viscoil.constraints.rotation import nearest_rotation
from viscoil.core.compute import Floats, Ints, Mat3s, Vec6s, matrices, scalars, vectors, view, write

Float = NDArray[np.float64]
MANY = 4000
EPS = float(np.finfo(np.float32).eps)

pytestmark = pytest.mark.usefixtures("compute")


@qd.kernel(fastcache=True)
def rotations(n: qd.i32, f: Mat3s, r: Mat3s):
    for i in range(n):
        r[i] = nearest_rotation(f[i])


@qd.kernel(fastcache=True)
def strains(n: qd.i32, f: Mat3s, dt: qd.f32, linear: Vec6s, spin: Vec6s, corotated: Vec6s):
    """Of f as a deformation, and of f as a velocity gradient."""
    for i in range(n):
        linear[i] = strain_step(f[i], dt)
        spin[i] = rotation_strain(spin_of(f[i]), dt)
        corotated[i] = strain_of_deformation(f[i], nearest_rotation(f[i]))


@qd.kernel(fastcache=True)
def conformations(
    n: qd.i32,
    stride: qd.i32,
    q: Vec6s,
    f: Mat3s,
    relaxation: Floats,
    steps: Ints,
    convected: Vec6s,
    implicit: Vec6s,
):
    """Many steps of both schemes; in step s particle i is deformed by f[(i + s stride) mod n]."""
    for i in range(n):
        a, b = q[i], q[i]
        for s in range(steps[i]):
            deformation = f[(i + s * stride) % n]
            a = convect(a, deformation, relaxation[i])
            b = implicit_euler(b, deformation, relaxation[i])
        convected[i] = a
        implicit[i] = b


def single(values: Any) -> Float:
    """Rounded as kernels will see it, so that inputs carry no error of their own."""
    return np.asarray(values, dtype=np.float32).astype(np.float64)


def filled(array: Any, values: Any) -> Any:
    write(array, values)
    return array


def rotate(f: Float) -> Float:
    r = matrices(len(f))
    r.fill(np.nan)
    rotations(len(f), filled(matrices(len(f)), f), r)
    return np.array(view(r, len(f)), dtype=np.float64)


def six(matrix: Float) -> Float:
    return np.asarray(matrix[..., [0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]])


def evolve(
    q: Float, f: Float, relaxation: Any, steps: Any = 1, stride: int = 0
) -> tuple[Float, Float]:
    """Q after so many steps by both schemes."""
    n = len(q)
    counts = filled(scalars(qd.i32, n), np.broadcast_to(np.int32(steps), n))
    out = [vectors(6, n) for _ in range(2)]
    for array in out:
        array.fill(np.nan)
    q_array, f_array = filled(vectors(6, n), six(q)), filled(matrices(n), f)
    rates = filled(scalars(qd.f32, n), np.broadcast_to(relaxation, n))
    conformations(n, stride, q_array, f_array, rates, counts, *out)
    convected, implicit = (tensors(np.array(view(array, n), dtype=np.float64)) for array in out)
    return convected, implicit


def random_rotations(rng: np.random.Generator, n: int) -> Float:
    u, _, v = np.linalg.svd(rng.normal(size=(n, 3, 3)))
    r = u @ v
    return np.asarray(r * np.linalg.det(r)[:, None, None])


def with_singular_values(rng: np.random.Generator, values: Float) -> Float:
    """Random matrices with these; one that is negative makes a reflection."""
    n = len(values)
    return single((random_rotations(rng, n) * values[:, None, :]) @ random_rotations(rng, n))


# Rotations


def check_rotation(r: Float) -> None:
    """Orthogonal and proper to rounding: products of nine numbers below one, a few ε each."""
    unit = np.broadcast_to(np.eye(3), r.shape)
    np.testing.assert_allclose(r @ np.swapaxes(r, 1, 2), unit, atol=3e-6)
    np.testing.assert_allclose(np.linalg.det(r), 1.0, atol=5e-6)


def nearest(f: Float) -> tuple[Float, Float]:
    """The proper rotation nearest to each f, and σ₂ ± σ₃, by which its error is divided."""
    u, s, v = np.linalg.svd(f)
    sign = np.sign(np.linalg.det(u @ v))
    u[:, :, 2] *= sign[:, None]
    return u @ v, s[:, 1] + sign * s[:, 2]


def check_nearest(f: Float) -> None:
    """R = R_exact to 30 ε |f|/(σ₂ ± σ₃): the condition number of the proper polar factor.

    And, whatever the condition, Rᵀ : f is the largest there is to 10 ε |f|.
    """
    r = rotate(f)
    check_rotation(r)
    exact, gap = nearest(f)
    size = np.linalg.norm(f, axis=(1, 2))
    error = np.abs(r - exact).max(axis=(1, 2))
    assert (error * gap <= 30.0 * EPS * size).all()
    missing = np.einsum("nab,nab->n", exact - r, f)
    assert (missing <= 10.0 * EPS * size).all()


@pytest.mark.parametrize("strength", [0.01, 0.1, 0.3, 1.0])
def test_rotation_of_a_step(strength: float) -> None:
    """F = I + Δt L, from the mildest to one with reflections and half turns in it."""
    rng = np.random.default_rng(1)
    check_nearest(single(np.eye(3) + strength * rng.normal(size=(MANY, 3, 3))))


def test_rotation_is_scipys_polar_factor() -> None:
    """Where det F > 0 the polar factor is the proper rotation."""
    rng = np.random.default_rng(2)
    f = single(np.eye(3) + 0.2 * rng.normal(size=(500, 3, 3)))
    f = f[np.linalg.det(f) > 0.1]
    np.testing.assert_allclose(rotate(f), np.array([polar(m)[0] for m in f]), atol=3e-6)


@pytest.mark.parametrize("scale", [0.05, 1.0, 20.0])
def test_rotation_of_any_matrix(scale: float) -> None:
    rng = np.random.default_rng(3)
    check_nearest(single(scale * rng.normal(size=(MANY, 3, 3))))


def test_rotation_of_strong_stretch() -> None:
    """Singular values over five decades; eight turns of Newton would not be enough for these."""
    rng = np.random.default_rng(4)
    check_nearest(with_singular_values(rng, np.exp(rng.uniform(-9.0, 2.5, (MANY, 3)))))


def test_rotation_of_reflections() -> None:
    rng = np.random.default_rng(5)
    check_nearest(with_singular_values(rng, rng.uniform(0.3, 2.0, (MANY, 3)) * [1.0, 1.0, -1.0]))


def test_rotation_of_flat_matrices() -> None:
    rng = np.random.default_rng(6)
    check_nearest(with_singular_values(rng, rng.uniform(0.3, 2.0, (MANY, 3)) * [1.0, 1.0, 0.0]))


def test_rotation_of_lines() -> None:
    """Any R that turns the one stretched direction rightly is nearest: only the optimum is unique."""
    rng = np.random.default_rng(7)
    f = with_singular_values(rng, rng.uniform(0.3, 2.0, (MANY, 3)) * [1.0, 0.0, 0.0])
    r = rotate(f)
    check_rotation(r)
    best = np.linalg.svd(f, compute_uv=False).sum(axis=1)
    np.testing.assert_allclose(np.einsum("nab,nab->n", r, f), best, atol=1e-5)


def test_rotation_of_special_matrices() -> None:
    """Half turns, mirrors, a point: always a rotation, and the best one."""
    diagonals: list[list[float]] = [
        [1, 1, 1],
        [-1, -1, 1],
        [-1, 1, 1],
        [-1, -1, -1],
        [0, 0, 0],
        [-1, -1, 1e-3],
    ]
    diagonals += [[10, 10, 2e-4], [1e-3, 1, 1], [1, 0, 0], [0, 0, -1], [1e-20, 0, 1e-20]]
    f = single([np.diag(d) for d in diagonals])
    r = rotate(f)
    check_rotation(r)
    u, s, v = np.linalg.svd(f)
    best = s[:, 0] + s[:, 1] + np.sign(np.linalg.det(u @ v)) * s[:, 2]
    np.testing.assert_allclose(np.einsum("nab,nab->n", r, f), best, atol=1e-5)


# Strain


def strain(f: Float, dt: float) -> tuple[Float, Float, Float]:
    n = len(f)
    out = [vectors(6, n) for _ in range(3)]
    for array in out:
        array.fill(np.nan)
    strains(n, filled(matrices(n), f), dt, *out)
    linear, spin, corotated = (tensors(np.array(view(a, n), dtype=np.float64)) for a in out)
    return linear, spin, corotated


def test_strain_of_a_velocity_gradient() -> None:
    """Δt (L + Lᵀ), to the rounding of one product and one sum."""
    gradient = single(np.random.default_rng(0).normal(size=(MANY, 3, 3)))
    linear, _, _ = strain(gradient, 0.25)
    np.testing.assert_allclose(linear, 0.25 * (gradient + np.swapaxes(gradient, 1, 2)), atol=1e-6)


def test_rigid_rotation_is_no_strain() -> None:
    rng = np.random.default_rng(1)
    _, _, corotated = strain(single(random_rotations(rng, MANY)), 1.0)
    np.testing.assert_allclose(corotated, 0.0, atol=5e-6)


def test_corotated_strain_is_twice_the_stretch() -> None:
    """2 (U − I) of F = R U, for stretches up to a half; rounding 30 ε of numbers up to 3."""
    rng = np.random.default_rng(2)
    r = random_rotations(rng, MANY)
    u = np.eye(3) + 0.15 * (lambda m: m + np.swapaxes(m, 1, 2))(rng.uniform(-1, 1, (MANY, 3, 3)))
    _, _, corotated = strain(r @ u, 1.0)
    np.testing.assert_allclose(corotated, 2.0 * (u - np.eye(3)), atol=2e-5)


def test_spin_asks_for_the_inward_motion_of_a_circle() -> None:
    """A rotation by φ about n is I + S + A: A has the spin sin φ, and S = −(1 − cos φ)(I − n nᵀ).

    So strain of the spin alone plus 2 S must vanish; the fading factor 1 + 256 |w|⁸ is below 1e-5
    up to φ = 0.11.
    """
    rng = np.random.default_rng(3)
    axes = rng.normal(size=(200, 3))
    axes /= np.linalg.norm(axes, axis=1)[:, None]
    angles = rng.uniform(0.0, 0.11, 200)
    cross = np.array([np.cross(np.eye(3), axis) for axis in axes])
    turns = np.array([expm(-a * c) for a, c in zip(angles, cross, strict=True)])
    _, spin, _ = strain(single(turns - np.swapaxes(turns, 1, 2)) / 2.0, 1.0)
    bulge = turns + np.swapaxes(turns, 1, 2) - 2.0 * np.eye(3)
    np.testing.assert_allclose(spin + bulge, 0.0, atol=1e-6)


# Evolution


def random_conformations(rng: np.random.Generator, n: int) -> Float:
    """Positive definite, eigenvalues from 0.05 to 20."""
    r = random_rotations(rng, n)
    values = np.exp(rng.uniform(-3.0, 3.0, (n, 3)))
    q = (r * values[:, None, :]) @ np.swapaxes(r, 1, 2)
    return single(0.5 * (q + np.swapaxes(q, 1, 2)))


def test_closed_forms_of_both_schemes() -> None:
    """convect: I + ρ (F Q Fᵀ − I). implicit_euler: the residual of eq. 6, which it solves.

    Rounding: the products have 9 terms, and the elimination grows errors by the condition of
    Q ↦ (1 + Δt/τ) Q − Δt (L Q + Q Lᵀ), which for Δt |L| ≤ 0.3 (1 + Δt/τ) is at most
    (1 + 0.6)/(1 − 0.6) = 4: 4 · 30 ε |Q|.
    """
    rng = np.random.default_rng(0)
    q = random_conformations(rng, MANY)
    relaxation = single(rng.uniform(0.2, 1.0, MANY))
    stay = (1.0 / relaxation)[:, None, None]
    growth = rng.normal(size=(MANY, 3, 3))
    growth *= (rng.uniform(0.0, 0.3, MANY) / np.linalg.norm(growth, axis=(1, 2)))[:, None, None]
    f = single(np.eye(3) + growth)
    growth = f - np.eye(3)
    convected, implicit = evolve(q, f, relaxation)
    size = np.linalg.norm(q, axis=(1, 2))[:, None, None]
    transposed = np.swapaxes(f, 1, 2)
    expected = np.eye(3) + (f @ q @ transposed - np.eye(3)) / stay
    assert (np.abs(convected - expected) <= 30.0 * EPS * (1.0 + size)).all()
    residual = stay * implicit - q - (stay - 1.0) * np.eye(3)
    residual -= growth @ implicit + implicit @ np.swapaxes(growth, 1, 2)
    assert (np.abs(residual) <= 120.0 * EPS * stay * (1.0 + size)).all()


@pytest.mark.parametrize("strength", [0.03, 0.3, 1.0, 3.0])
def test_conformation_stays_positive_definite(strength: float) -> None:
    """For every velocity gradient and every relaxation, by both schemes.

    Rounding can make eigenvalues below 10 ε |Q| negative whatever the scheme, so deformations that
    flatten more than that (det F within 0.02 of 0) are left out; they relax away in a real run.
    """
    rng = np.random.default_rng(int(strength * 100))
    f = single(np.eye(3) + strength * rng.normal(size=(MANY, 3, 3)))
    smallest = np.linalg.svd(f, compute_uv=False)[:, 2]
    f = f[smallest > 0.02]
    relaxation = rng.choice([0.0, 0.1, 0.5, 0.9, 0.999, 1.0], len(f))
    for result in evolve(random_conformations(rng, len(f)), f, relaxation):
        assert np.isfinite(result).all()
        np.testing.assert_array_equal(result, np.swapaxes(result, 1, 2))
        values = np.linalg.eigvalsh(result)
        assert (values[:, 0] > -10.0 * EPS * values[:, 2]).all()
        safe = values[:, 2] < 1e4
        assert (values[safe, 0] > 0.0).all()


def test_many_random_steps_stay_positive_definite() -> None:
    """Particles through 300 steps of ever new flow, relaxing with Δt/τ = 0.2."""
    rng = np.random.default_rng(9)
    f = single(np.eye(3) + 0.1 * rng.normal(size=(MANY, 3, 3)))
    rest = np.tile(np.eye(3), (MANY, 1, 1))
    for q in evolve(rest, f, 1.0 / 1.2, steps=300, stride=7):
        assert np.isfinite(q).all()
        assert np.linalg.eigvalsh(q).min() > 0.0


def shear(rate: float, tau: float, end: float, steps: list[int]) -> tuple[Float, Float]:
    """Q at the time `end` of ∂u_x/∂y = γ̇, by both schemes, for several numbers of steps."""
    dt = end / np.array(steps)
    f = np.tile(np.eye(3), (len(steps), 1, 1))
    f[:, 0, 1] = dt * rate
    rest = np.tile(np.eye(3), (len(steps), 1, 1))
    return evolve(rest, f, tau / (tau + dt), steps)


def test_simple_shear() -> None:
    """Q_xx → 1 + 2 (τγ̇)², Q_xy → τγ̇, Q_yy = 1.

    In the steady state of `convect`, s = Δt γ̇, k = Δt/τ: Q_yy = 1, k Q_xy = s Q_yy, and
    k Q_xx = 2 s Q_xy + s² Q_yy + k, that is Q_xx = 1 + 2 (τγ̇)² + τγ̇² Δt: off by τγ̇² Δt, first
    order. `implicit_euler` is exact in the steady state (its Δt cancels). After 30 τ the start is
    forgotten to 30² e⁻³⁰. Each step rounds by a few ε Q_xx, and 1 + τ/Δt steps are remembered.
    """
    tau, rate, steps = 0.5, 4.0, [300, 600, 1200]
    w = tau * rate
    exact = np.array([[1.0 + 2.0 * w * w, w, 0.0], [w, 1.0, 0.0], [0.0, 0.0, 1.0]])
    convected, implicit = shear(rate, tau, 30.0 * tau, steps)
    for k, count in enumerate(steps):
        dt = 30.0 * tau / count
        rounding = 4.0 * EPS * exact[0, 0] * (1.0 + tau / dt)
        expected = exact.copy()
        expected[0, 0] += tau * rate**2 * dt
        np.testing.assert_allclose(convected[k], expected, atol=rounding)
        np.testing.assert_allclose(implicit[k], exact, atol=rounding)


@pytest.mark.parametrize("scheme", [0, 1])
def test_start_of_shear_converges_at_first_order(scheme: int) -> None:
    """Q_xy(t) = τγ̇ (1 − e^(−t/τ)), Q_xx(t) = 1 + 2 (τγ̇)² (1 − e^(−t/τ)(1 + t/τ)).

    Halving Δt must halve the error: the order differs from one by the next term, of relative size
    Δt/τ = 0.0075 times a constant of order one; 0.05 leaves room for rounding.
    """
    tau, rate, end = 0.5, 2.0, 0.3
    w, s = tau * rate, end / tau
    exact = np.array([1.0 + 2.0 * w * w * (1.0 - np.exp(-s) * (1.0 + s)), w * (1.0 - np.exp(-s))])
    q = shear(rate, tau, end, [40, 80])[scheme]
    errors = np.abs(q[:, 0, :2] - exact)
    np.testing.assert_allclose(np.log2(errors[0] / errors[1]), 1.0, atol=0.05)


def test_the_law_does_not_know_the_observer() -> None:
    """In a frame turned by R, Q becomes R Q Rᵀ: evolution and turning can be exchanged.

    Both sides round differently: 60 ε |Q| |F|².
    """
    rng = np.random.default_rng(11)
    q = random_conformations(rng, MANY)
    growth = rng.normal(size=(MANY, 3, 3))
    growth *= 0.2 / np.linalg.norm(growth, axis=(1, 2))[:, None, None]
    f, r = single(np.eye(3) + growth), random_rotations(rng, MANY)
    back = np.swapaxes(r, 1, 2)
    relaxation = single(rng.uniform(0.2, 1.0, MANY))
    here = evolve(q, f, relaxation)
    there = evolve(r @ q @ back, r @ f @ back, relaxation)
    bound = 60.0 * EPS * 1.5 * (1.0 + np.linalg.norm(q, axis=(1, 2)))[:, None, None]
    for a, b in zip(here, there, strict=True):
        assert (np.abs(r @ a @ back - b) <= 4.0 * bound).all()


def test_a_rigid_turn_only_turns_the_conformation() -> None:
    """convect with F = R and no relaxation is R Q Rᵀ."""
    rng = np.random.default_rng(12)
    q, r = random_conformations(rng, MANY), single(random_rotations(rng, MANY))
    convected, _ = evolve(q, r, np.ones(MANY))
    size = np.linalg.norm(q, axis=(1, 2))[:, None, None]
    assert (np.abs(convected - r @ q @ np.swapaxes(r, 1, 2)) <= 30.0 * EPS * size).all()
