"""A water wheel, to be turned by a stream or to drive one."""

import numpy as np

from viscoil.geometry.meshes.builtin.solids import axle, box, rounded_box
from viscoil.geometry.meshes.builtin.sweeps import lathe
from viscoil.geometry.meshes.builtin.transforms import join, mirrored, moved, turned
from viscoil.geometry.meshes.mesh import TriangleMesh


def paddle_wheel() -> TriangleMesh:
    """A wheel of radius 0.5 m that turns about z: hub, ten paddles, and two rims with spokes."""
    angles = np.arange(10) * 36.0
    paddle = rounded_box((0.22, 0.018, 0.34), 0.006, (0.39, 0.0, 0.0))
    spoke = box((0.44, 0.022, 0.022), (0.24, 0.0, 0.16))
    rim = lathe([(0.44, -0.012), (0.44, 0.012), (0.4, 0.012), (0.4, -0.012)], 60, rows_close=True)
    side = join(moved(turned(rim, (1, 0, 0), 90.0), (0.0, 0.0, 0.16)), spoke)
    arm = join(paddle, mirrored(spoke))
    parts = [turned(arm, (0, 0, 1), float(angle)) for angle in angles]
    return join(axle(0.07, 0.4, 24), mirrored(side), *parts)
