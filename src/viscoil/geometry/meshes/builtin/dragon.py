"""A dragon as artists hand it over: closed parts that run into each other, and wings of no volume.

It looks along +x. Tail and neck wave and the wings beat once in PERIOD; the topology stays.
"""

from functools import lru_cache

import numpy as np

from viscoil.geometry.meshes.builtin.blends import blob, both_sides, carved, melted, rod, surface
from viscoil.geometry.meshes.builtin.curves import path, smoothstep
from viscoil.geometry.meshes.builtin.dragon_wings import wings
from viscoil.geometry.meshes.builtin.solids import ellipsoid
from viscoil.geometry.meshes.builtin.sweeps import frames, tube
from viscoil.geometry.meshes.builtin.transforms import (
    Float,
    join,
    mesh,
    mirrored,
    moved,
    rotated,
    rotation,
    scaled,
    turned,
)
from viscoil.geometry.meshes.mesh import TriangleMesh

PERIOD = 1.0  # s, of a beat of the wings

_LEFT_TO_UP = (0.0, 0.0, -1.0)  # the reference for which the third axis of `frames` points up
_STATIONS = 96

# x, y, z, half width, half height along the back, from the tip of the tail to the head
_SPINE = [
    (-0.66, 0.20, 0.0, 0.006, 0.006),
    (-0.57, 0.145, 0.0, 0.013, 0.014),
    (-0.46, 0.12, 0.0, 0.021, 0.023),
    (-0.35, 0.145, 0.0, 0.032, 0.035),
    (-0.25, 0.20, 0.0, 0.048, 0.052),
    (-0.15, 0.255, 0.0, 0.066, 0.07),
    (-0.03, 0.27, 0.0, 0.074, 0.08),
    (0.09, 0.29, 0.0, 0.078, 0.09),
    (0.18, 0.335, 0.0, 0.056, 0.066),
    (0.235, 0.405, 0.0, 0.037, 0.044),
    (0.262, 0.48, 0.0, 0.03, 0.036),
    (0.295, 0.55, 0.0, 0.028, 0.034),
    (0.345, 0.59, 0.0, 0.03, 0.034),
]


def dragon(time: float = 0.0) -> TriangleMesh:
    """The dragon at a time (s)."""
    phase = 2.0 * np.pi * time / PERIOD
    spine, radii = _spine(phase)
    body = tube(spine, radii, 18, _LEFT_TO_UP)
    parts = (body, _spikes(spine, radii), _tail_fin(spine), _posed_head(spine, phase))
    whole = join(*parts, _legs(phase), _flanks(), wings(phase))
    return scaled(moved(whole, (0.0973, -0.001, 0.0)), 0.803)


def _spine(phase: float) -> tuple[Float, Float]:
    """The middle line of the body, and its half widths and half heights (m)."""
    points, radii = path(_SPINE, _STATIONS)
    s = np.linspace(0.0, 1.0, _STATIONS)
    tail = smoothstep(-s, -0.42, 0.0)
    neck = smoothstep(s, 0.62, 1.0)
    swing = 0.11 * tail * np.sin(phase - 9.0 * s) + 0.03 * neck * np.sin(phase + 3.0 * s)
    lift = 0.03 * tail * np.sin(phase + 0.5 * np.pi - 7.0 * s) - 0.02 * neck * np.sin(phase)
    return points + np.stack([0.0 * s, lift, swing], axis=1), radii


def _spikes(spine: Float, radii: Float) -> TriangleMesh:
    """Blades along the back, largest over the shoulders, each a thin pyramid."""
    at = np.arange(3, _STATIONS - 4, 3)
    along, side, up = (axis[at] for axis in frames(spine, _LEFT_TO_UP))
    height = 0.022 + 0.03 * np.sin(np.pi * at / _STATIONS) ** 2
    long, wide = 0.5 * height[:, None], 0.14 * height[:, None]
    foot = spine[at] + 0.8 * radii[at, 1:] * up
    tip = spine[at] + (radii[at, 1] + height)[:, None] * up - 1.3 * long * along
    corners = [foot + long * along, foot + wide * side, foot - long * along, foot - wide * side]
    vertices = np.stack([*corners, tip], axis=1).reshape(-1, 3)
    pyramid = np.array([[3, 0, 4], [2, 3, 4], [1, 2, 4], [0, 1, 4], [2, 1, 0], [3, 2, 0]])
    return mesh(vertices, (pyramid + 5 * np.arange(len(at))[:, None, None]).reshape(-1, 3))


