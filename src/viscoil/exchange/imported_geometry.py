"""The files beside a scene of another program: measured, referred to, or stretched into copies."""

import os
from itertools import count
from pathlib import Path

import numpy as np

from viscoil.core.files import check_free, reporting
from viscoil.geometry.meshes import TriangleMesh, read_mesh, write_mesh
from viscoil.geometry.particle_files import read_particles
from viscoil.scene.importers.geometry import Outline, Vector

_ROUNDING = 1e-5  # of a box's edge, by which its corners may be off


class FileGeometry:
    """Files as a scene at `out` finds them; copies are written beside it by `write`."""

    def __init__(self, out: Path) -> None:
        self._out = out
        self._meshes: dict[Path, TriangleMesh] = {}
        self._copies: dict[tuple[Path, Vector], Path] = {}

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
        self._mesh(path)  # so that one that cannot be read is told before anything is written
        key = path.resolve(), scale
        if key not in self._copies:
            self._copies[key] = self._new_name(path.stem, scale)
        return self.reference(self._copies[key])

    def write(self, overwrite: bool = False) -> list[Path]:
        """Writes the copies and returns them; raises RunError if one would replace a file."""
        for copy in self._copies.values():
            check_free(copy, overwrite)
        for (path, scale), copy in self._copies.items():
            with reporting(copy):
                copy.parent.mkdir(parents=True, exist_ok=True)
            write_mesh(copy, self._mesh(path).transformed(np.diag(scale), np.zeros(3)))
        return list(self._copies.values())

    def _new_name(self, stem: str, scale: Vector) -> Path:
        """Of a copy; meshes of the same name, also where large letters do not count, get numbers."""
        folder = self._out.parent / f"{self._out.stem}-meshes"
        base = f"{stem}-{'x'.join(f'{s:g}' for s in scale)}"
        taken = {copy.name.lower() for copy in self._copies.values()}
        names = (f"{base}{'' if i == 1 else f'-{i}'}.ply" for i in count(1))
        return folder / next(name for name in names if name.lower() not in taken)

    def _mesh(self, path: Path) -> TriangleMesh:
        place = path.resolve()
        if place not in self._meshes:
            self._meshes[place] = read_mesh(path)
        return self._meshes[place]


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
