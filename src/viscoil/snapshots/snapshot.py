"""What an output sees of a simulation: one frame in plain arrays.

An output knows no solver: it receives plain NumPy arrays, so that a frame read back from a cache is
as good as one that comes straight from a running simulation.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from viscoil.core.errors import RunError
from viscoil.geometry.bricks.brick_field import BrickField

Array = npt.NDArray[Any]


@dataclass(frozen=True)
class MaterialLook:
    """How a material is drawn.

    `color` is linear RGB in 0..1; `transmission` is the share of light that a thin layer lets
    through unscattered: 0 is opaque like cream, 1 is clear like water.
    """

    name: str
    color: tuple[float, float, float]
    transmission: float = 0.35


@dataclass(frozen=True)
class ColliderPose:
    """A collider as the scene describes it, and where it stands at the time of the frame.

    `position` (m) is where the shape's reference point is: the centre of a box, sphere, cylinder
    or capsule, the point of a plane. `orientation` is the quaternion (x, y, z, w) that turns the
    shape's own axes (box edges, the cylinder's y axis, the plane's y normal, the capsule's y axis
    from start to end) to world axes. `scale` is its size over that in the scene. A mesh comes with
    its distance field.
    """

    spec: Any
    position: Sequence[float] | Array  # (3,) m
    orientation: Sequence[float] | Array = (0.0, 0.0, 0.0, 1.0)
    scale: float = 1.0
    distance_field: BrickField | None = None


@dataclass(frozen=True)
class Snapshot:
    """One frame of a simulation in plain arrays, one row per particle."""

    frame: int
    """Its number; 0 is the start."""
    time: float
    """Simulated time, s."""
    channels: Mapping[str, Array]
    """Position (n, 3) m, velocity (n, 3) m/s, id (n,), material (n,), and what else particles have."""
    materials: Sequence[MaterialLook]
    """How they look, in the order of the scene, by which the channel material counts them."""
    colliders: Sequence[ColliderPose]
    """Where they stand, in the order of the scene."""
    spacing: float
    """Of the scene, m."""
    source: Path | None = None
    """The file that it was read from, if any."""


def check_places(snapshot: Snapshot) -> None:
    """Raises RunError for positions that are not finite, which other programs show wrongly."""
    finite = np.isfinite(snapshot.channels.get("position", ()))
    if finite.all():
        return
    count = int(np.count_nonzero(~finite.reshape(len(finite), -1).all(axis=1)))
    particles = "1 particle that is" if count == 1 else f"{count} particles that are"
    raise RunError(
        f"{snapshot.source or f'frame {snapshot.frame}'} has {particles} nowhere (NaN or infinite): "
        "choose other frames with --frames, or run the scene again with a smaller "
        "simulation.max_time_step"
    )
