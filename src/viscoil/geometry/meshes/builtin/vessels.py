"""Things that hold a liquid, most of them turned on a lathe."""

import numpy as np
from numpy.typing import ArrayLike

from viscoil.geometry.meshes.builtin.curves import path, spline
from viscoil.geometry.meshes.builtin.solids import ellipsoid
from viscoil.geometry.meshes.builtin.sweeps import lathe, stitch, tube
from viscoil.geometry.meshes.builtin.transforms import Float, join, moved
from viscoil.geometry.meshes.mesh import TriangleMesh

# Radius and height (m) of the outside of the glass, from the edge of the foot to the rim.
_FOOT = [(0.25, 0.0), (0.252, 0.008), (0.235, 0.016), (0.13, 0.032), (0.045, 0.065), (0.022, 0.12)]
_STEM = [(0.018, 0.25), (0.019, 0.38), (0.028, 0.44)]
_BOWL = [(0.09, 0.475), (0.185, 0.54), (0.255, 0.645), (0.27, 0.75), (0.245, 0.88), (0.212, 0.992)]
_INSIDE = [(0.0, 0.475), (0.08, 0.493), (0.17, 0.553), (0.24, 0.651), (0.255, 0.75)]
_LIP = [(0.23, 0.88), (0.199, 0.993), (0.205, 1.0), (0.212, 0.992)]


def _curve(points: ArrayLike, count: int) -> list[tuple[float, float]]:
    smooth = spline(points, count)
    return [(float(max(r, 0.0)), float(y)) for r, y in smooth]


def wine_glass() -> TriangleMesh:
    """A wine glass with a wall 0.015 m thick and a stem: one closed surface."""
    outside = _curve([*_FOOT, *_STEM, *_BOWL], 52)
    inside = _curve([*_INSIDE, *_LIP], 30)
    return lathe([(0.0, 0.0), (0.13, 0.0), *outside, *inside[-2:0:-1], (0.0, _INSIDE[0][1])], 72)


def wine_glass_thin() -> TriangleMesh:
    """The outside of the wine glass without its inside: foot, stem and bowl of no thickness."""
    foot = [(0.0, 0.065), *_FOOT[3::-1]]
    bowl = [(0.0, 0.44), *_BOWL]
    stem = [*_FOOT[3:], *_STEM, (0.05, 0.455)]
    parts = (_curve(points, 26) for points in (foot[::-1], stem, bowl))
    return join(*(lathe(part, 72) for part in parts))


def bowl() -> TriangleMesh:
    """A hemisphere of radius 0.5 m of no thickness, open above."""
    angle = np.linspace(0.0, 0.5 * np.pi, 25)
    profile = 0.5 * np.stack([np.sin(angle), 1.0 - np.cos(angle)], axis=1)
    return lathe(profile, 72)


def bottle() -> TriangleMesh:
    """A wine bottle 1 m high with a wall of 0.015 m, a dent in its floor, and an open neck."""
    wall = [(0.115, 0.0), (0.13, 0.015), (0.132, 0.06), (0.132, 0.3), (0.132, 0.58), (0.12, 0.66)]
    neck = [(0.075, 0.72), (0.05, 0.78), (0.046, 0.86), (0.045, 0.945)]
    lip = [(0.052, 0.95), (0.052, 0.99), (0.048, 1.0), (0.036, 1.0), (0.032, 0.99)]
    inner = [(0.032, 0.86), (0.036, 0.78), (0.06, 0.715), (0.105, 0.65), (0.117, 0.58)]
    floor = [(0.117, 0.3), (0.117, 0.06), (0.112, 0.03), (0.09, 0.04), (0.04, 0.095), (0.0, 0.105)]
    dent = [(0.0, 0.085), (0.035, 0.075), (0.08, 0.018), (0.105, 0.0)]
    profile = [*dent, *_curve([*wall, *neck], 40), *lip, *_curve([*inner, *floor[:-1]], 40)]
    return lathe([*profile, floor[-1]], 56)


