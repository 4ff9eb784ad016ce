"""Draws each built-in mesh into build/meshes, in clay, the inside of open ones in brick."""

import sys
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from viscoil.geometry.meshes.builtin import NAMES, builtin
from viscoil.geometry.meshes.mesh import TriangleMesh
from viscoil.outputs.png import write_png

Float = NDArray[np.float64]

FOLDER = Path(__file__).parent.parent / "build" / "meshes"
SIDE, FINER = 200, 3  # pixels of a picture, and samples along each
AZIMUTH, ELEVATION = np.radians(40.0), np.radians(22.0)
PAPER, CLAY, BRICK = (
    np.array(c) for c in ([0.97, 0.97, 0.97], [0.74, 0.72, 0.68], [0.78, 0.5, 0.4])
)
SUN = np.array([0.1, 0.85, 0.52])


def picture(mesh: TriangleMesh) -> NDArray[np.uint8]:
    """The mesh seen from the front right and above, as large as fits."""
    fine = SIDE * FINER
    image, depth = np.tile(PAPER, (fine, fine, 1)), np.full((fine, fine), np.inf)
    for corners, color in zip(*_projected(mesh), strict=True):
        _draw(corners, color, image, depth)
    blocks = image.reshape(SIDE, FINER, SIDE, FINER, 3).mean(axis=(1, 3))
    return np.asarray(np.rint(255.0 * blocks), np.uint8)


def _projected(mesh: TriangleMesh) -> tuple[Float, Float]:
    """Corners (m, 3, 3) as column, row and depth in samples, and a color for each face."""
    toward = np.array([np.sin(AZIMUTH), np.tan(ELEVATION), np.cos(AZIMUTH)])
    toward /= np.linalg.norm(toward)
    right = np.cross([0.0, 1.0, 0.0], toward)
    right /= np.linalg.norm(right)
    seen = mesh.vertices @ np.stack([right, -np.cross(toward, right), -toward], axis=1)
    low, high = seen.min(axis=0), seen.max(axis=0)
    scale = 0.94 * SIDE * FINER / (high - low)[:2].max()
    shift = np.array([0.5, 0.5, 0.0]) * SIDE * FINER
    corners = ((seen - 0.5 * (low + high)) * scale + shift)[mesh.faces]
    a, b, c = np.moveaxis(mesh.vertices[mesh.faces], 1, 0)
    normal = np.cross(b - a, c - a)
    normal /= np.linalg.norm(normal, axis=1, keepdims=True)
    back = normal @ toward < 0.0
    normal[back] *= -1.0
    light = 0.3 + 0.5 * np.clip(normal @ SUN, 0.0, None) + 0.28 * (normal @ toward)
    return corners, np.clip(light[:, None] * np.where(back[:, None], BRICK, CLAY), 0.0, 1.0)


def _draw(corners: Float, color: Float, image: Float, depth: Float) -> None:
    """Color the samples within a face that nothing nearer covers."""
    (xa, ya, za), (xb, yb, zb), (xc, yc, zc) = corners.tolist()
    area = (yb - yc) * (xa - xc) + (xc - xb) * (ya - yc)
    columns = slice(int(min(xa, xb, xc)), int(max(xa, xb, xc)) + 1)
    rows = slice(int(min(ya, yb, yc)), int(max(ya, yb, yc)) + 1)
    if abs(area) < 1e-9:
        return
    x = np.arange(columns.start, columns.stop) + 0.5
    y = np.arange(rows.start, rows.stop)[:, None] + 0.5
    u = ((yb - yc) * (x - xc) + (xc - xb) * (y - yc)) / area
    v = ((yc - ya) * (x - xc) + (xa - xc) * (y - yc)) / area
    z = u * za + v * zb + (1.0 - u - v) * zc
    seen = (u >= 0.0) & (v >= 0.0) & (u + v <= 1.0) & (z < depth[rows, columns])
    depth[rows, columns][seen] = z[seen]
    image[rows, columns][seen] = color


def main() -> int:
    """Draw the meshes that are named, or all of them."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name in sys.argv[1:] or NAMES:
        write_png(FOLDER / f"{name}.png", picture(builtin(name)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
