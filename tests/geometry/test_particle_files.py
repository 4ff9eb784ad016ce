"""Particle files of other programs: read to the bit where they are sound, refused where they are not."""

import base64
import gzip
import struct
import subprocess
import sys
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from viscoil.core.errors import ParticleFileError
from viscoil.geometry.particle_files import read_particles
from viscoil.geometry.particle_files.limits import unpacked

Floats = npt.NDArray[np.float32]

RANDOM = np.random.default_rng(7)
POSITION: Floats = RANDOM.uniform(-2.0, 3.0, (1234, 3)).astype(np.float32)
VELOCITY: Floats = RANDOM.normal(size=(1234, 3)).astype(np.float32)


def bgeo(position: Floats, attributes: list[tuple[str, int, int, Any]] | None = None) -> bytes:
    """Classic binary geometry, byte for byte as its description says; attributes: name, width, type,
    values."""
    attributes = attributes or []
    head = b"BgeoV" + struct.pack(">9i", 5, len(position), 0, 0, 0, len(attributes), 0, 0, 0)
    columns = [position.astype(">f4"), np.ones((len(position), 1), ">f4")]
    for name, width, kind, values in attributes:
        head += struct.pack(">H", len(name)) + name.encode() + struct.pack(">Hi", width, kind)
        head += struct.pack(">i", 1) + b"\0\1a" if kind == 4 else bytes(4 * width)
        layout = ">i4" if kind in (1, 4) else ">f4"
        columns.append(np.asarray(values, layout).reshape(len(position), width))
    rows = [
        np.ascontiguousarray(c).view(np.uint8).reshape(len(position), 4 * c.shape[1])
        for c in columns
    ]
    return head + np.hstack(rows).tobytes() + b"\x00\xff"


def write(path: Path, data: bytes) -> Path:
    path.write_bytes(data)
    return path


def refusal(path: Path) -> str:
    with pytest.raises(ParticleFileError) as caught:
        read_particles(path)
    text = str(caught.value)
    assert text.startswith(f"particle file {path}: ") and "\n" not in text
    return text


@pytest.mark.parametrize("name", ["v", "velocity"])
@pytest.mark.parametrize("packed", [False, True])
def test_bgeo_with_attributes(tmp_path: Path, name: str, packed: bool) -> None:
    """Velocities are found behind attributes of other types and widths, bits and all."""
    ids, scale = np.arange(1234), np.full(1234, 0.025)
    data = bgeo(
        POSITION,
        [
            ("id", 1, 1, ids),
            ("tag", 1, 4, ids * 0),
            ("pscale", 1, 0, scale),
            (name, 3, 5, VELOCITY),
        ],
    )
    path = write(tmp_path / "a.bgeo", gzip.compress(data) if packed else data)
    found = read_particles(path)
    assert found.velocity is not None
    np.testing.assert_array_equal(found.position, POSITION.astype(np.float64))
    np.testing.assert_array_equal(found.velocity, VELOCITY.astype(np.float64))


def test_bgeo_of_splashsurf(tmp_path: Path) -> None:
    """A file that another program wrote, from text with all digits of single precision."""
    pytest.importorskip("pysplashsurf")
    (tmp_path / "a.json").write_text(str(POSITION.astype(np.float64).tolist()))
    code = "import sys, pysplashsurf; pysplashsurf.run_splashsurf(sys.argv[1:])"
    arguments = ["splashsurf", "convert", "--particles", "a.json", "-o", "a.bgeo", "-q"]
    command = [sys.executable, "-c", code, *arguments]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert (tmp_path / "a.bgeo").exists(), done.stderr
    found = read_particles(tmp_path / "a.bgeo")
    np.testing.assert_array_equal(found.position, POSITION.astype(np.float64))
    assert found.velocity is None


def vtk_points(kind: str = "Float32") -> Any:
    """PolyData of VTK with velocities and a further array."""
    vtk = pytest.importorskip("vtk")
    from vtk.util.numpy_support import numpy_to_vtk

    layout = np.float64 if kind == "Float64" else np.float32
    points = vtk.vtkPoints()
    points.SetData(numpy_to_vtk(POSITION.astype(layout), deep=True))
    poly = vtk.vtkPolyData()
    poly.SetPoints(points)
    for name, values in (("id", np.arange(1234)), ("velocity", VELOCITY.astype(layout))):
        array = numpy_to_vtk(values, deep=True)
        array.SetName(name)
        poly.GetPointData().AddArray(array)
    return poly


