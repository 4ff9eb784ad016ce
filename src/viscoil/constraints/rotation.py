# mypy: disable-error-code="valid-type,no-untyped-def,no-untyped-call,misc"
"""The rotation R nearest to a deformation gradient F (Barreiro 2017, eq. 14).

Newton's iteration R ← ½ (R + R⁻ᵀ) (Higham 1986) doubles the number of right digits in each turn and
starts next to its goal, because F is the deformation of a single step. Where F is flattened or
turned inside out it would fail; there the proper rotation is the unit quaternion q that maximises
Rᵀ : F = qᵀ N q, the main eigenvector of a 4x4 matrix (Horn 1987), found by repeated squaring. A warm
start, which other methods need, is not needed here.
"""

import quadrants as qd

from viscoil.core.compute import mat3, vec3


@qd.func
def cofactor(m: mat3) -> mat3:
    """det(m) m⁻ᵀ: its columns are cross products of the columns of m."""
    a = vec3(m[0, 0], m[1, 0], m[2, 0])
    b = vec3(m[0, 1], m[1, 1], m[2, 1])
    c = vec3(m[0, 2], m[1, 2], m[2, 2])
    bc = b.cross(c)
    ca = c.cross(a)
    ab = a.cross(b)
    return mat3([[bc[0], ca[0], ab[0]], [bc[1], ca[1], ab[1]], [bc[2], ca[2], ab[2]]])


@qd.func
def _from_quaternion(q: qd.types.vector(4, qd.f32)) -> mat3:
    x, y, z, w = q[0], q[1], q[2], q[3]
    return mat3(
        [
            [1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - z * w), 2.0 * (x * z + y * w)],
            [2.0 * (x * y + z * w), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - x * w)],
            [2.0 * (x * z - y * w), 2.0 * (y * z + x * w), 1.0 - 2.0 * (x * x + y * y)],
        ]
    )


@qd.func
def _main_quaternion(m: mat3) -> qd.types.vector(4, qd.f32):
    """The quaternion (x, y, z, w) of the rotation R with the largest Rᵀ : m; unit length."""
    xy, xz, yz = m[0, 1] + m[1, 0], m[0, 2] + m[2, 0], m[1, 2] + m[2, 1]
    xw, yw, zw = m[2, 1] - m[1, 2], m[0, 2] - m[2, 0], m[1, 0] - m[0, 1]
    a, b, c = m[0, 0], m[1, 1], m[2, 2]
    # the eigenvalues of N lie within ±(σ₁ + σ₂ + σ₃) ≤ Σ |m_ab|: this shift makes them positive
    shift = qd.f32(1e-30)
    for i in qd.static(range(3)):
        for j in qd.static(range(3)):
            shift += qd.abs(m[i, j])
    power = qd.Matrix(
        [
            [shift + a - b - c, xy, xz, xw],
            [xy, shift - a + b - c, yz, yw],
            [xz, yz, shift - a - b + c, zw],
            [xw, yw, zw, shift + a + b + c],
        ]
    )
    for _ in range(18):
        power /= power.trace()
        power = power @ power
    # every column of such a power is a multiple of the main eigenvector: take the longest
    best = qd.Vector([power[0, 3], power[1, 3], power[2, 3], power[3, 3]])
    for k in qd.static(range(3)):
        column = qd.Vector([power[0, k], power[1, k], power[2, k], power[3, k]])
        if column.norm_sqr() > best.norm_sqr():
            best = column
    return best / best.norm()


@qd.func
def nearest_rotation(m: mat3) -> mat3:
    """R of the polar decomposition m = R U, proper (det R = 1) for every m."""
    r = m
    det = m.determinant()
    square = m.norm_sqr()
    # all singular values then lie between 2 det/|m|² > 0.06 and 15: eight turns are enough
    if det > 0.03 * square and square < 225.0:
        change = 1.0
        for _ in range(8):
            if change > 1e-12:
                inverse_transposed = cofactor(r) / r.determinant()
                next_r = 0.5 * (r + inverse_transposed)
                change = (next_r - r).norm_sqr()
                r = next_r
    else:
        r = _from_quaternion(_main_quaternion(m))
    return r
