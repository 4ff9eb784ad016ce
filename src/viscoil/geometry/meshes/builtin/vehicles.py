"""A tank and a boat as artists build them: boxes, tubes and sheets that run through each other."""

import numpy as np

from viscoil.geometry.meshes.builtin.curves import spline
from viscoil.geometry.meshes.builtin.solids import (
    axle,
    box,
    cylinder,
    ellipsoid,
    extrude,
    rounded_box,
)
from viscoil.geometry.meshes.builtin.sweeps import lathe, ring_prism, sheet, tube
from viscoil.geometry.meshes.builtin.transforms import (
    Float,
    fitted,
    join,
    mesh,
    mirrored,
    moved,
    scaled,
    turned,
)
from viscoil.geometry.meshes.mesh import TriangleMesh

# x, y, radius (m) of the wheels that a track runs round
_WHEELS = [(-0.36, 0.125, 0.055), (0.36, 0.13, 0.055)]
_WHEELS += [(x, 0.075, 0.06) for x in (-0.27, -0.135, 0.0, 0.135, 0.27)]
_TRACK_Z, _TRACK_WIDTH = 0.195, 0.09  # m


def tank() -> TriangleMesh:
    """A battle tank that drives towards +x, 1 m long with its gun."""
    hull = [(-0.39, 0.09), (0.33, 0.09), (0.41, 0.15), (0.29, 0.225), (-0.37, 0.225), (-0.42, 0.17)]
    sides = mirrored(join(*_track(), *_running_gear(), _fender()))
    whole = join(extrude(hull, 0.32), sides, _turret(), _gun(), *_fittings())
    return fitted(whole, 1.0, 0)


def _turret() -> TriangleMesh:
    profile = [(0.0, 0.2), (0.15, 0.2), (0.15, 0.235), (0.17, 0.25), (0.165, 0.275), (0.13, 0.325)]
    turret = lathe([*profile, (0.11, 0.335), (0.0, 0.34)], 14)
    return moved(scaled(turret, (1.25, 1.0, 0.95)), (-0.07, 0.0, 0.0))


def _gun() -> TriangleMesh:
    """Mantlet, barrel with fume extractor, and muzzle brake."""
    x = [0.04, 0.2, 0.3, 0.31, 0.37, 0.38, 0.5, 0.505, 0.55, 0.58]
    radii = [0.026, 0.024, 0.021, 0.028, 0.028, 0.02, 0.018, 0.027, 0.027, 0.022]
    barrel = tube([(a, 0.285 + 0.04 * a, 0.0) for a in x], radii, 18)
    return join(barrel, ellipsoid((0.11, 0.285, 0.0), (0.05, 0.04, 0.07), 2))


def _fittings() -> list[TriangleMesh]:
    """Hatches, a machine gun, an aerial, tool boxes and the engine deck."""
    hatches = [(-0.12, 0.07, 0.05), (-0.02, -0.06, 0.042)]
    parts = [moved(cylinder(r, 0.03, 16), (x, 0.325, z)) for x, z, r in hatches]
    parts.append(tube([(-0.16, 0.375, 0.07), (0.05, 0.38, 0.07)], [0.01, 0.007], 8))
    parts.append(tube([(-0.1, 0.33, 0.07), (-0.1, 0.38, 0.07)], [0.01, 0.01], 8, (1, 0, 0)))
    parts.append(tube([(-0.22, 0.29, -0.09), (-0.26, 0.52, -0.09)], [0.005, 0.002], 6))
    parts += [box((0.1, 0.04, 0.05), (x, 0.245, -0.18)) for x in (-0.3, 0.08)]
    parts += [box((0.012, 0.012, 0.24), (x, 0.228, 0.0)) for x in (-0.35, -0.32, -0.29)]
    return parts


def _belt(extra: float, count: int) -> Float:
    """Points (count, 2) of x and -y on the hull of the wheels, each larger by an extra (m)."""
    angle = 2.0 * np.pi * np.arange(count) / count
    normal = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    wheels = np.array(_WHEELS)
    reach = normal @ wheels[:, :2].T + wheels[:, 2] + extra
    farthest = wheels[np.argmax(reach, axis=1)]
    return np.asarray((farthest[:, :2] + (farthest[:, 2:] + extra) * normal) * [1.0, -1.0])


