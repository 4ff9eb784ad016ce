"""What lies about in a drain; each piece rests on the ground, for a collider or a moving body."""

import numpy as np

from viscoil.geometry.meshes.builtin.curves import path
from viscoil.geometry.meshes.builtin.noise import roughened
from viscoil.geometry.meshes.builtin.solids import ellipsoid, rounded_box
from viscoil.geometry.meshes.builtin.sweeps import lathe, tube
from viscoil.geometry.meshes.builtin.transforms import join, mesh, mirrored, moved, turned
from viscoil.geometry.meshes.mesh import TriangleMesh


def garbage() -> TriangleMesh:
    """A can, a bone and a plank thrown together on the ground."""
    a = moved(turned(turned(can(), (1, 0, 0), 90.0), (0, 1, 0), 75.0), (-0.03, 0.062, -0.15))
    b = moved(turned(bone(), (0, 1, 0), -12.0), (0.05, 0.002, -0.02))
    c = moved(turned(turned(plank(), (0, 0, 1), 8.5), (0, 1, 0), 16.0), (0.0, 0.035, 0.1))
    return join(a, b, c)


def can() -> TriangleMesh:
    """An open tin 0.2 m high with grooves and a dent: one closed surface with a thin wall."""
    radius = 0.06
    grooves = [(radius - 0.003 * (k % 2), 0.012 + 0.011 * k) for k in range(17)]
    inside = [(radius - 0.008, 0.195 - 0.011 * k) for k in range(17)]
    floor = [(radius - 0.008, 0.008), (0.0, 0.008)]
    top = [(radius + 0.002, 0.197), (radius + 0.002, 0.2), (radius - 0.008, 0.2)]
    tin = lathe([(0.0, 0.0), (radius, 0.0), *grooves, *top, *inside, *floor], 32)
    x, y, z = tin.vertices.T
    facing = np.clip(np.cos(np.arctan2(z, x)), 0.0, 1.0) ** 2 * np.hypot(x, z) / radius
    dent = 0.02 * facing * np.exp(-((y - 0.11) ** 2) / 0.002)
    return mesh(np.stack([x - dent, y, z], axis=1), tin.faces)


def bone() -> TriangleMesh:
    """A bone 0.4 m long along x that lies on the ground: a shaft and four knobs that overlap."""
    shaft = [(-0.16, 0.035, 0, 0.022), (-0.09, 0.036, 0, 0.017), (0.0, 0.039, 0, 0.016)]
    shaft += [(0.09, 0.036, 0, 0.017), (0.16, 0.035, 0, 0.022)]
    knobs = [ellipsoid((x, 0.033, 0.024), (0.035, 0.033, 0.031), 2) for x in (-0.165, 0.165)]
    return join(tube(*path(shaft, 25), 14), mirrored(join(*knobs)))


def plank() -> TriangleMesh:
    """A rough board 0.5 m long along x with two nails through it."""
    board = roughened(rounded_box((0.5, 0.022, 0.09), 0.004), 0.004, 0.05, 9)
    nail = lathe([(0.0, -0.03), (0.004, -0.03), (0.004, 0.03), (0.009, 0.03), (0.0, 0.034)], 8)
    nails = [moved(nail, (x, 0.0, 0.015)) for x in (-0.2, -0.17)]
    return moved(join(board, *nails), (0.0, 0.03, 0.0))
