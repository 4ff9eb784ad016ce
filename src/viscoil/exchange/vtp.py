"""VTK's PolyData in XML with raw appended arrays, and a .pvd file that puts frames in time."""

import struct
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple
from xml.sax.saxutils import quoteattr

import numpy as np

from viscoil.core.files import write_whole
from viscoil.exchange.format import Format
from viscoil.exchange.points import (
    RADIUS,
    Column,
    channel,
    check_names,
    radii,
    write_column,
)
from viscoil.outputs.frames import frame_name
from viscoil.scene import Scene
from viscoil.snapshots.snapshot import Array, Snapshot

TYPES = {"i": "Int", "u": "UInt", "f": "Float"}
STORED = {"b1": "u1", "f2": "f4"}  # what VTK has no type for
# Components of six numbers, a symmetric tensor in any of our channels; VTK has another order for them.
TENSOR = ("XX", "YY", "ZZ", "XY", "XZ", "YZ")
SERIES = "particles.pvd"
FILE = '<VTKFile type="{}" version="1.0" byte_order="LittleEndian" header_type="UInt64">\n'


class VtpFormat(Format):
    """Points, each a vertex of its own, with `radius` (m) and the channels, which keep their types.

    Field data hold the time (s), as TimeValue, and `material_names`.
    """

    name = "vtp"
    suffix = ".vtp"
    opened_by = "ParaView and VTK"

    def write(self, path: Path, snapshot: Snapshot, channels: Sequence[str]) -> None:
        position = _column("position", channel(snapshot, "position"))
        columns = [_column(RADIUS, radii(snapshot))]
        columns += [_column(name, channel(snapshot, name)) for name in channels]
        check_names((column.name for column in columns), self.name)
        pieces = _Pieces(position, columns, *_vertices(len(position.values)))
        with write_whole(path) as file:
            file.write("".join(_header(snapshot, pieces)).encode())
            for column in pieces.all():
                file.write(struct.pack("<Q", _size(column)))
                write_column(file, column)
            file.write(b"\n  </AppendedData>\n</VTKFile>\n")

    def ties(self, scene: Scene) -> Sequence[str]:
        return (SERIES,)

    def finish(self, folder: Path, scene: Scene, frames: Sequence[int]) -> Path:
        path = folder / SERIES
        with write_whole(path) as file:
            file.write(("".join(_series(scene, frames))).encode())
        return path


class _Pieces(NamedTuple):
    """The arrays of a file, in the order in which they are appended."""

    position: Column
    point_data: list[Column]
    connectivity: Column
    offsets: Column

    def all(self) -> list[Column]:
        return [self.position, *self.point_data, self.connectivity, self.offsets]


def _column(name: str, values: Array) -> Column:
    kind = values.dtype.str[1:]
    return Column(name, values, np.dtype("<" + STORED.get(kind, kind)))


def _vertices(count: int) -> tuple[Column, Column]:
    """A cell for each point, so that ParaView shows, picks and selects single particles."""
    kind = np.int32 if count < 2**31 else np.int64
    numbers = np.arange(count + 1, dtype=kind)
    return _column("connectivity", numbers[:-1]), _column("offsets", numbers[1:])


def _size(column: Column) -> int:
    """Bytes in the file."""
    return int(column.values.size) * column.stored.itemsize


def _header(snapshot: Snapshot, pieces: _Pieces) -> Iterator[str]:
    """Everything up to the appended arrays, which it points at by their offsets."""
    ends = np.cumsum([8 + _size(column) for column in pieces.all()]).tolist()
    arrays = map(_array, pieces.all(), [0, *ends[:-1]])
    count = len(pieces.position.values)
    yield '<?xml version="1.0"?>\n' + FILE.format("PolyData")
    yield f"  <PolyData>\n{''.join(_field_data(snapshot))}"
    yield f'    <Piece NumberOfPoints="{count}" NumberOfVerts="{count}" NumberOfLines="0" '
    yield 'NumberOfStrips="0" NumberOfPolys="0">\n'
    yield f"      <Points>\n{next(arrays)}      </Points>\n      <PointData>\n"
    yield from (next(arrays) for _ in pieces.point_data)
    yield f"      </PointData>\n      <Verts>\n{next(arrays)}{next(arrays)}      </Verts>\n"
    yield '    </Piece>\n  </PolyData>\n  <AppendedData encoding="raw">\n_'


def _array(column: Column, offset: int) -> str:
    stored = column.stored
    kind = f"{TYPES[stored.kind]}{8 * stored.itemsize}"
    text = f'        <DataArray type="{kind}" Name={quoteattr(column.name)}'
    if column.values.ndim > 1:
        text += f' NumberOfComponents="{column.width}"'
    if column.width == len(TENSOR):
        text += "".join(f' ComponentName{i}="{part}"' for i, part in enumerate(TENSOR))
    return f'{text} format="appended" offset="{offset}"/>\n'


def _field_data(snapshot: Snapshot) -> Iterator[str]:
    yield "    <FieldData>\n"
    yield '      <DataArray type="Float64" Name="TimeValue" NumberOfTuples="1" format="ascii">'
    yield f"{snapshot.time!r}</DataArray>\n"
    if snapshot.materials:
        letters = b"".join(look.name.encode() + b"\0" for look in snapshot.materials)
        yield '      <Array type="String" Name="material_names" NumberOfTuples='
        yield f'"{len(snapshot.materials)}" format="ascii">{" ".join(map(str, letters))}</Array>\n'
    yield "    </FieldData>\n"


def _series(scene: Scene, frames: Sequence[int]) -> Iterator[str]:
    yield '<?xml version="1.0"?>\n' + FILE.format("Collection") + "  <Collection>\n"
    for frame in frames:
        time = frame / scene.simulation.fps
        yield f'    <DataSet timestep="{time!r}" part="0" file="{frame_name(frame, ".vtp")}"/>\n'
    yield "  </Collection>\n</VTKFile>\n"
