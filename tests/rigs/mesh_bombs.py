"""Hostile mesh files, made by hand: little that claims much, and much that is costly to parse."""

import json
import struct
from collections.abc import Callable
from typing import Any

import mesh_files
import numpy as np
from mesh_files import CUBE, CUBE_FACES, embedded, glb_of, gltf_tree, ply_header

MEBIBYTE = 1 << 20
LARGE = 4 * MEBIBYTE


def stl_claiming(count: int, records: int) -> bytes:
    return bytes(80) + struct.pack("<I", count) + bytes(50 * records)


def ply_claiming(form: str, vertices: int, faces: int, body: bytes) -> bytes:
    return ply_header(form, vertices, faces).encode() + body


def instanced(nodes: int, triangles: int) -> bytes:
    """The same mesh again and again, which takes a dozen bytes for each copy."""
    tree, data = gltf_tree(CUBE, np.zeros(3 * triangles))
    tree["nodes"] = [{"mesh": 0}] * nodes
    tree["scenes"] = [{"nodes": list(range(nodes))}]
    return glb_of(tree, data)


def chained(depth: int) -> bytes:
    tree, data = gltf_tree(CUBE, CUBE_FACES)
    tree["nodes"] = [{"children": [i + 1], "scale": [2, 2, 2]} for i in range(depth)]
    tree["nodes"].append({"mesh": 0})
    return glb_of(tree, data)


def graph(nodes: list[dict[str, Any]]) -> bytes:
    tree, data = gltf_tree(CUBE, CUBE_FACES)
    tree["nodes"] = nodes
    return glb_of(tree, data)


def doubling(levels: int) -> bytes:
    """Every node has its successor twice: 2ⁿ meshes."""
    return graph([{"children": [i + 1, i + 1]} for i in range(levels)] + [{"mesh": 0}])


def many_attributes() -> bytes:
    tree, data = gltf_tree(CUBE, CUBE_FACES)
    attributes = tree["meshes"][0]["primitives"][0]["attributes"]
    attributes |= {f"_A{i}": 0 for i in range(100_000)}
    tree["nodes"] = [{"mesh": 0}] * 50_000
    tree["scenes"] = [{"nodes": list(range(50_000))}]
    return glb_of(tree, data)


