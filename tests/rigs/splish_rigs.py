"""What tests of SPlisHSPlasH scenes share: a folder with meshes, and a small scene."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from viscoil.exchange.imported_geometry import FileGeometry
from viscoil.geometry.meshes import TriangleMesh, write_mesh
from viscoil.geometry.meshes.builtin import builtin
from viscoil.scene import Scene
from viscoil.scene.importers.splishsplash import Imported, import_scene

Json = dict[str, Any]
Take = Callable[..., Imported]
"""Imports a scene of the given tables."""

CORNERS = np.array([[x, y, z] for x in (0, 1) for y in (0, 1) for z in (0, 1)], dtype=float) - 0.5
QUADS = [[0, 1, 3, 2], [4, 6, 7, 5], [0, 4, 5, 1], [2, 3, 7, 6], [0, 2, 6, 4], [1, 5, 7, 3]]
TRIANGLES = [t for a, b, c, d in QUADS for t in ([a, b, c], [a, c, d])]
BOX = TriangleMesh(CORNERS, np.array(TRIANGLES, np.int32))

TANK = {
    "geometryFile": "models/box.obj",
    "translation": [0.0, 1.5, 0.0],
    "scale": [4.0, 3.0, 1.5],
    "isWall": True,
    "mapInvert": True,
}
BLOCK = {"start": [-0.5, 0.0, -0.5], "end": [0.5, 1.0, 0.5]}
DAM: Json = {
    "Configuration": {"particleRadius": 0.025, "stopAt": 2.0},
    "Materials": [{"id": "Fluid", "density0": 800.0, "viscosityMethod": 0}],
    "RigidBodies": [TANK],
    "FluidBlocks": [BLOCK],
}


def make_models(folder: Path) -> None:
    """A box, a mesh that is none, and particles."""
    (folder / "models").mkdir()
    write_mesh(folder / "models" / "box.obj", BOX)
    write_mesh(folder / "models" / "shape.obj", builtin("bullet"))
    points = np.stack(np.meshgrid(*[0.05 * np.arange(6)] * 3), axis=-1).reshape(-1, 3)
    np.savez(folder / "models" / "seed.npz", position=points)


def importer(folder: Path) -> Take:
    """Imports scenes that lie in a folder."""

    def take(data: Json, **tables: Any) -> Imported:
        path = folder / "scene.json"
        path.write_text(json.dumps({**data, **tables}))
        return import_scene(path, FileGeometry(folder / "out.toml"))

    return take


def scene_of(result: Imported, models: Path) -> Scene:
    """The scene as a user would have it: written, and loaded."""
    (models / "out.toml").write_text(result.to_toml())
    return Scene.load(models / "out.toml")
