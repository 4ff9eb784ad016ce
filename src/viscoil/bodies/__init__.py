"""Rigid bodies: colliders that fluid, gravity and each other move.

Importing this does not load the compute backend; kernels import `viscoil.bodies.arrays`.
"""

from viscoil.bodies.mass import MassProperties, mass_properties
from viscoil.bodies.state import RigidState

__all__ = ["MassProperties", "RigidState", "mass_properties"]
