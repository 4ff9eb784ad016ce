"""Triangles in USD, of colliders and of surfaces."""

from typing import Any

import numpy as np

from viscoil.exchange.usd.values import Attribute, set_uniform, write
from viscoil.geometry.meshes import TriangleMesh


def add_faces(layer: Any, prim: Any, mesh: TriangleMesh, frame: int, *, constant: bool) -> None:
    """The triangles of a mesh, which are no cage of a smooth surface."""
    counts = np.full(len(mesh.faces), 3)
    for name, values in (("Counts", counts), ("Indices", mesh.faces.ravel())):
        faces = Attribute(f"faceVertex{name}", "Int", values, constant=constant)
        write(layer, prim, faces, frame)
    set_uniform(prim, "subdivisionScheme", "Token", "none")
