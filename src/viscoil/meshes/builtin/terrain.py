"""The bed of a river that falls over ledges into a lake and leaves it again: one open sheet."""

import numpy as np

from viscoil.meshes.builtin.curves import smoothstep
from viscoil.meshes.builtin.noise import fractal_noise, value_noise
from viscoil.meshes.builtin.sweeps import sheet
from viscoil.meshes.builtin.transforms import Float
from viscoil.meshes.triangle_mesh import TriangleMesh

_LENGTH, _WIDTH = 3.2, 1.6  # m, along the river (x) and across (z)
# Where a ledge ends (m along x), and how far the water falls from it (m)
_LEDGES = [(-0.62, 0.34), (-0.4, 0.22), (-0.2, 0.3)]
_RIM, _OUTLET = 1.1, 0.12  # m, where the lake ends, and the height of its outlet over the floor


def waterfall() -> TriangleMesh:
    """The terrain; the river runs towards +x."""
    x, z = np.meshgrid(_stations(), np.linspace(-0.5, 0.5, 65) * _WIDTH, indexing="ij")
    y = _height(x, z)
    return sheet(np.stack([x, y - y.min(), z], axis=-1))


def _stations() -> Float:
    """Rows along the river, three times as close where it falls."""
    coarse = np.linspace(-0.5 * _LENGTH, 0.5 * _LENGTH, 2001)
    density = 1.0 + 2.0 * smoothstep(coarse, -0.8, -0.65) * smoothstep(-coarse, 0.05, 0.2)
    amount = np.cumsum(density)
    share = (amount - amount[0]) / (amount[-1] - amount[0])
    return np.interp(np.linspace(0.0, 1.0, 145), share, coarse)


def _height(x: Float, z: Float) -> Float:
    points = np.stack([x, z], axis=-1)
    stones = 0.5 * (1.0 + value_noise(points * 9.0, 7)) ** 2
    bed = _bed(x, z) + 0.012 * fractal_noise(points * 7.0, 2, 3)
    bed = bed + 0.03 * stones * smoothstep(x, -0.7, -0.5) * smoothstep(-x, -0.2, 0.1)
    away = _beyond_shore(x, z)
    hills = 0.09 * fractal_noise(points * 3.0, 4, 11) + 0.1
    return np.asarray(bed + (_bank(x) + hills) * smoothstep(away, 0.0, 0.2) + 0.15 * away)


def _bed(x: Float, z: Float) -> Float:
    """The floor of the river and of the lake, in which the ledges run unevenly across."""
    level = 1.02 - 0.03 * (x + 0.5 * _LENGTH)
    across = np.stack([z * 5.0, 0.0 * z], axis=-1)
    for k, (edge, drop) in enumerate(_LEDGES):
        uneven = edge + 0.05 * value_noise(across, 20 + k) + 0.12 * z * z
        lip = 0.03 * np.exp(-(((x - uneven + 0.03) / 0.03) ** 2))
        level = level + lip - drop * smoothstep(x, uneven, uneven + 0.035)
    basin = smoothstep(x, -0.18, 0.1) * smoothstep(-x, -_RIM, -0.75)
    beyond = smoothstep(x, _RIM, 0.5 * _LENGTH)
    return np.asarray(level - (0.05 + _OUTLET) * basin + 0.03 - 0.1 * beyond)


def _beyond_shore(x: Float, z: Float) -> Float:
    """How far (m) a point lies outside the river or the lake, across the flow."""
    middle = 0.16 * np.sin(2.6 * x + 0.9) * smoothstep(-x, 0.2, 0.9)
    middle = middle + 0.12 * smoothstep(x, 0.9, 1.5)
    lake = np.sqrt(np.clip(1.0 - ((x - 0.45) / 0.75) ** 2, 0.0, 1.0))
    river = 0.2 - 0.05 * smoothstep(x, 0.6, 1.1) + 0.12 * np.exp(-(((x + 0.4) / 0.25) ** 2))
    shore = np.maximum(0.56 * lake * smoothstep(x, -0.3, 0.1), river)
    return np.asarray(np.clip(np.abs(z - middle) - shore, 0.0, None))


def _bank(x: Float) -> Float:
    """How high (m) the land rises from the bed beside it; high at the lake, which is deep."""
    return np.asarray(0.16 + 0.16 * smoothstep(x, -0.5, 0.1) * smoothstep(-x, -1.5, -0.9))
