"""PLY: points in rows, binary, little endian; read by most programs that show points."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from viscoil.core.files import write_whole
from viscoil.exchange.format import Format
from viscoil.exchange.points import (
    RADIUS,
    Column,
    channel,
    check_names,
    fitting,
    radii,
    write_rows,
)
from viscoil.snapshots.snapshot import Array, Snapshot

TYPES = {
    "i1": "char", "u1": "uchar", "i2": "short", "u2": "ushort", "i4": "int", "u4": "uint",
    "f4": "float", "f8": "double",
}  # fmt: skip
STORED = {"b1": "u1", "f2": "f4", "i8": "i4", "u8": "u4"}  # what PLY has no type for
PARTS = {"position": ("x", "y", "z"), "velocity": ("vx", "vy", "vz")}


class PlyFormat(Format):
    """One element `vertex`: x, y, z, radius (m), vx, vy, vz, id, material, and other channels.

    Three numbers of a channel are NAME_x, NAME_y and NAME_z, other counts NAME_0 and on. Whole numbers
    have at most 32 bits. Comments name the materials.
    """

    name = "ply"
    suffix = ".ply"
    opened_by = "Blender, MeshLab, CloudCompare and ParaView"

    def write(self, path: Path, snapshot: Snapshot, channels: Sequence[str]) -> None:
        columns = [_column("position", channel(snapshot, "position"))]
        columns += [_column(RADIUS, radii(snapshot))]
        columns += [_column(name, channel(snapshot, name)) for name in channels]
        columns = [fitting(column, snapshot.frame, self.name) for column in columns]
        check_names((name for c in columns for name in _parts(c)), self.name)
        with write_whole(path) as file:
            header = "".join(f"{line}\n" for line in _header(snapshot, columns))
            file.write(header.encode("ascii", "backslashreplace"))  # other letters stop readers
            write_rows(file, columns)


def _column(name: str, values: Array) -> Column:
    kind = values.dtype.str[1:]
    return Column(name, values, np.dtype("<" + STORED.get(kind, kind)))


def _header(snapshot: Snapshot, columns: Sequence[Column]) -> Iterator[str]:
    yield "ply"
    yield "format binary_little_endian 1.0"
    yield f"comment Viscoil, frame {snapshot.frame}, time {snapshot.time!r} s"
    for number, look in enumerate(snapshot.materials):
        yield f"comment material {number} {' '.join(look.name.split())}"
    yield f"element vertex {len(columns[0].values)}"
    for column in columns:
        kind = TYPES[column.stored.str[1:]]
        yield from (f"property {kind} {part}" for part in _parts(column))
    yield "end_header"


def _parts(column: Column) -> Sequence[str]:
    """The names of a channel's numbers."""
    if column.values.ndim == 1:
        return (column.name,)
    if column.name in PARTS and column.width == 3:
        return PARTS[column.name]
    letters = "xyz" if column.width == 3 else map(str, range(column.width))
    return [f"{column.name}_{letter}" for letter in letters]
