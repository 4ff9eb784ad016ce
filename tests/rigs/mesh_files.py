"""Small mesh files in every variant that is read, and ways to damage them."""

import base64
import json
import re
import struct
from collections.abc import Callable, Iterator
from random import Random
from typing import Any

import numpy as np

from viscoil.geometry.meshes import TriangleMesh

CUBE = np.array(
    [[x, y, z] for z in (0.0, 1.0) for y in (0.0, 1.0) for x in (0.0, 1.0)], dtype=np.float64
)
CUBE_QUADS = np.array(
    [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]]
)
CUBE_FACES = np.concatenate((CUBE_QUADS[:, [0, 1, 2]], CUBE_QUADS[:, [0, 2, 3]]))
TETRAHEDRON = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]])
TETRAHEDRON_FACES = np.array([[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]])


def volume(mesh: TriangleMesh) -> float:
    a, b, c = mesh.triangles.swapaxes(0, 1)
    return float(np.einsum("ij,ij->i", a, np.cross(b, c)).sum() / 6)


def rows(array: np.ndarray, head: str = "") -> str:
    return "".join(f"{head}{' '.join(map(str, row))}\n" for row in array.tolist())


def obj() -> bytes:
    lines = rows(CUBE, "v ") + "vt 0 0\nvn 0 0 1\no cube\nusemtl red\n"
    corners = "".join("f " + " ".join(f"{i + 1}/1/1" for i in q) + "\n" for q in CUBE_QUADS[:3])
    negative = "".join("f " + " ".join(f"{i - 8}//1" for i in q) + "\n" for q in CUBE_QUADS[3:])
    return ("# cube\nmtllib a.mtl\n" + lines + "s off\n" + corners + negative).encode()


def colored_obj() -> bytes:
    return (
        rows(np.hstack((TETRAHEDRON, TETRAHEDRON)), "v ") + rows(TETRAHEDRON_FACES + 1, "f ")
    ).encode()


def ply_header(form: str, vertices: int, faces: int, extra: str = "") -> str:
    return (
        f"ply\nformat {form} 1.0\ncomment made by hand\nelement vertex {vertices}\n"
        f"property float x\nproperty float y\nproperty float z\n{extra}"
        f"element face {faces}\nproperty list uchar int vertex_indices\nend_header\n"
    )


COLORS = "property uchar red\nproperty uchar green\nproperty uchar blue\nproperty double friction\n"


def ascii_ply() -> bytes:
    body = "".join(f"{' '.join(map(str, p))} 255 0 51 0.5\n" for p in CUBE.tolist())
    return (ply_header("ascii", 8, 6, COLORS) + body + rows(CUBE_QUADS, "4 ")).encode()


def binary_ply(order: str, mixed: bool = False) -> bytes:
    form = {"<": "binary_little_endian", ">": "binary_big_endian"}[order]
    points = [struct.pack(f"{order}3f3Bd", *p, 255, 0, 51, 0.5) for p in CUBE.tolist()]
    polygons = [list(q) for q in CUBE_QUADS.tolist()]
    if mixed:
        first = polygons.pop(0)
        polygons += [first[:3], [first[0], first[2], first[3]]]
    faces = [struct.pack(f"{order}B{len(q)}i", len(q), *q) for q in polygons]
    head = ply_header(form, 8, len(polygons), COLORS)
    return head.encode() + b"".join(points) + b"".join(faces)


def ascii_stl() -> bytes:
    text = "solid tetrahedron\n"
    for triangle in TETRAHEDRON[TETRAHEDRON_FACES].tolist():
        text += "facet normal 0 0 0\n outer loop\n"
        text += "".join(f"  vertex {' '.join(map(str, p))}\n" for p in triangle)
        text += " endloop\nendfacet\n"
    return (text + "endsolid tetrahedron\n").encode()


def binary_stl() -> bytes:
    records = [struct.pack("<12fH", 0, 0, 0, *np.ravel(t), 0) for t in CUBE[CUBE_FACES].tolist()]
    return b"solid cube".ljust(80) + struct.pack("<I", len(records)) + b"".join(records)


def off() -> bytes:
    return f"OFF\n# a cube\n8 6 12\n{rows(CUBE)}{rows(CUBE_QUADS, '4 ')}".encode()


def coff() -> bytes:
    body = "".join(f"{' '.join(map(str, p))} 255 0 51 255\n" for p in TETRAHEDRON.tolist())
    return f"COFF 4 4 6\n{body}{rows(TETRAHEDRON_FACES, '3 ')}".encode()


