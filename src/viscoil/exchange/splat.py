"""Sums of particles on the nodes of a sparse grid, over NumPy alone, a layer of leaves at a time.

Each particle is spread over the nodes near it by a quadratic B-spline whose weights sum to one, so
that nothing is lost or made.
"""

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

SIDE = 8  # nodes along a leaf
LEAF = SIDE**3
KEY_BITS = 21  # of each coordinate of a leaf
MOST_LEAVES = 2**KEY_BITS - 2  # along an axis
LAYER = 100_000  # particles that a layer has at least: fewer are not worth a pass
CHUNK = 2**20  # pairs of a particle and a node at a time

Floats = NDArray[np.float64]
Longs = NDArray[np.int64]
Bools = NDArray[np.bool_]


@dataclass(frozen=True)
class Cloud:
    """Particles in units of nodes, and the values to be summed."""

    place: Floats  # (n, 3) in units of the node spacing
    reach: Floats  # (n,) how far the weights go, at least 1
    values: Floats  # (n, q)


@dataclass(frozen=True)
class Layer:
    """Leaves with the sums on their nodes; z runs fastest."""

    leaves: Longs  # (k, 3) place of each leaf, in leaves
    sums: Floats  # (k, 512, q)


def spread(cloud: Cloud) -> bool:
    """Whether the particles are too far apart to be numbered."""
    if not len(cloud.place):
        return False
    first, last = _leaf_range(cloud)
    return bool((last.max(axis=0) - first.min(axis=0) > MOST_LEAVES).any())


def layers(cloud: Cloud, wanted: Callable[[Longs], Bools] | None = None) -> Iterator[Layer]:
    """The leaves that particles reach, from low to high x; each comes once, with whole sums.

    `wanted` chooses among leaves (k, 3), by default all.
    """
    if not len(cloud.place):
        return
    first, last = _leaf_range(cloud)
    base = first.min(axis=0)
    first, last = first - base, last - base
    for low, high in _cuts(first[:, 0], last[:, 0]):
        here = np.flatnonzero((first[:, 0] <= high) & (last[:, 0] >= low))
        keys = _reached(first[here], last[here])
        x = keys >> 2 * KEY_BITS
        keys = keys[(x >= low) & (x <= high)]
        if wanted is not None:
            keys = keys[wanted(unpacked(keys) + base)]
            here = here[_reaching(first[here], last[here], keys)]
        part = Cloud(cloud.place[here], cloud.reach[here], cloud.values[here])
        yield Layer(unpacked(keys) + base, _sums(part, base, first[here], keys))


def _leaf_range(cloud: Cloud) -> tuple[Longs, Longs]:
    """Lowest and highest leaf (n, 3) that each particle reaches."""
    reach = cloud.reach[:, None]
    low = _lowest_node(cloud.place, reach)
    return low // SIDE, (low + _width(reach) - 1) // SIDE


def _lowest_node(place: Floats, reach: Floats) -> Longs:
    return np.floor(place - reach).astype(np.int64) + 1


def _width(reach: Floats) -> Longs:
    """Nodes along an axis that can be nearer than `reach`."""
    return np.ceil(2.0 * reach).astype(np.int64)


def _cuts(first: Longs, last: Longs) -> list[tuple[int, int]]:
    """Ranges of x, in leaves, without gaps, that hold enough particles each to be worth a pass."""
    upto = np.cumsum(np.bincount(first, minlength=int(last.max()) + 1))
    cuts, low = [], 0
    while low < len(upto):
        done = upto[low - 1] if low else 0
        high = min(int(np.searchsorted(upto, done + LAYER)), len(upto) - 1)
        cuts.append((low, high))
        low = high + 1
    return cuts


