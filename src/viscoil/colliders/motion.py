"""Where a moving collider is: keyframes, interpolated, and velocities by finite differences."""

from bisect import bisect_right
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from viscoil.colliders import quaternions
from viscoil.colliders.quaternions import Float
from viscoil.scene import Keyframe, Rotation


class Pose(NamedTuple):
    """Body to world: position (m) of the body's origin, orientation quaternion (x, y, z, w)."""

    position: Float
    orientation: Float

    def to_world(self, points: Float) -> Float:
        """Body points (..., 3) in world coordinates."""
        return quaternions.rotate(self.orientation, points) + self.position

    def to_body(self, points: Float) -> Float:
        """World points (..., 3) in body coordinates."""
        return quaternions.rotate(quaternions.conjugate(self.orientation), points - self.position)

    def then(self, child: "Pose") -> "Pose":
        """The world pose of a child whose pose is given in this body's frame."""
        orientation = quaternions.multiply(self.orientation, child.orientation)
        return Pose(self.to_world(child.position), orientation)


def turn(rotation: Rotation | None) -> Float:
    """The quaternion of a rotation in a scene; none is the identity."""
    return quaternions.from_axis_angle(_axis(rotation), _angle(rotation))


def moved(rest: Pose, keyframes: Sequence[Keyframe], time: float) -> Pose:
    """The pose at `time` (s): the rest pose, turned about its own origin and then shifted.

    Linear between keyframes (whose times increase), held before the first and after the last.
    """
    if not keyframes:
        return rest
    after = bisect_right([key.time for key in keyframes], time)
    a, b = keyframes[max(after - 1, 0)], keyframes[min(after, len(keyframes) - 1)]
    s = (time - a.time) / (b.time - a.time) if b.time > a.time else 0.0
    start = np.asarray(a.translation, dtype=np.float64)
    shift = start + s * (np.asarray(b.translation, dtype=np.float64) - start)
    rotation = _interpolate_rotation(a.rotation, b.rotation, s)
    return Pose(rest.position + shift, quaternions.multiply(rotation, rest.orientation))


def velocities(before: Pose, after: Pose, dt: float) -> tuple[Float, Float]:
    """The constant velocity (m/s) and angular velocity (rad/s) between two poses `dt` (s) apart.

    Turns of more than half a revolution within one step cannot be told from shorter ones.
    """
    change = quaternions.multiply(after.orientation, quaternions.conjugate(before.orientation))
    return (after.position - before.position) / dt, quaternions.rotation_vector(change) / dt


def _interpolate_rotation(a: Rotation | None, b: Rotation | None, s: float) -> Float:
    """From a to b: about a common axis the angle is linear, else the quaternions are slerped.

    The linear angle is what allows several turns between two keyframes; slerp, which it equals
    below half a turn, would take the shorter way.
    """
    p, q = _axis(a), _axis(b)
    still = 1e-12  # rad: a turn by less has no axis worth keeping
    if min(abs(_angle(a)), abs(_angle(b))) > still and np.linalg.norm(np.cross(p, q)) > 1e-9:
        return quaternions.slerp(turn(a), turn(b), s)
    axis = q if abs(_angle(a)) <= still else p
    angle_b = np.copysign(_angle(b), _angle(b) * float(axis @ q))
    return quaternions.from_axis_angle(axis, (1.0 - s) * _angle(a) + s * angle_b)


def _axis(rotation: Rotation | None) -> Float:
    """The unit axis; that of no rotation is never used with an angle, so any will do."""
    return quaternions.unit((0.0, 1.0, 0.0) if rotation is None else rotation.axis)


def _angle(rotation: Rotation | None) -> float:
    return 0.0 if rotation is None else float(rotation.angle)