@pytest.mark.parametrize("order", ["LittleEndian", "BigEndian"])
@pytest.mark.parametrize("header", ["UInt32", "UInt64"])
@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("mode", ["Ascii", "Binary", "AppendedRaw", "AppendedBase64"])
def test_vtp_of_vtk(tmp_path: Path, mode: str, packed: bool, header: str, order: str) -> None:
    """Each way in which VTK writes; blocks of 4 KiB, so that packed arrays have several."""
    vtk = pytest.importorskip("vtk")
    writer = vtk.vtkXMLPolyDataWriter()
    writer.SetFileName(str(tmp_path / "a.vtp"))
    writer.SetInputData(vtk_points("Float64" if packed else "Float32"))
    getattr(writer, f"SetDataModeTo{mode.removesuffix('Raw').removesuffix('Base64')}")()
    writer.SetEncodeAppendedData(mode == "AppendedBase64")
    writer.SetBlockSize(4096)
    getattr(writer, f"SetByteOrderTo{order}")()
    getattr(writer, f"SetHeaderTypeTo{header}")()
    if packed:
        writer.SetCompressorTypeToZLib()
    else:
        writer.SetCompressorTypeToNone()
    assert writer.Write() == 1
    found = read_particles(tmp_path / "a.vtp")
    assert found.velocity is not None
    np.testing.assert_array_equal(found.position.astype(np.float32), POSITION)
    np.testing.assert_array_equal(found.velocity.astype(np.float32), VELOCITY)


def test_vtp_packed_otherwise_is_refused(tmp_path: Path) -> None:
    vtk = pytest.importorskip("vtk")
    writer = vtk.vtkXMLPolyDataWriter()
    writer.SetFileName(str(tmp_path / "a.vtp"))
    writer.SetInputData(vtk_points())
    writer.SetCompressorTypeToLZ4()
    assert writer.Write() == 1
    assert "vtkLZ4DataCompressor: save it with ZLib" in refusal(tmp_path / "a.vtp")


def test_vtp_whose_blocks_lie_is_refused(tmp_path: Path) -> None:
    """A block that says it unpacks to 2 GiB is not unpacked."""
    block = zlib.compress(bytes(12))
    head = base64.b64encode(struct.pack("<4I", 1, 2**31, 0, len(block)))
    text = (head + base64.b64encode(block)).decode()
    array = f'<DataArray type="Float32" NumberOfComponents="3" format="binary">{text}</DataArray>'
    whole = (
        '<VTKFile type="PolyData" compressor="vtkZLibDataCompressor"><PolyData>'
        f'<Piece NumberOfPoints="1"><Points>{array}</Points></Piece></PolyData></VTKFile>'
    )
    path = write(tmp_path / "a.vtp", whole.encode())
    assert "unpacks to 2147483648 bytes and not 12" in refusal(path)


def test_vtp_in_pieces(tmp_path: Path) -> None:
    """Pieces follow each other; an empty one has no arrays."""

    def piece(values: str, count: int) -> str:
        array = (
            f'<DataArray type="Float32" NumberOfComponents="3" format="ascii">{values}</DataArray>'
        )
        return f'<Piece NumberOfPoints="{count}"><Points>{array}</Points></Piece>'

    body = piece("1 2 3", 1) + '<Piece NumberOfPoints="0"/>' + piece("4 5 6 7 8 9", 2)
    text = f'<VTKFile type="PolyData"><PolyData>{body}</PolyData></VTKFile>'
    found = read_particles(write(tmp_path / "a.vtp", text.encode()))
    np.testing.assert_array_equal(found.position, np.arange(1.0, 10.0).reshape(3, 3))
    assert found.velocity is None


@pytest.mark.parametrize("text", [True, False])
@pytest.mark.parametrize("order", ["<", ">"])
def test_ply_of_plyfile(tmp_path: Path, text: bool, order: str) -> None:
    """Points without faces, with velocities, in each encoding; text has nine digits."""
    plyfile = pytest.importorskip("plyfile")
    names = ("x", "y", "z", "vx", "vy", "vz")
    table = np.zeros(1234, dtype=[(name, "f4") for name in names])
    for name, column in zip(names, np.hstack([POSITION, VELOCITY]).T, strict=True):
        table[name] = column
    element = plyfile.PlyElement.describe(table, "vertex")
    plyfile.PlyData([element], text=text, byte_order=order).write(str(tmp_path / "a.ply"))
    found = read_particles(tmp_path / "a.ply")
    assert found.velocity is not None
    np.testing.assert_array_equal(found.position.astype(np.float32), POSITION)
    np.testing.assert_array_equal(found.velocity.astype(np.float32), VELOCITY)


def test_npz(tmp_path: Path) -> None:
    np.savez(tmp_path / "a.npz", position=POSITION, velocity=VELOCITY, time=1.0)
    found = read_particles(tmp_path / "a.npz")
    assert found.velocity is not None
    np.testing.assert_array_equal(found.position, POSITION.astype(np.float64))
    np.testing.assert_array_equal(found.velocity, VELOCITY.astype(np.float64))


def test_npz_with_a_pickle_is_refused(tmp_path: Path) -> None:
    """An array of objects could run code when it is loaded."""
    np.savez(tmp_path / "a.npz", position=np.array([[object()] * 3], dtype=object))
    assert "no sound .npz archive" in refusal(tmp_path / "a.npz")


