"""Soft bodies: ellipsoids and rods that melt into each other, and their common surface.

The surface is found by naive surface nets (Gibson 1998, "Constrained elastic surface nets"): one
vertex in each cell that the surface crosses, then moved onto the surface by Newton's method. It is
closed if the grid surrounds the body. Two sheets closer than a cell would be joined.
"""

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from viscoil.geometry.meshes.builtin.transforms import Float, Index, Vector, mesh
from viscoil.geometry.meshes.mesh import TriangleMesh

# Signed distance (m, negative inside) at points (3, n): exact on the surface, nearly so around it.
DistanceFunction = Callable[[Float], Float]

# Around its surface no distance that is used here changes faster than this (an exact distance: 1).
_STEEPEST = 1.4


def blob(center: Vector, radii: Vector, tilt: float = 0.0) -> DistanceFunction:
    """An ellipsoid turned by a tilt (degrees) about z, from x to y."""
    middle, r = np.asarray(center, np.float64), np.asarray(radii, np.float64)
    cosine, sine = np.cos(np.radians(tilt)), np.sin(np.radians(tilt))

    def distance(p: Float) -> Float:
        x, y, z = p - middle[:, None]
        local = np.stack([cosine * x + sine * y, cosine * y - sine * x, z]) / r[:, None]
        k0 = np.sqrt(_square(local))
        k1 = np.sqrt(_square(local / r[:, None]))
        return np.asarray(k0 * (k0 - 1.0) / np.maximum(k1, 1e-9))

    return distance


def rod(a: Vector, b: Vector, radius_a: float, radius_b: float) -> DistanceFunction:
    """A rod with round ends whose radius goes from one end to the other in a straight line."""
    start = np.asarray(a, np.float64)[:, None]
    way = np.asarray(b, np.float64)[:, None] - start
    length = float(_square(way)[0])

    def distance(p: Float) -> Float:
        apart = p - start
        s = np.clip((apart * way).sum(axis=0) / length, 0.0, 1.0)
        return np.asarray(np.sqrt(_square(apart - s * way)) - radius_a - s * (radius_b - radius_a))

    return distance


def slab(center: Vector, size: Vector, radius: float) -> DistanceFunction:
    """A box with rounded edges (m)."""
    middle = np.asarray(center, np.float64)[:, None]
    core = 0.5 * np.asarray(size, np.float64)[:, None] - radius

    def distance(p: Float) -> Float:
        out = np.abs(p - middle) - core
        inside = np.minimum(out.max(axis=0), 0.0)
        return np.asarray(np.sqrt(_square(np.maximum(out, 0.0))) + inside - radius)

    return distance


def _square(v: Float) -> Float:
    return np.asarray(v[0] * v[0] + v[1] * v[1] + v[2] * v[2])


def both_sides(distance: DistanceFunction) -> DistanceFunction:
    """The body and its mirror image in the plane z = 0, for a body on the side of z > 0."""
    return lambda p: distance(np.stack([p[0], p[1], np.abs(p[2])]))


def melted(parts: Sequence[tuple[DistanceFunction, float]]) -> DistanceFunction:
    """All parts, each joined to those before it over a length (m)."""

    def distance(p: Float) -> Float:
        total = parts[0][0](p)
        for part, blend in parts[1:]:
            total = _soft_minimum(total, part(p), blend)
        return total

    return distance


def carved(body: DistanceFunction, hollow: DistanceFunction, blend: float) -> DistanceFunction:
    """The body less a hollow, its edge rounded over a length (m)."""
    return lambda p: -_soft_minimum(-body(p), hollow(p), blend)


def _soft_minimum(a: Float, b: Float, blend: float) -> Float:
    overlap = np.maximum(blend - np.abs(a - b), 0.0)
    return np.asarray(np.minimum(a, b) - overlap * overlap / (4.0 * blend))


def surface(distance: DistanceFunction, low: Vector, high: Vector, cell: float) -> TriangleMesh:
    """The surface where the distance is zero within a box, by cells of the given size (m)."""
    lower, upper = np.asarray(low, np.float64), np.asarray(high, np.float64)
    shape = np.ceil((upper - lower) / cell).astype(np.int64) + 1
    values = _sampled(distance, lower, shape, cell)
    vertices, number = _crossings(values)
    points = _settled(distance, (lower + cell * vertices).T, cell).T
    quads = np.concatenate([_quads(values < 0.0, number, axis) for axis in range(3)])
    return mesh(points, _split(points, quads))


