"""PLY points: vertices of a file with or without faces, by the reader of meshes."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from viscoil.geometry.meshes.ply import read_ply

_VELOCITIES = (
    ("vx", "vy", "vz"),
    ("velocity_x", "velocity_y", "velocity_z"),
    ("v_x", "v_y", "v_z"),
    ("velocityx", "velocityy", "velocityz"),
)
_VECTORS = ("velocity", "v")  # of velocity_0, velocity_1, velocity_2

Floats = npt.NDArray[np.float64]


def is_ply(data: bytes) -> bool:
    """Whether the first bytes are those of a PLY file."""
    return data.startswith((b"ply\n", b"ply\r", b"ply "))


def read_ply_points(data: bytes) -> tuple[Floats, Floats | None]:
    """Positions of the vertices and, if they have any, velocities, both (n, 3)."""
    mesh = read_ply(data)
    return np.array(mesh.vertices), _velocity(mesh.attributes)


def _velocity(attributes: Mapping[str, npt.NDArray[Any]]) -> Floats | None:
    by_name = {name.lower(): values for name, values in attributes.items()}
    for names in _VELOCITIES:
        if all(name in by_name for name in names):
            return np.stack([by_name[name] for name in names], axis=1).astype(np.float64)
    for name in _VECTORS:
        if name in by_name and by_name[name].ndim == 2 and by_name[name].shape[1] == 3:
            return by_name[name].astype(np.float64)
    return None
