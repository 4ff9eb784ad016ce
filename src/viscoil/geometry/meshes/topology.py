"""Which points coincide, which edges match, which triangles polygons and strips are made of."""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from viscoil.geometry.meshes.limits import check_triangles

Integers = npt.NDArray[np.int64]


def equal_points(
    points: npt.NDArray[np.floating[Any]], check: Callable[[int], None] | None = None
) -> npt.NDArray[np.int32]:
    """For each point, shape (n, 3), the index of the first one that is equal to it; shape (n,).

    Points are sorted by a hash of their bits. Should two different ones share a hash, which an
    adversary can arrange, they are sorted by their coordinates, which takes longer. `check` may
    refuse the number of different points.
    """
    if not len(points):
        return np.zeros(0, dtype=np.int32)
    order, new = _sorted_points(points)
    if check is not None:
        check(int(np.count_nonzero(new)))
    first = np.minimum.reduceat(order, np.flatnonzero(new)).astype(np.int32)
    result = np.empty(len(points), dtype=np.int32)
    result[order] = first[np.cumsum(new, dtype=np.int32) - np.int32(1)]
    return result


def _sorted_points(
    points: npt.NDArray[np.floating[Any]],
) -> tuple[Integers, npt.NDArray[np.bool_]]:
    """An order in which equal points come together, and where in it another point begins."""
    order, hashes = _by_hash(points)
    new = _differs_from_previous(points, order)
    if not _is_grouped(hashes, new):
        order = np.lexsort(tuple(_bits(points, column) for column in range(3)))
        new = _differs_from_previous(points, order)
    return order, new


def _bits(
    points: npt.NDArray[np.floating[Any]], column: int
) -> npt.NDArray[np.unsignedinteger[Any]]:
    """One coordinate as whole numbers; adding zero makes −0 and 0, which are equal, the same."""
    if points.dtype == np.float32:
        return (points[:, column] + np.float32(0)).view(np.uint32)
    return (points[:, column].astype(np.float64) + 0.0).view(np.uint64)


def _by_hash(points: npt.NDArray[np.floating[Any]]) -> tuple[Integers, npt.NDArray[np.uint64]]:
    """Multiplying by an odd number mixes upwards only; the shift brings high bits down."""
    hashes = np.zeros(len(points), dtype=np.uint64)
    for column in range(3):
        hashes ^= _bits(points, column)
        hashes *= np.uint64(0x9E3779B97F4A7C15)
        hashes ^= hashes >> np.uint64(29)
    order = np.argsort(hashes)
    return order, hashes[order]


def _differs_from_previous(
    points: npt.NDArray[np.floating[Any]], order: Integers
) -> npt.NDArray[np.bool_]:
    new = np.zeros(len(order), dtype=np.bool_)
    new[0] = True
    for column in range(3):
        value = _bits(points, column)[order]
        new[1:] |= value[1:] != value[:-1]
    return new


def _is_grouped(hashes: npt.NDArray[np.uint64], new: npt.NDArray[np.bool_]) -> bool:
    """Whether neighbours in the order that differ as points also differ in their hash."""
    return bool((hashes[1:] != hashes[:-1])[new[1:]].all())


def unmatched_edges(
    faces: npt.NDArray[np.int32], same: npt.NDArray[np.integer[Any]]
) -> npt.NDArray[np.int32]:
    """Oriented edges without an opposite, shape (k, 2), where `same` names equal vertices."""
    if not len(faces):
        return np.zeros((0, 2), dtype=np.int32)
    corners = same[faces].astype(np.int64)
    start = corners.ravel()
    end = np.roll(corners, -1, axis=1).ravel()
    low, high = np.minimum(start, end), np.maximum(start, end)
    key = low * len(same) + high
    order = np.argsort(key)
    key = key[order]
    begin = np.flatnonzero(np.concatenate(([True], key[1:] != key[:-1])))
    direction = np.sign(end - start)[order]  # 0 for an edge without length, which matches itself
    excess = np.add.reduceat(direction, begin)
    left = np.flatnonzero(excess)
    edges = np.stack((key[begin[left]] // len(same), key[begin[left]] % len(same)), axis=1)
    edges[excess[left] < 0] = edges[excess[left] < 0][:, ::-1]
    return np.repeat(edges, np.abs(excess[left]), axis=0).astype(np.int32)


def fan(corners: npt.NDArray[Any], counts: Integers) -> tuple[npt.NDArray[Any], Integers]:
    """Triangles of polygons that lie one after another in `corners`, and the polygon of each.

    A polygon of n ≥ 3 corners becomes n − 2 triangles around its first corner, a smaller one none.
    """
    if len(counts) and counts.min() == counts.max():
        return _equal_fans(corners, len(counts), int(counts[0]))
    each = np.maximum(counts - 2, 0)
    total = int(each.sum())
    check_triangles(total)
    polygon = np.repeat(np.arange(len(counts)), each)
    step = np.arange(total) - np.repeat(np.cumsum(each) - each, each)
    first = (np.cumsum(counts) - counts)[polygon]
    return np.stack(
        (corners[first], corners[first + step + 1], corners[first + step + 2]), 1
    ), polygon


def _equal_fans(
    corners: npt.NDArray[Any], polygons: int, sides: int
) -> tuple[npt.NDArray[Any], Integers]:
    """The same where all polygons have equally many corners, in less memory."""
    each = max(sides - 2, 0)
    check_triangles(polygons * each)
    rows = corners.reshape(polygons, sides)
    if sides != 3:
        first = np.broadcast_to(rows[:, :1], (polygons, each))
        rows = np.stack((first, rows[:, 1 : each + 1], rows[:, 2 : each + 2]), axis=2)
    return rows.reshape(-1, 3), np.repeat(np.arange(polygons), each)


def strip(corners: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Triangles of a strip; every other one is turned to keep the orientation, and −1 starts anew."""
    if len(corners) < 3:
        return np.zeros((0, 3), dtype=corners.dtype)
    at = np.arange(len(corners))
    begin = np.maximum.accumulate(np.where(corners == -1, at + 1, 0))[:-2]
    triangles = np.stack((corners[:-2], corners[1:-1], corners[2:]), axis=1)
    odd = (at[:-2] - begin) % 2 == 1
    triangles[odd] = triangles[odd][:, [1, 0, 2]]
    whole = (triangles != -1).all(axis=1)
    return np.compress(whole, triangles, axis=0)