def shared_colors() -> bytes:
    """Many parts with the same large array of colours, of which each would get a copy."""
    tree, data = gltf_tree(np.zeros((LARGE // 12, 3)), np.zeros(3))
    part = tree["meshes"][0]["primitives"][0]
    part["attributes"]["COLOR_0"] = 0
    tree["meshes"][0]["primitives"] = [part] * 2_000
    return glb_of(tree, data)


def many_names() -> bytes:
    """Each part has attributes of its own, which all vertices would get."""
    tree, data = gltf_tree(CUBE, CUBE_FACES)
    part = tree["meshes"][0]["primitives"][0]
    tree["meshes"][0]["primitives"] = [
        {**part, "attributes": {"POSITION": 0, **{f"_A{i}_{j}": 0 for j in range(20)}}}
        for i in range(10_000)
    ]
    return glb_of(tree, data)


def many_meshes() -> bytes:
    tree, data = gltf_tree(CUBE, CUBE_FACES)
    tree["meshes"] *= 20_000
    tree["nodes"] = [{"mesh": i} for i in range(20_000)]
    tree["scenes"] = [{"nodes": list(range(20_000))}]
    return glb_of(tree, data)


def with_unused_accessor(**entries: object) -> bytes:
    tree, data = gltf_tree(CUBE, CUBE_FACES)
    tree["accessors"].append({**tree["accessors"][0], **entries})
    return glb_of(tree, data)


def with_accessor(**entries: object) -> bytes:
    tree, data = gltf_tree(CUBE, CUBE_FACES)
    tree["accessors"][0] |= entries
    return glb_of(tree, data)


def with_view(**entries: object) -> bytes:
    tree, data = gltf_tree(CUBE, CUBE_FACES)
    tree["bufferViews"][0] |= entries
    return glb_of(tree, data)


def raw_json(text: bytes) -> bytes:
    return b'{"asset": {"version": "2.0"}, "x": ' + text + b"}"


def mixed_lists(rows: int) -> bytes:
    """Lists of no and of one number in turn, which cannot be read at once."""
    return ply_claiming("binary_little_endian", 0, rows, b"\0\1\0\0\0\0" * (rows // 2))


def text_of(line: bytes, size: int = LARGE, head: bytes = b"v 0 0 0\n") -> bytes:
    return head + line * (size // len(line))


def colliding_stl() -> bytes:
    """Corners that differ only where a weak hash would not see it."""
    corners = np.zeros((50_000, 3, 3), dtype="<f4")
    corners.view("<u4")[..., 0] = np.arange(150_000).reshape(-1, 3) << 8
    records = np.zeros(50_000, dtype=[("n", "<f4", 3), ("c", "<f4", (3, 3)), ("a", "<u2")])
    records["c"] = corners
    return bytes(80) + struct.pack("<I", 50_000) + records.tobytes()


BOMBS: dict[str, Callable[[], bytes]] = {
    "vertices.ply": lambda: ply_claiming("ascii", 10**12, 1, b"0 0 0\n3 0 0 0\n"),
    "vertices_binary.ply": lambda: ply_claiming("binary_little_endian", 10**12, 1, bytes(100)),
    "faces.ply": lambda: ply_claiming("binary_big_endian", 1, 10**19, bytes(100)),
    "faces_ascii.ply": lambda: ply_claiming("ascii", 1, 10**12, b"0 0 0\n3 0 0 0\n"),
    "digits.ply": lambda: ply_header("ascii", 1, 1).replace("vertex 1", "vertex " + "9" * 9000).encode(),
    "long_list.ply": lambda: (
        ply_header("binary_little_endian", 1, 1).replace("list uchar", "list uint").encode()
        + bytes(12) + b"\xff\xff\xff\xff" + bytes(100)
    ),
    "negative_list.ply": lambda: (
        ply_header("binary_little_endian", 1, 2).replace("list uchar", "list char").encode()
        + bytes(12) + b"\x00\xff" + bytes(100)
    ),
    "lying_list.ply": lambda: ply_claiming("ascii", 1, 1, b"0 0 0\n1000000000 0 0 0\n"),
    "no_properties.ply": lambda: (
        b"ply\nformat binary_little_endian 1.0\nelement nothing 99999999999999\nend_header\n"
    ),
    "many_properties.ply": lambda: (
        b"ply\nformat ascii 1.0\nelement vertex 1\n"
        + b"".join(b"property float p%d\n" % i for i in range(10_000)) + b"end_header\n"
    ),
    "long_header.ply": lambda: b"ply\nformat ascii 1.0\n" + b"comment x\n" * (LARGE // 10),
    "zero_lists.ply": lambda: ply_claiming("binary_little_endian", 0, LARGE, bytes(LARGE)),
    "mixed_lists.ply": lambda: mixed_lists(2_000_000),
    "too_many_lists.ply": lambda: (
        ply_claiming("binary_little_endian", 0, 6 * LARGE, bytes(6 * LARGE))
    ),
    "polygon.ply": lambda: (
        ply_header("binary_little_endian", 1, 1).replace("uchar int", "uint uchar").encode()
        + bytes(12) + struct.pack("<I", 6 * LARGE) + bytes(6 * LARGE)
    ),
    "count.stl": lambda: stl_claiming(2**32 - 1, 10),
    "count_zero.stl": lambda: stl_claiming(0, 10),
    "loops.stl": lambda: b"solid\nfacet\n" + b"endloop\n" * (LARGE // 8),
    "corners.stl": lambda: b"solid\nfacet\n" + b"vertex 0 0 0\n" * (LARGE // 13),
    "unmerged.stl": colliding_stl,
    "index.obj": lambda: mesh_files.obj() + b"f 1 2 99999999999999999999999\n",
    "color.obj": lambda: b"v 0 0 0 1e300 nan 1\nf 1 1 1\n",
    "zero.obj": lambda: mesh_files.obj() + b"f 0 1 2\n",
    "negative.obj": lambda: mesh_files.obj() + b"f -1 -2 -9\n",
    "long_line.obj": lambda: text_of(b" 1", head=b"v 0 0 0\nf"),
    "no_lines.obj": lambda: b"v 0 0 0\n" + b"1" * LARGE,
    "empty_lines.obj": lambda: text_of(b"\n"),
    "empty_faces.obj": lambda: text_of(b"f \n"),
    "small_faces.obj": lambda: text_of(b"f 1 1 1\n"),
    "slashes.obj": lambda: text_of(b"f 1/ 1// 1///////\n"),
    "backslashes.obj": lambda: text_of(b"\\\n"),
    "long_faces.obj": lambda: text_of(b"f" + b" 1" * 400_000 + b"\n"),
    "carriage_returns.obj": lambda: text_of(b"v 1 1 1\r"),
    "last_is_bad.obj": lambda: text_of(b"v 1 1 1\n") + b"v 1 x 1\n",
    "binary.obj": lambda: b"v 0 0 0\n" + bytes(range(256)) * 40_000,
    "digits.obj": lambda: b"v 0 0 " + b"1" * 1_000_000 + b"\nf 1 1 1\n",
    "counts.off": lambda: b"OFF 999999999999999 1 0\n0 0 0\n3 0 0 0\n",
    "comments.off": lambda: b"OFF\n" + b"#\n" * (LARGE // 2),
    "sides.off": lambda: b"OFF 1 1 0\n0 0 0\n2147483647 0 0 0\n",
    "instances.glb": lambda: instanced(40_000, 20_000),
    "many_instances.glb": lambda: instanced(10_000, 1),
    "too_many_instances.glb": lambda: instanced(60_000, 1),
    "deep.glb": lambda: chained(10_000),
    "cycle.glb": lambda: graph([{"children": [0], "mesh": 0}]),
    "doubling.glb": lambda: doubling(60),
    "many_attributes.glb": many_attributes,
    "shared_colors.glb": shared_colors,
    "unused.glb": lambda: with_unused_accessor(bufferView=None, count=10**18),
    "many_buffers.glb": lambda: glb_of(
        {
            **gltf_tree(CUBE, CUBE_FACES)[0],
            "buffers": [{"byteLength": 3, "uri": "data:;base64,AAAA"}] * 1_000_000,
        },
        b"",
    ),
    "many_accessors.glb": lambda: glb_of(
        {**gltf_tree(CUBE, CUBE_FACES)[0], "accessors": [{}] * 2_400_000}, bytes(4)
    ),
    "many_names.glb": many_names,
    "many_meshes.glb": many_meshes,
    "count.glb": lambda: with_accessor(count=10**18),
    "no_view.glb": lambda: with_accessor(bufferView=None),
    "offset.glb": lambda: with_accessor(byteOffset=10**18),
    "float_count.glb": lambda: with_accessor(count=8.0),
    "stride.glb": lambda: with_view(byteStride=2**62),
    "zero_stride.glb": lambda: with_view(byteStride=0),
    "length.glb": lambda: with_view(byteLength=10**18),
    "wrong_type.glb": lambda: with_accessor(type=["VEC3"]),
    "nested.gltf": lambda: raw_json(b"[" * 1_000_000),
    "nested_objects.gltf": lambda: raw_json(b'{"a":' * 1_000_000),
    "digits.gltf": lambda: raw_json(b"1" * 5_000_000),
    "lists.gltf": lambda: raw_json(b"[" + b"[]," * LARGE + b"[]]"),
    "objects.gltf": lambda: raw_json(b"[" + b"{}," * 2_400_000 + b"{}]"),
    "numbers.gltf": lambda: raw_json(b"[" + b"1.5," * 4_900_000 + b"1]"),
    "outside.gltf": lambda: json.dumps(
        {**gltf_tree(CUBE, CUBE_FACES)[0], "buffers": [{"byteLength": 96, "uri": "../../etc/passwd"}]}
    ).encode(),
    "endless.gltf": lambda: json.dumps(
        {**gltf_tree(CUBE, CUBE_FACES)[0], "buffers": [{"byteLength": 96, "uri": "/dev/zero"}]}
    ).encode(),
    "surrogate.gltf": lambda: embedded(*gltf_tree(CUBE, CUBE_FACES)).replace(b'"POSITION"', b'"\\ud800"'),
}  # fmt: skip