def gltf_tree(
    points: np.ndarray, indices: np.ndarray | None, **primitive: object
) -> tuple[dict[str, Any], bytes]:
    """A tree with one node and one primitive, and the bytes of its buffer."""
    data = points.astype("<f4").tobytes()
    accessors = [{"bufferView": 0, "componentType": 5126, "count": len(points), "type": "VEC3"}]
    views = [{"buffer": 0, "byteOffset": 0, "byteLength": len(data)}]
    part: dict[str, Any] = {"attributes": {"POSITION": 0}, **primitive}
    if indices is not None:
        stored = np.ravel(indices).astype("<u2")
        views.append({"buffer": 0, "byteOffset": len(data), "byteLength": stored.nbytes})
        accessors.append(
            {"bufferView": 1, "componentType": 5123, "count": stored.size, "type": "SCALAR"}
        )
        part["indices"] = 1
        data += stored.tobytes()
    tree = {
        "asset": {"version": "2.0"},
        "scene": 0,
        "scenes": [{"nodes": [0]}],
        "nodes": [{"mesh": 0, "translation": [1, 2, 3], "scale": [2, 2, 2]}],
        "meshes": [{"primitives": [part]}],
        "accessors": accessors,
        "bufferViews": views,
        "buffers": [{"byteLength": len(data)}],
    }
    return tree, data


def glb_of(tree: dict[str, Any] | bytes, data: bytes) -> bytes:
    text = tree if isinstance(tree, bytes) else json.dumps(tree).encode()
    text += b" " * (-len(text) % 4)
    data += b"\0" * (-len(data) % 4)
    chunks = struct.pack("<I4s", len(text), b"JSON") + text
    chunks += struct.pack("<I4s", len(data), b"BIN\0") + data
    return struct.pack("<4sII", b"glTF", 2, 12 + len(chunks)) + chunks


def embedded(tree: dict[str, Any], data: bytes) -> bytes:
    uri = "data:application/octet-stream;base64," + base64.b64encode(data).decode()
    tree["buffers"] = [{"byteLength": len(data), "uri": uri}]
    return json.dumps(tree).encode()


STRIP = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0], [0, 2, 0]])

GOOD: dict[str, bytes] = {
    "cube.obj": obj(),
    "colored.obj": colored_obj(),
    "ascii.ply": ascii_ply(),
    "little.ply": binary_ply("<"),
    "big.ply": binary_ply(">"),
    "mixed.ply": binary_ply("<", mixed=True),
    "ascii.stl": ascii_stl(),
    "binary.stl": binary_stl(),
    "cube.off": off(),
    "colored.off": coff(),
    "indexed.glb": glb_of(*gltf_tree(CUBE, CUBE_FACES)),
    "loose.glb": glb_of(*gltf_tree(CUBE[CUBE_FACES].reshape(-1, 3), None)),
    "strip.gltf": embedded(*gltf_tree(STRIP, np.arange(5), mode=5)),
    "fan.gltf": embedded(*gltf_tree(STRIP, None, mode=6)),
}

NASTY = [
    b"-1", b"0", b"-0", b"1", b"3", b"7", b"255", b"256", b"1e400", b"-1e-400", b"nan", b"inf", b"1.5",
    b"65536", b"2147483647", b"-2147483648", b"4294967295", b"4294967296", b"1000000000000",
    b"18446744073709551616", b"9" * 400, b"", b"\0", b"\xff\xfe", b"x", b"1_0", b"0x10", b"1,5",
    b"[]", b"{}", b"null", b'"a"', b"true", b"\n", b"\r", b"#", b"/", b"\\\n", b"%s", b"-", b".",
]  # fmt: skip
_NUMBER = re.compile(rb"-?\d+(?:\.\d+)?")
_HUGE = [struct.pack("<I", n) for n in (0, 1, 2**31 - 1, 2**31, 2**32 - 1, 10**6)]


def cut(data: bytes, random: Random) -> bytes:
    return data[: random.randrange(len(data) + 1)]


def flip(data: bytes, random: Random) -> bytes:
    changed = bytearray(data)
    for _ in range(random.choice((1, 1, 2, 5, 20))):
        if changed:
            changed[random.randrange(len(changed))] ^= 1 << random.randrange(8)
    return bytes(changed)


