# mypy: disable-error-code="valid-type,no-untyped-def,no-untyped-call,misc"
"""The rotation R nearest to a deformation gradient F (Barreiro 2017, eq. 14).

Newton's iteration R ← ½ (R + R⁻ᵀ) (Higham 1986) doubles the number of right digits in each turn and
starts next to its goal, because F is the deformation of a single step. Where F is flattened or
turned inside out it would fail; there the quaternion iteration of Müller et al. 2016 ("A robust
method to extract the rotational part of deformations") finds the proper rotation.
"""

import quadrants as qd

from viscoil.compute import mat3, vec3


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
def _quaternion_iteration(m: mat3) -> mat3:
    q = qd.Vector([0.0, 0.0, 0.0, 1.0], qd.f32)
    for _ in range(30):
        r = _from_quaternion(q)
        torque = vec3(0.0, 0.0, 0.0)
        pull = 0.0
        for axis in qd.static(range(3)):
            have = vec3(r[0, axis], r[1, axis], r[2, axis])
            want = vec3(m[0, axis], m[1, axis], m[2, axis])
            torque += have.cross(want)
            pull += have.dot(want)
        turn = torque / (qd.abs(pull) + 1e-9)
        angle = turn.norm()
        if angle > 1e-7:
            half = 0.5 * qd.min(angle, 1.0)
            v = turn / angle * qd.sin(half)
            c = qd.cos(half)
            u = vec3(q[0], q[1], q[2])
            imaginary = q[3] * v + c * u + v.cross(u)
            q = qd.Vector([imaginary[0], imaginary[1], imaginary[2], c * q[3] - v.dot(u)])
            q = q / q.norm()
    return _from_quaternion(q)


@qd.func
def nearest_rotation(m: mat3) -> mat3:
    """R of the polar decomposition m = R U, proper (det R = 1) for every m."""
    r = m
    det = m.determinant()
    scale = qd.abs(m[0, 0]) + qd.abs(m[1, 1]) + qd.abs(m[2, 2]) + qd.abs(m[0, 1]) + qd.abs(m[1, 2])
    if det > 0.01 and scale < 30.0:
        change = 1.0
        for _ in range(8):
            if change > 1e-12:
                inverse_transposed = cofactor(r) / r.determinant()
                next_r = 0.5 * (r + inverse_transposed)
                change = (next_r - r).norm_sqr()
                r = next_r
    else:
        r = _quaternion_iteration(m)
    return r