def _tail_fin(spine: Float) -> TriangleMesh:
    """Two crossed blades of no thickness: four faces meet at each edge of the axis they share."""
    along, side, up = (axis[0] for axis in frames(spine, _LEFT_TO_UP))
    axis = [spine[0] - x * along for x in (-0.05, 0.02, 0.09)]
    blades = [spine[0] + 0.03 * along + d for d in (0.055 * side, 0.035 * up)]
    blades += [spine[0] + 0.03 * along - d for d in (0.055 * side, 0.035 * up)]
    faces = [f for k in range(4) for f in ((0, 1, 3 + k), (1, 2, 3 + k))]
    return mesh([*axis, *blades], faces)


def _flanks() -> TriangleMesh:
    """Muscles that bulge out of the body: chest, belly, shoulders and haunches."""
    single = (ellipsoid((0.11, 0.265, 0.0), (0.1, 0.085, 0.072), 2),)
    haunch = turned(ellipsoid((0.0, 0.0, 0.0), (0.085, 0.065, 0.04), 2), (0, 0, 1), -35.0)
    shoulder = turned(ellipsoid((0.0, 0.0, 0.0), (0.055, 0.075, 0.035), 2), (0, 0, 1), 20.0)
    pair = join(moved(haunch, (-0.13, 0.215, 0.062)), moved(shoulder, (0.115, 0.27, 0.064)))
    return join(*single, mirrored(pair))


def _legs(phase: float) -> TriangleMesh:
    """Two pairs of legs that swing a little from hip and shoulder."""
    hind = [
        (-0.15, 0.225, 0.075, 0.055),
        (-0.085, 0.165, 0.098, 0.044),
        (-0.105, 0.115, 0.11, 0.028),
        (-0.16, 0.08, 0.112, 0.02),
        (-0.15, 0.035, 0.115, 0.018),
        (-0.12, 0.018, 0.118, 0.019),
    ]
    fore = [
        (0.12, 0.27, 0.07, 0.042),
        (0.095, 0.2, 0.092, 0.034),
        (0.085, 0.15, 0.1, 0.026),
        (0.125, 0.085, 0.104, 0.019),
        (0.14, 0.04, 0.106, 0.016),
        (0.155, 0.018, 0.108, 0.018),
    ]
    swing = 5.0 * float(np.sin(phase))
    left = join(_leg(hind, swing), _leg(fore, -swing))
    right = join(_leg(hind, -swing), _leg(fore, swing))
    return join(left, scaled(right, (1.0, 1.0, -1.0)))


def _leg(points: list[tuple[float, float, float, float]], swing: float) -> TriangleMesh:
    """A leg with a foot of four claws, turned about its top by a swing (degrees)."""
    heel = np.array(points[-1][:3])
    toes = [_toe(heel, angle) for angle in (-32.0, 0.0, 32.0, 180.0)]
    whole = join(tube(*path(points, 22), 14), *toes)
    top = np.array(points[0][:3])
    return moved(turned(moved(whole, -top), (0, 0, 1), swing), top)


def _toe(heel: Float, angle: float) -> TriangleMesh:
    reach = 0.6 if abs(angle) > 90.0 else 1.0
    toe = [(-0.01, 0.0, 0, 0.011), (0.025, 0.008, 0, 0.011), (0.045, 0.002, 0, 0.009)]
    claw = [(0.06, -0.003, 0, 0.007), (0.077, -0.017, 0, 0.0)]
    centers, radii = path([*toe, *claw], 10)
    return moved(turned(tube(centers * [reach, 1.0, 1.0], radii, 7), (0, 1, 0), angle), heel)


