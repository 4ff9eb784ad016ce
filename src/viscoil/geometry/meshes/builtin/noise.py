"""Noise that is the same on every machine: a hash of integers, and value noise between them."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from viscoil.geometry.meshes.builtin.transforms import Float, mesh
from viscoil.geometry.meshes.mesh import TriangleMesh
from viscoil.geometry.meshes.triangles import area_vectors

_FACTORS = np.array([0x9E3779B1, 0x85EBCA77, 0xC2B2AE3D], np.uint64)
_LOW = np.uint64(0xFFFFFFFF)


def hashed(cells: ArrayLike, seed: int = 0) -> Float:
    """A number in [0, 1) for each row of integers (..., d), d up to 3: a finalized multiply hash."""
    cell = np.asarray(cells, np.int64).astype(np.uint64) & _LOW
    mixed: NDArray[np.uint64] = np.full(cell.shape[:-1], seed, np.uint64) * np.uint64(0x27D4EB2F)
    for axis in range(cell.shape[-1]):
        mixed = _scramble((mixed ^ (cell[..., axis] * _FACTORS[axis] & _LOW)) & _LOW)
    return mixed.astype(np.float64) / 2.0**32


def _scramble(h: NDArray[np.uint64]) -> NDArray[np.uint64]:
    h = (h ^ (h >> np.uint64(16))) * np.uint64(0x7FEB352D) & _LOW
    h = (h ^ (h >> np.uint64(15))) * np.uint64(0x846CA68B) & _LOW
    return np.asarray(h ^ (h >> np.uint64(16)))


def value_noise(points: ArrayLike, seed: int = 0) -> Float:
    """Smooth noise in [-1, 1] at points (n, d), of about one bump per unit of length."""
    p = np.asarray(points, np.float64)
    cell = np.floor(p)
    s = p - cell
    s = s * s * (3.0 - 2.0 * s)
    total = np.zeros(p.shape[:-1])
    for corner in np.ndindex(*(2,) * p.shape[-1]):
        weight = np.prod(np.where(corner, s, 1.0 - s), axis=-1)
        total += weight * hashed(cell + corner, seed)
    return 2.0 * total - 1.0


def fractal_noise(points: ArrayLike, octaves: int, seed: int = 0) -> Float:
    """Value noise at `octaves` scales, each half as long and half as strong as the one before."""
    p = np.asarray(points, np.float64)
    layers = (0.5**k * value_noise(p * 2.0**k, seed + k) for k in range(octaves))
    return np.asarray(sum(layers, start=np.zeros(p.shape[:-1])))


def vertex_normals(part: TriangleMesh) -> Float:
    """The mean normal (unit length) of the faces round each vertex, weighted by area."""
    face = area_vectors(part.triangles)
    total = np.stack(
        [
            np.bincount(part.faces.ravel(), np.repeat(face[:, k], 3), len(part.vertices))
            for k in range(3)
        ],
        axis=1,
    )
    length = np.linalg.norm(total, axis=1, keepdims=True)
    return total / np.where(length > 0.0, length, 1.0)


def roughened(
    part: TriangleMesh, amplitude: float, wavelength: float, seed: int = 0
) -> TriangleMesh:
    """The part with its vertices moved along their normals by fractal noise (m)."""
    bumps = fractal_noise(part.vertices / wavelength, 3, seed)
    return mesh(part.vertices + amplitude * bumps[:, None] * vertex_normals(part), part.faces)