def huge(data: bytes, random: Random) -> bytes:
    at = random.randrange(max(len(data) - 3, 1))
    return data[:at] + random.choice(_HUGE) + data[at + 4 :]


def numbers(data: bytes, random: Random) -> bytes:
    found = list(_NUMBER.finditer(data, 0, min(len(data), 4000)))
    for match in sorted(
        random.sample(found, min(len(found), random.choice((1, 1, 3)))), key=lambda m: -m.start()
    ):
        data = data[: match.start()] + random.choice(NASTY) + data[match.end() :]
    return data


def noise(data: bytes, random: Random) -> bytes:
    at = random.randrange(len(data) + 1)
    return data[:at] + random.randbytes(random.choice((1, 4, 100, 1000))) + data[at:]


def repeat(data: bytes, random: Random) -> bytes:
    start, end = sorted(random.randrange(len(data) + 1) for _ in range(2))
    return data[:end] + data[start:end] * random.choice((1, 2, 50)) + data[end:]


def remove(data: bytes, random: Random) -> bytes:
    start, end = sorted(random.randrange(len(data) + 1) for _ in range(2))
    return data[:start] + data[end:]


def splice(data: bytes, random: Random) -> bytes:
    other = random.choice(list(GOOD.values()))
    return cut(data, random) + other[random.randrange(len(other)) :]


def only_noise(data: bytes, random: Random) -> bytes:
    return data[: random.choice((0, 4, 12, 84))] + random.randbytes(random.randrange(3000))


def stretch(data: bytes, random: Random) -> bytes:
    at = random.randrange(len(data) + 1)
    return (
        data[:at]
        + random.choice((b" ", b"1", b"1 ", b"\n", b"\0", b"[", b"\\\n")) * 5000
        + data[at:]
    )


DAMAGE: list[Callable[[bytes, Random], bytes]] = [
    cut, flip, huge, numbers, numbers, noise, repeat, remove, splice, only_noise, stretch,
]  # fmt: skip


STRANGE = [
    None, True, -1, 0, 1, 7, 2.5, 1e308, 10**18, 2**63, "", "a", "\ud800", [], {}, [0], [[0]], {"a": 0},
]  # fmt: skip


def strange(tree: Any, random: Random) -> Any:
    """A JSON tree in which one part is replaced by something else, or by another part."""
    places = []
    stack = [tree]
    while stack:
        here = stack.pop()
        keys = list(here) if isinstance(here, dict) else range(len(here))
        for key in keys:
            places.append((here, key))
            if isinstance(here[key], (dict, list)):
                stack.append(here[key])
    here, key = random.choice(places)
    other, from_key = random.choice(places)
    replaced = other[from_key] if random.random() < 0.3 else random.choice(STRANGE)
    here[key] = json.loads(json.dumps(replaced))
    if isinstance(here, dict) and random.random() < 0.2:
        del here[key]
    return tree


def strange_gltf(data: bytes, random: Random) -> bytes:
    size = struct.unpack_from("<I", data, 12)[0] if data.startswith(b"glTF") else len(data)
    text = data[20 : 20 + size] if data.startswith(b"glTF") else data
    tree = json.loads(text)
    for _ in range(random.choice((1, 1, 2, 4))):
        tree = strange(tree, random)
    return glb_of(tree, data[28 + size :]) if text is not data else json.dumps(tree).encode()


def damaged(data: bytes, random: Random) -> bytes:
    """A file after one to three kinds of damage, or with JSON that is sound but strange."""
    if data[:1] in (b"g", b"{") and random.random() < 0.4:
        return strange_gltf(data, random)
    if data.startswith(b"glTF") and random.random() < 0.5:
        size = struct.unpack_from("<I", data, 12)[0]
        text = random.choice((numbers, flip, remove, repeat))(data[20 : 20 + size], random)
        return glb_of(text, data[28 + size :])
    for _ in range(random.choice((1, 1, 1, 2, 3))):
        data = random.choice(DAMAGE)(data, random)
    return data


def cases(count: int, seed: int) -> Iterator[tuple[str, bytes]]:
    """Names and contents of damaged files; one in ten has the extension of another format."""
    random = Random(seed)
    names = list(GOOD)
    for i in range(count):
        name = names[i % len(names)]
        suffix = name if random.random() < 0.9 else random.choice([*names, "a.dat", "b"])
        yield f"case{i}_{suffix}", damaged(GOOD[name], random)
