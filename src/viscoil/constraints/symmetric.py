# mypy: disable-error-code="valid-type,no-untyped-def,no-untyped-call,misc"
"""Symmetric 3x3 tensors as six numbers (xx, yy, zz, xy, xz, yz), as in Barreiro 2017, section 5.2."""

import quadrants as qd

from viscoil.core.compute import mat3, vec3, vec6


@qd.func
def identity() -> vec6:
    return vec6(1.0, 1.0, 1.0, 0.0, 0.0, 0.0)


@qd.func
def to_matrix(s: vec6) -> mat3:
    return mat3([[s[0], s[3], s[4]], [s[3], s[1], s[5]], [s[4], s[5], s[2]]])


@qd.func
def symmetric_part(m: mat3) -> vec6:
    """½ (m + mᵀ)."""
    return vec6(
        m[0, 0],
        m[1, 1],
        m[2, 2],
        0.5 * (m[0, 1] + m[1, 0]),
        0.5 * (m[0, 2] + m[2, 0]),
        0.5 * (m[1, 2] + m[2, 1]),
    )


@qd.func
def square(v: vec3) -> vec6:
    """v ⊗ v."""
    return vec6(v[0] * v[0], v[1] * v[1], v[2] * v[2], v[0] * v[1], v[0] * v[2], v[1] * v[2])


@qd.func
def times_vector(s: vec6, v: vec3) -> vec3:
    return vec3(
        s[0] * v[0] + s[3] * v[1] + s[4] * v[2],
        s[3] * v[0] + s[1] * v[1] + s[5] * v[2],
        s[4] * v[0] + s[5] * v[1] + s[2] * v[2],
    )


@qd.func
def product(a: vec6, b: vec6) -> mat3:
    """a b, which is not symmetric in general."""
    return to_matrix(a) @ to_matrix(b)


@qd.func
def congruence(m: mat3, s: vec6) -> vec6:
    """m s mᵀ."""
    return symmetric_part(m @ to_matrix(s) @ m.transpose())


@qd.func
def double_dot(a: vec6, b: vec6) -> qd.f32:
    """a : b, the Frobenius product of the tensors: off-diagonals count twice."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + 2.0 * (a[3] * b[3] + a[4] * b[4] + a[5] * b[5])


@qd.func
def determinant(s: vec6) -> qd.f32:
    return (
        s[0] * (s[1] * s[2] - s[5] * s[5])
        - s[3] * (s[3] * s[2] - s[5] * s[4])
        + s[4] * (s[3] * s[5] - s[1] * s[4])
    )


@qd.func
def inverse(s: vec6) -> vec6:
    return vec6(
        s[1] * s[2] - s[5] * s[5],
        s[0] * s[2] - s[4] * s[4],
        s[0] * s[1] - s[3] * s[3],
        s[4] * s[5] - s[3] * s[2],
        s[3] * s[5] - s[1] * s[4],
        s[3] * s[4] - s[0] * s[5],
    ) / determinant(s)


@qd.func
def is_positive_definite(s: vec6):
    return s[0] > 0.0 and s[0] * s[1] - s[3] * s[3] > 0.0 and determinant(s) > 0.0
