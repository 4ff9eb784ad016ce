# mypy: disable-error-code="valid-type,no-untyped-def,no-untyped-call,misc,index"
"""Neighbours among particles of several sizes: a grid per size, in one sorted list of cells.

Each distinct size is a level with cells of its own support. Particles are sorted by level, then along
the Z-curve of their level, so that the cells and bricks of `neighbors` hold all levels. Particle i
looks for its neighbours on every level, in the cells that come within (h_i + h_level)/2 of it: a fine
particle meets few large cells, a coarse one many small ones, and neither wades through particles that
are out of reach. Cells know which levels have anything near, so away from interfaces there is no cost.
"""

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np
import quadrants as qd

from viscoil.core.compute import Floats, Ints, Longs, Vec3s, scalars, vec3, vectors, write
from viscoil.core.errors import RunError
from viscoil.neighbors.pairs import (
    CellGrid,
    Neighbors,
    PairList,
    Rows,
    find_brick,
    link_cell,
    pack_rows,
    wrap_cell,
)
from viscoil.neighbors.period import Period, separation
from viscoil.neighbors.zorder import dead_key, encode, origin, spread, squeeze
from viscoil.particles.store import Particles

ivec3 = qd.types.vector(3, qd.i32)

MOST_LEVELS = 7  # three bits of a key; the dead have the eighth


@dataclasses.dataclass
class Levels:
    """One entry per size."""

    count: qd.i32
    size: Floats  # s, ascending
    per_metre: Vec3s  # cells along each axis, 1/m
    periodic_cells: Ints  # (3 levels) cells of a periodic axis; 0: open


def make_levels(sizes: Sequence[float]) -> Levels:
    """Levels for `sizes`; `lay_out` gives them their cells."""
    count = len(sizes)
    levels = Levels(count, scalars(qd.f32, count), vectors(3, count), scalars(qd.i32, 3 * count))
    write(levels.size, np.array(sizes, dtype=np.float32))
    return levels


def lay_out(levels: Levels, layouts: Sequence[tuple[list[int], list[float]]]) -> None:
    """Takes cells per periodic axis and cells per metre of each level."""
    write(levels.periodic_cells, [count for counts, _ in layouts for count in counts])
    write(levels.per_metre, np.array([per_metre for _, per_metre in layouts]))


@qd.func
def _level_of(size: qd.f32, levels: Levels) -> qd.i32:
    """The level of nearest size."""
    best = 0
    for b in range(1, levels.count):
        if qd.abs(levels.size[b] - size) < qd.abs(levels.size[best] - size):
            best = b
    return best


@qd.func
def _last_cell() -> qd.i64:
    """Cells have 20 bits per axis here: three bits of the key say the level."""
    return qd.i64(0x0FFFFF)


@qd.func
def _level_bits(level: qd.i32) -> qd.i64:
    return qd.cast(level, qd.i64) << 60


@qd.func
def _cell_along(coordinate: qd.f32, per_metre: qd.f32) -> qd.i64:
    cell = qd.cast(qd.floor(coordinate * per_metre), qd.i64) + origin()
    return qd.max(qd.i64(0), qd.min(cell, _last_cell()))


@qd.kernel(fastcache=True)
def make_level_keys(
    n: qd.i32,
    levels: Levels,
    position: Vec3s,
    size: Floats,
    alive: Ints,
    keys: Longs,
    order: Ints,
):
    """The key of a particle: its level, then the Z-index of its cell."""
    for i in range(n):
        order[i] = i
        keys[i] = dead_key()
        if alive[i] == 1:
            level = _level_of(size[i], levels)
            x = position[i]
            scale = levels.per_metre[level]
            keys[i] = _level_bits(level) | encode(
                _cell_along(x[0], scale[0]),
                _cell_along(x[1], scale[1]),
                _cell_along(x[2], scale[2]),
            )


@qd.func
def _cells_of(x: vec3, per_metre: vec3):
    """The cell of a point along each axis."""
    return qd.Vector(
        [qd.cast(_cell_along(x[axis], per_metre[axis]), qd.i32) for axis in qd.static(range(3))]
    )


@qd.func
def _index(key: qd.i64) -> qd.f32:
    """Cells from the coordinate 0 along the axis whose bits come first in `key`."""
    return qd.cast((squeeze(key) & _last_cell()) - origin(), qd.f32)


