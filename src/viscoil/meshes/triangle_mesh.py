"""A surface made of triangles."""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class TriangleMesh:
    """Vertices (n, 3) in m, faces (m, 3) that turn counter-clockwise seen from outside."""

    vertices: NDArray[np.float64]
    faces: NDArray[np.int32]
    attributes: dict[str, NDArray[np.float64]] = field(default_factory=dict)