def _sampled(distance: DistanceFunction, lower: Float, shape: Index, cell: float) -> Float:
    """The distance on a grid: exact in blocks that the surface may cross, else that of their middle."""
    width = 3
    blocks = -(-shape // width)
    index = np.indices(tuple(blocks)).reshape(3, -1)
    middles = distance(lower[:, None] + cell * (width * index + 0.5 * (width - 1))).reshape(blocks)
    for axis in range(3):
        middles = np.repeat(middles, width, axis=axis)
    values = middles[tuple(slice(n) for n in shape)].copy()
    # From the middle of a block to a corner of the cells that touch it
    reach = 0.5 * np.sqrt(3.0) * (width + 1) * cell
    near = np.abs(values) < _STEEPEST * reach
    values[near] = distance(lower[:, None] + cell * np.argwhere(near).T)
    return values


def _crossings(values: Float) -> tuple[Float, Index]:
    """For each cell that the surface crosses, the mean of where its edges do, in cells."""
    n = np.array(values.shape) - 1
    total, count = np.zeros((*n, 3)), np.zeros(n)
    for axis in range(3):
        first = np.moveaxis(values, axis, 0)
        a, b = first[:-1], first[1:]
        crossed = (a < 0.0) != (b < 0.0)
        along = np.where(crossed, a / np.where(crossed, a - b, 1.0), 0.0)
        for offset in np.ndindex(2, 2):
            window = tuple(slice(o, o + m) for o, m in zip(offset, np.delete(n, axis), strict=True))
            hit = np.moveaxis(crossed[(slice(None), *window)], 0, axis)
            count += hit
            total[..., axis] += np.moveaxis(along[(slice(None), *window)], 0, axis)
            for o, other in zip(offset, [k for k in range(3) if k != axis], strict=True):
                total[..., other] += o * hit
    active = count > 0
    number = np.full(n, -1)
    number[active] = np.arange(active.sum())
    return np.argwhere(active) + total[active] / count[active][:, None], number


def _quads(inside: NDArray[np.bool_], number: Index, axis: int) -> Index:
    """The four cells about each grid edge along an axis that the surface crosses."""
    s = np.transpose(inside, [axis, (axis + 1) % 3, (axis + 2) % 3])
    cells = np.transpose(number, [axis, (axis + 1) % 3, (axis + 2) % 3])
    enters, leaves = ~s[:-1] & s[1:], s[:-1] & ~s[1:]
    found = []
    for change, order in ((leaves, [0, 1, 2, 3]), (enters, [3, 2, 1, 0])):
        i, j, k = np.nonzero(change[:, 1:-1, 1:-1])
        around = [cells[i, j, k], cells[i, j + 1, k], cells[i, j + 1, k + 1], cells[i, j, k + 1]]
        found.append(np.stack(around, axis=1)[:, order])
    return np.concatenate(found)


def _settled(distance: DistanceFunction, points: Float, cell: float) -> Float:
    """The points (3, n) moved onto the surface, in each of two steps by no more than half a cell."""
    h = 1e-4 * cell
    settled = points
    for _ in range(2):
        value = distance(settled)
        gradient = np.stack([distance(settled + h * e[:, None]) - value for e in np.eye(3)]) / h
        step = value / np.maximum(_square(gradient), 0.25)
        settled = settled - np.clip(step, -0.5 * cell, 0.5 * cell) * gradient
    return settled


def _split(points: Float, quads: Index) -> Index:
    """Two triangles for each quad, cut along its shorter diagonal."""
    p = points[quads]
    first = np.linalg.norm(p[:, 0] - p[:, 2], axis=1) <= np.linalg.norm(p[:, 1] - p[:, 3], axis=1)
    turned = np.where(first[:, None], quads, np.roll(quads, -1, axis=1))
    return np.concatenate([turned[:, [0, 1, 2]], turned[:, [0, 2, 3]]])
