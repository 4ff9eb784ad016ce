"""Where a grid stands in the world: maps of uniform scale and translation.

Matrices act on row vectors, so that a translation is a matrix's last row.
"""

import struct

import numpy as np
from numpy.typing import NDArray

from viscoil.core.errors import VdbError
from viscoil.geometry.vdb.cursor import Cursor

WRITTEN_MAP = "UniformScaleTranslateMap"
SCALE_MAPS = ("UniformScaleMap", "ScaleMap")
SCALE_TRANSLATE_MAPS = ("UniformScaleTranslateMap", "ScaleTranslateMap")
MATRIX_MAPS = ("AffineMap", "UnitaryMap")
# Matrices made in single precision are off by this much of their scale; a thousand voxels away it
# moves a point by a thousandth of a voxel.
TOLERANCE = 1e-6

Placement = tuple[float, tuple[float, float, float]]  # voxel size and origin, m


def read_transform(cursor: Cursor, grid: str) -> Placement:
    """Voxel size and world position of index (0, 0, 0)."""
    kind = cursor.text()
    matrix = np.eye(4)
    if kind == "TranslationMap":
        matrix[3, :3] = cursor.numbers("3d")
    elif kind in SCALE_MAPS:
        np.fill_diagonal(matrix[:3, :3], cursor.numbers("15d")[:3])
    elif kind in SCALE_TRANSLATE_MAPS:
        numbers = cursor.numbers("18d")
        matrix[3, :3] = numbers[:3]
        np.fill_diagonal(matrix[:3, :3], numbers[3:6])
    elif kind in MATRIX_MAPS:
        matrix[:] = np.reshape(cursor.numbers("16d"), (4, 4))
    elif kind == "NonlinearFrustumMap":
        raise _unfit(cursor, grid, "has the shape of a camera's frustum")
    else:
        raise cursor.damaged(f"the transform of {grid} is unknown")
    return _placement(cursor, grid, matrix)


def _placement(cursor: Cursor, grid: str, matrix: NDArray[np.float64]) -> Placement:
    if not np.isfinite(matrix).all() or not matrix[:3, :3].any():
        raise cursor.damaged(f"the transform of {grid} is not one")
    size = float(matrix[0, 0])
    if np.abs(matrix[:3, :3] - size * np.eye(3)).max() > TOLERANCE * abs(size) or size <= 0.0:
        raise _unfit(cursor, grid, "is rotated, mirrored or stretched")
    if matrix[:, 3].tolist() != [0.0, 0.0, 0.0, 1.0]:
        raise _unfit(cursor, grid, "has perspective")
    x, y, z = matrix[3, :3].tolist()
    return size, (x, y, z)


def _unfit(cursor: Cursor, grid: str, why: str) -> VdbError:
    return VdbError(
        f"{cursor.path}: {grid} {why}, but only cubic voxels along the world's axes can be "
        "read: resample it to a grid without rotation"
    )


def transform_bytes(voxel_size: float, origin: tuple[float, float, float]) -> bytes:
    """The map with the inverse scales and their products, which OpenVDB stores beside it."""
    inverse = 1.0 / voxel_size
    derived = (voxel_size, voxel_size, inverse, inverse * inverse, 0.5 * inverse)
    name = WRITTEN_MAP.encode()
    scales = np.repeat(derived, 3)
    return struct.pack("<I", len(name)) + name + struct.pack("<18d", *origin, *scales)
