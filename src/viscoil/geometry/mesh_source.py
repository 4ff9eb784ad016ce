"""Where the vertices of a mesh come from: a file, a folder of files, or a built-in shape."""

from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from viscoil.core.errors import SceneError
from viscoil.geometry.meshes import TriangleMesh, read_mesh, read_sequence
from viscoil.geometry.meshes.builtin import builtin, is_animated
from viscoil.geometry.quaternions import Float

BUILTIN = "builtin:"


class MeshSource(Protocol):
    """A mesh whose vertices may move and whose faces do not."""

    @property
    def animated(self) -> bool:
        """Whether the vertices move."""

    @property
    def mesh(self) -> TriangleMesh:
        """The mesh at its start."""

    def vertices(self, time: float) -> Float:
        """(n, 3) Places of the vertices at `time` (s), in the unit of the file."""


class Still:
    """A mesh that does not change."""

    animated = False

    def __init__(self, mesh: TriangleMesh) -> None:
        self.mesh = mesh

    def vertices(self, time: float) -> Float:
        return self.mesh.vertices


class BuiltinAnimation:
    """A built-in shape that moves."""

    animated = True

    def __init__(self, name: str) -> None:
        self._name = name
        self.mesh = builtin(name)

    def vertices(self, time: float) -> Float:
        return builtin(self._name, time).vertices


class FileAnimation:
    """A folder of files, one per frame."""

    animated = True

    def __init__(self, folder: Path, fps: float, loop: bool) -> None:
        self._frames = read_sequence(folder)
        self._fps, self._loop = fps, loop
        self.mesh = TriangleMesh(
            self._frames.frame(0), self._frames.faces, dict(self._frames.attributes)
        )

    def vertices(self, time: float) -> Float:
        return self._frames.at(time, self._fps, self._loop)[0]


def open_source(file: str, fps: float = 30.0, loop: bool = False) -> MeshSource:
    """The mesh that a scene names."""
    if file.startswith(BUILTIN):
        name = file.removeprefix(BUILTIN)
        return BuiltinAnimation(name) if is_animated(name) else Still(builtin(name))
    path = Path(file)
    if path.is_dir() or any(c in file for c in "*?"):
        return FileAnimation(path, fps, loop)
    if not path.exists():
        raise SceneError(
            f"there is no mesh file {file}: check the path, relative to the scene file"
        )
    return Still(read_mesh(path))


def attribute(mesh: TriangleMesh, name: str, file: str) -> NDArray[np.float64]:
    """(n,) A number per vertex."""
    if name not in mesh.attributes:
        known = ", ".join(sorted(mesh.attributes)) or "none"
        raise SceneError(f"mesh {file} has no vertex attribute {name!r}: it has {known}")
    values = np.asarray(mesh.attributes[name], dtype=np.float64)
    return values if values.ndim == 1 else values[:, 0]
