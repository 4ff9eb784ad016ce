# mypy: disable-error-code="valid-type,no-untyped-def,no-untyped-call,misc"
"""Neighbours of particles: Z-sorted particles, sparse cells, and one list of pairs (DYVERSO, section 5).

The domain is unbounded; only occupied cells exist. `Neighbors.update` sorts the particles in memory
along the Z-curve and lists, for each particle i, all j ≠ i closer than `radius`. The one way to walk
the list, in any kernel:

    for k in range(pairs.start[i], pairs.start[i + 1]):
        j = pairs.neighbor[k]

An axis may be periodic: positions then live in [0, length), and `separation` takes the nearest
image.
"""

import dataclasses

import numpy as np
import quadrants as qd
from quadrants import i32, i64

from viscoil.core.compute import Ints, Longs, Vec3s, scalars, view
from viscoil.core.errors import RunError
from viscoil.core.reductions import block_count, exclusive_scan
from viscoil.neighbors.period import Period, make_period, separation, wrap_positions
from viscoil.neighbors.zorder import ZSort, last_cell, origin, spread, squeeze
from viscoil.particles.store import Particles

CHUNK = 16384  # particles whose rows are collected before they are packed
ROW_WIDTH = 64  # neighbours a row holds at first
MOST_NEIGHBORS = 2000  # more than any fluid has: particles have collapsed onto each other
HEADROOM = 1.1  # spare room when an array has to grow
PAIR_HEADROOM = 1.02  # the same for pairs, the longest array of all


@dataclasses.dataclass
class PairList:
    """Neighbours of all particles, one after the other."""

    start: Ints  # (n + 1) first pair of each particle
    neighbor: Ints  # (pairs) the other particle


@dataclasses.dataclass
class Rows:
    """Where neighbours are collected before they are packed: a row for each particle of a chunk."""

    width: qd.i32  # neighbours that a row holds
    entries: Ints  # (particles of a chunk times width)


@dataclasses.dataclass
class CellGrid:
    """Occupied cells in Z-order, and bricks of 8³ cells that find a cell by its coordinates."""

    cell_of: Ints  # (n + 1) cell of particle i is cell_of[i + 1] - 1
    cell_key: Longs  # (cells) Z-index
    cell_start: Ints  # (cells + 1) first particle
    brick_of: Ints  # (cells + 1) brick of cell c is brick_of[c + 1] - 1
    brick_key: Longs  # (bricks) Z-index of the brick
    brick_cells: Ints  # (512 bricks) cell at each place of a brick, -1 where empty
    around: Ints  # (27 cells) occupied cells around each, -1 where empty


@qd.kernel(fastcache=True)
def _mark_changes(n: qd.i32, drop: qd.i32, keys: Longs, starts: Ints):
    """1 where a key, without its last `drop` bits, differs from the one before."""
    for i in range(n):
        first = 1
        if i > 0:
            first = qd.cast((keys[i] >> drop) != (keys[i - 1] >> drop), qd.i32)
        starts[i] = first


@qd.kernel(fastcache=True)
def _gather_cells(n: qd.i32, keys: Longs, grid: CellGrid):
    for i in range(n):
        c = grid.cell_of[i]
        if grid.cell_of[i + 1] > c:
            grid.cell_key[c] = keys[i]
            grid.cell_start[c] = i
        if i == n - 1:
            grid.cell_start[grid.cell_of[n]] = n


@qd.kernel(fastcache=True)
def _fill_bricks(cells: qd.i32, bricks: qd.i32, grid: CellGrid):
    for place in range(bricks * 512):
        grid.brick_cells[place] = -1
    for c in range(cells):
        key = grid.cell_key[c]
        b = grid.brick_of[c + 1] - 1
        if grid.brick_of[c] == b:
            grid.brick_key[b] = key >> 9
        grid.brick_cells[b * 512 + qd.cast(key & 511, qd.i32)] = c


@qd.func
def wrap_cell(cell: qd.i64, cells: qd.i32) -> qd.i64:
    wrapped = cell
    if cells > 0:
        if cell < origin():
            wrapped = cell + cells
        elif cell >= origin() + cells:
            wrapped = cell - cells
    return wrapped


@qd.func
def _three_cells(cell: qd.i64, last: qd.i64, periodic: qd.i32):
    """The cells before, at and after `cell` along an axis, spread for a Z-index; -1 off the grid."""
    spread_out = qd.Vector([qd.i64(-1), qd.i64(-1), qd.i64(-1)])
    for k in qd.static(range(3)):
        near = wrap_cell(cell + (k - 1), periodic)
        if near >= 0 and near <= last:
            spread_out[k] = spread(near)
    return spread_out


@qd.func
def find_brick(key: qd.i64, bricks: qd.i32, brick_key: Longs) -> qd.i32:
    low = 0
    high = bricks
    while low < high:
        middle = (low + high) // 2
        if brick_key[middle] < key:
            low = middle + 1
        else:
            high = middle
    found = -1
    if low < bricks:
        if brick_key[low] == key:
            found = low
    return found


