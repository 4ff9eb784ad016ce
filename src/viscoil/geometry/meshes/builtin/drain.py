"""A sewer drain: road, grid and pit in one frame, whose origin is the middle of the gap at road level."""

from itertools import pairwise

import numpy as np

from viscoil.geometry.meshes.builtin.curves import circle, rectangle
from viscoil.geometry.meshes.builtin.noise import hashed, roughened
from viscoil.geometry.meshes.builtin.solids import box, rounded_box
from viscoil.geometry.meshes.builtin.sweeps import lathe, ring_prism
from viscoil.geometry.meshes.builtin.transforms import join, mirrored, moved, turned
from viscoil.geometry.meshes.mesh import TriangleMesh

GAP = (0.6, 0.45)  # m, along x and z
_STONE = (0.2, 0.15)  # m, a stone and its joint along x and z
_ROAD = (2.0, 1.95)  # m, along x and z
_PIT = (0.7, 0.55, 0.75)  # m, the inside along x and z, and its depth below the road plate
_WALL, _PLATE_TOP, _PLATE = 0.06, -0.06, 0.06  # m


def cobbles() -> TriangleMesh:
    """Rounded stones in bond on a plate 0.06 m thick, all with a gap in the middle."""
    plate = ring_prism(rectangle(*_ROAD), rectangle(*GAP), _PLATE)
    stones = [stone for row in range(-6, 7) for stone in _row(row)]
    return join(
        moved(plate, (0.0, _PLATE_TOP - _PLATE, 0.0)), roughened(join(*stones), 0.006, 0.07)
    )


def _row(row: int) -> list[TriangleMesh]:
    """The stones of one row across z; every second row is shifted by half a stone."""
    end = round(_ROAD[0] / _STONE[0])
    gap = round(GAP[0] / _STONE[0]) if abs(row) <= 1 else 0
    # In half stones, so that equal edges are equal numbers.
    edges = {-end, end, *range(-end + row % 2, end + 1, 2)} | ({-gap, gap} if gap else set())
    spans = pairwise(sorted(edges))
    return [_stone(row, a, b) for a, b in spans if abs(a + b) >= 2 * gap]


def _stone(row: int, start: int, end: int) -> TriangleMesh:
    """A stone of slightly random size, height and tilt, sunk towards the drain."""
    wide, deep, high, tilt = (float(hashed([row, start], seed)) for seed in range(4))
    half = 0.5 * _STONE[0]
    size = (half * (end - start) - 0.018 - 0.012 * wide, 0.075, _STONE[1] - 0.018 - 0.012 * deep)
    middle = np.array([0.5 * half * (start + end), -0.0375, row * _STONE[1]])
    dish = 0.03 * np.exp(-((np.hypot(middle[0], middle[2]) / 0.55) ** 2))
    stone = turned(rounded_box(size, 0.022), (1, 0, 0), 6.0 * (tilt - 0.5))
    lift = (0.0, 0.014 * (high - 0.5) - dish, 0.0)
    return moved(turned(stone, (0, 1, 0), 5.0 * (wide - 0.5)), middle + lift)


def drain_grid() -> TriangleMesh:
    """A frame that fits into the gap, with seven bars across it and one along."""
    width, depth = GAP[0] - 0.01, GAP[1] - 0.01
    frame = ring_prism(rectangle(width, depth), rectangle(width - 0.07, depth - 0.07), 0.04)
    x = np.linspace(-0.5, 0.5, 9)[1:-1] * (width - 0.07)
    bars = [rounded_box((0.028, 0.035, depth - 0.04), 0.008, (a, 0.02, 0.0)) for a in x]
    along = rounded_box((width - 0.04, 0.025, 0.025), 0.006, (0.0, 0.015, 0.0))
    return moved(join(frame, *bars, along), (0.0, -0.065, 0.0))


def drain_pit() -> TriangleMesh:
    """A pit below the road, open above, with a pipe that leads out of its wall at +x."""
    width, depth, height = _PIT
    top = _PLATE_TOP - 0.5 * _PLATE
    middle = top - 0.5 * height
    side = box((width + 2.0 * _WALL, height, _WALL), (0.0, middle, 0.5 * (depth + _WALL)))
    back = box((_WALL, height, depth + 2.0 * _WALL), (-0.5 * (width + _WALL), middle, 0.0))
    floor_size = (width + 2.0 * _WALL, _WALL, depth + 2.0 * _WALL)
    floor = box(floor_size, (0.0, top - height + 0.5 * _WALL, 0.0))
    exit_wall = moved(_pierced_wall(), (0.5 * width, middle, 0.0))
    pipe = moved(_pipe(), (0.5 * width + 0.01, middle, 0.0))
    return join(mirrored(side), back, floor, exit_wall, pipe)


def _pierced_wall() -> TriangleMesh:
    """The wall with a round hole, its inner side at x = 0 and its middle at the origin."""
    _, depth, height = _PIT
    outer = rectangle(height, depth + 2.0 * _WALL, 32)
    hole = circle(0.105, 32, -0.25 * np.pi)
    return turned(ring_prism(outer, hole, _WALL), (0, 0, 1), -90.0)


def _pipe() -> TriangleMesh:
    """A pipe of inner radius 0.1 m along x, with a collar at its end."""
    inside, outside = 0.1, 0.125
    profile = [(outside, 0.0), (outside, 0.27), (0.145, 0.28), (0.145, 0.34), (inside, 0.34)]
    return turned(lathe([*profile, (inside, 0.0)], 32, rows_close=True), (0, 0, 1), -90.0)
