"""Colliders as the picture shows them."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from viscoil.geometry.meshes import TriangleMesh
from viscoil.render.bodies import Body
from viscoil.render.studio import is_floor
from viscoil.snapshots.collider_meshes import placed_mesh
from viscoil.snapshots.looks import LOOKS, Look, as_pane, solid_look
from viscoil.snapshots.snapshot import Array, ColliderPose, Snapshot

CREASE = 0.75  # cosine of the angle between faces from which an edge is sharp


@dataclass(frozen=True)
class Rod:
    """An edge of a container, which is drawn in place of its walls."""

    start: Array  # (3,) m
    end: Array  # (3,) m


def solids_of(snapshot: Snapshot, chosen: Mapping[str, Look]) -> Iterator[Body | Rod]:
    """What is drawn of the visible colliders; the floor is the backdrop's."""
    for number, collider in enumerate(snapshot.colliders):
        if not collider.spec.visible or is_floor(collider):
            continue
        mesh = placed_mesh(collider, snapshot.time)
        if mesh is None:
            continue
        wanted = chosen.get(collider_name(number))
        if _is_box_container(collider) and wanted is None:
            yield from _edges(mesh)
            continue
        look = wanted or _look(collider)
        size = float(np.ptp(mesh.vertices, axis=0).max())
        yield Body(creased(mesh), look if mesh.is_closed else as_pane(look), size)


def collider_name(number: int) -> str:
    """What --look calls a collider, as --set does."""
    return f"colliders.{number}"


def left_out(snapshot: Snapshot) -> list[str]:
    """Visible colliders that have no triangles: level sets."""
    return [
        f"{collider_name(i)} ({c.spec.file})"
        for i, c in enumerate(snapshot.colliders)
        if c.spec.visible and c.spec.shape == "mesh" and placed_mesh(c, snapshot.time) is None
    ]


def _look(collider: ColliderPose) -> Look:
    spec = collider.spec
    if spec.shape != "mesh":
        return LOOKS["clay"]
    return solid_look(spec.file, spec.mode == "container")


def _is_box_container(collider: ColliderPose) -> bool:
    return collider.spec.shape == "box" and bool(collider.spec.container)


def _edges(mesh: TriangleMesh) -> Iterator[Rod]:
    """The edges at which the walls of a box meet or end: not the diagonals of its sides."""
    a, b, c = mesh.triangles.swapaxes(0, 1)
    normals = np.cross(b - a, c - a)
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    found: dict[tuple[int, int], list[Array]] = {}
    for face, normal in zip(mesh.faces.tolist(), normals, strict=True):
        for i in range(3):
            start, end = sorted((face[i], face[i - 1]))
            found.setdefault((start, end), []).append(normal)
    for (start, end), sides in found.items():
        if len(sides) == 1 or abs(float(sides[0] @ sides[1])) < 0.5:
            yield Rod(mesh.vertices[start], mesh.vertices[end])


def creased(mesh: TriangleMesh) -> TriangleMesh:
    """Corners of its own for each face, with normals that are smooth but across sharp edges."""
    mesh = mesh.merged()
    a, b, c = mesh.triangles.swapaxes(0, 1)
    area = np.cross(b - a, c - a)  # normals, twice as long as the face is large
    unit = area / np.maximum(np.linalg.norm(area, axis=1, keepdims=True), 1e-30)
    corner, face = _neighbours(mesh)
    smooth = np.einsum("ij,ij->i", unit[corner // 3], unit[face]) > CREASE
    normals = np.zeros((3 * len(mesh.faces), 3))
    for axis in range(3):
        weight = area[face[smooth], axis]
        normals[:, axis] = np.bincount(corner[smooth], weight, minlength=len(normals))
    length = np.linalg.norm(normals, axis=1, keepdims=True)
    normals = np.where(length > 0, normals / np.maximum(length, 1e-30), np.repeat(unit, 3, axis=0))
    faces = np.arange(len(normals), dtype=np.int32).reshape(-1, 3)
    vertices = mesh.triangles.reshape(-1, 3)
    return TriangleMesh(vertices, faces, {"normal": normals.astype(np.float32)})


def _neighbours(mesh: TriangleMesh) -> tuple[Array, Array]:
    """Pairs of a corner (3 · face + place) and a face at the same vertex, itself included."""
    vertex = mesh.faces.ravel()
    order = np.argsort(vertex, kind="stable")
    count = np.bincount(vertex, minlength=len(mesh.vertices))
    first = np.cumsum(count) - count
    corner = np.repeat(np.arange(len(vertex)), count[vertex])
    begin = np.cumsum(count[vertex]) - count[vertex]
    step = np.arange(len(corner)) - np.repeat(begin, count[vertex])
    return corner, order[first[vertex[corner]] + step] // 3
