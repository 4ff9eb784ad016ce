"""Solid obstacles: distance, normal and velocity at a point; primitives that may move.

Importing this does not load the compute backend; kernels import `viscoil.colliders.arrays`.
"""

from viscoil.colliders.collider_set import ColliderSet
from viscoil.colliders.motion import Pose
from viscoil.colliders.primitives import Contact, Kind, distance

__all__ = ["ColliderSet", "Contact", "Kind", "Pose", "distance"]
