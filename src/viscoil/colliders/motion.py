"""Where a moving collider is: keyframes, interpolated, and velocities by finite differences."""

from bisect import bisect_right
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from viscoil.geometry import quaternions
from viscoil.geometry.quaternions import Float
from viscoil.scene import Keyframe, Rotation


class Pose(NamedTuple):
    """Body to world: position (m) of the body's origin, quaternion (x, y, z, w), and size."""

    position: Float
    orientation: Float
    scale: float = 1.0

    def to_world(self, points: Float) -> Float:
        """Body points (..., 3) in world coordinates."""
        return quaternions.rotate(self.orientation, self.scale * points) + self.position

    def to_body(self, points: Float) -> Float:
        """World points (..., 3) in body coordinates."""
        back = quaternions.conjugate(self.orientation)
        return np.asarray(quaternions.rotate(back, points - self.position) / self.scale)

    def then(self, child: "Pose") -> "Pose":
        """The world pose of a child whose pose is given in this body's frame."""
        orientation = quaternions.multiply(self.orientation, child.orientation)
        return Pose(self.to_world(child.position), orientation, self.scale * child.scale)


class Rates(NamedTuple):
    """How a pose changes: velocity (m/s), angular velocity (rad/s) and relative growth (1/s)."""

    velocity: Float
    angular_velocity: Float
    growth: float


def turn(rotation: Rotation | None) -> Float:
    """The quaternion of a rotation in a scene; none is the identity."""
    return quaternions.from_axis_angle(_axis(rotation), _angle(rotation))


def moved(
    rest: Pose, keyframes: Sequence[Keyframe], time: float, interpolation: str = "linear"
) -> Pose:
    """The pose at `time` (s): the rest pose, turned and scaled about its own origin, then shifted.

    Held before the first keyframe and after the last; keyframe times increase. Smooth motion is a
    cubic curve through the keyframes that starts and ends at rest; turns about several axes, which
    no such curve goes through, are eased from one keyframe to the next.
    """
    if not keyframes:
        return rest
    after = bisect_right([key.time for key in keyframes], time)
    if after in (0, len(keyframes)):
        return _posed(rest, keyframes[min(after, len(keyframes) - 1)])
    a, b = keyframes[after - 1], keyframes[after]
    s = (time - a.time) / (b.time - a.time)
    shifts = np.array([(*key.translation, key.scale) for key in keyframes], dtype=np.float64)
    if interpolation == "smooth":
        shifts[:, 3] = np.log(
            shifts[:, 3]
        )  # sizes are interpolated as logarithms, so that they stay positive
        shift = _cubic(np.array([key.time for key in keyframes]), shifts, after - 1, s)
        shift[3] = np.exp(shift[3])
        s = s * s * (3.0 - 2.0 * s)
    else:
        shift = (1.0 - s) * shifts[after - 1] + s * shifts[after]
    turned = quaternions.multiply(
        _interpolate_rotation(a.rotation, b.rotation, s), rest.orientation
    )
    return Pose(rest.position + shift[:3], turned, rest.scale * float(shift[3]))


def velocities(before: Pose, after: Pose, dt: float) -> Rates:
    """The constant rates between two poses `dt` (s) apart.

    Turns of more than half a revolution within one step cannot be told from shorter ones.
    """
    change = quaternions.multiply(after.orientation, quaternions.conjugate(before.orientation))
    return Rates(
        (after.position - before.position) / dt,
        quaternions.rotation_vector(change) / dt,
        float(np.log(after.scale / before.scale)) / dt,
    )


def _posed(rest: Pose, key: Keyframe) -> Pose:
    orientation = quaternions.multiply(turn(key.rotation), rest.orientation)
    return Pose(rest.position + np.array(key.translation), orientation, rest.scale * key.scale)


def _cubic(times: Float, values: Float, k: int, s: float) -> Float:
    """Between values k and k + 1 at the share s: Hermite, with slopes from the values around."""
    slopes = np.zeros_like(values)
    slopes[1:-1] = (values[2:] - values[:-2]) / (times[2:] - times[:-2])[:, None]
    span = times[k + 1] - times[k]
    s2, s3 = s * s, s * s * s
    ends = (2 * s3 - 3 * s2 + 1) * values[k] + (3 * s2 - 2 * s3) * values[k + 1]
    return np.asarray(ends + span * ((s3 - 2 * s2 + s) * slopes[k] + (s3 - s2) * slopes[k + 1]))


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
    """The unit axis; any for no rotation, whose angle is zero."""
    return quaternions.unit((0.0, 1.0, 0.0) if rotation is None else rotation.axis)


def _angle(rotation: Rotation | None) -> float:
    return 0.0 if rotation is None else float(rotation.angle)
