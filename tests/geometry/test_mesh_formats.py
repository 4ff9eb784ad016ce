"""Mesh files made by hand, in every variant of their format, and the sentence for each mistake."""

import json
import math
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from mesh_files import (
    CUBE,
    CUBE_FACES,
    GOOD,
    STRIP,
    TETRAHEDRON,
    TETRAHEDRON_FACES,
    binary_stl,
    embedded,
    glb_of,
    gltf_tree,
    ply_header,
    rows,
    volume,
)

from viscoil.core.errors import MeshError, MissingExtraError
from viscoil.geometry.meshes import TriangleMesh, read_mesh


def read(tmp_path: Path, name: str, data: bytes | str) -> TriangleMesh:
    path = tmp_path / name
    path.write_bytes(data.encode() if isinstance(data, str) else data)
    return read_mesh(path)


def refusal(tmp_path: Path, name: str, data: bytes | str) -> str:
    """What is said of a file, without its name."""
    with pytest.raises(MeshError) as caught:
        read(tmp_path, name, data)
    text, head = str(caught.value), f"mesh {tmp_path / name}: "
    assert text.startswith(head) and "\n" not in text
    return text.removeprefix(head)


# Which format


@pytest.mark.parametrize("name", GOOD)
def test_files_made_by_hand(name, tmp_path):
    """A cube of volume 1, a tetrahedron of 1/6, both closed, or a strip of area 1.5; nodes of the
    glTF files scale by 2."""
    mesh = read(tmp_path, name, GOOD[name])
    size = 2 if name.endswith(("glb", "gltf")) else 1
    if name in ("strip.gltf", "fan.gltf"):
        assert len(mesh.faces) == 3
        assert (mesh.vertices == 2 * STRIP + [1, 2, 3]).all()
        return
    tetrahedron = name in ("colored.obj", "ascii.stl", "colored.off")
    assert mesh.is_closed
    assert volume(mesh) == pytest.approx(1 / 6 if tetrahedron else size**3, rel=1e-15)
    assert len(mesh.vertices) == (36 if name == "loose.glb" else 4 if tetrahedron else 8)


@pytest.mark.parametrize("name", GOOD)
@pytest.mark.parametrize("suffix", ["", ".bin", ".OBJ", ".stl", ".ply"])
def test_the_content_tells_the_format(name, suffix, tmp_path):
    expected = read(tmp_path, name, GOOD[name])
    found = read(tmp_path, f"renamed{suffix}", GOOD[name])
    assert np.array_equal(found.triangles, expected.triangles)


def test_a_format_that_nobody_knows(tmp_path):
    assert refusal(tmp_path, "a.fbx", b"Kaydara FBX Binary").startswith("is in no format")
    assert refusal(tmp_path, "a.obj", b"") == "is empty: export it again"
    assert refusal(tmp_path, "a.obj", "hello\nworld\n").startswith("has 0 vertices and no faces")
    with pytest.raises(MeshError, match=r"missing\.obj: cannot be read.*No such file"):
        read_mesh(tmp_path / "missing.obj")
    with pytest.raises(MeshError, match=r"cannot be read because of .*directory"):
        read_mesh(tmp_path)
    with pytest.raises(MeshError, match="name that no file can have"):
        read_mesh("a\0b.obj")


# OBJ


def test_obj_corners_may_have_anything_behind_them(tmp_path):
    text = "v 0 0 0\nv 1 0 0\nv 0 1 0 # third\nvt 0 0\nvn 0 0 1\n"
    expected = [[0, 1, 2]] * 6
    faces = (
        "f 1 2 3\nf 1/1 2/1 3/1\nf 1//1 2//1 3//1\nf 1/1/1 2/1/1 3/1/1\n\tf -3 -2 -1\nf\t1 2 3\n"
    )
    assert read(tmp_path, "a.obj", text + faces).faces.tolist() == expected
    windows = (text + faces).replace("\n", "\r\n")
    assert read(tmp_path, "a.obj", windows).faces.tolist() == expected
    old_mac = (text + faces).replace("\n", "\r")
    assert read(tmp_path, "a.obj", old_mac).faces.tolist() == expected
    assert read(tmp_path, "a.obj", b"\xef\xbb\xbf" + text.encode() + b"f 1 2 3").faces.tolist() == [
        [0, 1, 2]
    ]


