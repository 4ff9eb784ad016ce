"""A squat idol of stone over a basin, for a fountain."""

import numpy as np

from viscoil.meshes.builtin.blends import Field, blob, both_sides, carved, melted, rod, surface
from viscoil.meshes.builtin.noise import roughened
from viscoil.meshes.builtin.solids import rounded_box
from viscoil.meshes.builtin.sweeps import lathe, tube
from viscoil.meshes.builtin.transforms import join, moved
from viscoil.meshes.triangle_mesh import TriangleMesh


def idol() -> TriangleMesh:
    """A figure that looks along +x from a plinth in the middle of a round basin: closed parts."""
    low, high = (-0.24, 0.2, -0.28), (0.3, 1.05, 0.28)
    figure = roughened(surface(_figure(), low, high, 0.0185), 0.004, 0.06)
    steps = join(
        rounded_box((0.44, 0.25, 0.46), 0.02, (0.0, 0.13, 0.0)),
        rounded_box((0.5, 0.06, 0.52), 0.02, (0.0, 0.25, 0.0)),
    )
    return join(_basin(), steps, figure, _headdress(), _spout())


def _basin() -> TriangleMesh:
    """A round basin of radius 0.5 m and height 0.16 m, open above."""
    outside = [(0.0, 0.0), (0.46, 0.0), (0.46, 0.03), (0.44, 0.05), (0.44, 0.1), (0.47, 0.12)]
    rim = [(0.5, 0.13), (0.5, 0.155), (0.495, 0.16), (0.43, 0.16), (0.425, 0.155)]
    return lathe([*outside, *rim, (0.42, 0.07), (0.38, 0.045), (0.0, 0.04)], 64)


def _headdress() -> TriangleMesh:
    """A flat topknot that overlaps the head."""
    profile = [(0.0, 0.9), (0.15, 0.9), (0.17, 0.92), (0.17, 0.96), (0.14, 0.98)]
    top = [(0.125, 0.99), (0.135, 1.02), (0.15, 1.07), (0.14, 1.1), (0.0, 1.1)]
    return moved(lathe([*profile, *top], 32), (-0.02, 0.0, 0.0))


def _spout() -> TriangleMesh:
    """A stone lip that carries the water out of the mouth."""
    centers = np.array([[0.05, 0.585, 0.0], [0.15, 0.585, 0.0], [0.25, 0.57, 0.0]])
    return tube(centers, np.array([[0.075, 0.016], [0.07, 0.016], [0.055, 0.014]]), 20)


def _figure() -> Field:
    mouth = rod((0.22, 0.62, -0.07), (0.22, 0.62, 0.07), 0.034, 0.034)
    sockets = both_sides(blob((0.2, 0.79, 0.085), (0.06, 0.042, 0.06)))
    head = carved(carved(melted(_head()), mouth, 0.02), sockets, 0.02)
    eyes = both_sides(blob((0.135, 0.79, 0.083), (0.035, 0.027, 0.042)))
    return melted([(head, 0.0), (eyes, 0.006), *_trunk()])


def _head() -> list[tuple[Field, float]]:
    return [
        (blob((0.0, 0.74, 0.0), (0.19, 0.24, 0.19)), 0.0),
        (blob((0.06, 0.6, 0.0), (0.15, 0.1, 0.17)), 0.06),
        (both_sides(rod((0.165, 0.845, 0.0), (0.125, 0.87, 0.14), 0.036, 0.026)), 0.03),
        (rod((0.175, 0.84, 0.0), (0.205, 0.715, 0.0), 0.026, 0.042), 0.025),
        (both_sides(blob((0.19, 0.71, 0.038), (0.036, 0.03, 0.028))), 0.015),
        (rod((0.165, 0.665, -0.075), (0.165, 0.665, 0.075), 0.027, 0.027), 0.015),
        (rod((0.165, 0.57, -0.07), (0.165, 0.57, 0.07), 0.03, 0.03), 0.015),
        (both_sides(blob((0.135, 0.675, 0.115), (0.055, 0.06, 0.045))), 0.03),
        (both_sides(rod((-0.01, 0.82, 0.19), (0.0, 0.65, 0.195), 0.03, 0.04)), 0.02),
    ]


def _trunk() -> list[tuple[Field, float]]:
    return [
        (blob((-0.02, 0.42, 0.0), (0.17, 0.19, 0.2)), 0.04),
        (both_sides(rod((-0.03, 0.5, 0.19), (-0.01, 0.38, 0.225), 0.055, 0.045)), 0.025),
        (both_sides(rod((-0.01, 0.38, 0.225), (0.15, 0.4, 0.075), 0.042, 0.036)), 0.012),
        (both_sides(blob((0.155, 0.405, 0.055), (0.03, 0.04, 0.045))), 0.01),
        (both_sides(rod((-0.02, 0.31, 0.16), (0.14, 0.33, 0.17), 0.065, 0.055)), 0.02),
        (both_sides(rod((0.14, 0.33, 0.17), (0.15, 0.285, 0.165), 0.055, 0.05)), 0.02),
        (both_sides(rod((0.14, 0.285, 0.165), (0.235, 0.285, 0.17), 0.04, 0.036)), 0.02),
    ]