@qd.func
def _find_cell(key: qd.i64, bricks: qd.i32, grid: CellGrid, brick_key: qd.i64, brick: qd.i32):
    """(cell or -1, brick): the brick is searched for only if it is not the one found before."""
    found_brick = brick
    if (key >> 9) != brick_key:
        found_brick = find_brick(key >> 9, bricks, grid.brick_key)
    cell = -1
    if found_brick >= 0:
        cell = grid.brick_cells[found_brick * 512 + qd.cast(key & 511, qd.i32)]
    return cell, found_brick


@qd.func
def _key_along(
    periodic: qd.template(), levels: Levels, level: qd.i32, axis: qd.template(), cell: qd.i32
) -> qd.i64:
    """What a cell along an axis adds to a key."""
    inside = qd.cast(cell, qd.i64)
    if qd.static(periodic):
        inside = wrap_cell(inside, levels.periodic_cells[3 * level + axis])
    return spread(inside) << axis


@qd.func
def _any_cell(
    stride: qd.template(),
    periodic: qd.template(),
    first: ivec3,
    last: ivec3,
    level: qd.i32,
    bricks: qd.i32,
    levels: Levels,
    grid: CellGrid,
) -> qd.i32:
    """Whether a box of cells of a level has an occupied cell; by strides of 8, an occupied brick."""
    found = 0
    brick_key = qd.i64(-1)
    brick = -1
    for z in range((last[2] - first[2]) // stride + 2):
        kz = _level_bits(level)
        kz |= _key_along(periodic, levels, level, 2, qd.min(first[2] + stride * z, last[2]))
        for y in range((last[1] - first[1]) // stride + 2):
            ky = kz
            ky |= _key_along(periodic, levels, level, 1, qd.min(first[1] + stride * y, last[1]))
            for x in range((last[0] - first[0]) // stride + 2):
                if found == 0:
                    cell = qd.min(first[0] + stride * x, last[0])
                    wanted = ky | _key_along(periodic, levels, level, 0, cell)
                    at, brick = _find_cell(wanted, bricks, grid, brick_key, brick)
                    brick_key = wanted >> 9
                    if qd.static(stride == 1):
                        found = qd.cast(at >= 0, qd.i32)
                    else:
                        found = qd.cast(brick >= 0, qd.i32)
    return found


@qd.kernel(fastcache=True)
def link_levels(
    cells: qd.i32,
    bricks: qd.i32,
    radius: qd.f32,
    periodic: qd.template(),
    levels: Levels,
    grid: CellGrid,
    nearby: Ints,
):
    """Finds the 27 cells of its level around each cell, and which other levels come within reach.

    Of those, nearby[c] has bit b set.
    """
    for c in range(cells):
        key = grid.cell_key[c]
        own = qd.cast(key >> 60, qd.i32)
        px = levels.periodic_cells[3 * own]
        py = levels.periodic_cells[3 * own + 1]
        pz = levels.periodic_cells[3 * own + 2]
        link_cell(c, bricks, px, py, pz, _last_cell(), _level_bits(own), grid)
        size = 1.0 / levels.per_metre[own]
        low = size * qd.Vector([_index(key), _index(key >> 1), _index(key >> 2)])
        marks = 0
        for b in range(levels.count):
            # a hundredth more than the reach makes up for the rounding of `low`
            reach = 0.505 * (levels.size[own] + levels.size[b]) * radius
            first = _cells_of(low - reach, levels.per_metre[b])
            last = _cells_of(low + size + reach, levels.per_metre[b])
            near = qd.cast(b != own, qd.i32)
            if qd.static(not periodic):  # bricks do not end where a period does
                if near == 1:
                    near = _any_cell(8, periodic, first, last, b, bricks, levels, grid)
            if near == 1:
                near = _any_cell(1, periodic, first, last, b, bricks, levels, grid)
            marks = marks | (near << b)
        nearby[c] = marks


@qd.func
def _collect(
    i: qd.i32,
    cell: qd.i32,
    reach: qd.f32,
    row: qd.i32,
    found: qd.i32,
    period: Period,
    position: Vec3s,
    grid: CellGrid,
    rows: Rows,
) -> qd.i32:
    """Puts the particles of a cell (-1: none) that are within reach into the row; its new length."""
    count = found
    if cell >= 0:
        for j in range(grid.cell_start[cell], grid.cell_start[cell + 1]):
            apart = separation(period, position[i], position[j])
            rows.entries[row + qd.min(count, rows.width - 1)] = j
            near = qd.cast(apart.dot(apart) < reach * reach, qd.i32)
            count += near & qd.cast(j != i, qd.i32)
    return count


@qd.kernel(fastcache=True)
def list_level_chunk(
    first: qd.i32,
    last: qd.i32,
    bricks: qd.i32,
    radius: qd.f32,
    period: Period,
    levels: Levels,
    position: Vec3s,
    size: Floats,
    grid: CellGrid,
    nearby: Ints,
    rows: Rows,
    pairs: PairList,
) -> qd.i32:
    """Lists the neighbours of particles first..last-1, r < (s_i + s_j)/2 `radius`; the longest row.

    Rows are collected and packed as those of a single level are.
    """
    for i in range(first, last):
        row = (i - first) * rows.width
        c = grid.cell_of[i + 1] - 1
        found = 0
        for o in range(27):
            found = _collect(
                i, grid.around[c * 27 + o], size[i] * radius, row, found,
                period, position, grid, rows,
            )  # fmt: skip
        for b in range(levels.count):
            if (nearby[c] >> b) & 1 == 1:
                reach = 0.5 * (size[i] + levels.size[b]) * radius
                low = _cells_of(position[i] - 1.0001 * reach, levels.per_metre[b])
                high = _cells_of(position[i] + 1.0001 * reach, levels.per_metre[b])
                brick_key = qd.i64(-1)
                brick = -1
                for z in range(low[2], high[2] + 1):
                    kz = _level_bits(b) | _key_along(period.repeats, levels, b, 2, z)
                    for y in range(low[1], high[1] + 1):
                        ky = kz | _key_along(period.repeats, levels, b, 1, y)
                        for x in range(low[0], high[0] + 1):
                            wanted = ky | _key_along(period.repeats, levels, b, 0, x)
                            cell, brick = _find_cell(wanted, bricks, grid, brick_key, brick)
                            brick_key = wanted >> 9
                            found = _collect(
                                i, cell, reach, row, found,
                                period, position, grid, rows,
                            )  # fmt: skip
        pairs.start[i + 1] = found
    return pack_rows(first, last, rows, pairs)


class MixedNeighbors(Neighbors):
    """Neighbours of particles whose channel `size` has one of the given values."""

    def __init__(
        self, sizes: Sequence[float], periodic: tuple[float, float, float] = (0.0, 0.0, 0.0)
    ) -> None:
        super().__init__(periodic)
        self.sizes = tuple(sorted(set(sizes)))
        if len(self.sizes) > MOST_LEVELS:
            raise RunError(
                f"the scene has {len(self.sizes)} different spacings, and {MOST_LEVELS} are "
                "possible: make some of them equal"
            )
        self._levels = make_levels(self.sizes)
        self._nearby: Any = scalars(qd.i32, 1)
        self._radius = 0.0
        self._bricks = 0

    def _sort(self, particles: Particles, radius: float) -> tuple[int, bool]:
        if particles.count == 0:
            return 0, False
        self._radius = radius
        lay_out(self._levels, [self.layout(size * radius) for size in self.sizes])
        self._sorter.reserve(particles.capacity)
        make_level_keys(
            particles.count, self._levels, particles.array("position"), particles.array("size"),
            particles.alive, self._sorter.keys, self._sorter.order,
        )  # fmt: skip
        return self._sorter.sort_keys(particles.count)

    def _link(self, cells: int, bricks: int) -> None:
        self._bricks = bricks
        if self._nearby.shape[0] < cells:
            self._nearby = scalars(qd.i32, self.grid.cell_key.shape[0])
        link_levels(
            cells, bricks, self._radius, self.period.repeats, self._levels, self.grid, self._nearby
        )

    def _list_chunk(self, first: int, last: int, radius: float, particles: Particles) -> int:
        longest: int = list_level_chunk(
            first, last, self._bricks, radius, self.period,
            self._levels, particles.array("position"), particles.array("size"), self.grid,
            self._nearby, self._rows, self.pairs,
        )  # fmt: skip
        return longest
