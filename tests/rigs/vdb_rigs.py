"""Grids to be written, OpenVDB's samples, and how grids are compared: down to the bit."""

import gzip
from dataclasses import replace
from pathlib import Path

import numpy as np

from viscoil.geometry.vdb import Tiles, VdbGrid

SAMPLES = Path(__file__).parents[1] / "data" / "vdb"


def unpack_sample(name: str) -> bytes:
    """A file that OpenVDB wrote."""
    return gzip.decompress((SAMPLES / f"{name}.vdb.gz").read_bytes())


def sample_file(folder: Path, name: str) -> Path:
    """The same, as it was before it was packed."""
    path = folder / f"{name}.vdb"
    path.write_bytes(unpack_sample(name))
    return path


def same_bits(a: np.ndarray, b: np.ndarray) -> bool:
    return a.shape == b.shape and a.dtype == b.dtype and a.tobytes() == b.tobytes()


def normal_leaves(grid: VdbGrid) -> list[np.ndarray]:
    order = np.lexsort(grid.origins.T)
    return [array[order] for array in (grid.origins, grid.values, grid.active)]


def normal_tiles(grid: VdbGrid) -> list[np.ndarray]:
    """Without tiles that are no different from where there is nothing."""
    tiles = grid.tiles
    background = np.array(grid.background, np.float32)
    values = tiles.values.reshape(len(tiles.origins), *background.shape)
    unlike = values.view(np.uint32) != background.view(np.uint32)
    keep = tiles.active | unlike.reshape(len(values), background.size).any(axis=1)
    order = np.flatnonzero(keep)[np.lexsort((*tiles.origins[keep].T, tiles.sizes[keep]))]
    return [array[order] for array in tiles._replace(values=values)]


def assert_same(a: VdbGrid, b: VdbGrid) -> None:
    for what, normal in (("leaves", normal_leaves), ("tiles", normal_tiles)):
        for x, y in zip(normal(a), normal(b), strict=True):
            assert same_bits(x, y), what
    assert np.array_equal(a.background, b.background, equal_nan=True)
    assert (a.name, a.grid_class) == (b.name, b.grid_class)
    assert (a.voxel_size, tuple(a.origin)) == (b.voxel_size, tuple(b.origin))
    assert a.metadata.keys() == b.metadata.keys()
    for key, value in a.metadata.items():
        assert type(value) is type(b.metadata[key])
        assert np.array_equal(value, b.metadata[key])


def rich_grid(vector: bool = False, seed: int = 0) -> VdbGrid:
    """One leaf for each way in which inactive values are told, and tiles of every size."""
    rng = np.random.default_rng(seed)
    background, k = np.float32(0.3), 9
    values = rng.standard_normal((k, 8, 8, 8)).astype(np.float32)
    active = rng.random((k, 8, 8, 8)) < 0.4
    either = rng.random((k, 8, 8, 8)) < 0.5
    rules = [
        (background, background),
        (-background, -background),
        (np.float32(2.0), np.float32(2.0)),
        (-background, background),
        (background, np.float32(2.0)),
        (np.float32(2.0), np.float32(np.nan)),
        None,
    ]
    for leaf, rule in enumerate(rules):
        if rule:
            values[leaf] = np.where(active[leaf], values[leaf], np.where(either[leaf], *rule))
    active[7], active[8] = True, False
    values[8] = -0.0
    places = [(0, 0, 0), (8, 0, 0), (0, 8, 8), (120, 120, 120), (128, 256, 384), (0, 16, 0)]
    places += [(0, 0, 24), (-8, -8, -8), (-4104, 2**31 - 8, -(2**31))]
    tiles = [(16, 0, 0, 8, True), (24, 0, 0, 8, False), (128, 0, 0, 128, True)]
    tiles += [(256, 0, 0, 128, False), (8192, 0, 0, 4096, True), (0, 0, -8192, 4096, False)]
    tile_values = np.array([1.0, -background, 2.0, -background, 5.0, -background], np.float32)
    grid = VdbGrid(
        name="rich",
        origins=np.array(places, np.int32),
        values=values,
        active=active,
        background=float(background),
        voxel_size=0.1,
        origin=(0.7, -0.2, 1e-3),
        grid_class="level set",
        tiles=Tiles(
            np.array([tile[:3] for tile in tiles], np.int32),
            np.array([tile[3] for tile in tiles], np.int32),
            tile_values,
            np.array([tile[4] for tile in tiles]),
        ),
        metadata={
            "artist": "Ada Ä",
            "frame": 12,
            "ticks": np.int64(7),
            "loop": True,
            "time": 0.1,
            "gain": np.float32(0.1),
            "pivot": np.array([1.0, 2.0, 3.0]),
            "cells": np.array([1, 2, 3], np.int32),
        },
    )
    return as_vectors(grid) if vector else grid


def as_vectors(grid: VdbGrid) -> VdbGrid:
    """The same rules with values that differ in the last channel only."""

    def triple(values: np.ndarray) -> np.ndarray:
        same = np.zeros_like(values)
        return np.stack((same, same, values), axis=-1)

    return replace(
        grid,
        name="rich vectors",
        values=triple(grid.values),
        background=(0.0, 0.0, float(grid.background)),  # type: ignore[arg-type]
        grid_class="staggered",
        tiles=grid.tiles._replace(values=triple(grid.tiles.values)),
        metadata={"vector_type": "contravariant relative"},
    )


def near(grid: VdbGrid) -> VdbGrid:
    """Only what lies in one node of the root, since OpenVDB's Python is slow to walk through them."""
    inside = np.all((grid.origins >= 0) & (grid.origins < 4096), axis=1)
    leaves = {name: getattr(grid, name)[inside] for name in ("origins", "values", "active")}
    assert np.count_nonzero(inside) == 7
    return replace(grid, **leaves)


def empty_grid(name: str = "", background: float = 1.5) -> VdbGrid:
    leaves = np.zeros((0, 8, 8, 8), np.float32)
    nowhere = np.zeros((0, 3), np.int32)
    return VdbGrid(name, nowhere, leaves, leaves > 0, background, 0.5, (0.0, 0.0, 0.0))
