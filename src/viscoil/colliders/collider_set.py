"""All colliders of a scene: where they are, and the arrays that kernels read."""

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from viscoil.colliders import quaternions
from viscoil.colliders.motion import Pose, velocities
from viscoil.colliders.primitives import Contact, distance, pose, primitives
from viscoil.colliders.quaternions import Float
from viscoil.scene import Collider

if TYPE_CHECKING:
    from viscoil.colliders.arrays import ColliderArrays

# Where the plane lies that fills the arrays of an empty set, m: so far down that none can touch it.
_NOWHERE = -1e30


class ColliderSet:
    """The colliders of a scene, split into primitives.

    The compute backend is needed only once `arrays` is asked for, so scenes can be checked and
    seeded without it.
    """

    def __init__(self, specs: Sequence[Collider]) -> None:
        self.specs = tuple(specs)
        self._groups = [(spec, primitives(spec)) for spec in self.specs]
        self._parts = [(spec, part) for spec, parts in self._groups for part in parts]
        self.count = len(self._parts)
        """Number of primitives; the arrays hold at least one entry even when this is 0."""
        self.moving = any(spec.motion for spec in self.specs)
        """Whether any collider has keyframes."""

    @cached_property
    def arrays(self) -> "ColliderArrays":
        """The kernels' view, at rest at time 0 until `move_to` is called."""
        from viscoil.colliders.arrays import allocate
        from viscoil.compute import write

        arrays = allocate(self.count)
        write(arrays.kind, [part.kind for _, part in self._parts])
        write(arrays.params, [part.params for _, part in self._parts])
        write(arrays.contact, [Contact[spec.contact.upper()] for spec, _ in self._parts])
        write(arrays.friction, [spec.friction for spec, _ in self._parts])
        write(arrays.adhesion, [spec.adhesion for spec, _ in self._parts])
        self._place(arrays, 0.0, 0.0)
        return arrays

    def move_to(self, time: float, dt: float) -> None:
        """Put the arrays at the poses of `time` (s) and at the mean velocities since time - dt.

        With dt = 0 the velocities are zero.
        """
        if self.moving:
            self._place(self.arrays, time, dt)

    def pose(self, index: int, time: float) -> Pose:
        """The pose at `time` (s) of the collider `specs[index]`; see `primitives.rest_pose`."""
        return pose(self.specs[index], time)

    def distance(self, points: NDArray[Any], time: float) -> Float:
        """Signed distance (n,) in m of points (n, 3) to the nearest collider; inf without any."""
        result = np.full(len(points), np.inf)
        for spec in self.specs:
            result = np.minimum(result, distance(spec, points, time))
        return result

    def _place(self, arrays: "ColliderArrays", time: float, dt: float) -> None:
        from viscoil.compute import write

        after = self._poses(time)
        before = self._poses(time - dt) if dt > 0.0 else after
        rates = [velocities(a, b, dt or 1.0) for a, b in zip(before, after, strict=True)]
        write(arrays.position, [pose.position for pose in after])
        write(arrays.orientation, [pose.orientation for pose in after])
        write(arrays.velocity, [velocity for velocity, _ in rates])
        write(arrays.angular_velocity, [angular for _, angular in rates])

    def _poses(self, time: float) -> list[Pose]:
        """The world poses of all primitives."""
        if not self._parts:
            return [Pose(np.array([0.0, _NOWHERE, 0.0]), quaternions.IDENTITY)]
        wholes = [(pose(spec, time), parts) for spec, parts in self._groups]
        return [whole.then(part.pose) for whole, parts in wholes for part in parts]
