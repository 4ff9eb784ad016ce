"""A square waffle with six by six pockets, for cream to be put on."""

import numpy as np

from viscoil.geometry.meshes.builtin.curves import smoothstep
from viscoil.geometry.meshes.builtin.transforms import Float, mesh
from viscoil.geometry.meshes.mesh import TriangleMesh

_POCKETS = 6
_STEPS = 12  # squares along a pocket and its ridge
_THICK, _DEEP = 0.14, 0.055  # m, of the whole and of a pocket
_RIDGE, _SLOPE = 0.15, 0.15  # half of a ridge's flat top, and its slope, in pockets


def waffle() -> TriangleMesh:
    """The waffle, with slanting pocket walls and a bevelled rim."""
    ticks = np.linspace(-0.5, 0.5, _POCKETS * _STEPS + 1)
    x, z = np.meshgrid(ticks, ticks, indexing="ij")
    y = _THICK - _DEEP * np.minimum(_sunk(x), _sunk(z)) - 0.02 * np.maximum(_rim(x), _rim(z))
    n = len(ticks)
    k = np.arange(n * n).reshape(n, n)
    a, b, c, d = (q.ravel() for q in (k[:-1, :-1], k[:-1, 1:], k[1:, 1:], k[1:, :-1]))
    top = np.concatenate([np.stack([a, b, c], axis=1), np.stack([a, c, d], axis=1)])
    edge = np.concatenate([k[0, :-1], k[:-1, -1], k[-1, :0:-1], k[:0:-1, 0]])
    upper = np.stack([x, y, z], axis=-1).reshape(-1, 3)
    lower = upper[edge] * np.array([0.96, 0.0, 0.96])  # the sides slant inwards, as if from a mould
    low = len(upper) + np.arange(len(edge))
    ahead, low_ahead = np.roll(edge, -1), np.roll(low, -1)
    middle = np.full(len(edge), len(upper) + len(edge))
    sides = [(edge, low, low_ahead), (edge, low_ahead, ahead), (low, middle, low_ahead)]
    faces = np.concatenate([top, *(np.stack(side, axis=1) for side in sides)])
    return mesh(np.concatenate([upper, lower, np.zeros((1, 3))]), faces)


def _sunk(x: Float) -> Float:
    """From 0 on a ridge to 1 at the bottom of a pocket."""
    place = (x + 0.5) * _POCKETS
    from_ridge = np.abs(place - np.rint(place))
    return smoothstep(from_ridge, _RIDGE, _RIDGE + _SLOPE)


def _rim(x: Float) -> Float:
    """From 0 to 1 at the outermost row."""
    return smoothstep(np.abs(x), 0.48, 0.5)
