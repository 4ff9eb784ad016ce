"""Closed bodies: boxes, spheres, ellipsoids, cylinders, extrusions."""

from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike

from viscoil.geometry.meshes.builtin.sweeps import lathe, stitch
from viscoil.geometry.meshes.builtin.transforms import (
    Float,
    Index,
    Vector,
    mesh,
    moved,
    turned,
)
from viscoil.geometry.meshes.mesh import TriangleMesh


def box(size: Vector, center: Vector = (0.0, 0.0, 0.0)) -> TriangleMesh:
    """A box of 12 triangles."""
    return moved(_cube_grid(1, np.asarray(size, np.float64)), center)


def rounded_box(size: Vector, radius: float, center: Vector = (0.0, 0.0, 0.0)) -> TriangleMesh:
    """A box whose edges are rounded (m); 108 triangles."""
    half = 0.5 * np.asarray(size, np.float64)
    cube = _cube_grid(3, np.full(3, 2.0))
    # A row of vertices lies on each line where a flat side begins to bend.
    core = np.sign(cube.vertices) * (half - radius)
    bend = np.where(np.abs(cube.vertices) > 0.9, cube.vertices, 0.0)
    bend /= np.linalg.norm(bend, axis=1, keepdims=True)
    return moved(mesh(core + radius * bend, cube.faces), center)


@lru_cache(maxsize=8)
def _unit_cube_grid(n: int) -> tuple[Float, Index]:
    """Vertices and faces of the cube [-1, 1]³, each side divided into n × n squares."""
    ticks = np.arange(n + 1)
    u, v = (a.ravel() for a in np.meshgrid(ticks, ticks, indexing="ij"))
    corners: list[Index] = []
    quads: list[Index] = []
    k = np.arange((n + 1) ** 2).reshape(n + 1, n + 1)
    quad = np.stack([k[:-1, :-1], k[1:, :-1], k[1:, 1:], k[:-1, 1:]], axis=-1).reshape(-1, 4)
    for axis in range(3):
        for end in (0, n):
            side = np.empty((len(u), 3), np.int64)
            side[:, axis], side[:, (axis + 1) % 3], side[:, (axis + 2) % 3] = end, u, v
            quads.append((quad if end else quad[:, ::-1]) + len(corners) * len(u))
            corners.append(side)
    unique, place = np.unique(np.concatenate(corners), axis=0, return_inverse=True)
    four = place.ravel()[np.concatenate(quads)]
    return 2.0 * unique / n - 1.0, np.concatenate([four[:, [0, 1, 2]], four[:, [0, 2, 3]]])


def _cube_grid(n: int, size: Float) -> TriangleMesh:
    vertices, faces = _unit_cube_grid(n)
    return mesh(0.5 * size * vertices, faces)


def sphere(radius: float, rings: int = 24, segments: int = 48) -> TriangleMesh:
    """A sphere about the origin by circles of latitude."""
    angle = np.linspace(0.0, np.pi, rings + 1)
    profile = radius * np.stack([np.sin(angle), -np.cos(angle)], axis=1)
    profile[[0, -1], 0] = 0.0
    return lathe(profile, segments)


@lru_cache(maxsize=8)
def icosphere(level: int) -> TriangleMesh:
    """The unit sphere by an icosahedron whose triangles are cut in four `level` times."""
    if level == 0:
        return _icosahedron()
    coarse = icosphere(level - 1)
    a, b, c = coarse.faces.T
    edges = np.sort(np.concatenate([np.stack(e, axis=1) for e in ((a, b), (b, c), (c, a))]), axis=1)
    unique, place = np.unique(edges, axis=0, return_inverse=True)
    middle = coarse.vertices[unique].mean(axis=1)
    middle /= np.linalg.norm(middle, axis=1, keepdims=True)
    ab, bc, ca = place.reshape(3, -1) + len(coarse.vertices)
    corners = ((a, ab, ca), (b, bc, ab), (c, ca, bc), (ab, bc, ca))
    faces = np.concatenate([np.stack(f, axis=1) for f in corners])
    return mesh(np.concatenate([coarse.vertices, middle]), faces)


def _icosahedron() -> TriangleMesh:
    """Two poles and two staggered rings of five."""
    angle = 0.4 * np.pi * np.arange(5)
    height, radius = 1.0 / np.sqrt(5.0), 2.0 / np.sqrt(5.0)
    rows = [np.array([[0.0, -1.0, 0.0]])]
    for y, shift in ((-height, 0.0), (height, 0.2 * np.pi)):
        ring = [radius * np.cos(angle + shift), np.full(5, y), -radius * np.sin(angle + shift)]
        rows.append(np.stack(ring, axis=1))
    return stitch([*rows, np.array([[0.0, 1.0, 0.0]])])


def ellipsoid(center: Vector, radii: Vector, level: int = 3) -> TriangleMesh:
    """An ellipsoid with axes along x, y and z."""
    unit = icosphere(level)
    return moved(mesh(unit.vertices * np.asarray(radii, np.float64), unit.faces), center)


def cylinder(radius: float, height: float, segments: int = 32) -> TriangleMesh:
    """A closed cylinder standing on the origin."""
    return lathe([(0.0, 0.0), (radius, 0.0), (radius, height), (0.0, height)], segments)


def axle(radius: float, length: float, segments: int = 32) -> TriangleMesh:
    """A closed cylinder along z, its middle at the origin."""
    return turned(
        moved(cylinder(radius, length, segments), (0.0, -0.5 * length, 0.0)), (1, 0, 0), 90
    )


def extrude(outline: ArrayLike, depth: float) -> TriangleMesh:
    """A prism along z, its middle at z = 0, over an outline (n, 2) of x and y.

    The outline runs counter-clockwise, and all of it must be seen from the mean of its points.
    """
    points = np.asarray(outline, np.float64)
    middle = points.mean(axis=0, keepdims=True)
    half = 0.5 * depth
    levels = ((middle, -half), (points, -half), (points, half), (middle, half))
    return stitch([np.insert(p, 2, z, axis=1) for p, z in levels])
