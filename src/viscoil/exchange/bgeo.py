"""The classic binary format of Houdini, version 5: points in rows, big endian.

Laid out as in "Documentation on the Public Domain Geometry Library (GPD) - Version 5" of SideFX.
"""

import struct
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from viscoil.core.files import write_whole
from viscoil.exchange.format import Format
from viscoil.exchange.points import Column, channel, check_names, fitting, radii, write_rows
from viscoil.snapshots.snapshot import Array, Snapshot

NAMES = {"velocity": "v", "color": "Cd"}  # what Houdini calls it
FLOAT, INT, VECTOR = 0, 1, 5
END = b"\x00\xff"  # an empty list of extra information


class BgeoFormat(Format):
    """Points with P, pscale (the radius, m), v, id, material, Cd for `color`, and other channels.

    Numbers have 32 bits: double precision is rounded, whole numbers must fit. Detail attributes are
    left out, because several readers want nothing behind the points.
    """

    name = "bgeo"
    suffix = ".bgeo"
    opened_by = "Houdini, splashsurf and whatever uses Partio"

    def write(self, path: Path, snapshot: Snapshot, channels: Sequence[str]) -> None:
        position = channel(snapshot, "position")
        weight = np.broadcast_to(np.float32(1.0), len(position))
        rows = [_column("P", position), _column("Pw", weight)]
        columns = [_column("pscale", radii(snapshot))]
        columns += [_column(NAMES.get(name, name), channel(snapshot, name)) for name in channels]
        columns = [fitting(column, snapshot.frame, self.name) for column in columns]
        check_names(["P", "Pw", *(column.name for column in columns)], self.name)
        with write_whole(path) as file:
            file.write(_header(len(position), len(columns)))
            file.write(b"".join(_definition(column) for column in columns))
            write_rows(file, [*rows, *columns])
            file.write(END)


class BhclassicFormat(BgeoFormat):
    """The same bytes under the name by which Houdini 12 and newer know the classic format."""

    name = "bhclassic"
    suffix = ".bhclassic"
    opened_by = "Houdini 12 and newer"


def _column(name: str, values: Array) -> Column:
    return Column(name, values, np.dtype(">f4" if values.dtype.kind == "f" else ">i4"))


def _header(points: int, attributes: int) -> bytes:
    """Counts: points, primitives, their groups, then attributes of points and of whatever else."""
    return b"BgeoV" + struct.pack(">9i", 5, points, 0, 0, 0, attributes, 0, 0, 0)


def _text(text: str) -> bytes:
    data = text.encode()
    return struct.pack(">H", len(data)) + data


def _definition(column: Column) -> bytes:
    """An attribute's name, size, type and default, which is zero."""
    kind = FLOAT if column.stored.kind == "f" else INT
    if column.name == "v" and column.width == 3:
        kind = VECTOR
    return _text(column.name) + struct.pack(">Hi", column.width, kind) + bytes(4 * column.width)