@qd.kernel(fastcache=True)
def _link_cells(
    cells: qd.i32,
    bricks: qd.i32,
    periodic_x: qd.i32,
    periodic_y: qd.i32,
    periodic_z: qd.i32,
    grid: CellGrid,
):
    """Finds the occupied cells among the 27 around each."""
    for c in range(cells):
        link_cell(c, bricks, periodic_x, periodic_y, periodic_z, last_cell(), qd.i64(0), grid)


@qd.func
def link_cell(
    c: qd.i32,
    bricks: qd.i32,
    periodic_x: qd.i32,
    periodic_y: qd.i32,
    periodic_z: qd.i32,
    last: qd.i64,
    common: qd.i64,
    grid: CellGrid,
):
    """The 27 around cell c; `common` are bits above the Z-index that its key shares with theirs."""
    key = grid.cell_key[c]
    place = key ^ common
    home = grid.brick_of[c + 1] - 1
    along_x = _three_cells(squeeze(place), last, periodic_x)
    along_y = _three_cells(squeeze(place >> 1), last, periodic_y)
    along_z = _three_cells(squeeze(place >> 2), last, periodic_z)
    for o in qd.static(range(27)):
        kx, ky, kz = along_x[o % 3], along_y[o // 3 % 3], along_z[o // 9]
        found = -1
        if qd.min(kx, ky, kz) >= 0:
            wanted = kx | (ky << 1) | (kz << 2) | common
            brick = home
            if (wanted >> 9) != (key >> 9):
                brick = find_brick(wanted >> 9, bricks, grid.brick_key)
            if brick >= 0:
                found = grid.brick_cells[brick * 512 + qd.cast(wanted & 511, qd.i32)]
        grid.around[c * 27 + o] = found


@qd.kernel(fastcache=True)
def _list_chunk(
    first: qd.i32,
    last: qd.i32,
    radius: qd.f32,
    period: Period,
    position: Vec3s,
    grid: CellGrid,
    rows: Rows,
    pairs: PairList,
) -> qd.i32:
    """Lists the neighbours of particles first..last-1; returns the longest row.

    Each particle first collects its neighbours in a row of its own, without a branch: the next
    place is written always and kept only if the particle is near. Then the rows are packed.
    """
    for i in range(first, last):
        xi = position[i]
        c = grid.cell_of[i + 1] - 1
        row = (i - first) * rows.width
        found = 0
        for o in range(27):
            other = grid.around[c * 27 + o]
            if other >= 0:
                for j in range(grid.cell_start[other], grid.cell_start[other + 1]):
                    apart = separation(period, xi, position[j])
                    rows.entries[row + qd.min(found, rows.width - 1)] = j
                    near = qd.cast(apart.dot(apart) < radius * radius, qd.i32)
                    found += near & qd.cast(j != i, qd.i32)
        pairs.start[i + 1] = found
    return pack_rows(first, last, rows, pairs)


@qd.func
def pack_rows(first: qd.i32, last: qd.i32, rows: Rows, pairs: PairList) -> qd.i32:
    """Makes counts into starts and puts the rows one after the other; returns the longest."""
    longest = 0
    qd.loop_config(serialize=True)
    for i in range(first, last):
        longest = qd.max(longest, pairs.start[i + 1])
        pairs.start[i + 1] = pairs.start[i + 1] + pairs.start[i]
    for i in range(first, last):
        row = (i - first) * rows.width
        begin = pairs.start[i]
        end = qd.min(pairs.start[i + 1], pairs.neighbor.shape[0])
        for k in range(begin, qd.min(end, begin + rows.width)):
            pairs.neighbor[k] = rows.entries[row + k - begin]
    return longest


class Neighbors:
    """Keeps the particles sorted and the pair list up to date."""

    def __init__(self, periodic: tuple[float, float, float] = (0.0, 0.0, 0.0)) -> None:
        self.period = make_period(periodic)
        self.lengths = periodic
        self.sizes: tuple[float, ...] = (1.0,)
        """The sizes of particles that it can tell apart."""
        self.pairs = PairList(scalars(i32, 1), scalars(i32, 1))
        self.pair_count = 0
        self._rows = Rows(ROW_WIDTH, scalars(i32, CHUNK * ROW_WIDTH))
        self._start_small()

    def _start_small(self) -> None:
        """Frees what is made anew at every sort."""
        self._capacity = 0
        self.pairs.start, self.pairs.neighbor = scalars(i32, 1), scalars(i32, 1)
        self._sorter = ZSort()
        self._periodic_cells = [0, 0, 0]
        self.grid = CellGrid(*(scalars(t, 1) for t in (i32, i64, i32, i32, i64, i32, i32)))
        self._sums = scalars(i32, 1)
        self.brick_count = 0

    def update(self, particles: Particles, radius: float) -> None:
        """Drops dead particles, re-sorts the living in memory, lists pairs closer than `radius`."""
        if particles.capacity < self._capacity:
            self._start_small()
        self._capacity = particles.capacity
        if self.period.repeats:
            wrap_positions(particles.count, self.period, particles.array("position"))
        survivors, moved = self._sort(particles, radius)
        if moved:
            particles.reorder(self._sorter.order, survivors)
        particles.trim()
        particles.update_connections()
        self.pair_count = 0
        if survivors:
            self._find_cells(survivors)
            self._list_pairs(particles, radius)

    def _sort(self, particles: Particles, radius: float) -> tuple[int, bool]:
        """How many particles live, and whether any has to move."""
        self._periodic_cells, cells_per_metre = self.layout(radius)
        return self._sorter.sort(
            particles.count, cells_per_metre, particles.array("position"), particles.alive
        )

    def layout(self, radius: float) -> tuple[list[int], list[float]]:
        """Cells per periodic axis (0: open), and cells per metre along each axis."""
        size = radius * 1.0001  # rounding must not put a neighbour two cells away
        counts = [int(length / size) for length in self.lengths]
        for length, count in zip(self.lengths, counts, strict=True):
            if length > 0.0 and count < 3:
                raise RunError(
                    f"simulation.periodic: a period of {length:g} m is shorter than three "
                    f"neighbour radii ({3 * size:g} m); lengthen it or use a smaller spacing"
                )
        per_metre = [
            count / length if length > 0.0 else 1.0 / size
            for length, count in zip(self.lengths, counts, strict=True)
        ]
        return counts, per_metre

    def _find_cells(self, n: int) -> None:
        grid, keys = self.grid, self._sorter.keys
        if grid.cell_of.shape[0] < n + 1:
            grid.cell_of = scalars(i32, keys.shape[0] + 1)
            self._sums = scalars(i32, block_count(keys.shape[0] + 1))
        _mark_changes(n, 0, keys, grid.cell_of)
        cells = exclusive_scan(n, grid.cell_of, self._sums, grid.cell_of)
        if grid.cell_key.shape[0] < cells:
            room = int(cells * HEADROOM) + 1
            grid.cell_key = scalars(i64, room)
            grid.cell_start = scalars(i32, room + 1)
            grid.brick_of = scalars(i32, room + 1)
            grid.around = scalars(i32, room * 27)
        _gather_cells(n, keys, grid)
        _mark_changes(cells, 9, grid.cell_key, grid.brick_of)
        bricks = exclusive_scan(cells, grid.brick_of, self._sums, grid.brick_of)
        if grid.brick_key.shape[0] < bricks:
            room = int(bricks * HEADROOM) + 1
            grid.brick_key = scalars(i64, room)
            grid.brick_cells = scalars(i32, room * 512)
        _fill_bricks(cells, bricks, grid)
        self.brick_count = bricks
        self._link(cells, bricks)

    def _link(self, cells: int, bricks: int) -> None:
        _link_cells(cells, bricks, *self._periodic_cells, self.grid)

    def _list_pairs(self, particles: Particles, radius: float) -> None:
        n = particles.count
        if self.pairs.start.shape[0] < n + 1:
            self.pairs.start = scalars(i32, particles.capacity + 1)
        for first in range(0, n, CHUNK):
            self._list_rows(first, min(first + CHUNK, n), radius, particles)
        self.pair_count = int(self.pairs.start[n])
        if self.pair_count > self.pairs.neighbor.shape[0]:
            self.pairs.neighbor = scalars(i32, 1)  # frees it before the longer one is made
            self.pairs.neighbor = scalars(i32, int(self.pair_count * PAIR_HEADROOM))
            self._list_pairs(particles, radius)

    def _list_rows(self, first: int, last: int, radius: float, particles: Particles) -> None:
        while True:
            longest = self._list_chunk(first, last, radius, particles)
            if longest < self._rows.width:
                return
            if longest > MOST_NEIGHBORS:
                raise RunError(
                    f"a particle has {longest} neighbours: particles collapsed onto each other; "
                    "use a smaller time step, or check that emitters and fluids do not overlap"
                )
            self._rows = Rows(2 * longest, scalars(i32, CHUNK * 2 * longest))

    def _list_chunk(self, first: int, last: int, radius: float, particles: Particles) -> int:
        longest: int = _list_chunk(
            first, last, radius, self.period,
            particles.array("position"), self.grid, self._rows, self.pairs,
        )  # fmt: skip
        return longest

    def as_numpy(self, n: int) -> tuple[np.ndarray, np.ndarray]:
        """(start, neighbor) for inspection and tests."""
        return view(self.pairs.start, n + 1), view(self.pairs.neighbor, self.pair_count)
