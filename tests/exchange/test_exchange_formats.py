"""Formats, read back by programs that we did not write; every number must be the same."""

import gzip
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import plyfile
import pytest
import trimesh
from exchange_rigs import LOOKS, SPACING, channels, frame, rare_channels, scattered
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from pysplashsurf.bgeo import readbgeo_to_meshio
from vtkmodules.util.numpy_support import vtk_to_numpy
from vtkmodules.vtkIOXML import vtkXMLPolyDataReader

from viscoil.core.errors import RunError
from viscoil.exchange import FORMATS, find_format
from viscoil.exchange.points import BLOCK
from viscoil.scene import Scene
from viscoil.snapshots.snapshot import Array, Snapshot

COUNTS = [0, 1, 50, BLOCK + 3]
POINT_FORMATS = ["npz", "ply", "bgeo", "bhclassic", "vtp"]


def written(folder: Path, name: str, snapshot: Snapshot) -> Path:
    form = find_format(name)
    path = folder / f"frame_000007{form.suffix}"
    form.write(path, snapshot, [name for name in snapshot.channels if name != "position"])
    return path


def same(found: Any, wanted: Array) -> None:
    """Equal numbers of the same kind, down to the last bit."""
    found = np.asarray(found)
    assert (found.shape, found.dtype.kind) == (wanted.shape, wanted.dtype.kind)
    np.testing.assert_array_equal(found, wanted)


def radius(values: dict[str, Array]) -> Array:
    return np.float32(SPACING / 2) * values["size"]


# NumPy


@pytest.mark.parametrize("count", COUNTS)
def test_npz(tmp_path: Path, count: int) -> None:
    values = {**channels(count), **rare_channels(count)}
    with np.load(written(tmp_path, "npz", frame(values)), allow_pickle=False) as file:
        for name, array in values.items():
            assert file[name].dtype == array.dtype
            same(file[name], array.reshape(count, 9) if name == "gradient" else array)
        same(file["radius"], radius(values))
        assert (file["time"], file["frame"], file["spacing"]) == (0.1 + 0.2, 7, SPACING)
        assert file["material_names"].tolist() == [look.name for look in LOOKS]


# PLY

PLY_PARTS = {
    "position": ["x", "y", "z"],
    "velocity": ["vx", "vy", "vz"],
    "pair": ["pair_0", "pair_1"],
    "vector": ["vector_x", "vector_y", "vector_z"],
    "conformation": [f"conformation_{i}" for i in range(6)],
    "gradient": [f"gradient_{i}" for i in range(9)],
}
PLY_KINDS = {"flag": "u1", "half": "f4", "long": "i4", "unsigned": "u4"}


def check_ply(vertex: Any, values: dict[str, Array]) -> None:
    for name, array in values.items():
        columns = array.reshape(len(array), -1).T if len(array) else np.zeros((9, 0))
        parts = PLY_PARTS.get(name, [name])
        for part, column in zip(parts, columns[: len(parts)], strict=True):
            kind = PLY_KINDS.get(name, array.dtype.str[1:])
            assert vertex[part].dtype == np.dtype(kind)
            same(vertex[part], column.astype(kind))
    same(vertex["radius"], radius(values))


@pytest.mark.parametrize("count", COUNTS)
def test_ply_by_plyfile(tmp_path: Path, count: int) -> None:
    values = {**channels(count), **rare_channels(count)}
    found = plyfile.PlyData.read(written(tmp_path, "ply", frame(values)))
    assert (found.text, found.byte_order) == (False, "<")
    check_ply(found["vertex"], values)
    properties = sum(len(PLY_PARTS.get(name, "1")) for name in values)
    assert len(found["vertex"].properties) == properties + 1
    assert found.comments[1:] == ["material 0 honey", r"material 1 gr\xfcne <So\xdfe>"]


@pytest.mark.parametrize("count", [1, 50])
def test_ply_by_trimesh(tmp_path: Path, count: int) -> None:
    values = {**channels(count), **rare_channels(count)}
    cloud: Any = trimesh.load(written(tmp_path, "ply", frame(values)))
    same(np.asarray(cloud.vertices, np.float32), values["position"])
    check_ply(cloud.metadata["_ply_raw"]["vertex"]["data"], values)


# Classic bgeo


@pytest.mark.parametrize("count", [1, 50, BLOCK + 3])
@pytest.mark.parametrize("name", ["bgeo", "bhclassic"])
def test_bgeo_by_the_reader_of_the_sequence_loader(tmp_path: Path, name: str, count: int) -> None:
    """It wants the file gzipped, as Houdini may do, and nothing behind the points."""
    values = channels(count)
    path = tmp_path / "gzipped.bgeo"
    path.write_bytes(gzip.compress(written(tmp_path, name, frame(values)).read_bytes(), 1))
    found = readbgeo_to_meshio(path)
    same(found.points, values["position"])
    same(found.point_data["v"], values["velocity"])
    same(found.point_data["pscale"], radius(values))
    for own in ("id", "material", "temperature", "size"):
        same(found.point_data[own], values[own])