def test_obj_lines_may_go_on(tmp_path):
    text = "v 0 0 \\\n 0\nv 1 0 0\nv 0 1 0\nf 1 \\\n2 \\  \n3\n"
    assert read(tmp_path, "a.obj", text).faces.tolist() == [[0, 1, 2]]
    assert refusal(tmp_path, "a.obj", text + "f 1 2 x\n").startswith('line 8: "x" is no number')
    assert read(tmp_path, "a.obj", text + "f 1 2 3 \\").faces.tolist() == [[0, 1, 2]] * 2


@pytest.mark.parametrize("shift", range(12))
def test_obj_lines_that_go_on_across_blocks(tmp_path, monkeypatch, shift):
    """With tiny blocks, their ends fall into every place of the file."""
    monkeypatch.setattr("viscoil.geometry.meshes.text.BLOCK_BYTES", 24 + shift)
    text = "v 0 0 \\\n 0\nv 1 0 0\nv 0 1 0\nf 1 \\\n2 \\\n3\nv 0 0 1\nf -1 -2 -3\n"
    mesh = read(tmp_path, "a.obj", text)
    assert mesh.faces.tolist() == [[0, 1, 2], [3, 2, 1]]
    assert mesh.vertices.tolist() == [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]]
    assert refusal(tmp_path, "a.obj", text + "f 1 2 -5\n").startswith("line 10: ")


def test_obj_colors_and_relative_corners(tmp_path):
    text = "v 0 0 0 1 0 0\nv 1 0 0\nv 0 1 0 1.0 0.1 0.2 0.3\nf -3 -2 -1\nv 5 5 5\nf -1 -2 -3\n"
    mesh = read(tmp_path, "a.obj", text)
    assert mesh.faces.tolist() == [[0, 1, 2], [3, 2, 1]]
    expected = np.array([[1, 0, 0], [1, 1, 1], [0.1, 0.2, 0.3], [1, 1, 1]], dtype=np.float32)
    assert np.array_equal(mesh.attributes["color"], expected)


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("f 1 2 0", "line 4: a face refers to vertex 0 but 3 come before it"),
        ("f 1 2 4", "line 4: a face refers to vertex 4 but there are 3"),
        ("f 1 2 -4", "line 4: a face refers to vertex -4 but 3 come before it"),
        ("f 1 2 1e30", "line 4: 1e+30 cannot be a vertex index"),
        ("f 1 2 2.5", "line 4: 2.5 cannot be a vertex index"),
        ("f 1 2 a", 'line 4: "a" is no number'),
        ("v 1 2", "line 4: a vertex has 2 numbers but needs 3"),
        ("v 1,5 2 3", 'line 4: "1,5" is no number'),
        ("v 1 nan 2\nf 1 2 3", "vertex 3 is not finite: it is at (1, nan, 2)"),
        ("v 1 1e999 2\nf 1 2 3", "vertex 3 is not finite: it is at (1, inf, 2)"),
        ("f 1 2", "has 3 vertices and no faces"),
        ("v \0 0 0", 'line 4: "�" is no number'),
        ("v \x01 0 0", 'line 4: "�" is no number'),
    ],
)
def test_obj_mistakes_are_told_by_line(tmp_path, line, words):
    text = f"v 0 0 0\nv 1 0 0\nv 0 1 0\n{line}\n"
    assert refusal(tmp_path, "a.obj", text).startswith(words)


# PLY


def test_ply_properties_become_attributes(tmp_path):
    for name in ("ascii.ply", "little.ply", "big.ply", "mixed.ply"):
        mesh = read(tmp_path, name, GOOD[name])
        assert np.array_equal(mesh.vertices, CUBE)
        assert np.allclose(mesh.attributes["color"], [1, 0, 0.2], atol=1e-7)
        assert mesh.attributes["friction"].tolist() == [0.5] * 8


