"""Brick fields to and from OpenVDB grids."""

import itertools
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from viscoil.core.errors import SceneError
from viscoil.geometry.bricks.brick_field import FREE, SIDE, SOLID, BrickField, Float32, Int32
from viscoil.geometry.bricks.build import Mode, inverted
from viscoil.geometry.bricks.layout import MOST_PLACES, tables
from viscoil.geometry.vdb import Tiles, VdbGrid

VELOCITY_NAMES = ("velocity", "vel", "v")


def to_grids(field: BrickField) -> list[VdbGrid]:
    """The distances as a level set, and each secondary field, at the corners of cells."""
    corners = _without_last(field.distance)
    known = np.abs(corners) < np.float32(field.band)
    return [
        _grid(field, "distance", corners, known, field.band),
        *(
            _grid(field, name, _without_last(values), known, 0.0)
            for name, values in field.secondary.items()
        ),
    ]


def from_grids(grids: Sequence[VdbGrid], file: str, mode: Mode, offset: float) -> BrickField:
    """The field of the first level set among the grids, with velocities if a grid has them."""
    scalar = [g for g in grids if not g.is_vector]
    surface = next((g for g in scalar if g.grid_class == "level set"), None)
    if surface is None:
        names = ", ".join(f"{g.name} ({g.grid_class})" for g in grids) or "nothing"
        raise SceneError(f"{file} has no level set: it holds {names}; export a signed distance")
    field = _distances(surface, file, mode, offset)
    moving = next((g for g in grids if g.is_vector and g.name.lower() in VELOCITY_NAMES), None)
    same = moving is not None and moving.origin == surface.origin
    if moving is not None and same and moving.voxel_size == surface.voxel_size:
        field.secondary["velocity"] = _gathered(moving, surface, 0.0)
    return field


def _without_last(values: Float32) -> Float32:
    """(bricks, 8, 8, 8, ...) in the order x, y, z, without the corners that neighbours repeat."""
    cube = values.reshape(-1, SIDE, SIDE, SIDE, *values.shape[2:])[:, :8, :8, :8]
    return np.ascontiguousarray(np.moveaxis(cube, (1, 2, 3), (3, 2, 1)))


def _grid(
    field: BrickField, name: str, values: Float32, known: NDArray[np.bool_], far: float
) -> VdbGrid:
    vector = values.ndim == 5
    x, y, z = (float(v) for v in field.origin)
    return VdbGrid(
        name=name,
        origins=8 * field.places,
        values=values,
        active=known,
        background=(far, far, far) if vector else far,
        voxel_size=field.cell,
        origin=(x, y, z),
        grid_class="level set" if name == "distance" else "unknown",
        tiles=_solid_tiles(field, vector),
    )


def _solid_tiles(field: BrickField, vector: bool) -> Tiles:
    """What is solid beyond the band, in tiles of one brick."""
    size = np.array(field.top.shape)
    dense = np.where(field.top[..., None] >= 0, field.table[np.maximum(field.top, 0)], 0)
    dense = np.where(field.top[..., None] == SOLID, SOLID, dense)
    block, entry = np.divmod(np.flatnonzero(dense == SOLID), 512)
    place = 8 * np.stack(np.unravel_index(block, size), axis=1)
    place += np.stack([entry % 8, entry // 8 % 8, entry // 64], axis=1)
    count = len(place)
    values = np.zeros((count, 3)) if vector else np.full(count, -field.band)
    return Tiles(
        (8 * place).astype(np.int32),
        np.full(count, 8, dtype=np.int32),
        values.astype(np.float32),
        np.zeros(count, dtype=bool),
    )


def _distances(grid: VdbGrid, file: str, mode: Mode, offset: float) -> BrickField:
    far = abs(float(np.asarray(grid.background)))
    first, states = _states(grid, file)
    places = grid.origins // 8 - first
    values = _gathered(grid, grid, far)
    side = {"solid": 1.0, "container": -1.0, "shell": 1.0}[mode]
    values = np.abs(values) if mode == "shell" else side * values
    if mode == "shell":
        states = np.where(states == SOLID, FREE, states).astype(np.int32)
    beyond = SOLID if mode == "container" else FREE
    top, table = tables(inverted(states) if mode == "container" else states, beyond)
    return BrickField(
        cell=grid.voxel_size,
        origin=np.array(grid.origin) + 8 * grid.voxel_size * first,
        band=far,
        beyond=beyond,
        top=top,
        table=table,
        places=places.astype(np.int32),
        distance=np.clip(values - offset, -far, far).astype(np.float32),
        primitive=np.full(values.shape, -1, dtype=np.int32),
    )


def _states(grid: VdbGrid, file: str) -> tuple[NDArray[np.int64], Int32]:
    """The lowest brick, and a dense table of leaves and of what is solid between them."""
    if not len(grid.origins):
        raise SceneError(f"{file}: the level set {grid.name!r} is empty: export it again")
    place = grid.origins.astype(np.int64) // 8
    first = place.min(axis=0)
    shape = place.max(axis=0) - first + 1
    if np.prod(shape.astype(np.float64)) > MOST_PLACES:
        raise SceneError(f"{file}: the level set {grid.name!r} is too large: use larger voxels")
    states = np.full(shape, FREE, dtype=np.int32)
    for origin, size, value in zip(*grid.tiles[:3], strict=True):
        if not grid.is_vector and value < 0.0:
            low = np.clip(origin // 8 - first, 0, shape)
            high = np.clip((origin + size) // 8 - first, 0, shape)
            states[tuple(slice(a, b) for a, b in zip(low, high, strict=True))] = SOLID
    states[tuple((place - first).T)] = np.arange(len(place))
    return first, states


def _gathered(grid: VdbGrid, surface: VdbGrid, far: float) -> Float32:
    """(bricks, 729, ...) Values of a grid at the corners of the bricks of the surface's leaves."""
    first, states = _states(surface, "level set")
    _, own = _states(grid, "grid")
    own_first = grid.origins.astype(np.int64).min(axis=0) // 8
    place = surface.origins.astype(np.int64) // 8
    count = len(place)
    channels = grid.values.shape[4:]
    cube = np.zeros((count, SIDE, SIDE, SIDE, *channels), dtype=np.float32)
    for step in itertools.product((0, 1), repeat=3):
        here = place + step
        leaf = _lookup(own, here - own_first)
        to = tuple(slice(8, 9) if s else slice(0, 8) for s in step)
        source = tuple(slice(0, 1) if s else slice(0, 8) for s in step)
        part = cube[(slice(None), *to)]
        solid = _lookup(states, here - first) == SOLID
        part[:] = np.where(solid, -far, far).reshape(-1, *[1] * (part.ndim - 1))
        found = leaf >= 0
        part[found] = grid.values[leaf[found]][(slice(None), *source)]
    return np.moveaxis(cube, (1, 2, 3), (3, 2, 1)).reshape(count, -1, *channels)


def _lookup(states: Int32, place: NDArray[np.int64]) -> Int32:
    inside = ((place >= 0) & (place < states.shape)).all(axis=1)
    clipped = np.clip(place, 0, np.array(states.shape) - 1)
    return np.where(inside, states[tuple(clipped.T)], FREE).astype(np.int32)
