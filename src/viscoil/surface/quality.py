"""Whether a surface is closed, and the volume it encloses beside that of its particles."""

from dataclasses import dataclass

import numpy as np

from viscoil.geometry.meshes import TriangleMesh


@dataclass(frozen=True)
class FrameSurface:
    """What is recorded of a frame's surface."""

    frame: int
    particles: int
    triangles: int
    open_edges: int
    """Edges that are not shared by exactly two triangles; 0 is watertight."""
    volume: float
    """Enclosed, m³."""
    particle_volume: float
    """Of the particles at rest, m³."""


def open_edges(mesh: TriangleMesh) -> int:
    """The number of edges that are not shared by exactly two triangles."""
    if not len(mesh.faces):
        return 0
    pairs = np.sort(mesh.faces[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2).astype(np.int64), axis=1)
    keys = np.sort(pairs[:, 0] * len(mesh.vertices) + pairs[:, 1])
    begin = np.flatnonzero(np.diff(keys, prepend=-1))
    faces = np.diff(begin, append=len(keys))
    return int(np.count_nonzero(faces != 2))


def enclosed_volume(mesh: TriangleMesh) -> float:
    """The volume within a closed mesh, m³: tetrahedra from its middle to each face, with their sign."""
    if not len(mesh.faces):
        return 0.0
    middle = mesh.vertices.mean(axis=0)  # far from the origin the sum would cancel
    a, b, c = (mesh.triangles - middle).swapaxes(0, 1)
    return float(np.einsum("ij,ij->", a, np.cross(b, c))) / 6.0