def test_ply_with_other_elements_and_properties(tmp_path):
    """Elements that are not asked for are passed over, wherever they are."""
    head = (
        "ply\r\nformat ascii 1.0\r\nobj_info x\r\nelement edge 2\r\nproperty int a\r\n"
        "element vertex 4\r\nproperty double z\r\nproperty double y\r\nproperty double x\r\n"
        "property float nx\r\nproperty float ny\r\nproperty float nz\r\nproperty ushort id\r\n"
        "element face 2\r\nproperty uchar flags\r\nproperty list uchar float uv\r\n"
        "property list uint8 uint32 vertex_index\r\nproperty float quality\r\n"
        "element cloud 1\r\nproperty list int int members\r\nend_header\r\n"
    )
    body = "1\r\n2\r\n" + "".join(
        f"{z} 0 {x} 0 0 1 7\r\n" for x, z in ((0, 0), (1, 0), (1, 1), (0, 1))
    )
    body += "0 2 0.5 0.5 3 0 1 2 0.1\r\n\r\n1 0 4 0 1 2 3 0.2\r\n2 5 5\r\n"
    mesh = read(tmp_path, "a.ply", head + body)
    assert mesh.vertices.tolist() == [[0, 0, 0], [1, 0, 0], [1, 0, 1], [0, 0, 1]]
    assert mesh.faces.tolist() == [[0, 1, 2], [0, 1, 2], [0, 2, 3]]
    assert mesh.attributes["normal"].shape == (4, 3)
    assert mesh.attributes["id"].tolist() == [7] * 4


def test_ply_strips(tmp_path):
    head = ply_header("ascii", 5, 1).replace("element face", "element tristrips")
    mesh = read(tmp_path, "a.ply", head + rows(STRIP) + "8 0 1 2 3 -1 2 3 4\n")
    assert mesh.faces.tolist() == [[0, 1, 2], [2, 1, 3], [2, 3, 4]]


@pytest.mark.parametrize(
    ("name", "change", "words"),
    [
        ("ascii.ply", (b"vertex 8", b"vertex 9"), 'line 23: a row of "vertex" has 5 numbers'),
        ("ascii.ply", (b"vertex 8", b"vertex 7"), 'line 22: a row of "face" has 7 numbers'),
        ("ascii.ply", (b"face 6", b"face 5"), "line 28: there is more in the file"),
        ("ascii.ply", (b"face 6", b"face 7"), 'ends after 6 of 7 rows of "face"'),
        ("ascii.ply", (b"4 0 2 3 1", b"4 0 2 3 8"), "triangle 1 refers to vertex 8 but there are 8"),
        ("ascii.ply", (b"4 0 2 3 1", b"4 0 2 3 z"), 'line 23: "z" is no number'),
        ("ascii.ply", (b"float x", b"float128 x"), 'line 5: "property float128 x" is not'),
        ("ascii.ply", (b"float x", b"float y"), "has the same property twice"),
        ("ascii.ply", (b"float x", b"float w"), "must have vertices with x, y and z"),
        ("ascii.ply", (b"vertex_indices", b"corners"), "has faces without a list"),
        ("ascii.ply", (b"end_header", b"end"), "has no PLY header"),
        ("little.ply", (b"vertex 8", b"vertex 800"), 'says that it has 800 rows of "vertex"'),
        ("little.ply", (b"face 6", b"face 5"), "has 17 bytes more than its header says"),
        ("little.ply", (b"face 6", b"face 7"), 'says that it has 7 rows of "face"'),
    ],
)  # fmt: skip
def test_ply_mistakes(tmp_path, name, change, words):
    assert refusal(tmp_path, name, GOOD[name].replace(*change)).startswith(words)


# STL


def test_stl_corners_become_vertices(tmp_path):
    assert len(read(tmp_path, "a.stl", binary_stl()).vertices) == 8
    upper = GOOD["ascii.stl"].upper().replace(b"0.0", b"-0.0", 1)
    mesh = read(tmp_path, "a.stl", upper)
    assert (len(mesh.vertices), mesh.is_closed) == (4, True)