def _track() -> list[TriangleMesh]:
    """The belt of the left track, and the shoes on it."""
    belt = ring_prism(_belt(0.012, 96), _belt(0.0, 96), _TRACK_WIDTH)
    belt = moved(turned(belt, (1, 0, 0), 90.0), (0.0, 0.0, _TRACK_Z - 0.5 * _TRACK_WIDTH))
    outline = _belt(0.014, 720) * [1.0, -1.0]
    outline = np.concatenate([outline, outline[:1]])
    length = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(outline, axis=0), axis=1))])
    at = np.linspace(0.0, length[-1], 53)[:-1]
    place = np.stack([np.interp(at, length, outline[:, k]) for k in range(2)], axis=1)
    ahead = np.stack([np.interp(at + 0.005, length, outline[:, k]) for k in range(2)], axis=1)
    slope = np.degrees(np.arctan2(*(ahead - place).T[::-1]))
    shoe = box((0.022, 0.012, _TRACK_WIDTH + 0.01))
    turned_shoes = [turned(shoe, (0, 0, 1), float(degrees)) for degrees in slope]
    shoes = [moved(s, (*p, _TRACK_Z)) for s, p in zip(turned_shoes, place, strict=True)]
    return [belt, *shoes]


def _running_gear() -> list[TriangleMesh]:
    """The wheels of the left side, each with a hub."""
    discs = [moved(axle(r, 0.06, 24), (x, y, _TRACK_Z)) for x, y, r in _WHEELS]
    hubs = [moved(axle(0.35 * r, 0.1, 12), (x, y, _TRACK_Z)) for x, y, r in _WHEELS]
    return discs + hubs


def _fender() -> TriangleMesh:
    """Sheets of no thickness over the left track: cover, skirt and strake share one edge."""
    x = np.linspace(-0.42, 0.42, 9)
    rows = [(0.215, 0.12), (0.215, 0.25), (0.165, 0.253), (0.235, 0.25)]
    lines = np.concatenate([np.stack([x, 0.0 * x + y, 0.0 * x + z], axis=1) for y, z in rows])
    here = np.arange(8)
    faces = []
    for a, b in ((0, 9), (9, 18), (9, 27)):
        faces.append(np.stack([a + here, b + here, a + here + 1], axis=1))
        faces.append(np.stack([b + here, b + here + 1, a + here + 1], axis=1))
    return mesh(lines, np.concatenate(faces))


def boat() -> TriangleMesh:
    """A rowing boat 1 m long, its bow at +x, clinker built of planks that have no thickness."""
    sides = mirrored(join(_gunwale(), *_rowlock(), _oar()))
    return fitted(join(_planks(), sides, *_ribs(), _transom(), _stem(), *_thwarts()), 1.0, 0)


def _hull(x: Float, v: Float) -> Float:
    """Points of the left side at x (m), from the keel (v = 0) to the gunwale (v = 1)."""
    u = np.clip((x + 0.48) / 0.98, 0.0, 1.0)
    beam = 0.19 * np.clip(0.72 + 1.25 * u - 0.05 * u**2 - 1.92 * u**3, 0.0, None)
    sheer = 0.19 + 0.09 * u**3 + 0.03 * (1.0 - u) ** 2
    keel = 0.012 + 0.13 * np.clip((u - 0.72) / 0.28, 0.0, None) ** 2.5 + 0.015 * (1.0 - u) ** 2
    full = 0.42 + 0.45 * u**2
    z = beam * v**full
    return np.stack(np.broadcast_arrays(x, keel + (sheer - keel) * v**1.25, z), axis=-1)


