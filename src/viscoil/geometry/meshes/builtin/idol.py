"""An idol of stone with round eyes, a rain god for a fountain, over its basin."""

import numpy as np

from viscoil.geometry.meshes.builtin.blends import (
    DistanceFunction,
    blob,
    both_sides,
    carved,
    melted,
    rod,
    slab,
    surface,
)
from viscoil.geometry.meshes.builtin.curves import path
from viscoil.geometry.meshes.builtin.noise import roughened
from viscoil.geometry.meshes.builtin.solids import ellipsoid, extrude, rounded_box
from viscoil.geometry.meshes.builtin.sweeps import lathe, tube
from viscoil.geometry.meshes.builtin.transforms import join, mirrored, moved, turned
from viscoil.geometry.meshes.mesh import TriangleMesh


def idol() -> TriangleMesh:
    """A figure that looks along +x from a plinth in the middle of a round basin: closed parts."""
    low, high = (-0.24, 0.2, -0.28), (0.3, 0.98, 0.28)
    figure = roughened(surface(_figure(), low, high, 0.0175), 0.0025, 0.05)
    face = mirrored(join(*_eye(), *_teeth(), *_ear()))
    return join(_basin(), *_plinth(), figure, face, _tongue(), *_headdress())


def _basin() -> TriangleMesh:
    """A round basin of radius 0.5 m and height 0.16 m, open above."""
    outside = [(0.0, 0.0), (0.46, 0.0), (0.46, 0.03), (0.44, 0.05), (0.44, 0.1), (0.47, 0.12)]
    rim = [(0.5, 0.13), (0.5, 0.155), (0.495, 0.16), (0.43, 0.16), (0.425, 0.155)]
    return lathe([*outside, *rim, (0.42, 0.07), (0.38, 0.045), (0.0, 0.04)], 64)


def _plinth() -> list[TriangleMesh]:
    return [
        rounded_box((0.4, 0.25, 0.44), 0.02, (0.0, 0.13, 0.0)),
        rounded_box((0.52, 0.06, 0.56), 0.02, (0.0, 0.25, 0.0)),
    ]


def _eye() -> list[TriangleMesh]:
    """A ring about an eyeball, on the left."""
    angle = 2.0 * np.pi * np.arange(10) / 10
    section = np.stack([0.05 + 0.018 * np.cos(angle), 0.018 * np.sin(angle)], axis=1)
    ring = turned(lathe(section, 28, rows_close=True), (0, 0, 1), -90.0)
    ball = ellipsoid((0.0, 0.0, 0.0), (0.028, 0.03, 0.03), 2)
    return [moved(part, (0.165, 0.78, 0.083)) for part in (ring, ball)]


def _teeth() -> list[TriangleMesh]:
    """Half of the upper teeth; the outermost is a long fang."""
    rows = [(0.02, 0.035, 0.045), (0.058, 0.03, 0.045), (0.094, 0.032, 0.1)]
    return [
        rounded_box((0.03, high, wide), 0.008, (0.178, 0.665 - 0.5 * high, z))
        for z, wide, high in rows
    ]


def _ear() -> list[TriangleMesh]:
    """A spool through the ear, on the left, and the pendant below it."""
    profile = [(0.0, 0.0), (0.055, 0.0), (0.06, 0.01), (0.06, 0.03), (0.05, 0.04)]
    spool = lathe([*profile, (0.03, 0.04), (0.02, 0.025), (0.0, 0.025)], 24)
    pendant = rounded_box((0.05, 0.13, 0.03), 0.01, (0.0, 0.63, 0.19))
    return [moved(turned(spool, (1, 0, 0), 90.0), (0.0, 0.74, 0.165)), pendant]


def _tongue() -> TriangleMesh:
    """A broad lip that carries the water out of the mouth and over the feet."""
    line = [(0.05, 0.585, 0.0, 0.07), (0.16, 0.59, 0.0, 0.065), (0.225, 0.575, 0.0, 0.055)]
    centers, width = path([*line, (0.265, 0.53, 0.0, 0.04), (0.275, 0.49, 0.0, 0.02)], 16)
    return tube(centers, np.stack([width, np.full(16, 0.016)], axis=1), 20)


def _headdress() -> list[TriangleMesh]:
    """A band round the brow, and a fan of nine feathers behind it."""
    band = rounded_box((0.36, 0.075, 0.4), 0.02, (-0.01, 0.905, 0.0))
    studs = [ellipsoid((0.17, 0.905, z), (0.022, 0.024, 0.024), 2) for z in (-0.12, 0.0, 0.12)]
    return [band, *studs, *(_feather(15.5 * k) for k in range(-4, 5))]


def _feather(degrees: float) -> TriangleMesh:
    """A petal that leans from the middle of the head by an angle in the plane x = -0.06."""
    outline = [(-0.02, 0.1), (0.02, 0.1), (0.038, 0.28), (0.042, 0.33), (0.034, 0.37)]
    petal = extrude([*outline, (0.0, 0.39), *((-x, y) for x, y in outline[:1:-1])], 0.05)
    upright = turned(petal, (0, 1, 0), 90.0)
    bend = 0.02 if round(degrees / 15.5) % 2 else 0.0
    return moved(turned(upright, (1, 0, 0), degrees), (-0.06 - bend, 0.71, 0.0))


def _figure() -> DistanceFunction:
    mouth = slab((0.22, 0.6, 0.0), (0.16, 0.1, 0.23), 0.03)
    return melted([(carved(melted(_head()), mouth, 0.015), 0.0), *_trunk()])


def _head() -> list[tuple[DistanceFunction, float]]:
    return [
        (slab((0.0, 0.73, 0.0), (0.32, 0.42, 0.36), 0.09), 0.0),
        (both_sides(rod((0.16, 0.845, 0.0), (0.15, 0.865, 0.13), 0.03, 0.024)), 0.025),
        (rod((0.165, 0.82, 0.0), (0.2, 0.725, 0.0), 0.022, 0.036), 0.02),
        (both_sides(blob((0.185, 0.715, 0.035), (0.036, 0.028, 0.028))), 0.012),
        (rod((0.165, 0.672, -0.1), (0.165, 0.672, 0.1), 0.026, 0.026), 0.012),
        (rod((0.16, 0.53, -0.085), (0.16, 0.53, 0.085), 0.032, 0.032), 0.02),
        (both_sides(rod((0.15, 0.66, 0.125), (0.15, 0.55, 0.115), 0.026, 0.026)), 0.015),
    ]


def _trunk() -> list[tuple[DistanceFunction, float]]:
    return [
        (slab((-0.02, 0.4, 0.0), (0.27, 0.3, 0.36), 0.1), 0.03),
        (both_sides(rod((-0.02, 0.49, 0.18), (0.0, 0.38, 0.215), 0.055, 0.045)), 0.02),
        (both_sides(rod((0.0, 0.38, 0.215), (0.14, 0.4, 0.09), 0.042, 0.036)), 0.012),
        (both_sides(blob((0.15, 0.405, 0.06), (0.03, 0.042, 0.045))), 0.01),
        (both_sides(rod((-0.02, 0.315, 0.17), (0.16, 0.325, 0.185), 0.06, 0.055)), 0.02),
        (both_sides(rod((0.165, 0.3, 0.185), (0.18, 0.3, 0.06), 0.045, 0.036)), 0.015),
    ]
