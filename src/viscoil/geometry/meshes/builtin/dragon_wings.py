"""The dragon's wings: bones, and skins of no thickness between them.

A wing is drawn flat, as span away from the shoulder and chord towards the head, and then turned up
about the shoulder by an angle that grows along the span and follows the beat with a delay.
"""

import numpy as np
from numpy.typing import ArrayLike

from viscoil.geometry.meshes.builtin.curves import spline
from viscoil.geometry.meshes.builtin.sweeps import sheet, stitch, tube
from viscoil.geometry.meshes.builtin.transforms import Float, join, mirrored
from viscoil.geometry.meshes.mesh import TriangleMesh

# Span and chord (m) in the flat wing
_SHOULDER, _ELBOW, _WRIST = (0.0, 0.0), (0.15, -0.03), (0.3, 0.1)
_FLANK = (-0.015, -0.24)
_FINGERS = [
    [(0.42, 0.13), (0.55, 0.08), (0.66, -0.03)],
    [(0.42, 0.04), (0.52, -0.07), (0.57, -0.2)],
    [(0.36, -0.02), (0.41, -0.15), (0.41, -0.29)],
    [(0.29, -0.03), (0.26, -0.17), (0.21, -0.3)],
]
_ANCHOR = np.array([0.1, 0.335, 0.045])  # m, the shoulder in the dragon
_ALONG, _ACROSS = 12, 9  # points of a skin along and between fingers


def wings(phase: float) -> TriangleMesh:
    """Both wings at a phase (rad) of their beat."""
    return mirrored(join(_skins(phase), _bones(phase)))


def _angle(span: Float, phase: float) -> Float:
    """How far the wing is turned up (rad)."""
    out = np.clip(span, 0.0, None) / 0.66
    beat = phase + 2.2 - 0.9 * out
    return np.asarray(0.55 + 0.5 * np.sin(beat) - 0.22 * out * (1.0 + np.cos(beat)))


def _raised(flat: ArrayLike, billow: ArrayLike, phase: float) -> Float:
    """Points (..., 3) in the dragon of points (..., 2) of the flat wing.

    The billow (m) lifts points square to the wing.
    """
    span, chord = np.moveaxis(np.asarray(flat, np.float64), -1, 0)
    angle = _angle(span, phase)
    lift = np.asarray(billow) - 0.18 * chord * np.clip(span, 0.0, None)
    y = span * np.sin(angle) + lift * np.cos(angle)
    z = span * np.cos(angle) - lift * np.sin(angle)
    return np.asarray(np.stack([chord, y, z], axis=-1) + _ANCHOR)


def _finger(k: int, count: int) -> Float:
    return spline([_WRIST, *_FINGERS[k]], count)


def _skins(phase: float) -> TriangleMesh:
    bays = [_bay(k, phase) for k in range(len(_FINGERS) - 1)]
    return join(*bays, _inner_bay(phase))


def _bay(k: int, phase: float) -> TriangleMesh:
    """The fan between two fingers, its free edge drawn in between their tips."""
    first, second = _finger(k, _ALONG)[1:, None], _finger(k + 1, _ALONG)[1:, None]
    u = np.linspace(0.0, 1.0, _ALONG)[1:, None, None]
    v = np.linspace(0.0, 1.0, _ACROSS)[None, :, None]
    arch = 4.0 * v * (1.0 - v)
    flat = ((1.0 - v) * first + v * second - _WRIST) * (1.0 - 0.24 * u**3 * arch) + _WRIST
    raised = _raised(flat, (0.05 * u * arch)[..., 0], phase)
    pole = _raised([_WRIST], [0.0], phase)
    return stitch([pole, *raised], columns_close=False)


def _inner_bay(phase: float) -> TriangleMesh:
    """The skin between the last finger, the arm and the flank: a Coons patch with a free edge."""
    u = np.linspace(0.0, 1.0, _ALONG)[:, None, None]
    v = np.linspace(0.0, 1.0, _ALONG)[None, :, None]
    arm = spline([_WRIST, _ELBOW, _SHOULDER], _ALONG)[None]
    finger = _finger(len(_FINGERS) - 1, _ALONG)[:, None]
    tip = finger[-1:]
    body = np.array(_SHOULDER) * (1.0 - u) + np.array(_FLANK) * u
    edge = tip * (1.0 - v) + np.array(_FLANK) * v
    edge = edge + 0.3 * v * (1.0 - v) * np.array([0.0, 1.0])
    sides = (1.0 - v) * finger + v * body + (1.0 - u) * arm + u * edge
    corners = (1.0 - u) * ((1.0 - v) * np.array(_WRIST) + v * np.array(_SHOULDER))
    flat = sides - corners - u * ((1.0 - v) * tip + v * np.array(_FLANK))
    return sheet(_raised(flat, (0.12 * u * v * (1.0 - v))[..., 0], phase))


def _bones(phase: float) -> TriangleMesh:
    """Upper arm, forearm, the fingers, and the claw at the wrist."""
    normal = (0.0, float(np.cos(0.6)), -float(np.sin(0.6)))
    arm = spline([_SHOULDER, _ELBOW, _WRIST], 17)
    lines = [(arm, np.linspace(0.026, 0.014, 17))]
    thin = 0.012 * (1.0 - np.linspace(0.0, 1.0, 15) ** 2) + 0.002
    thin[-1] = 0.0
    lines += [(_finger(k, 15), thin) for k in range(len(_FINGERS))]
    claw = spline([_WRIST, (0.325, 0.15), (0.365, 0.175)], 6)
    lines.append((claw, np.linspace(0.012, 0.0, 6)))
    still = [0.0]
    return join(*(tube(_raised(flat, still, phase), r, 8, normal) for flat, r in lines))