def cup() -> TriangleMesh:
    """A mug 1 m high with a wall of 0.05 m, and a handle that runs into the wall."""
    outside = [(0.0, 0.0), (0.3, 0.0), (0.34, 0.01), (0.36, 0.05), (0.37, 0.2), (0.37, 0.96)]
    rim = [(0.365, 0.985), (0.345, 1.0), (0.325, 0.985), (0.32, 0.96)]
    inside = [(0.32, 0.2), (0.3, 0.09), (0.25, 0.06), (0.0, 0.06)]
    handle = [(0.34, 0.8), (0.5, 0.82), (0.62, 0.7), (0.63, 0.5), (0.55, 0.3), (0.34, 0.22)]
    centers, _ = path([(x, y, 0.0, 1.0) for x, y in handle], 33)
    grip = tube(centers, np.tile([0.06, 0.035], (33, 1)), 20)
    return join(lathe([*outside, *rim, *inside], 64), grip)


def spoon() -> TriangleMesh:
    """A spoon 1 m long that lies along x, its bowl at +x, one closed surface."""
    stations = np.array(
        # x, half width, height of the edge, depth of the hollow
        [
            [-0.5, 0.03, 0.12, 0.0],
            [-0.45, 0.042, 0.118, 0.0],
            [-0.3, 0.036, 0.11, 0.0],
            [-0.1, 0.024, 0.1, 0.0],
            [0.08, 0.02, 0.085, 0.002],
            [0.17, 0.045, 0.07, 0.012],
            [0.25, 0.088, 0.068, 0.04],
            [0.34, 0.11, 0.068, 0.052],
            [0.42, 0.095, 0.068, 0.044],
            [0.475, 0.06, 0.068, 0.022],
            [0.497, 0.02, 0.068, 0.004],
        ]
    )
    rows = [_spoon_section(*station) for station in spline(stations, 60)]
    tip = np.array([[0.003, 0.0, 0.0]])
    start, end = (row.mean(axis=0, keepdims=True) for row in (rows[0], rows[-1]))
    return stitch([start - tip, *rows, end + tip])


def _spoon_section(x: float, width: float, height: float, depth: float) -> Float:
    """The outline of a cut across the spoon: over the hollow, and back underneath."""
    v = np.linspace(-1.0, 1.0, 13)
    hollow = height - depth * (1.0 - v**2)
    under = hollow - 0.014 * (0.3 + 0.7 * np.sqrt(1.0 - v**2))
    y = np.concatenate([hollow, under[::-1]])
    z = width * np.concatenate([v, v[::-1]])
    return np.stack([np.full(y.shape, x), y, z], axis=1)


def pot() -> TriangleMesh:
    """A tea pot with lid, spout and handle: closed parts that overlap, and a solid belly."""
    belly = [(0.0, 0.0), (0.2, 0.0), (0.25, 0.02), (0.34, 0.14), (0.36, 0.27), (0.29, 0.42)]
    lid = [(0.2, 0.47), (0.19, 0.5), (0.1, 0.535), (0.035, 0.55), (0.03, 0.57), (0.0, 0.58)]
    spout = [(0.25, 0.15, 0, 0.085), (0.38, 0.2, 0, 0.07), (0.46, 0.34, 0, 0.048)]
    mouth = [(0.52, 0.44, 0, 0.038), (0.57, 0.48, 0, 0.036)]
    grip = [(-0.25, 0.42), (-0.36, 0.47), (-0.47, 0.44), (-0.5, 0.33), (-0.45, 0.22), (-0.32, 0.13)]
    centers, _ = path([(x, y, 0.0, 1.0) for x, y in grip], 33)
    handle = tube(centers, np.tile([0.04, 0.026], (33, 1)), 16)
    knob = ellipsoid((0.0, 0.6, 0.0), (0.045, 0.04, 0.045))
    body = lathe([(0.0, 0.0), *_curve([*belly[1:], *lid[:-1]], 48), lid[-1]], 64)
    whole = join(body, knob, tube(*path([*spout, *mouth], 24), 20), handle)
    return moved(whole, (-0.035, 0.0, 0.0))
