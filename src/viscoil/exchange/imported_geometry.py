"""The files beside a scene of another program: measured, referred to, or stretched into copies."""

import os
from pathlib import Path

import numpy as np

from viscoil.errors import SceneError
from viscoil.exchange.reading import read_particles
from viscoil.meshes import TriangleMesh, read_mesh, write_mesh
from viscoil.outputs.files import reporting
from viscoil.scene.importers.geometry import Outline, Vector

_ROUNDING = 1e-5  # of a box's edge, by which its corners may be off


class FileGeometry:
    """Files as a scene at `out` finds them; copies are written beside it by `write`."""

    def __init__(self, out: Path) -> None:
        self._out = out
        self._meshes: dict[Path, TriangleMesh] = {}
        self._copies: dict[Path, TriangleMesh] = {}

    def outline(self, path: Path) -> Outline:
        mesh = self._mesh(path)
        low, high = mesh.bounds
        return Outline(_vector(low), _vector(high), _is_box(mesh), mesh.is_closed)

    def particles(self, path: Path) -> int:
        return len(read_particles(path).position)

    def reference(self, path: Path) -> str:
        """Relative to the scene; from another drive, on Windows, only the whole path will do."""
        try:
            return Path(os.path.relpath(path, self._out.parent)).as_posix()
        except ValueError:
            return path.absolute().as_posix()

    def stretched(self, path: Path, scale: Vector) -> str:
        factors = "x".join(f"{s:g}" for s in scale)
        copy = self._out.parent / f"{self._out.stem}-meshes" / f"{path.stem}-{factors}.ply"
        self._copies[copy] = self._mesh(path).transformed(np.diag(scale), np.zeros(3))
        return self.reference(copy)

    def write(self) -> list[Path]:
        """Writes the copies; returns them."""
        for path, mesh in self._copies.items():
            with reporting(path):
                path.parent.mkdir(parents=True, exist_ok=True)
            write_mesh(path, mesh)
        return list(self._copies)

    def _mesh(self, path: Path) -> TriangleMesh:
        if path not in self._meshes:
            if path.suffix.lower() != ".obj" and not path.suffix:
                raise SceneError(f"{path} has no extension: name a mesh file")
            self._meshes[path] = read_mesh(path)
        return self._meshes[path]


def _vector(values: "np.typing.NDArray[np.float64]") -> Vector:
    return float(values[0]), float(values[1]), float(values[2])


def _is_box(mesh: TriangleMesh) -> bool:
    """Whether the surface is that of the box around it: closed, with its corners and its area."""
    low, high = mesh.bounds
    edges = high - low
    if not mesh.is_closed or not (edges > 0.0).all():
        return False
    shares = (mesh.vertices - low) / edges
    on_face = (np.minimum(np.abs(shares), np.abs(shares - 1.0)) < _ROUNDING).any(axis=1)
    area = 2.0 * (edges[0] * edges[1] + edges[1] * edges[2] + edges[2] * edges[0])
    enclosed = abs(np.einsum("ij,ij->", *_cones(mesh)) / 6.0)
    full = abs(enclosed - np.prod(edges)) < 1e-3 * np.prod(edges)
    return bool(on_face.all() and full and abs(mesh.area - area) < 1e-3 * area)


def _cones(
    mesh: TriangleMesh,
) -> tuple["np.typing.NDArray[np.float64]", "np.typing.NDArray[np.float64]"]:
    a, b, c = np.moveaxis(mesh.triangles, 1, 0)
    return a, np.cross(b, c)