def test_stl_mistakes(tmp_path):
    text, binary = GOOD["ascii.stl"], GOOD["binary.stl"]
    assert "says that it has 12 triangles" in refusal(tmp_path, "a.stl", binary[:-1])
    assert "says that it has 12 triangles" in refusal(tmp_path, "a.stl", binary + b"more")
    assert "cut off" in refusal(tmp_path, "a.stl", text.replace(b"endsolid", b"end"))
    assert "line 4: a vertex has 2 numbers" in refusal(
        tmp_path, "a.stl", text.replace(b"0.0 ", b"", 1)
    )
    four = text.replace(b" endloop", b"vertex 1 1 1\nendloop", 1)
    assert refusal(tmp_path, "a.stl", four).startswith("line 8: a triangle ends that has 4 corners")
    short = refusal(tmp_path, "a.stl", b"\0" * 50)
    assert short == "is 50 bytes, too short for an STL file: export it again"


# OFF


def test_off_variants(tmp_path):
    faces = rows(TETRAHEDRON_FACES, "3 ")
    with_normals = rows(np.hstack((TETRAHEDRON, np.full((4, 3), 0.5))))
    mesh = read(tmp_path, "a.off", f"# first\n\nNOFF # normals\n4 4 6\n{with_normals}{faces}")
    assert mesh.attributes["normal"].tolist() == [[0.5] * 3] * 4
    assert np.allclose(
        read(tmp_path, "a.off", GOOD["colored.off"]).attributes["color"], [1, 0, 0.2]
    )
    colored = faces.replace("\n", " 255 0 0\n")
    mesh = read(tmp_path, "a.off", f"4 4 6\n{rows(TETRAHEDRON)}{colored}")
    assert np.array_equal(mesh.faces, TETRAHEDRON_FACES)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("OFF\n4 x 0\n", 'line 2: "4 x 0" should be the numbers of vertices'),
        ("OFF\n", "ends before the numbers"),
        ("4OFF\n1 1 0\n0 0 0 0\n", 'line 1: "4OFF" is not read'),
        ("OFF BINARY\n1 1 0\n", 'line 1: "OFF BINARY" is not read'),
        ("OFF 3 1 0\n0 0 0\n1 0 0\n0 1\n3 0 1 2\n", "line 4: a vertex has 2 numbers but needs 3"),
        ("OFF 3 1 0\n0 0 0\n1 0 0\n0 1 0\n4 0 1 2\n", "line 5: a face says that it has 4 corners"),
        ("OFF 3 1 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1 3\n", "line 5: a face refers to vertex 3"),
        ("OFF 3 1 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1 2\n3 0 1 2\n", "line 6: there is more"),
        ("OFF 3 2 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1 2\n", "ends after 1 of 2 faces"),
    ],
)
def test_off_mistakes(tmp_path, text, words):
    assert refusal(tmp_path, "a.off", text).startswith(words)


# glTF


def test_gltf_nodes_move_their_meshes(tmp_path):
    """A quarter turn about z, then scaled above: (x, y, z) → 2 (−y, x, z) + (1, 2, 3)."""
    tree, data = gltf_tree(CUBE, CUBE_FACES)
    tree["nodes"][0] = {"children": [1], "translation": [1, 2, 3], "scale": [2, 2, 2]}
    tree["nodes"].append({"mesh": 0, "rotation": [0, 0, math.sqrt(0.5), math.sqrt(0.5)]})
    mesh = read(tmp_path, "a.glb", glb_of(tree, data))
    turned = np.stack((-CUBE[:, 1], CUBE[:, 0], CUBE[:, 2]), axis=1)
    assert np.allclose(mesh.vertices, 2 * turned + [1, 2, 3], atol=1e-15)
    tree["nodes"][1]["matrix"] = [0, 1, 0, 0, -1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1]
    assert np.array_equal(
        read(tmp_path, "a.glb", glb_of(tree, data)).vertices, 2 * turned + [1, 2, 3]
    )


def test_gltf_mirrors_and_instances_stay_outside_out(tmp_path):
    tree, data = gltf_tree(CUBE, CUBE_FACES)
    tree["nodes"] = [{"mesh": 0, "scale": [-1, 1, 1]}, {"mesh": 0, "translation": [5, 0, 0]}]
    tree["scenes"] = [{"nodes": [0, 1]}]
    mesh = read(tmp_path, "a.glb", glb_of(tree, data))
    assert volume(mesh) == pytest.approx(2, rel=1e-14)
    assert mesh.is_closed
    for key in ("scene", "scenes"):
        del tree[key]
    assert np.array_equal(read(tmp_path, "a.glb", glb_of(tree, data)).faces, mesh.faces)
    del tree["nodes"]
    assert np.array_equal(read(tmp_path, "a.glb", glb_of(tree, data)).vertices, CUBE)


