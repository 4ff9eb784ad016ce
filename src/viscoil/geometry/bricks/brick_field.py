"""A scalar field on sparse bricks: distances in a narrow band about a surface.

Space is cut into cells of one size. A brick covers 8³ cells and holds the values at their 9³ corners;
neighbouring bricks repeat the corners they share, so that one brick is enough to interpolate within
it. Bricks exist only near the surface. Two tables find them, as in a VDB tree (Museth 2013): a dense
top table of blocks of 8³ bricks, and one table of 512 entries for each block that is not empty.
Everywhere else an entry says whether the place is free or solid.
"""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

Float = NDArray[np.float64]
Float32 = NDArray[np.float32]
Int32 = NDArray[np.int32]

FREE = -1  # entries of the tables that are no index
SOLID = -2
SIDE = 9  # corners along an edge of a brick
CORNERS = SIDE**3


@dataclass(frozen=True)
class BrickField:
    """Signed distance to a solid in its own frame: positive in free space, clamped to ± band."""

    cell: float
    """Edge of a cell, m."""
    origin: Float
    """(3,) Place of the first corner of the first brick, m."""
    band: float
    """Greatest magnitude of a distance, m."""
    beyond: int
    """What is outside of the tables: FREE or SOLID."""
    top: Int32
    """(X, Y, Z) Index of a block's table, FREE or SOLID."""
    table: Int32
    """(tables, 512) Index of a brick, FREE or SOLID."""
    places: Int32
    """(bricks, 3) Brick coordinates."""
    distance: Float32
    """(bricks, 729) Values at corners, m; x varies fastest."""
    primitive: Int32
    """(bricks, 729) Nearest triangle of each corner, -1 if none is within the band."""
    secondary: dict[str, Float32] = field(default_factory=dict)
    """(bricks, 729) or (bricks, 729, 3) What else is known at the corners, by name."""

    @property
    def bytes(self) -> int:
        """Memory of the tables and bricks."""
        arrays = (self.top, self.table, self.places, self.distance, *self.secondary.values())
        return int(sum(a.nbytes for a in arrays))

    @property
    def bounds(self) -> tuple[Float, Float]:
        """Lowest and highest corner of the bricks, m."""
        if not len(self.places):
            return self.origin, self.origin
        low, high = self.places.min(axis=0), self.places.max(axis=0) + 1
        return self.origin + 8 * self.cell * low, self.origin + 8 * self.cell * high

    def corner_places(self, bricks: NDArray[np.int64] | slice = slice(None)) -> Float:
        """(bricks, 729, 3) Places of the corners, m."""
        return self.origin + self.cell * (8 * self.places[bricks][:, None, :] + corner_offsets())

    def find(self, points: Float) -> tuple[NDArray[np.int64], Float]:
        """The brick of each point (n, 3), FREE or SOLID, and where in it the point is, in cells."""
        p = (np.asarray(points, dtype=np.float64) - self.origin) / self.cell
        limit = 64.0 * np.array(self.top.shape)
        inside = np.asarray(((p >= 0.0) & (p < limit)).all(axis=1))
        cells = np.where(inside[:, None], p, 0.0).astype(np.int64)
        found = self.top[tuple((cells >> 6).T)].astype(np.int64)
        local = (cells >> 3) & 7
        entry = self.table[np.maximum(found, 0), local[:, 0] + 8 * (local[:, 1] + 8 * local[:, 2])]
        found = np.where(found >= 0, entry, found)
        return np.where(inside, found, self.beyond), p - 8 * (cells >> 3)

    def sample(self, points: Float, name: str = "distance") -> Float:
        """Interpolated values at points (n, 3) in m; ± band, or 0 of a secondary field, elsewhere."""
        values = self.distance if name == "distance" else self.secondary[name]
        bricks, place = self.find(points)
        known = bricks >= 0
        shape = (len(place), *values.shape[2:])
        result = np.zeros(shape)
        if name == "distance":
            result[:] = np.where(bricks == SOLID, -self.band, self.band)
        result[known] = _interpolate(values, bricks[known], place[known])
        return result

    def normal(self, points: Float) -> Float:
        """(n, 3) Direction out of the solid at points (n, 3); zero where the field is constant."""
        step = 0.5 * self.cell
        axes = step * np.eye(3)
        slope = np.stack(
            [self.sample(points + axis) - self.sample(points - axis) for axis in axes], axis=1
        )
        length = np.linalg.norm(slope, axis=1, keepdims=True)
        return np.asarray(slope / np.where(length > 0.0, length, 1.0))


def corner_offsets() -> NDArray[np.int64]:
    """(729, 3) Places of a brick's corners in cells, x fastest."""
    k = np.arange(CORNERS)
    return np.stack([k % SIDE, k // SIDE % SIDE, k // SIDE**2], axis=1)


def _interpolate(values: Float32, bricks: NDArray[np.int64], place: Float) -> Float:
    """Trilinear, at places (n, 3) in cells within bricks (n,)."""
    cell = np.clip(place.astype(np.int64), 0, 7)
    t = place - cell
    total = np.zeros((len(bricks), *values.shape[2:]))
    for dz in (0, 1):
        for dy in (0, 1):
            for dx in (0, 1):
                corner = cell + np.array((dx, dy, dz))
                at = corner[:, 0] + SIDE * (corner[:, 1] + SIDE * corner[:, 2])
                share = np.abs(1 - np.array((dx, dy, dz)) - t).prod(axis=1)
                total += share.reshape(-1, *[1] * (values.ndim - 2)) * values[bricks, at]
    return total