@pytest.mark.parametrize(
    ("name", "data", "words"),
    [
        ("none.bgeo", None, "is not there"),
        ("empty.bgeo", b"", "no format that is known"),
        ("text.bgeo", b"hello", "no format that is known"),
        ("new.bgeo", b"\x7fNSJb" + bytes(50), "save it as .bhclassic"),
        ("json.bgeo", gzip.compress(b'["fileversion","18"]', mtime=0), "save it as .bhclassic"),
        ("old.bgeo", b"BgeoV" + struct.pack(">9i", 4, 1, 0, 0, 0, 0, 0, 0, 0), "version 4"),
        ("none2.bgeo", bgeo(POSITION[:0]), "has no particles"),
        ("short.bgeo", bgeo(POSITION)[:-50], "ends too early"),
        ("cut.bgeo", gzip.compress(bgeo(POSITION), mtime=0)[:-100], "compressed part"),
        ("many.bgeo", b"BgeoV" + struct.pack(">9i", 5, 2**31 - 1, *[0] * 7), "at most 50000000"),
        ("some.bgeo", b"BgeoV" + struct.pack(">9i", 5, 4_000_000, *[0] * 7), "ends too early"),
        ("odd.bgeo", bgeo(POSITION, [("odd", 1, 2, np.zeros(1234))]), "'odd' of type 2"),
        ("grid.vtp", b'<VTKFile type="ImageData"></VTKFile>', "of ImageData: export points"),
        ("bad.vtp", b'<VTKFile type="PolyData">', "its XML cannot be read"),
        ("bomb.vtp", b'<!DOCTYPE a [<!ENTITY b "c">]><VTKFile/>', "document type"),
        ("bare.npz", b"PK\x03\x04 and no more", "no sound .npz"),
    ],
)
def test_what_is_refused(tmp_path: Path, name: str, data: bytes | None, words: str) -> None:
    path = tmp_path / name
    if data is not None:
        path.write_bytes(data)
    assert words in refusal(path)


def test_unpacking_stops_at_its_limit() -> None:
    """A thousand times smaller packed: what would not fit is not unpacked."""
    packed = gzip.compress(bytes(1 << 20), mtime=0)
    assert unpacked(packed, (1 << 20) + 1) == bytes(1 << 20)
    for most in (1 << 20, 1 << 12):
        with pytest.raises(ParticleFileError, match="unpacks to more than"):
            unpacked(packed, most)


def test_particles_that_are_nowhere_are_named(tmp_path: Path) -> None:
    bad = POSITION.copy()
    bad[17, 1] = np.nan
    bad[40, 0] = np.inf
    text = refusal(write(tmp_path / "a.bgeo", bgeo(bad)))
    assert "particle 17 is at (" in text and "and 1 others like it" in text
    swift = VELOCITY.copy()
    swift[3] = np.inf
    text = refusal(write(tmp_path / "b.bgeo", bgeo(POSITION, [("v", 3, 5, swift)])))
    assert "particle 3 moves at (inf, inf, inf)" in text


def test_particles_at_the_same_place_are_named(tmp_path: Path) -> None:
    bad = POSITION.copy()
    bad[900] = bad[12]
    assert "particles 12 and 900 are at the same place:" in refusal(
        write(tmp_path / "a.bgeo", bgeo(bad))
    )


SOUND = bgeo(POSITION[:40], [("id", 1, 1, np.arange(40)), ("v", 3, 5, VELOCITY[:40])])


@settings(
    max_examples=300, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None
)
@given(st.data())
def test_damaged_files_are_read_or_refused(tmp_path: Path, data: st.DataObject) -> None:
    """Bytes that are changed, cut out or put in never raise anything but a sentence."""
    broken = bytearray(data.draw(st.sampled_from([SOUND, gzip.compress(SOUND), vtp_text(), npz()])))
    for _ in range(data.draw(st.integers(1, 6))):
        at = data.draw(st.integers(0, len(broken) - 1))
        match data.draw(st.sampled_from(["set", "cut", "grow"])):
            case "set":
                broken[at] = data.draw(st.integers(0, 255))
            case "cut":
                del broken[at : at + data.draw(st.integers(1, 30))]
            case _:
                broken[at:at] = data.draw(st.binary(min_size=1, max_size=9))
        if not broken:
            break
    path = write(tmp_path / "a.bin", bytes(broken))
    try:
        found = read_particles(path)
    except ParticleFileError as error:
        assert "\n" not in str(error)
    else:
        assert found.position.shape[1] == 3 and np.isfinite(found.position).all()


def vtp_text() -> bytes:
    values = " ".join(f"{x:g}" for x in POSITION[:5].ravel())
    array = f'<DataArray type="Float32" NumberOfComponents="3" format="ascii">{values}</DataArray>'
    piece = f'<Piece NumberOfPoints="5"><Points>{array}</Points></Piece>'
    return f'<VTKFile type="PolyData"><PolyData>{piece}</PolyData></VTKFile>'.encode()


def npz() -> bytes:
    import io

    file = io.BytesIO()
    np.savez(file, position=POSITION[:20], velocity=VELOCITY[:20])
    return file.getvalue()
