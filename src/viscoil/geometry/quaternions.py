"""Unit quaternions (x, y, z, w) in NumPy, double precision: rotations from body to world."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

Float = NDArray[np.float64]

IDENTITY: Float = np.array([0.0, 0.0, 0.0, 1.0])
IDENTITY.setflags(write=False)


def unit(v: Sequence[float] | Float) -> Float:
    """The direction of `v` (any length but zero, even where its square would underflow)."""
    scaled = np.asarray(v, dtype=np.float64) / np.max(np.abs(v))
    return np.asarray(scaled / np.linalg.norm(scaled))


def from_axis_angle(axis: Sequence[float] | Float, angle: float) -> Float:
    """The rotation by `angle` (rad, right hand) about `axis` (any length but zero)."""
    return np.append(unit(axis) * np.sin(0.5 * angle), np.cos(0.5 * angle))


def multiply(p: Float, q: Float) -> Float:
    """The rotation q followed by the rotation p."""
    # Plain floats: moving colliders do this every step, and NumPy is slow on four numbers.
    a, b, c, d = p.tolist()
    x, y, z, w = q.tolist()
    return np.array(
        [
            d * x + a * w + b * z - c * y,
            d * y + b * w + c * x - a * z,
            d * z + c * w + a * y - b * x,
            d * w - a * x - b * y - c * z,
        ]
    )


def conjugate(q: Float) -> Float:
    """The inverse rotation."""
    return np.asarray(q * np.array([-1.0, -1.0, -1.0, 1.0]))


def rotate(q: Float, v: ArrayLike) -> Float:
    """The vector or vectors `v` (..., 3) turned by `q`."""
    x, y, z, w = q.tolist()
    transposed = np.array(
        [
            [1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y + z * w), 2.0 * (x * z - y * w)],
            [2.0 * (x * y - z * w), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z + x * w)],
            [2.0 * (x * z + y * w), 2.0 * (y * z - x * w), 1.0 - 2.0 * (x * x + y * y)],
        ]
    )
    return np.asarray(np.asarray(v, dtype=np.float64) @ transposed)


def rotation_vector(q: Float) -> Float:
    """Axis times angle (rad) of the shorter way round: the logarithm of the rotation."""
    if q[3] < 0.0:
        q = -q
    sine = float(np.linalg.norm(q[:3]))
    # As the angle goes to zero, angle / sin(angle / 2) goes to 2.
    scale = 2.0 if sine < 1e-9 else 2.0 * np.arctan2(sine, q[3]) / sine
    return np.asarray(scale * q[:3])


def slerp(p: Float, q: Float, s: float) -> Float:
    """From p (s = 0) to q (s = 1) at constant angular velocity, the shorter way round."""
    turn = rotation_vector(multiply(q, conjugate(p))) * s
    angle = float(np.linalg.norm(turn))
    return p if angle == 0.0 else multiply(from_axis_angle(turn, angle), p)


def from_y_axis(direction: Sequence[float] | Float) -> Float:
    """The shortest rotation that takes +y to `direction` (any length but zero)."""
    n = unit(direction)
    axis = np.array([n[2], 0.0, -n[0]])  # y cross n
    sine = float(np.hypot(n[0], n[2]))
    if sine == 0.0:
        # Straight up, or straight down by half a turn about any horizontal axis.
        return IDENTITY if n[1] > 0.0 else np.array([1.0, 0.0, 0.0, 0.0])
    return from_axis_angle(axis, float(np.arctan2(sine, n[1])))