def _planks() -> TriangleMesh:
    """Six planks a side in one folded sheet, each standing out over the upper edge of the last.

    A keel of no thickness hangs from the edge at which the two sides meet.
    """
    v, out = [0.0, 1.0], [0.0, 0.0]
    for k in range(1, 6):
        v += [k - 0.15, k + 1.0]
        out += [0.016, 0.0]
    x = np.linspace(-0.48, 0.498, 41)
    left = _hull(x[None, :], np.array(v)[:, None] / 6.0)
    left[..., 2] += np.array(out)[:, None] * np.clip(left[..., 2] / 0.06, 0.0, 1.0)
    right = left[:0:-1] * [1.0, 1.0, -1.0]
    shell = sheet(np.concatenate([right, left]))
    keel = sheet(np.stack([left[0], left[0] - [0.0, 0.02, 0.0]]))
    start = len(right) * len(x)
    row = np.concatenate([np.arange(start, start + 41), len(shell.vertices) + np.arange(41)])
    vertices = np.concatenate([shell.vertices, keel.vertices[41:]])
    return mesh(vertices, np.concatenate([shell.faces, row[keel.faces]]))


def _gunwale() -> TriangleMesh:
    x = np.linspace(-0.485, 0.497, 33)
    return tube(_hull(x, np.ones(33)), np.full(33, 0.011), 10, (0.0, 1.0, 0.0))


def _transom() -> TriangleMesh:
    """The flat stern, of no thickness; it reaches through the planks."""
    v = np.linspace(0.0, 1.0, 13)
    left = _hull(np.full(13, -0.475), v) + np.array([0.0, 0.0, 0.016])
    share = np.linspace(-1.0, 1.0, 9)[None, :, None]
    points = left[:, None] * [1.0, 1.0, 0.0] + left[:, None] * [0.0, 0.0, 1.0] * share
    return sheet(points)


def _stem() -> TriangleMesh:
    """Keel and stem post in one bent beam."""
    x = np.linspace(-0.49, 0.49, 33)
    keel = _hull(x, np.zeros(33)) * [1.0, 1.0, 0.0]
    post = [(0.503, 0.2, 0.0), (0.507, 0.26, 0.0), (0.508, 0.3, 0.0)]
    line = spline(np.concatenate([keel[::4], post]), 40)
    return tube(line, np.tile([0.009, 0.012], (40, 1)), 10)


def _ribs() -> list[TriangleMesh]:
    """Bent frames inside the planks, from gunwale to gunwale."""
    v = np.linspace(0.0, 1.0, 15)
    ribs = []
    for x in (-0.36, -0.22, -0.08, 0.06, 0.2, 0.32):
        left = _hull(np.full(15, x), v) * [1.0, 1.0, 0.97] + [0.0, 0.004, 0.0]
        line = np.concatenate([left[:0:-1], left * [1.0, 1.0, -1.0]])
        ribs.append(tube(line, np.full(29, 0.007), 6, (1.0, 0.0, 0.0)))
    return ribs


def _thwarts() -> list[TriangleMesh]:
    """Seats across the boat that stick through the planks, and the floor boards."""
    seats = [(-0.39, 0.35, 0.1), (-0.1, 0.425, 0.065), (0.17, 0.395, 0.065)]
    parts = [rounded_box((wide, 0.014, long), 0.004, (x, 0.145, 0)) for x, long, wide in seats]
    boards = [box((0.62, 0.007, 0.035), (-0.08, 0.05, 0.042 * k)) for k in (-1, 0, 1)]
    return parts + boards


def _rowlock() -> list[TriangleMesh]:
    side = _hull(np.array([0.0]), np.array([1.0]))[0]
    pins = [moved(cylinder(0.005, 0.035, 8), (x, 0.0, 0.0)) for x in (-0.017, 0.017)]
    return [moved(pin, side) for pin in pins]


def _oar() -> TriangleMesh:
    """An oar through the left rowlock, its blade out over the side."""
    side = _hull(np.array([0.0]), np.array([1.0]))[0] + [0.0, 0.02, 0.0]
    way = np.array([-0.12, -0.16, 0.46]) / np.linalg.norm([0.12, 0.16, 0.46])
    along = np.array([-0.17, -0.1, 0.2, 0.34, 0.36, 0.42, 0.47, 0.475])
    flat = np.array([0.01, 0.008, 0.008, 0.009, 0.02, 0.03, 0.027, 0.02])
    thick = np.array([0.01, 0.008, 0.008, 0.006, 0.004, 0.004, 0.004, 0.003])
    radii = np.stack([flat, thick], axis=1)
    return tube(side + along[:, None] * way, radii, 10, (1.0, 0.0, 0.0))
