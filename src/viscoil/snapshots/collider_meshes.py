"""Colliders as triangles, for pictures and for other programs."""

from functools import lru_cache

import numpy as np

from viscoil.colliders.motion import Pose
from viscoil.colliders.primitives import FACES
from viscoil.geometry.mesh_source import MeshSource, open_source
from viscoil.geometry.meshes import TriangleMesh
from viscoil.geometry.meshes.builtin.solids import box, sphere
from viscoil.geometry.meshes.builtin.sweeps import lathe
from viscoil.geometry.meshes.triangles import unit_normals
from viscoil.scene import BoxCollider, CapsuleCollider, Collider, CylinderCollider, MeshCollider
from viscoil.snapshots.snapshot import ColliderPose

SEGMENTS = 64  # around round shapes
PLANE_SIZE = 20.0  # m: edge of the square that stands for a plane


def collider_mesh(spec: Collider, time: float = 0.0) -> TriangleMesh | None:
    """The surface of a collider in its own frame, m; None of a level set, which has no triangles.

    A container is its walls without thickness, seen from inside; a plane is a large square.
    """
    match spec.shape:
        case "plane":
            return _square(PLANE_SIZE)
        case "box":
            return _container(spec) if spec.container else box(spec.size)
        case "sphere":
            return sphere(spec.radius, SEGMENTS // 2, SEGMENTS)
        case "cylinder":
            return _cylinder(spec)
        case "capsule":
            return _capsule(spec)
        case "mesh":
            return _mesh(spec, time)


def placed_mesh(collider: ColliderPose, time: float) -> TriangleMesh | None:
    """The surface of a collider where it stands, m."""
    mesh = collider_mesh(collider.spec, time)
    if mesh is None:
        return None
    at = Pose(np.asarray(collider.position), np.asarray(collider.orientation), collider.scale)
    return TriangleMesh(at.to_world(mesh.vertices), mesh.faces, mesh.attributes)


def deforms(spec: Collider) -> bool:
    """Whether the surface changes in its own frame, as that of an animated mesh does."""
    return spec.shape == "mesh" and not _is_level_set(spec) and _source(spec).animated


def _square(size: float) -> TriangleMesh:
    half = 0.5 * size
    corners = np.array([(-half, 0, -half), (-half, 0, half), (half, 0, half), (half, 0, -half)])
    return TriangleMesh(corners, np.array([(0, 1, 2), (0, 2, 3)], dtype=np.int32))


def _container(spec: BoxCollider) -> TriangleMesh:
    """The walls that there are; their front is inside."""
    whole = box(spec.size)
    normals = unit_normals(whole.triangles)
    gone = [normals @ np.array(FACES[face]) > 0.9 for face in spec.open]
    kept = ~np.any(gone, axis=0) if gone else np.ones(len(whole.faces), dtype=bool)
    return TriangleMesh(whole.vertices, whole.faces[kept][:, ::-1])


def _cylinder(spec: CylinderCollider) -> TriangleMesh:
    r, h = spec.radius, 0.5 * spec.height
    return lathe([(0.0, -h), (r, -h), (r, h), (0.0, h)], SEGMENTS)


def _capsule(spec: CapsuleCollider) -> TriangleMesh:
    half = 0.5 * float(np.linalg.norm(np.subtract(spec.end, spec.start)))
    angle = np.linspace(0.0, np.pi, SEGMENTS // 2 + 2)
    profile = spec.radius * np.stack([np.sin(angle), -np.cos(angle)], axis=1)
    profile[:, 1] += np.where(angle < 0.5 * np.pi, -half, half)
    profile[[0, -1], 0] = 0.0
    return lathe(profile, SEGMENTS)


def _mesh(spec: MeshCollider, time: float) -> TriangleMesh | None:
    if _is_level_set(spec):
        return None
    source = _source(spec)
    return TriangleMesh(spec.scale * source.vertices(time), source.mesh.faces)


def _is_level_set(spec: MeshCollider) -> bool:
    return spec.file.lower().endswith(".vdb")


def _source(spec: MeshCollider) -> MeshSource:
    return _opened(spec.file, spec.fps, spec.loop)


@lru_cache(maxsize=16)
def _opened(file: str, fps: float, loop: bool) -> MeshSource:
    """Files are read once."""
    return open_source(file, fps, loop)