def test_gltf_long_chains_are_no_recursion(tmp_path):
    tree, data = gltf_tree(CUBE, CUBE_FACES)
    tree["nodes"] = [{"children": [i + 1]} for i in range(5000)] + [{"mesh": 0}]
    assert np.array_equal(read(tmp_path, "a.glb", glb_of(tree, data)).vertices, CUBE)


def test_gltf_strides_and_normalised_numbers(tmp_path):
    """Positions and colours interleaved; int16 where 32767 means 1, uint8 where 255 does."""
    tree, _ = gltf_tree(CUBE, None)
    table = np.zeros(3, dtype=[("p", "<i2", 3), ("gap", "<u2"), ("c", "u1", 4), ("f", "<f4")])
    table["p"] = [[0, 0, 0], [32767, 0, 0], [0, -32768, 0]]
    table["c"] = [[255, 0, 51, 255]] * 3
    table["f"] = [0.1, 0.2, 0.3]
    tree["bufferViews"] = [{"buffer": 0, "byteLength": table.nbytes, "byteStride": 16}]
    tree["accessors"] = [
        {"bufferView": 0, "componentType": 5122, "count": 3, "type": "VEC3", "normalized": True},
        {"bufferView": 0, "byteOffset": 8, "componentType": 5121, "count": 3, "type": "VEC4",
         "normalized": True},
        {"bufferView": 0, "byteOffset": 12, "componentType": 5126, "count": 3, "type": "SCALAR"},
    ]  # fmt: skip
    attributes = {"POSITION": 0, "COLOR_0": 1, "_FRICTION": 2, "TEXCOORD_0": 99}
    tree["meshes"] = [{"primitives": [{"attributes": attributes}]}]
    tree["nodes"] = [{"mesh": 0}]
    tree["buffers"] = [{"byteLength": table.nbytes}]
    mesh = read(tmp_path, "a.glb", glb_of(tree, table.tobytes()))
    assert mesh.vertices.tolist() == [[0, 0, 0], [1, 0, 0], [0, -1, 0]]
    assert np.allclose(mesh.attributes["color"], [1, 0, 0.2, 1], atol=1e-7)
    assert np.array_equal(mesh.attributes["friction"], table["f"])


def test_gltf_parts_without_an_attribute(tmp_path):
    """White where there is no colour, and not a number where there is no friction."""
    tree, data = gltf_tree(CUBE, CUBE_FACES)
    part = tree["meshes"][0]["primitives"][0]
    colored = {**part, "attributes": {"POSITION": 0, "COLOR_0": 0, "_FRICTION": 0}}
    tree["meshes"][0]["primitives"] = [part, colored]
    mesh = read(tmp_path, "a.glb", glb_of(tree, data))
    assert (mesh.attributes["color"][:8] == 1).all()
    assert np.isnan(mesh.attributes["friction"][:8]).all()
    assert np.array_equal(mesh.attributes["friction"][8:], CUBE)
    assert mesh.faces.max() == 15


def test_gltf_with_a_file_beside_it(tmp_path):
    tree, data = gltf_tree(CUBE, CUBE_FACES)
    tree["buffers"] = [{"byteLength": len(data), "uri": "my%20cube.bin"}]
    missing = refusal(tmp_path, "a.gltf", json.dumps(tree))
    assert missing.startswith("cannot be read because of my cube.bin (No such file")
    (tmp_path / "my cube.bin").write_bytes(data)
    assert len(read(tmp_path, "a.gltf", json.dumps(tree)).faces) == 12
    (tmp_path / "my cube.bin").write_bytes(data[:-1])
    assert "buffers[0] should have" in refusal(tmp_path, "a.gltf", json.dumps(tree))


@pytest.mark.parametrize("uri", ["http://localhost/a.bin", "../a.bin", "/etc/passwd", "C:/a.bin"])
def test_gltf_buffers_come_from_nowhere_else(tmp_path, uri):
    tree, data = gltf_tree(CUBE, CUBE_FACES)
    tree["buffers"] = [{"byteLength": len(data), "uri": uri}]
    assert "is in another place" in refusal(tmp_path, "a.gltf", json.dumps(tree))


