"""What a grid is to a user: leaves, tiles, background and where the grid stands."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from viscoil.core.errors import VdbError
from viscoil.geometry.vdb.layout import (
    NAME_SEPARATOR,
    SCALAR,
    VECTOR,
    Bools,
    Coords,
    Floats,
    Numbers,
    ValueType,
)

CLASSES = ("unknown", "level set", "fog volume", "staggered")
TILE_SIZES = (8, 128, 4096)

MetaValue = str | bool | int | float | np.generic | Numbers


class Tiles(NamedTuple):
    """Cubes of one value each, such as the inside of a level set."""

    origins: Coords  # (t, 3) index of the lowest corner, a multiple of the size
    sizes: Coords  # (t,) edge in voxels: 8, 128 or 4096
    values: Floats  # (t,) or (t, 3)
    active: Bools  # (t,)


NO_TILES = Tiles(
    np.zeros((0, 3), np.int32),
    np.zeros(0, np.int32),
    np.zeros(0, np.float32),
    np.zeros(0, np.bool_),
)


@dataclass(frozen=True, eq=False)
class VdbGrid:
    """A sparse volume; where there is neither a leaf nor a tile, it is the background, inactive.

    Index (i, j, k) stands at `origin + voxel_size * (i, j, k)`; arrays are indexed in this order.
    """

    name: str
    origins: Coords  # (k, 3) index of each leaf's lowest corner, multiples of 8
    values: Floats  # (k, 8, 8, 8) or (k, 8, 8, 8, 3)
    active: Bools  # (k, 8, 8, 8)
    background: float | tuple[float, float, float]
    voxel_size: float  # m
    origin: tuple[float, float, float]  # m, world position of index (0, 0, 0)
    grid_class: str = "unknown"
    tiles: Tiles = NO_TILES
    metadata: Mapping[str, MetaValue] = field(default_factory=dict)

    @property
    def is_vector(self) -> bool:
        return self.values.ndim == 5


def value_type(grid: VdbGrid) -> ValueType:
    """How the grid is stored."""
    return VECTOR if grid.is_vector else SCALAR


def check(grid: VdbGrid) -> None:
    """Refuses a grid that no file can hold."""
    channels = (3,) if grid.is_vector else ()
    k, t = len(grid.origins), len(grid.tiles.origins)
    _check_shape(grid, "origins", grid.origins, (k, 3))
    _check_shape(grid, "values", grid.values, (k, 8, 8, 8, *channels))
    _check_shape(grid, "active", grid.active, (k, 8, 8, 8))
    _check_shape(grid, "background", np.asarray(grid.background), channels)
    _check_shape(grid, "origin", np.asarray(grid.origin), (3,))
    _check_shape(grid, "tiles.origins", grid.tiles.origins, (t, 3))
    _check_shape(grid, "tiles.sizes", grid.tiles.sizes, (t,))
    _check_shape(grid, "tiles.active", grid.tiles.active, (t,))
    if t:
        _check_shape(grid, "tiles.values", grid.tiles.values, (t, *channels))
    _check_numbers(grid)


def _check_shape(grid: VdbGrid, what: str, array: Numbers, shape: tuple[int, ...]) -> None:
    if array.shape != shape:
        raise VdbError(
            f"grid {grid.name!r}: {what} has the shape {array.shape}, but {shape} is needed"
        )


def _check_numbers(grid: VdbGrid) -> None:
    name, sizes = f"grid {grid.name!r}", grid.tiles.sizes
    if grid.grid_class not in CLASSES:
        raise VdbError(f"{name}: the class is {grid.grid_class!r}; use one of {CLASSES}")
    if not (np.isfinite(grid.voxel_size) and grid.voxel_size > 0.0):
        raise VdbError(f"{name}: voxel_size is {grid.voxel_size}, but must be above 0 m")
    if not np.all(np.isfinite(grid.origin)):
        raise VdbError(f"{name}: origin is {grid.origin}, but must be finite")
    if NAME_SEPARATOR in grid.name:
        raise VdbError(f"{name}: a name cannot hold the character U+001E: use another one")
    if not np.isin(sizes, TILE_SIZES).all():
        raise VdbError(f"{name}: a tile must be 8, 128 or 4096 voxels wide")
    if np.any(grid.origins % 8) or np.any(grid.tiles.origins % sizes[:, None]):
        raise VdbError(f"{name}: leaves begin at multiples of 8, tiles at multiples of their size")
    for places in (grid.origins, grid.tiles.origins):
        if np.any(places < -(2**31)) or np.any(places >= 2**31):
            raise VdbError(f"{name}: indices must fit into 32 bits")
