"""Pictures of a simulation, made without a display: see `render`."""

from viscoil.preview.camera import Camera
from viscoil.snapshots.snapshot import Array, Snapshot

__all__ = ["Camera", "render"]


def render(snapshot: Snapshot, camera: Camera, width: int = 960, height: int = 540) -> Array:
    """A picture of a snapshot, (height, width, 3) uint8 sRGB, top row first.

    The compute backend must have been started (`viscoil.core.compute.initialize`). The same snapshot
    and camera give the same bytes for any number of threads.
    """
    from viscoil.preview.picture import draw

    return draw(snapshot, camera, width, height)