def test_gltf_nodes_with_other_things(tmp_path):
    """A camera on the node, names that are taken, and lines above: none of them moves the cube."""
    tree, data = gltf_tree(CUBE, CUBE_FACES)
    part = tree["meshes"][0]["primitives"][0]
    tree["meshes"].append({"primitives": [{**part, "mode": 3}]})
    tree["cameras"] = [{"perspective": {"yfov": 1, "znear": 1, "aspectRatio": 1}}]
    tree["nodes"] = [
        {"mesh": 1, "name": "world", "children": [1], "translation": [1, 0, 0]},
        {"mesh": 0, "name": "world", "camera": 0, "translation": [0, 2, 0]},
    ]
    mesh = read(tmp_path, "a.glb", glb_of(tree, data))
    assert (mesh.vertices == CUBE + np.array([1, 2, 0])).all()


def test_gltf_without_what_reads_it(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "trimesh.exchange.gltf", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'viscoil\[meshes\]'"):
        read(tmp_path, "a.glb", GOOD["indexed.glb"])


def changed_gltf(path: str, value: object) -> bytes:
    tree, data = gltf_tree(CUBE, CUBE_FACES)
    *keys, last = [int(k) if k.isdigit() else k for k in path.split(".")]
    place: Any = tree
    for key in keys:
        place = place[key]
    place[last] = value
    return glb_of(tree, data)


@pytest.mark.parametrize(
    ("path", "value", "words"),
    [
        ("meshes.0.primitives.0.extensions", {"KHR_draco_mesh_compression": {}}, "compressed with Draco"),
        ("bufferViews.0.extensions", {"EXT_meshopt_compression": {}}, "compressed with meshopt"),
        ("accessors.0.sparse", {"count": 1}, "accessors[0] is sparse"),
        ("nodes.0.extensions", {"EXT_mesh_gpu_instancing": {}}, "instanced on the GPU"),
        ("nodes.0.children", [0], "two parents or is its own ancestor"),
        ("nodes.0.children", [7], "is no valid glTF (list index out of range)"),
        ("nodes.0.mesh", True, "is no valid glTF (True is no whole number from 0)"),
        ("nodes.0.scale", [1, 2], "is no valid glTF (shapes"),
        ("nodes.0.matrix", [1.7e308] * 16, "vertex 1 is not finite"),
        ("accessors.1.count", 35, "is no valid glTF (cannot reshape array of size 35"),
        ("accessors.1.count", 3000, "is no valid glTF (cannot reshape array of size 36"),
        ("accessors.0.count", 3, "refers to vertex 3 but there are 3 vertices"),
        ("accessors.1.componentType", 5126, "is no valid glTF (cannot reshape array of size 18"),
        ("accessors.0.bufferView", None, "accessors[0] has no bufferView"),
        ("accessors.0.type", "VEC2", "must have (n, 3)"),
        ("meshes.0.primitives.0.mode", 1, "has 0 vertices and no faces"),
        ("meshes.0.primitives.0.attributes", {}, "is no valid glTF ('POSITION' is missing)"),
        ("buffers.0.byteLength", 10**6, "buffers[0] should have 1000000 bytes"),
        ("scenes", 5, "is no valid glTF ('int' object is not subscriptable)"),
    ],
)  # fmt: skip
def test_gltf_mistakes(tmp_path, path, value, words):
    assert words in refusal(tmp_path, "a.glb", changed_gltf(path, value))


def test_gltf_files_that_are_none(tmp_path):
    good = GOOD["indexed.glb"]
    assert "is glTF version 1" in refusal(tmp_path, "a.glb", good[:4] + b"\1" + good[5:])
    assert "cut off or damaged" in refusal(tmp_path, "a.glb", good[:-1])
    assert "NaN is no number" in refusal(tmp_path, "a.gltf", b'{"asset": NaN}')
    assert "is no object" in refusal(tmp_path, "a.gltf", b"[]")
    base64 = embedded(*gltf_tree(CUBE, CUBE_FACES)).replace(b"base64,", b"base64,%")
    assert "is no valid glTF (" in refusal(tmp_path, "a.gltf", base64)
