"""What tests ask of a triangle mesh, by brute force."""

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from viscoil.geometry.meshes.mesh import TriangleMesh

Float = NDArray[np.float64]
Index = NDArray[np.int64]


def oriented_edges(mesh: TriangleMesh) -> Index:
    """All edges (3 m, 2), in the direction in which their face passes them."""
    return np.concatenate([mesh.faces[:, [k, (k + 1) % 3]] for k in range(3)]).astype(np.int64)


def is_closed(mesh: TriangleMesh) -> bool:
    """Every edge is passed as often in one direction as in the other."""
    a, b = oriented_edges(mesh).T
    count = len(mesh.vertices)
    return np.array_equal(np.sort(a * count + b), np.sort(b * count + a))


def faces_per_edge(mesh: TriangleMesh) -> Index:
    """How many faces meet at each edge, whatever their direction."""
    edges = np.sort(oriented_edges(mesh), axis=1)
    return np.unique(edges, axis=0, return_counts=True)[1]


def areas(mesh: TriangleMesh) -> Float:
    """The area (m²) of each face."""
    a, b, c = np.moveaxis(mesh.vertices[mesh.faces], 1, 0)
    return np.asarray(0.5 * np.linalg.norm(np.cross(b - a, c - a), axis=1))


def volumes(mesh: TriangleMesh) -> Float:
    """The volume (m³) of each connected part, by the divergence theorem."""
    a, b = oriented_edges(mesh).T
    count = len(mesh.vertices)
    graph = coo_array((np.ones(len(a)), (a, b)), shape=(count, count))
    parts, label = connected_components(graph, directed=False)
    # About a vertex of the part itself, so that distance from the origin costs no digits.
    first = np.full(parts, count)
    np.minimum.at(first, label, np.arange(count))
    corners = mesh.vertices - mesh.vertices[first[label]]
    p, q, r = np.moveaxis(corners[mesh.faces], 1, 0)
    six = np.einsum("ij,ij->i", p, np.cross(q, r))
    return np.asarray(np.bincount(label[mesh.faces[:, 0]], six, parts) / 6.0)


def winding(mesh: TriangleMesh, points: Float) -> Float:
    """How many times the mesh surrounds each point (Van Oosterom and Strackee 1983)."""
    result = np.empty(len(points))
    for k, point in enumerate(np.asarray(points, np.float64)):
        a, b, c = np.moveaxis(mesh.vertices[mesh.faces] - point, 1, 0)
        x, y, z = (np.linalg.norm(v, axis=1) for v in (a, b, c))
        ab, bc, ca = (np.einsum("ij,ij->i", *pair) for pair in ((a, b), (b, c), (c, a)))
        triple = np.einsum("ij,ij->i", a, np.cross(b, c))
        solid = 2.0 * np.arctan2(triple, x * y * z + ab * z + bc * x + ca * y)
        result[k] = solid.sum() / (4.0 * np.pi)
    return result