def _sums(cloud: Cloud, base: Longs, first: Longs, keys: Longs) -> Floats:
    """(k, 512, q) Sums of particles, whose lowest leaves are given, on the leaves with these keys."""
    nowhere = 1  # an extra leaf at the end takes the sums of leaves that are not asked for
    sums = np.zeros((len(keys) + nowhere, LEAF, cloud.values.shape[1]))
    widths = _width(cloud.reach)
    for width in np.unique(widths).tolist():
        rows = np.flatnonzero(widths == width)
        rows = rows[np.argsort(packed(first[rows]), kind="stable")]
        for start in range(0, len(rows), max(CHUNK // width**3, 1)):
            some = rows[start : start + max(CHUNK // width**3, 1)]
            _add(cloud, some, width, base, keys, sums)
    return sums[:-nowhere]


def _reached(first: Longs, last: Longs) -> Longs:
    """Keys of all leaves between the lowest and the highest of each particle, ascending."""
    return np.unique(np.concatenate([_distinct(keys) for keys in _between(first, last)]))


def _reaching(first: Longs, last: Longs, keys: Longs) -> Bools:
    """Which particles reach one of the leaves with these keys."""
    found = np.zeros(len(first), np.bool_)
    for own in _between(first, last):
        found |= lookup(keys, own) < len(keys)
    return found


def _between(first: Longs, last: Longs) -> Iterator[Longs]:
    """Keys of one leaf of each particle at a time, until all were there; some come repeatedly."""
    steps = (range(int(s) + 1) for s in (last - first).max(axis=0, initial=0))
    for step in itertools.product(*steps):
        yield packed(np.minimum(first + step, last))


def _distinct(keys: Longs) -> Longs:
    """Without repetitions; runs of equal keys are shortened first, before the sort."""
    return np.unique(keys[np.concatenate(([True], keys[1:] != keys[:-1]))])


def _add(cloud: Cloud, rows: Longs, width: int, base: Longs, keys: Longs, sums: Floats) -> None:
    """Adds the values of these particles, all of which reach `width` nodes along each axis."""
    place, reach = cloud.place[rows], cloud.reach[rows, None]
    nodes = _lowest_node(place, reach)[:, :, None] + np.arange(width)  # (m, 3, width)
    weights = _bspline(1.5 * (nodes - place[:, :, None]) / reach[:, :, None])
    weights /= weights.sum(axis=2, keepdims=True)
    weight = _outer(np.multiply, weights)
    leaf, local = np.divmod(nodes - SIDE * base[:, None], SIDE)
    slots, index = _places(leaf, local, keys)
    for q in range(sums.shape[2]):
        value = weight * cloud.values[rows, q, None]
        total = np.bincount(index, value.reshape(-1), minlength=len(slots) * LEAF)
        sums[slots, :, q] += total.reshape(-1, LEAF)


def _places(leaf: Longs, local: Longs, keys: Longs) -> tuple[Longs, Longs]:
    """Slots of leaves among the keys, and nodes as places (m * width³,) in the leaves of these slots.

    Leaves are looked up once for each particle and leaf rather than for each node. One that is not
    among the keys gets the slot behind the last.
    """
    step = leaf - leaf[:, :, :1]
    most = int(step.max()) + 1
    powers = np.array([2, 1, 0])
    corners = (leaf[:, :, :1] + np.arange(most)) << KEY_BITS * powers[:, None]
    found = lookup(keys, _outer(np.add, corners))
    slots = np.unique(found)
    near = np.searchsorted(slots, found).astype(np.int32)  # (m, most³)
    which = _outer(np.add, (step * most ** powers[:, None]).astype(np.int32))
    inner = _outer(np.add, (local * SIDE ** powers[:, None]).astype(np.int32))
    index = np.take_along_axis(near, which, axis=1).astype(np.int64) * LEAF + inner
    return slots, index.reshape(-1)


def _outer(combine: np.ufunc, parts: NDArray[Any]) -> NDArray[Any]:
    """(m, width³) Combinations of x, y and z, with z fastest, from parts (m, 3, width)."""
    planes = combine(parts[:, 0, :, None], parts[:, 1, None, :])
    cubes: NDArray[Any] = combine(planes[:, :, :, None], parts[:, 2, None, None, :])
    return cubes.reshape(len(parts), -1)


def _bspline(t: Floats) -> Floats:
    """The quadratic B-spline of width 3."""
    t = np.abs(t)
    outer = 0.5 * np.maximum(1.5 - t, 0.0) ** 2
    return np.where(t < 0.5, 0.75 - t * t, outer)


def lookup(keys: Longs, wanted: Longs) -> Longs:
    """Places of numbers among ascending keys; the number of keys for those that are not there."""
    if not len(keys):
        return np.zeros(wanted.shape, np.int64)
    found = np.searchsorted(keys, wanted)
    there = keys[np.minimum(found, len(keys) - 1)] == wanted
    return np.where(there, found, len(keys))


def packed(leaves: Longs) -> Longs:
    """One number for each leaf; ascending by x, then y, then z."""
    x, y, z = leaves.T
    keys: Longs = x << 2 * KEY_BITS | y << KEY_BITS | z
    return keys


def unpacked(keys: Longs) -> Longs:
    """The leaves (k, 3) that have these numbers."""
    ones = (1 << KEY_BITS) - 1
    return np.stack([keys >> 2 * KEY_BITS, keys >> KEY_BITS & ones, keys & ones], axis=1)
