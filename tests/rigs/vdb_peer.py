"""What OpenVDB's own Python module says: run by the system's Python, which has it.

vdb_peer.py dump FOLDER    all that is in the files of a folder, as arrays beside them
vdb_peer.py make FOLDER    files to be read
"""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

try:
    import openvdb as vdb
except ImportError:
    import pyopenvdb as vdb

LEAF_DEPTH = 3
ROTATED = [[0.0, 0.5, 0.0, 0.0], [-0.5, 0.0, 0.0, 0.0], [0.0, 0.0, 0.5, 0.0], [0.0, 0.0, 0.0, 1.0]]
STRETCHED = [[0.5, 0.0, 0.0, 0.0], [0.0, 0.7, 0.0, 0.0], [0.0, 0.0, 0.5, 0.0], [0.0, 0.0, 0.0, 1.0]]


def dump(folder: str) -> None:
    for path in Path(folder).glob("*.vdb"):
        dump_file(path)


def dump_file(path: Path) -> None:
    grids, _ = vdb.readAll(str(path))
    arrays: dict[str, Any] = {}
    for n, grid in enumerate(grids):
        items = list(found(grid))
        values, active, depth, low, high = ([item[i] for item in items] for i in range(5))
        arrays[f"{n} values"] = np.array(values, np.float32)
        arrays[f"{n} active"] = np.array(active, bool)
        arrays[f"{n} leaf"] = np.array(depth, int) == LEAF_DEPTH
        arrays[f"{n} low"] = np.array(low, np.int64).reshape(-1, 3)
        arrays[f"{n} high"] = np.array(high, np.int64).reshape(-1, 3)
        arrays[f"{n} facts"] = np.array(json.dumps(facts(grid)))
    np.savez(path.with_suffix(".npz"), count=len(grids), **arrays)


def found(grid: Any) -> Iterator[tuple[Any, ...]]:
    """All voxels and tiles, but for the many tiles that are as good as none."""
    background = grid.background
    for item in grid.citerAllValues():
        value, active, depth = item.value, item.active, item.depth
        if depth == LEAF_DEPTH or active or value != background:
            yield value, active, depth, item.min, item.max


def facts(grid: Any) -> dict[str, Any]:
    some = grid.activeVoxelCount() > 0
    return {
        "name": grid.name,
        "background": grid.background,
        "class": grid.gridClass,
        "type": grid.valueTypeName,
        "voxel_size": grid.transform.voxelSize(),
        "origin": grid.transform.indexToWorld((0, 0, 0)),
        "far": grid.transform.indexToWorld((1000, -1000, 7)),
        "back": grid.transform.worldToIndex((1.5, -2.5, 3.5)),
        "map": grid.transform.typeName,
        "voxels": grid.activeVoxelCount(),
        "bounds": grid.evalActiveVoxelBoundingBox() if some else None,
        "metadata": {k: v for k, v in grid.metadata.items() if k != "file_delayed_load"},
    }


def make(folder: str) -> None:
    sphere = vdb.createLevelSetSphere(radius=1.0, center=(2.0, 2.0, 2.0), voxelSize=0.1)
    sphere.name = "sphere"
    vdb.write(f"{folder}/sphere.vdb", grids=[sphere])
    vdb.write(f"{folder}/many.vdb", grids=[fog(), velocity(), vdb.BoolGrid()])
    halves = [fog(), velocity()]
    for grid in halves:
        grid.saveFloatAsHalf = True
    vdb.write(f"{folder}/half.vdb", grids=halves)
    for name, matrix in (("rotated", ROTATED), ("stretched", STRETCHED)):
        grid = vdb.FloatGrid()
        grid.transform = vdb.createLinearTransform(matrix)
        vdb.write(f"{folder}/{name}.vdb", grids=[grid])
    frustum = vdb.FloatGrid()
    frustum.transform = vdb.createFrustumTransform((0, 0, 0), (9, 9, 9), 0.5, 10.0)
    vdb.write(f"{folder}/frustum.vdb", grids=[frustum])
    vdb.write(f"{folder}/empty.vdb", grids=[vdb.FloatGrid(1.5)])


def fog() -> vdb.FloatGrid:
    """Noise and constant regions, so that Blosc packs and stores."""
    grid = vdb.FloatGrid()
    grid.name, grid.gridClass = "density", "fog volume"
    noise = np.random.default_rng(1).random((20, 30, 20), np.float32)
    noise[5:15] = 0.5
    noise[:, :3] = 0.0
    grid.copyFromArray(noise, ijk=(100, 120, 250))
    grid.fill((0, 0, 0), (63, 15, 7), 1.0)
    grid["artist"] = "Ada"
    grid["frame"] = 12
    return grid


def velocity() -> vdb.Vec3SGrid:
    grid = vdb.Vec3SGrid((0.0, 0.0, 0.0))
    grid.name, grid.gridClass = "v", "staggered"
    i, j, k = np.meshgrid(*[np.arange(12)] * 3, indexing="ij")
    field = np.stack((np.sin(i + j), j * 0.25, np.cos(k * i)), axis=-1).astype(np.float32)
    grid.copyFromArray(field, ijk=(-4, 2, 3))
    grid.transform = vdb.createLinearTransform(voxelSize=0.25)
    grid.transform.translate((1.0, 2.0, 3.0))
    return grid


if __name__ == "__main__":
    {"dump": dump, "make": make}[sys.argv[1]](sys.argv[2])
