"""Distance and velocity fields of mesh colliders as OpenVDB files, for other programs."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np

from viscoil.core.errors import VdbError
from viscoil.core.files import reporting
from viscoil.geometry.bricks.brick_field import BrickField
from viscoil.geometry.bricks.openvdb import to_grids
from viscoil.geometry.vdb import VdbGrid, read_vdb, write_vdb
from viscoil.outputs.frames import frame_name, frame_number
from viscoil.snapshots.snapshot import ColliderPose, Snapshot


class ColliderFieldsOutput:
    """Writes collider_K/frame_N.vdb for each mesh collider K of the scene.

    Grids are in the frame of the mesh; where that stands is in their metadata (`position` in m,
    `orientation` as a quaternion x, y, z, w, and `scale`). A mesh that keeps its shape is written once.
    """

    def __init__(self, folder: Path | str) -> None:
        self.folder = Path(folder)
        self._written: dict[int, BrickField] = {}

    def frame(self, snapshot: Snapshot) -> None:
        for k, pose in enumerate(snapshot.colliders):
            if pose.distance_field is None or self._written.get(k) is pose.distance_field:
                continue
            first = k not in self._written
            self._written[k] = pose.distance_field
            place = self.folder / f"collider_{k}"
            if first and _is_latest(place, snapshot.frame, pose.distance_field):
                continue  # written before the run was interrupted
            with reporting(place):
                place.mkdir(parents=True, exist_ok=True)
            grids = [
                replace(grid, metadata=_placed(pose)) for grid in to_grids(pose.distance_field)
            ]
            write_vdb(place / frame_name(snapshot.frame, ".vdb"), grids)

    def step(self, stats: Mapping[str, object]) -> None:
        """Frames are all that is written."""

    def close(self) -> None:
        """Every file is on the disk already."""


def _is_latest(folder: Path, frame: int, field: BrickField) -> bool:
    """Whether the last file before a frame holds the same distances and velocities."""
    earlier = [p for p in folder.glob("frame_*.vdb") if (frame_number(p) or 0) < frame]
    if not earlier:
        return False
    try:
        there = read_vdb(max(earlier, key=lambda path: frame_number(path) or 0))
    except VdbError:
        return False
    here = to_grids(field)
    return [g.name for g in here] == [g.name for g in there] and all(map(_equal, here, there))


def _equal(a: VdbGrid, b: VdbGrid) -> bool:
    """Whether two grids have the same leaves, in whatever order."""
    if a.origins.shape != b.origins.shape:
        return False
    first, second = (np.lexsort(grid.origins.T) for grid in (a, b))
    return np.array_equal(a.origins[first], b.origins[second]) and np.array_equal(
        a.values[first], b.values[second]
    )


def _placed(pose: ColliderPose) -> dict[str, str | float]:
    """Numbers as text, which every program shows."""
    return {
        "position": " ".join(f"{v:.9g}" for v in np.asarray(pose.position)),
        "orientation": " ".join(f"{v:.9g}" for v in np.asarray(pose.orientation)),
        "scale": float(pose.scale),
    }
