"""The bed of a river that falls over ledges into a lake and leaves it again: one open sheet."""

import numpy as np

from viscoil.geometry.meshes.builtin.curves import smoothstep
from viscoil.geometry.meshes.builtin.noise import fractal_noise, value_noise
from viscoil.geometry.meshes.builtin.sweeps import sheet
from viscoil.geometry.meshes.builtin.transforms import Float
from viscoil.geometry.meshes.mesh import TriangleMesh

_LENGTH, _WIDTH = 3.2, 2.0  # m, along the river (x) and across (z)
# Where a ledge ends (m along x), and how far the water falls from it (m)
_LEDGES = [(-0.62, 0.4), (-0.4, 0.2), (-0.22, 0.28)]
_SPRING = -1.35  # m, upstream of which the bed rises to close the river


def waterfall() -> TriangleMesh:
    """The terrain; the river runs towards +x."""
    x, z = np.meshgrid(_stations(), np.linspace(-0.5, 0.5, 81) * _WIDTH, indexing="ij")
    y = _height(x, z)
    return sheet(np.stack([x + _uneven(x, z), y - y.min(), z], axis=-1))


def _stations() -> Float:
    """Rows along the river, four times as close where it falls."""
    fine = np.linspace(-0.5 * _LENGTH, 0.5 * _LENGTH, 2001)
    density = 1.0 + 3.0 * smoothstep(fine, -0.75, -0.65) * smoothstep(-fine, 0.1, 0.2)
    amount = np.cumsum(density)
    share = (amount - amount[0]) / (amount[-1] - amount[0])
    return np.interp(np.linspace(0.0, 1.0, 121), share, fine)


def _uneven(x: Float, z: Float) -> Float:
    """How far (m) rows of vertices are bent along the river.

    Ledges follow the rows, so that their walls are crooked and yet have no teeth.
    """
    rough = fractal_noise(np.stack([2.5 * z, 1.2 * x], axis=-1), 3, 20)
    near = smoothstep(x, -1.1, -0.6) * smoothstep(-x, -0.4, 0.2)
    return np.asarray((0.16 * rough - 0.35 * z * z + 0.06) * near)


def _height(x: Float, z: Float) -> Float:
    """The height (m) of a point of the unbent terrain."""
    points = np.stack([x, z], axis=-1)
    bed = _bed(x) + 0.012 * fractal_noise(points * 7.0, 2, 3) + _boulders(x, points)
    shore = smoothstep(_beyond_shore(x, z), 0.0, 0.3)
    land = _land(x) + 0.1 * fractal_noise(points * 2.6, 4, 11)
    gully = 0.05 * fractal_noise(points * 9.0, 2, 31) * shore * (1.0 - shore)
    return np.asarray(bed + (np.maximum(land, bed + 0.12) - bed) * shore + 4.0 * gully)


def _bed(x: Float) -> Float:
    """The floor of the river, of the lake and of the outlet."""
    level = 1.0 - 0.03 * (x - _SPRING) + 0.3 * smoothstep(-x, -_SPRING, 0.5 * _LENGTH)
    for edge, drop in _LEDGES:
        lip = 0.025 * np.exp(-(((x - edge + 0.02) / 0.025) ** 2))
        level = level + lip - drop * smoothstep(x, edge, edge + 0.03)
    basin = smoothstep(x, -0.2, 0.1) * smoothstep(-x, -1.1, -0.75)
    beyond = smoothstep(x, 1.05, 0.5 * _LENGTH)
    return np.asarray(level - 0.2 * basin - 0.12 * beyond)


def _boulders(x: Float, points: Float) -> Float:
    """Round rocks below the falls and in the outlet (m)."""
    rocks = np.clip(value_noise(points * 7.0, 7) - 0.25, 0.0, None)
    where = smoothstep(x, -0.6, -0.5) * smoothstep(-x, -0.25, -0.05)
    where = where + 0.5 * smoothstep(x, 1.05, 1.2)
    return np.asarray(0.14 * np.sqrt(rocks) * where)


def _land(x: Float) -> Float:
    """The height (m) of the land beside the water: one slope, though the bed falls in steps."""
    return np.asarray(1.22 - 0.85 * smoothstep(x, -0.8, 0.35) - 0.06 * smoothstep(x, 0.9, 1.6))


def _beyond_shore(x: Float, z: Float) -> Float:
    """How far (m) a point lies outside the river or the lake, across the flow."""
    middle = 0.14 * np.sin(2.6 * x + 0.9) * smoothstep(-x, 0.2, 0.9)
    middle = middle + 0.12 * smoothstep(x, 0.9, 1.5)
    lake = np.sqrt(np.clip(1.0 - ((x - 0.45) / 0.75) ** 2, 0.0, 1.0))
    river = 0.2 - 0.06 * smoothstep(x, 0.6, 1.1) + 0.12 * np.exp(-(((x + 0.35) / 0.25) ** 2))
    shore = np.maximum(0.62 * lake * smoothstep(x, -0.3, 0.1), river)
    return np.asarray(np.clip(np.abs(z - middle) - shore, 0.0, None))
