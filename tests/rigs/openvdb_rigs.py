"""OpenVDB's own Python module, which only the system's Python has, and what it finds in files."""

import json
import subprocess
from pathlib import Path
from typing import Any

import numpy as np

from viscoil.geometry.vdb import Tiles, VdbGrid

PEER = Path(__file__).parent / "vdb_peer.py"
SYSTEM_PYTHON = "/usr/bin/python3"


def peer(*arguments: str | Path) -> None:
    command = [SYSTEM_PYTHON, str(PEER), *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr


def peer_grid(arrays: Any, i: int) -> tuple[VdbGrid, dict[str, Any]]:
    """What OpenVDB found, put together voxel by voxel."""
    facts = json.loads(str(arrays[f"{i} facts"]))
    values, active, leaf, low, high = (
        arrays[f"{i} {name}"] for name in ("values", "active", "leaf", "low", "high")
    )
    channels = (3,) if facts["type"] == "vec3s" else ()
    leaf = leaf.astype(bool)
    origins, inverse = np.unique(low[leaf] // 8 * 8, axis=0, return_inverse=True)
    where = (inverse.reshape(-1), *(low[leaf] % 8).T)
    leaf_values = np.full((len(origins), 8, 8, 8, *channels), np.inf, np.float32)
    leaf_active = np.zeros((len(origins), 8, 8, 8), bool)
    leaf_values[where], leaf_active[where] = values[leaf], active[leaf]
    background = facts["background"]
    return VdbGrid(
        name=facts["name"],
        origins=origins.astype(np.int32),
        values=leaf_values,
        active=leaf_active,
        background=tuple(background) if channels else background,
        voxel_size=facts["voxel_size"][0],
        origin=tuple(facts["origin"]),
        grid_class=facts["class"],
        tiles=Tiles(
            low[~leaf].astype(np.int32),
            (high - low + 1)[~leaf][:, 0].astype(np.int32),
            values[~leaf].reshape(-1, *channels),
            active[~leaf].astype(bool),
        ),
    ), facts


def identity(grid: VdbGrid) -> str:
    return f"{grid.name} {grid.background}"


def peer_grids(path: Path) -> list[tuple[VdbGrid, dict[str, Any]]]:
    """All that OpenVDB found in a file, which it sorts in a way of its own."""
    with np.load(path) as found:
        grids = [peer_grid(found, i) for i in range(found["count"])]
    return sorted(grids, key=lambda pair: identity(pair[0]))