def _posed_head(spine: Float, phase: float) -> TriangleMesh:
    """The head where the neck ends, following its sway to the side and nodding a little."""
    along = spine[-1] - spine[-6]
    yaw = rotation((0, 1, 0), -float(np.arctan2(along[2], along[0])))
    pitch = rotation((0, 0, 1), -0.32 - 0.08 * float(np.sin(phase)))
    return moved(rotated(_head(), yaw @ pitch), spine[-1])


@lru_cache(maxsize=1)
def _head() -> TriangleMesh:
    """Skull with open jaws, horns, eyes and teeth, the end of the neck at the origin."""
    return join(_skull(), mirrored(join(*_horns(), *_teeth(), *_eyes())))


def _skull() -> TriangleMesh:
    skull = melted(
        [
            (blob((0.025, 0.0, 0.0), (0.06, 0.046, 0.043)), 0.0),
            (rod((0.05, 0.0, 0.0), (0.155, -0.006, 0.0), 0.034, 0.021), 0.03),
            (blob((0.165, 0.0, 0.0), (0.026, 0.02, 0.026)), 0.02),
            (both_sides(rod((0.045, 0.035, 0.03), (0.1, 0.022, 0.02), 0.013, 0.007)), 0.012),
            (both_sides(blob((0.172, 0.017, 0.013), (0.013, 0.009, 0.008))), 0.008),
            (both_sides(blob((0.03, -0.025, 0.03), (0.04, 0.025, 0.018))), 0.02),
            (rod((0.02, -0.035, 0.0), (0.14, -0.074, 0.0), 0.026, 0.014), 0.015),
            (rod((0.135, -0.076, 0.0), (0.136, -0.092, 0.0), 0.011, 0.003), 0.01),
        ]
    )
    mouth = melted(
        [
            (rod((0.075, -0.033, -0.03), (0.075, -0.033, 0.03), 0.006, 0.006), 0.0),
            (rod((0.09, -0.035, 0.0), (0.2, -0.045, 0.0), 0.008, 0.022), 0.01),
        ]
    )
    low, high = (-0.06, -0.115, -0.07), (0.22, 0.075, 0.07)
    return surface(carved(skull, mouth, 0.008), low, high, 0.0076)


def _horns() -> list[TriangleMesh]:
    """The long horn, and two that point back from the cheek."""
    long = [(0.015, 0.03, 0.02, 0.016), (-0.04, 0.065, 0.032, 0.013), (-0.1, 0.08, 0.05, 0.009)]
    long += [(-0.15, 0.105, 0.06, 0.005), (-0.175, 0.145, 0.062, 0.0)]
    brow = [(0.02, -0.005, 0.03, 0.012), (-0.03, 0.005, 0.055, 0.008), (-0.075, 0.02, 0.07, 0.0)]
    cheek = [(0.02, -0.035, 0.03, 0.01), (-0.02, -0.045, 0.05, 0.007), (-0.06, -0.05, 0.06, 0.0)]
    return [tube(*path(points, 16), 10) for points in (long, brow, cheek)]


def _teeth() -> list[TriangleMesh]:
    """Upper and lower teeth as cones (m: x, y of the root, z, length down)."""
    upper = [
        (0.165, -0.014, 0.018, 0.026),
        (0.14, -0.02, 0.019, 0.014),
        (0.118, -0.022, 0.022, 0.012),
    ]
    lower = [(0.135, -0.065, 0.009, -0.022), (0.115, -0.058, 0.012, -0.013)]
    return [
        tube(
            [(x, y + 0.5 * down, z), (x, y - 0.3 * down, z), (x, y - down, z)],
            [0.006, 0.0045, 0],
            6,
        )
        for x, y, z, down in upper + lower
    ]


def _eyes() -> list[TriangleMesh]:
    return [ellipsoid((0.066, 0.017, 0.032), (0.012, 0.01, 0.007), 2)]