@pytest.mark.parametrize("count", [1, 50])
def test_bgeo_by_splashsurf(tmp_path: Path, count: int) -> None:
    """It reads all attributes, and passes positions on; in a process of its own, since it runs once."""
    values = channels(count)
    path = written(tmp_path, "bgeo", frame(values))
    program = "import sys, pysplashsurf; pysplashsurf.run_splashsurf(sys.argv)"
    work = ["-q", "convert", "--particles", str(path), "-o", str(tmp_path / "out.bgeo")]
    subprocess.run([sys.executable, "-c", program, *work], check=True, timeout=60)
    theirs = readbgeo_to_meshio(zipped(tmp_path / "out.bgeo"))
    same(theirs.points, values["position"])


def zipped(path: Path) -> Path:
    """Splashsurf zips or does not; the other reader wants it so."""
    data = path.read_bytes()
    if not data.startswith(b"\x1f\x8b"):
        path.write_bytes(gzip.compress(data, 1))
    return path


@pytest.mark.parametrize("count", COUNTS)
def test_bgeo_to_the_byte(tmp_path: Path, count: int) -> None:
    """Channels of several numbers, which readers at hand do not know, by the layout of the format."""
    values = {**channels(count), **rare_channels(count), "color": np.ones((count, 3), np.float32)}
    data = written(tmp_path, "bgeo", frame(values)).read_bytes()
    assert data[:5] == b"BgeoV"
    counts = np.frombuffer(data, ">i4", 9, 5).tolist()
    names = {"velocity": "v", "color": "Cd"}
    wanted = {names.get(name, name): array for name, array in values.items() if name != "position"}
    wanted["pscale"] = radius(values)
    assert counts == [5, count, 0, 0, 0, len(wanted), 0, 0, 0]
    at, kinds = 41, [("P", ">f4", (4,))]
    for _ in wanted:
        length = int.from_bytes(data[at : at + 2], "big")
        name = data[at + 2 : at + 2 + length].decode()
        at += 2 + length
        size, kind = (int.from_bytes(data[a:b], "big") for a, b in ((at, at + 2), (at + 2, at + 6)))
        assert data[at + 6 : at + 6 + 4 * size] == bytes(4 * size)
        assert kind == (5 if name == "v" else 0 if wanted[name].dtype.kind == "f" else 1)
        kinds.append((name, ">i4" if kind == 1 else ">f4", (size,)))
        at += 6 + 4 * size
    rows = np.frombuffer(data, np.dtype(kinds), count, at)
    np.testing.assert_array_equal(rows["P"][:, :3], values["position"])
    assert (rows["P"][:, 3] == 1.0).all()
    for name, array in wanted.items():
        np.testing.assert_array_equal(rows[name].ravel(), array.ravel())
    assert data[at + rows.nbytes :] == b"\x00\xff"


# VTK


def read_vtp(path: Path) -> Any:
    reader = vtkXMLPolyDataReader()
    reader.SetFileName(str(path))
    reader.Update()
    assert reader.GetErrorCode() == 0
    return reader.GetOutput()


def array_of(data: Any, name: str) -> Array:
    found = data.GetArray(name)
    return vtk_to_numpy(found) if found.GetNumberOfTuples() else np.zeros(0)


@pytest.mark.parametrize("count", [1, 50, BLOCK + 3])
def test_vtp(tmp_path: Path, count: int) -> None:
    values = {**channels(count), **rare_channels(count)}
    found = read_vtp(written(tmp_path, "vtp", frame(values)))
    same(vtk_to_numpy(found.GetPoints().GetData()), values["position"])
    data = found.GetPointData()
    assert data.GetNumberOfArrays() == len(values)  # all but the position, and the radius
    same(array_of(data, "radius"), radius(values))
    for name, array in values.items():
        if name == "position":
            continue
        kind = {"flag": "u1", "half": "f4"}.get(name, array.dtype.str[1:])
        own = array_of(data, name)
        assert own.dtype == np.dtype(kind)
        same(
            own, array.reshape(count, *[9] if name == "gradient" else array.shape[1:]).astype(kind)
        )
    parts = [data.GetArray("conformation").GetComponentName(i) for i in range(6)]
    assert parts == ["XX", "YY", "ZZ", "XY", "XZ", "YZ"]


def test_vtp_vertices_time_and_names(tmp_path: Path) -> None:
    found = read_vtp(written(tmp_path, "vtp", frame(channels(5))))
    assert (found.GetNumberOfPoints(), found.GetNumberOfCells(), found.GetNumberOfVerts()) == (
        5,
    ) * 3
    assert [found.GetCell(i).GetPointId(0) for i in range(5)] == list(range(5))
    fields = found.GetFieldData()
    assert fields.GetArray("TimeValue").GetValue(0) == 0.1 + 0.2
    names = fields.GetAbstractArray("material_names")
    assert [names.GetValue(i) for i in range(2)] == [look.name for look in LOOKS]


