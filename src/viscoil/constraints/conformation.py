# mypy: disable-error-code="valid-type,no-untyped-def,no-untyped-call,misc"
"""The conformation constraint and the conformation tensor (Barreiro 2017, section 3).

Notation: Q conformation tensor, L = ∇u with L_ab = ∂u_a/∂x_b, Δt step, τ relaxation time, F = I + Δt L
deformation gradient of the step, σ stress, a compliance (1/Pa).

In the paper's eq. 2 the upper-convected derivative reads Q∇u + (∇u)ᵀQ with (∇u)_ab = ∂u_b/∂x_a; with
our L it is L Q + Q Lᵀ, which makes Q_xx (and not Q_yy) grow in the shear ∂u_x/∂y.
"""

import quadrants as qd

from viscoil.constraints.symmetric import (
    congruence,
    identity,
    is_positive_definite,
    symmetric_part,
)
from viscoil.core.compute import mat3, vec3, vec6


@qd.func
def strain_step(velocity_gradient: mat3, dt: qd.f32) -> vec6:
    """Δt (L + Lᵀ), the part of eq. 7 that depends on the velocities."""
    return 2.0 * dt * symmetric_part(velocity_gradient)


@qd.func
def spin_of(velocity_gradient: mat3) -> vec3:
    """ω: half the curl."""
    return 0.5 * vec3(
        velocity_gradient[2, 1] - velocity_gradient[1, 2],
        velocity_gradient[0, 2] - velocity_gradient[2, 0],
        velocity_gradient[1, 0] - velocity_gradient[0, 1],
    )


@qd.func
def rotation_strain(spin: vec3, dt: qd.f32) -> vec6:
    """What a straight step under a spin ω stretches: 2 (1 − cos φ) across its axis, sin φ = Δt |ω|.

    A particle that moves along its tangent leaves its circle. Adding this to `strain_step` makes the
    linear constraint ask for the inward motion that ends on the circle: x⁰ + Δt u is then a rotation
    of x⁰ to the order of the step, instead of growing by ½ (Δt ω)² in each. Turns of more than about
    half a radian in a step are not resolved and fade out.
    """
    w = dt * spin
    square = w.dot(w)
    factor = 2.0 / (1.0 + qd.sqrt(qd.max(1.0 - square, 0.0)))
    factor /= 1.0 + 256.0 * square * square * square * square
    return factor * vec6(
        square - w[0] * w[0],
        square - w[1] * w[1],
        square - w[2] * w[2],
        -w[0] * w[1],
        -w[0] * w[2],
        -w[1] * w[2],
    )


@qd.func
def strain_of_deformation(deformation: mat3, rotation: mat3) -> vec6:
    """2 (U − I) with U = Rᵀ F: eq. 16 in the frame of the start of the step.

    It vanishes for every rigid motion, and agrees with `strain_step` to first order.
    """
    return 2.0 * (symmetric_part(rotation.transpose() @ deformation) - identity())


@qd.func
def convect(conformation: vec6, deformation: mat3, relaxation: qd.f32) -> vec6:
    """Q after the step: I + (F Q⁰ Fᵀ − I) / (1 + Δt/τ), with relaxation = 1 / (1 + Δt/τ).

    F Q⁰ Fᵀ solves the upper-convected part exactly for the deformation F, rotation included, and the
    relaxation towards I is implicit. A mean of two positive definite tensors (F Q⁰ Fᵀ and I) is
    positive definite, so Q stays so for every F that is not singular.
    """
    return identity() + relaxation * (congruence(deformation, conformation) - identity())


@qd.func
def _lyapunov_row(row: qd.template(), b: mat3) -> vec6:
    """Row of the linear map s ↦ B s + s Bᵀ on the six numbers of s."""
    c = vec6(0.0)
    if qd.static(row == 0):
        c = vec6(2.0 * b[0, 0], 0.0, 0.0, 2.0 * b[0, 1], 2.0 * b[0, 2], 0.0)
    elif qd.static(row == 1):
        c = vec6(0.0, 2.0 * b[1, 1], 0.0, 2.0 * b[1, 0], 0.0, 2.0 * b[1, 2])
    elif qd.static(row == 2):
        c = vec6(0.0, 0.0, 2.0 * b[2, 2], 0.0, 2.0 * b[2, 0], 2.0 * b[2, 1])
    elif qd.static(row == 3):
        c = vec6(b[1, 0], b[0, 1], 0.0, b[0, 0] + b[1, 1], b[1, 2], b[0, 2])
    elif qd.static(row == 4):
        c = vec6(b[2, 0], 0.0, b[0, 2], b[2, 1], b[0, 0] + b[2, 2], b[0, 1])
    else:
        c = vec6(0.0, b[2, 1], b[1, 2], b[2, 0], b[1, 0], b[1, 1] + b[2, 2])
    return c


@qd.func
def _solve_lyapunov(b: mat3, right: vec6) -> vec6:
    """s with B s + s Bᵀ = right, by elimination without pivoting (B is near a multiple of I)."""
    a = qd.Matrix.zero(qd.f32, 6, 7)
    for i in qd.static(range(6)):
        row = _lyapunov_row(i, b)
        for j in qd.static(range(6)):
            a[i, j] = row[j]
        a[i, 6] = right[i]
    for k in qd.static(range(6)):
        for i in qd.static(range(k + 1, 6)):
            factor = a[i, k] / a[k, k]
            for j in qd.static(range(k, 7)):
                a[i, j] -= factor * a[k, j]
    s = vec6(0.0)
    for i in qd.static(range(5, -1, -1)):
        total = a[i, 6]
        for j in qd.static(range(i + 1, 6)):
            total -= a[i, j] * s[j]
        s[i] = total / a[i, i]
    return s


@qd.func
def implicit_euler(conformation: vec6, deformation: mat3, relaxation: qd.f32) -> vec6:
    """Q after the step by eq. 6: (Q − Q⁰)/Δt = L Q + Q Lᵀ − (Q − I)/τ, solved as the linear system it is.

    The scheme loses positive definiteness when Δt‖L‖ is no longer small against 1 + Δt/τ; there
    `convect` takes over.
    """
    growth = deformation - mat3([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])  # Δt L
    stay = 1.0 / qd.max(relaxation, 1e-12)  # 1 + Δt/τ
    b = -growth
    for k in qd.static(range(3)):
        b[k, k] += 0.5 * stay
    q = identity()
    if relaxation > 1e-9:
        q = _solve_lyapunov(b, conformation + (stay - 1.0) * identity())
        norm = growth.norm_sqr()
        if norm > 0.16 * stay * stay or not is_positive_definite(q):
            q = convect(conformation, deformation, relaxation)
    return q
