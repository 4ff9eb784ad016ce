# mypy: disable-error-code="valid-type,no-untyped-def,no-untyped-call,misc"
"""Neighbours in another set of particles: fluid and the samples of a wall, for one.

Each set is sorted into cells of its own (`Neighbors`). A particle of one set looks into the 27 cells of
the other set around the place where it is, and its neighbours there are listed as those among its own
kind are:

    for k in range(pairs.start[i], pairs.start[i + 1]):
        j = pairs.neighbor[k]  # in the other set
"""

import dataclasses
from typing import Any

import quadrants as qd

from viscoil.core.compute import Vec3s, scalars
from viscoil.neighbors.pairs import (
    CellGrid,
    Neighbors,
    PairList,
    Rows,
    find_brick,
    pack_rows,
    wrap_cell,
)
from viscoil.neighbors.period import Period, separation
from viscoil.neighbors.zorder import cell_along, encode
from viscoil.particles.store import Particles


@dataclasses.dataclass
class CellLayout:
    """How the cells of a set lie."""

    per_metre_x: qd.f32  # cells along the axis, 1/m
    per_metre_y: qd.f32
    per_metre_z: qd.f32
    periodic_x: qd.i32  # cells of a periodic axis; 0: open
    periodic_y: qd.i32
    periodic_z: qd.i32
    bricks: qd.i32  # of 8³ cells


@qd.kernel(fastcache=True)
def _list_across(
    first: qd.i32,
    last: qd.i32,
    radius: qd.f32,
    period: Period,
    layout: CellLayout,
    position: Vec3s,
    others: Vec3s,
    grid: CellGrid,
    rows: Rows,
    pairs: PairList,
) -> qd.i32:
    """Lists the others that are near particles first..last-1; returns the longest row."""
    for i in range(first, last):
        xi = position[i]
        row = (i - first) * rows.width
        found = 0
        cx = cell_along(xi[0], layout.per_metre_x)
        cy = cell_along(xi[1], layout.per_metre_y)
        cz = cell_along(xi[2], layout.per_metre_z)
        for o in range(27):
            x = wrap_cell(cx + (o % 3 - 1), layout.periodic_x)
            y = wrap_cell(cy + (o // 3 % 3 - 1), layout.periodic_y)
            z = wrap_cell(cz + (o // 9 - 1), layout.periodic_z)
            key = encode(x, y, z)
            brick = find_brick(key >> 9, layout.bricks, grid.brick_key)
            cell = -1
            if brick >= 0:
                cell = grid.brick_cells[brick * 512 + qd.cast(key & 511, qd.i32)]
            if cell >= 0:
                for j in range(grid.cell_start[cell], grid.cell_start[cell + 1]):
                    apart = separation(period, xi, others[j])
                    rows.entries[row + qd.min(found, rows.width - 1)] = j
                    found += qd.cast(apart.dot(apart) < radius * radius, qd.i32)
        pairs.start[i + 1] = found
    return pack_rows(first, last, rows, pairs)


class SetNeighbors(Neighbors):
    """Pairs from particles to those of another set, which keeps its own order."""

    def __init__(self, periodic: tuple[float, float, float] = (0.0, 0.0, 0.0)) -> None:
        super().__init__(periodic)
        self._others: Any = None
        self._cells: Neighbors | None = None

    def update_across(
        self, particles: Particles, others: Particles, cells: Neighbors, radius: float
    ) -> None:
        """Lists pairs closer than `radius`; `cells` was last updated with the others and that radius.

        Neither set is sorted: that is for the neighbours of each among themselves.
        """
        self._others, self._cells = others.array("position"), cells
        self.pair_count = 0
        if particles.count and others.count:
            self._list_pairs(particles, radius)
        elif particles.count:
            self.pairs.start = scalars(qd.i32, particles.capacity + 1)

    def _list_chunk(self, first: int, last: int, radius: float, particles: Particles) -> int:
        assert self._cells is not None, "update_across sets it"
        counts, per_metre = self._cells.layout(radius)
        layout = CellLayout(
            per_metre[0], per_metre[1], per_metre[2], counts[0], counts[1], counts[2],
            self._cells.brick_count,
        )  # fmt: skip
        longest: int = _list_across(
            first, last, radius, self.period, layout, particles.array("position"), self._others,
            self._cells.grid, self._rows, self.pairs,
        )  # fmt: skip
        return longest
