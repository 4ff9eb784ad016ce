"""The part of a glTF tree that a mesh needs, without what trimesh would misread or take too long for.

A malformed tree makes these functions raise any exception, which `refusing` turns into a MeshError.
"""

from viscoil.core.errors import MeshError
from viscoil.geometry.meshes.gltf_document import Tree
from viscoil.geometry.meshes.limits import check_triangles, check_vertices

_TRIANGLES, _STRIP, _FAN = 4, 5, 6
_WIDTHS = {"SCALAR": 1, "VEC2": 2, "VEC3": 3, "VEC4": 4}
_MAX_PARTS = 50_000
# trimesh takes some 10 µs for each, so that reading stays within seconds.
_MAX_ENTRIES = {
    "nodes": 100_000, "meshes": 50_000, "accessors": 200_000, "bufferViews": 200_000, "buffers": 1_000,
}  # fmt: skip
_MAX_ATTRIBUTES = 64
_MAX_NUMBERS = 160_000_000  # on vertices: 640 MB, 100 million more than 20 million positions
_INDICES = "indices"
_UNUSED = {"count": 0, "componentType": 5126, "type": "SCALAR"}
_POSE = ("translation", "rotation", "scale")


def reduced(tree: Tree) -> Tree:
    """The default scene without names, looks and animations; indices of accessors stay as they are.

    Without scenes, nodes that are nobody's children are its roots; without nodes, all meshes count.
    """
    for key, most in _MAX_ENTRIES.items():
        if len(tree.get(key, [])) > most:
            raise MeshError(f"has more than {most} {key}: join some of its objects")
    given = tree.get("meshes", [])
    nodes = tree.get("nodes") or [{"mesh": i} for i in range(len(given))]
    nodes = [_node(node) for node in nodes]
    roots = _roots(tree, nodes)
    shown = [_whole(nodes[i]["mesh"]) for i in _below(nodes, roots) if "mesh" in nodes[i]]
    needed = set(shown)
    meshes = [_triangles(mesh, i) if i in needed else [] for i, mesh in enumerate(given)]
    for node in nodes:  # of a mesh without triangles trimesh makes no node, nor of its children
        if "mesh" in node and not meshes[_whole(node["mesh"])]:
            del node["mesh"]
    accessors = tree.get("accessors", [])
    _check_amounts([meshes[i] for i in shown], accessors)
    used = {i for mesh in meshes for primitive in mesh for i in _used(primitive).values()}
    return {
        "scenes": [{"nodes": roots}],
        "nodes": nodes,
        "meshes": [{"primitives": primitives} for primitives in meshes],
        "accessors": [a if i in used else _UNUSED for i, a in enumerate(accessors)],
        "bufferViews": tree.get("bufferViews", []),
    }


def _node(node: Tree) -> Tree:
    """§ 3.5.2: either a matrix, or translation · rotation · scale; trimesh would apply both."""
    pose = ("matrix",) if "matrix" in node else _POSE
    return {key: node[key] for key in ("mesh", "children", *pose) if key in node}


def _roots(tree: Tree, nodes: list[Tree]) -> list[int]:
    if tree.get("scenes") and tree.get("nodes"):
        return list(tree["scenes"][_whole(tree.get("scene", 0))].get("nodes", []))
    inner = {child for node in nodes for child in node.get("children", [])}
    return [i for i in range(len(nodes)) if i not in inner]


def _below(nodes: list[Tree], roots: list[int]) -> set[int]:
    """The roots and all below; each once, since a graph that shares nodes may stand for 2ⁿ meshes."""
    found: set[int] = set()
    stack = list(roots)
    while stack:
        index = _whole(stack.pop())
        if index in found:
            raise ValueError(f"nodes[{index}] has two parents or is its own ancestor")
        found.add(index)
        stack.extend(nodes[index].get("children", []))
    return found


def _triangles(mesh: Tree, index: int) -> list[Tree]:
    """Primitives of triangles, with the attributes that are read; lines and points are left out.

    trimesh knows no fans, so it gets them as strips.
    """
    kept = []
    for i, primitive in enumerate(mesh.get("primitives", [])):
        mode = primitive.get("mode", _TRIANGLES)
        attributes = {k: v for k, v in primitive["attributes"].items() if _is_read(k)}
        if len(attributes) > _MAX_ATTRIBUTES:
            where = f"meshes[{index}].primitives[{i}]"
            raise MeshError(f"{where} has more than {_MAX_ATTRIBUTES} attributes: leave some out")
        if mode in (_TRIANGLES, _STRIP, _FAN):
            indices = {key: primitive[key] for key in (_INDICES,) if key in primitive}
            shape = {"mode": _TRIANGLES if mode == _TRIANGLES else _STRIP, "is_fan": mode == _FAN}
            kept.append({**shape, "attributes": attributes, **indices})
    return kept


def _is_read(name: str) -> bool:
    custom = name.startswith("_") and len(name) > 1 and name.lower() != "_color"
    return custom or name in ("POSITION", "COLOR_0")


def _used(primitive: Tree) -> Tree:
    """Accessors of a primitive, by the name of an attribute or `_INDICES`."""
    indices = {_INDICES: primitive[_INDICES]} if _INDICES in primitive else {}
    return {**primitive["attributes"], **indices}


def _check_amounts(shown: list[list[Tree]], accessors: list[Tree]) -> None:
    """Before anything is decoded, since a small file may repeat a mesh."""
    if sum(map(len, shown)) > _MAX_PARTS:
        raise MeshError(f"has more than {_MAX_PARTS} parts: join some of them")
    parts = [primitive for primitives in shown for primitive in primitives]
    vertices = triangles = decoded = 0
    widths: dict[str, int] = {}
    for primitive in parts:
        sizes = {key: _size(accessors, index) for key, index in _used(primitive).items()}
        corners, _ = sizes.pop(_INDICES, sizes["POSITION"])
        vertices += sizes["POSITION"][0]
        triangles += corners // 3 if primitive["mode"] == _TRIANGLES else corners
        decoded += sum(rows * width for rows, width in sizes.values())
        widths |= {key: max(width, widths.get(key, 0)) for key, (_, width) in sizes.items()}
        check_vertices(vertices)
        check_triangles(triangles)
        joined = vertices * sum(widths.values())
        if len(widths) > _MAX_ATTRIBUTES or max(decoded, joined) > _MAX_NUMBERS:
            raise MeshError("has too many attributes on its vertices: leave some out")


def _size(accessors: list[Tree], index: object) -> tuple[int, int]:
    """Rows and columns of an accessor."""
    entry = accessors[_whole(index)]
    if "sparse" in entry:
        raise MeshError(f"accessors[{index}] is sparse, which is not read: export without it")
    if entry.get("bufferView") is None:
        raise ValueError(f"accessors[{index}] has no bufferView")
    return _whole(entry["count"]), _WIDTHS[entry["type"]]


def _whole(value: object) -> int:
    """An index or a count; `True` and 2.0 are none."""
    if type(value) is not int or value < 0:
        raise ValueError(f"{value!r} is no whole number from 0")
    return value
