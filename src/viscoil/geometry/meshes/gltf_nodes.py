"""The tree of glTF nodes: which meshes there are, and where."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from viscoil.core.errors import MeshError
from viscoil.geometry.meshes.gltf_document import (
    Document,
    Tree,
    get_list,
    get_numbers,
    get_object,
    malformed,
)

_MAX_NODES = 100_000
_INSTANCING = "EXT_mesh_gpu_instancing"

Pose = npt.NDArray[np.float64]
_IDENTITY: Pose = np.eye(3, 4)


def placed_meshes(document: Document) -> Iterator[tuple[Any, Pose]]:
    """Index of a mesh, and the map of shape (3, 4) from its coordinates to those of the scene.

    Only the default scene counts if there is one; in a file without nodes, all meshes do. A stack
    instead of recursion, because chains of nodes may be long, and every node once: a graph that
    shares nodes could be small and yet stand for more meshes than there are atoms.
    """
    if not document.items("nodes"):
        yield from ((mesh, _IDENTITY) for mesh in range(len(document.items("meshes"))))
        return
    stack = [(index, _IDENTITY) for index in reversed(_roots(document))]
    seen: set[int] = set()
    while stack:
        index, above = stack.pop()
        node = document.item("nodes", index)
        if index in seen:
            raise malformed(f"nodes[{index}] has two parents or is its own ancestor")
        seen.add(index)
        if len(seen) > _MAX_NODES:
            raise MeshError(f"has more than {_MAX_NODES} nodes: join some of its objects")
        pose = _combined(above, node, f"nodes[{index}]")
        if "mesh" in node:
            yield node["mesh"], pose
        children = get_list(node, "children", f"nodes[{index}]")
        stack.extend((child, pose) for child in reversed(children))


def _roots(document: Document) -> list[Any]:
    scenes = document.items("scenes")
    if scenes:
        scene = document.item("scenes", document.tree.get("scene", 0))
        return get_list(scene, "nodes", "the scene")
    nodes = document.items("nodes")
    inner = {
        child
        for node in nodes
        if isinstance(node, dict)
        for child in get_list(node, "children", "a node")
        if isinstance(child, int)
    }
    return [index for index in range(len(nodes)) if index not in inner]


def _combined(above: Pose, node: Tree, where: str) -> Pose:
    if _INSTANCING in get_object(node, "extensions", where):
        raise MeshError(f"{where} is instanced on the GPU, which is not read: export real copies")
    local = _local(node, where)
    if local is None:
        return above
    pose = above[:, :3] @ local
    pose[:, 3] += above[:, 3]
    return pose


def _local(node: Tree, where: str) -> Pose | None:
    """§ 3.5.2: either a matrix, column by column, or translation · rotation · scale."""
    matrix = get_numbers(node, "matrix", 16, where)
    if matrix is not None:
        return np.array(matrix).reshape(4, 4).T[:3]
    shift = get_numbers(node, "translation", 3, where)
    turn = get_numbers(node, "rotation", 4, where)
    scale = get_numbers(node, "scale", 3, where)
    if shift is None and turn is None and scale is None:
        return None
    pose = _IDENTITY.copy()
    if turn is not None:
        pose[:, :3] = _rotation(turn, where)
    if scale is not None:
        pose[:, :3] *= scale
    if shift is not None:
        pose[:, 3] = shift
    return pose


def _rotation(quaternion: list[float], where: str) -> npt.NDArray[np.float64]:
    q = np.array(quaternion)
    largest = np.abs(q).max()
    if largest == 0:
        raise malformed(f"rotation of {where} is zero")
    q = q / largest
    x, y, z, w = q / np.linalg.norm(q)
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
            [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
            [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
        ]
    )
