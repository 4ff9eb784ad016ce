"""Distance and velocity fields of mesh colliders as OpenVDB files, for other programs."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np

from viscoil.bricks.exchange import to_grids
from viscoil.bricks.field import BrickField
from viscoil.outputs.files import reporting
from viscoil.outputs.frames import frame_name
from viscoil.outputs.protocol import ColliderPose, Snapshot
from viscoil.vdb import write_vdb


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
            if pose.field is None or self._written.get(k) is pose.field:
                continue
            self._written[k] = pose.field
            place = self.folder / f"collider_{k}"
            with reporting(place):
                place.mkdir(parents=True, exist_ok=True)
            grids = [replace(grid, metadata=_placed(pose)) for grid in to_grids(pose.field)]
            write_vdb(place / frame_name(snapshot.frame, ".vdb"), grids)

    def step(self, stats: Mapping[str, object]) -> None:
        """Frames are all that is written."""

    def close(self) -> None:
        """Every file is on the disk already."""


def _placed(pose: ColliderPose) -> dict[str, str | float]:
    """Numbers as text, which every program shows."""
    return {
        "position": " ".join(f"{v:.9g}" for v in np.asarray(pose.position)),
        "orientation": " ".join(f"{v:.9g}" for v in np.asarray(pose.orientation)),
        "scale": float(pose.scale),
    }
