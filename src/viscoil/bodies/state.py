"""The state of a rigid body and its free motion, in double precision."""

from dataclasses import dataclass

import numpy as np

from viscoil.bodies.mass import MassProperties
from viscoil.colliders.motion import Pose
from viscoil.geometry import quaternions
from viscoil.geometry.quaternions import Float


@dataclass
class RigidState:
    """Where a body is and how it moves.

    The spin is kept as angular momentum: a free body keeps it to the last digit, whatever its
    angular velocity does.
    """

    properties: MassProperties
    position: Float  # X, (3,) m: the centre of mass
    orientation: Float  # q, quaternion (x, y, z, w), body to world
    velocity: Float  # V, (3,) m/s
    spin: Float  # L, (3,) kg m²/s: angular momentum about the centre of mass

    def inertia(self) -> Float:
        """(3, 3) kg m² in world axes."""
        return world_inertia(self.properties.inertia, self.orientation)

    @property
    def angular_velocity(self) -> Float:
        """ω, (3,) rad/s."""
        return np.asarray(np.linalg.solve(self.inertia(), self.spin))

    @property
    def pose(self) -> Pose:
        """Of the collider's reference point and axes."""
        offset = quaternions.rotate(self.orientation, self.properties.center)
        return Pose(self.position - offset, self.orientation)

    def halfway(self, dt: float) -> Float:
        """The inertia (3, 3) after half a step of free motion.

        With it the step is of second order: that of the start would let a tumbling body gain
        energy.
        """
        turned = turn_by(self.orientation, 0.5 * dt * self.angular_velocity)
        return world_inertia(self.properties.inertia, turned)

    def advance(self, velocity: Float, angular_velocity: Float, spin: Float, dt: float) -> None:
        """To the end of a step over which the velocities were constant; `spin` is L at its end."""
        self.position = self.position + dt * velocity
        self.orientation = turn_by(self.orientation, dt * angular_velocity)
        self.velocity, self.spin = velocity, spin


def world_inertia(inertia: Float, orientation: Float) -> Float:
    """R I Rᵀ."""
    axes = quaternions.rotate(orientation, np.eye(3))  # rows: the body's axes in the world
    return np.asarray(axes.T @ inertia @ axes)


def turn_by(orientation: Float, rotation: Float) -> Float:
    """The orientation, turned further by a rotation vector (rad, world axes); of unit length."""
    angle = float(np.linalg.norm(rotation))
    if angle == 0.0:
        return orientation
    turned = quaternions.multiply(quaternions.from_axis_angle(rotation, angle), orientation)
    return np.asarray(turned / np.linalg.norm(turned))