def test_an_empty_vtp(tmp_path: Path) -> None:
    found = read_vtp(written(tmp_path, "vtp", frame(channels(0))))
    assert (found.GetNumberOfPoints(), found.GetNumberOfCells()) == (0, 0)
    assert found.GetPointData().GetNumberOfArrays() == len(channels(0))


def test_pvd_puts_frames_in_time(tmp_path: Path) -> None:
    """Read as XML, because the reader of .pvd files is part of ParaView and not of VTK."""
    from xml.etree import ElementTree

    from exchange_rigs import SCENE

    path = find_format("vtp").finish(tmp_path, Scene.from_toml(SCENE), [0, 1, 3])
    root = ElementTree.parse(path).getroot()
    assert (root.tag, root.attrib["type"]) == ("VTKFile", "Collection")
    rows = [(float(d.attrib["timestep"]), d.attrib["file"]) for d in root.iter("DataSet")]
    assert rows == [(n / 10, f"frame_{n:06}.vtp") for n in (0, 1, 3)]


# All of them


@pytest.mark.parametrize("name", POINT_FORMATS)
def test_memory_layout_does_not_matter(tmp_path: Path, name: str) -> None:
    values = {**channels(50), **rare_channels(50)}
    values.pop("gradient")  # cannot be flattened without a copy, which is what is tested elsewhere
    plain = written(tmp_path, name, frame(values)).read_bytes()
    assert written(tmp_path, name, frame(scattered(values))).read_bytes() == plain
    swapped = {key: array.astype(array.dtype.newbyteorder(">")) for key, array in values.items()}
    if name != "npz":  # which keeps the order of bytes
        assert written(tmp_path, name, frame(swapped)).read_bytes() == plain


@pytest.mark.parametrize("name", POINT_FORMATS)
def test_particles_of_one_size_have_half_the_spacing(tmp_path: Path, name: str) -> None:
    values = channels(3)
    del values["size"]
    ones = {**values, "size": np.ones(3, np.float32)}
    form = find_format(name)
    for i, some in enumerate((values, ones)):
        form.write(tmp_path / f"{i}{form.suffix}", frame(some), ["velocity"])
    first, second = (tmp_path / f"{i}{form.suffix}" for i in range(2))
    assert first.read_bytes() == second.read_bytes()


@pytest.mark.parametrize("name", ["ply", "bgeo"])
@pytest.mark.parametrize("number", [2**31, -(2**31) - 1])
def test_ids_that_do_not_fit(tmp_path: Path, name: str, number: int) -> None:
    values = {**channels(2), "id": np.array([0, number])}
    with pytest.raises(
        RunError, match=rf"'id' of frame 7 has numbers beyond .*\"{name}\" can hold"
    ):
        written(tmp_path, name, frame(values))
    assert list(tmp_path.iterdir()) == []
    most = {**channels(2), "id": np.array([-(2**31), 2**31 - 1])}
    assert written(tmp_path, name, frame(most)).exists()


def test_ids_of_64_bits(tmp_path: Path) -> None:
    ids = np.array([2**62 + 1, -(2**62) - 1])
    values = {**channels(2), "id": ids}
    same(array_of(read_vtp(written(tmp_path, "vtp", frame(values))).GetPointData(), "id"), ids)
    same(np.load(written(tmp_path, "npz", frame(values)))["id"], ids)


@pytest.mark.parametrize(
    ("name", "twin"), [("ply", "vx"), ("bgeo", "v"), ("vtp", "radius"), ("npz", "radius")]
)
def test_names_that_are_taken(tmp_path: Path, name: str, twin: str) -> None:
    values = {**channels(2), twin: np.zeros(2, np.float32)}
    with pytest.raises(RunError, match=rf'"{name}" has two things named {twin!r}: leave'):
        written(tmp_path, name, frame(values))


@pytest.mark.parametrize("name", FORMATS)
def test_a_channel_that_is_not_there(tmp_path: Path, name: str) -> None:
    form = find_format(name)
    with pytest.raises(RunError, match=r"frame 7 has no channel 'heat': it has id, material"):
        form.write(tmp_path / "a", frame(channels(2)), ["heat"])


floats = hnp.arrays(np.float32, st.tuples(st.integers(1, 9), st.just(3)))


@given(floats, st.data())
def test_every_float_survives(
    tmp_path_factory: pytest.TempPathFactory, position: Array, data: Any
) -> None:
    """NaN, infinities, signed zeros and denormals too; told apart by their bits."""
    folder = tmp_path_factory.mktemp("floats")
    velocity = data.draw(hnp.arrays(np.float32, position.shape))
    snapshot = frame({"position": position, "velocity": velocity})
    found = plyfile.PlyData.read(written(folder, "ply", snapshot))["vertex"]
    theirs = np.stack([found["vx"], found["vy"], found["vz"]], axis=1)
    assert theirs.tobytes() == velocity.tobytes()
    points = read_vtp(written(folder, "vtp", snapshot))
    assert vtk_to_numpy(points.GetPoints().GetData()).tobytes() == position.tobytes()
    assert array_of(points.GetPointData(), "velocity").tobytes() == velocity.tobytes()
