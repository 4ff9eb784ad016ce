"""Curves and outlines from a few points."""

import numpy as np
from numpy.typing import ArrayLike

from viscoil.geometry.meshes.builtin.transforms import Float


def spline(points: ArrayLike, count: int) -> Float:
    """`count` points of the Catmull-Rom curve through control points (m, d), ends included."""
    p = np.asarray(points, np.float64)
    padded = np.concatenate([2.0 * p[:1] - p[1:2], p, 2.0 * p[-1:] - p[-2:-1]])
    parameter = np.linspace(0.0, len(p) - 1.0, count)
    k = np.minimum(parameter.astype(np.int64), len(p) - 2)
    s = (parameter - k)[:, None]
    a, b, c, d = (padded[k + i] for i in range(4))
    curve = 2.0 * b + (c - a) * s + (2.0 * a - 5.0 * b + 4.0 * c - d) * s**2
    return np.asarray(0.5 * (curve + (3.0 * b - a - 3.0 * c + d) * s**3))


def path(points: ArrayLike, count: int) -> tuple[Float, Float]:
    """A curve and the radii along it, through control points (m, 4) or (m, 5) of x, y, z, radii.

    Control radii of zero at the ends stay zero, and none is less.
    """
    curve = spline(points, count)
    return curve[:, :3], np.squeeze(np.maximum(curve[:, 3:], 0.0))


def circle(radius: float, count: int, start: float = 0.0) -> Float:
    """Points (count, 2) of x and z round a circle, from +x to -z, from an angle (rad) on."""
    angle = start + 2.0 * np.pi * np.arange(count) / count
    return radius * np.stack([np.cos(angle), -np.sin(angle)], axis=1)


def rectangle(width: float, depth: float, count: int = 4) -> Float:
    """Points (count, 2) of x and z round a rectangle, `count` a multiple of 4, corners included.

    They lie in the directions, by quarters, of those of `circle` with the same start of -45°.
    """
    corners = np.array([[1.0, 1.0], [1.0, -1.0], [-1.0, -1.0], [-1.0, 1.0]])
    s = np.arange(count // 4)[:, None] / (count // 4)
    sides = [a + s * (b - a) for a, b in zip(corners, np.roll(corners, -1, axis=0), strict=True)]
    return np.concatenate(sides) * [0.5 * width, 0.5 * depth]


def smoothstep(x: ArrayLike, low: float = 0.0, high: float = 1.0) -> Float:
    """From 0 below `low` to 1 above `high`, with no corner."""
    s = np.clip((np.asarray(x, np.float64) - low) / (high - low), 0.0, 1.0)
    return np.asarray(s * s * (3.0 - 2.0 * s))
