"""Reads files of OpenVDB, grid by grid."""

from dataclasses import dataclass, replace
from pathlib import Path

from viscoil.core.errors import VdbError
from viscoil.geometry.vdb.cursor import Cursor
from viscoil.geometry.vdb.grid import CLASSES, MetaValue, VdbGrid
from viscoil.geometry.vdb.layout import (
    ACTIVE_MASK,
    BLOSC,
    HALF_SUFFIX,
    MAGIC,
    NAME_SEPARATOR,
    OLDEST_VERSION,
    TREES,
    UUID_LENGTH,
    ZIP,
    Floats,
    ValueType,
)
from viscoil.geometry.vdb.metadata import read_metadata
from viscoil.geometry.vdb.read_tree import narrow, read_background, read_leaves, read_nodes
from viscoil.geometry.vdb.transform import read_transform
from viscoil.geometry.vdb.unpacking import Encoding

# Metadata that say how a file was written, or that have a place of their own in VdbGrid
FILE_PREFIX = "file_"
OWN_PLACE = ("name", "class", "is_saved_as_half_float")


def read_vdb(path: Path | str) -> list[VdbGrid]:
    """All grids of floats and of vectors of three; those of other types are left out.

    Half and double precision become single precision. Grids that share a tree in the file share
    their arrays. Raises VdbError, with one sentence, for what cannot be read.
    """
    path = Path(path)
    try:
        data = path.read_bytes()
    except OSError as error:
        raise VdbError(f"{path} cannot be read ({error.strerror}): check its name") from error
    cursor = Cursor(path, data)
    seekable = _read_header(cursor)
    grids: dict[str, VdbGrid] = {}
    others: list[str] = []
    for _ in range(cursor.number("I")):
        entry = _read_entry(cursor)
        if entry.kind is None or entry.parent in others:
            others.append(entry.unique_name)
            _skip(cursor, entry, seekable)
        else:
            grids[entry.unique_name] = _read_grid(cursor, entry, entry.kind, grids, seekable)
    if others and not grids:
        raise VdbError(f"{path} has no grid of floats or vectors: export a level set or a velocity")
    return list(grids.values())


@dataclass(frozen=True)
class Entry:
    """What stands before each grid."""

    unique_name: str
    kind: ValueType | None  # None if grids of this type are not read
    parent: str  # the unique name of the grid whose tree this one shares, or nothing
    start: int  # byte at which the grid begins
    leaves: int  # and the values of its leaves, which follow its nodes anyway
    end: int

    @property
    def name(self) -> str:
        return self.unique_name.split(NAME_SEPARATOR)[0]

    @property
    def title(self) -> str:
        """What messages call the grid: in a damaged file, names can be anything."""
        return f"grid {self.name[:40]!r}"


def _read_header(cursor: Cursor) -> bool:
    """Whether grids say where they end."""
    if cursor.left < 8 or cursor.number("Q") != MAGIC:
        raise VdbError(f"{cursor.path} is not an OpenVDB file: check its name")
    version = cursor.numbers("3I")[0]
    if version < OLDEST_VERSION:
        raise VdbError(
            f"{cursor.path} has the file version {version}, but {OLDEST_VERSION} or newer is "
            "needed: open and save it with a newer program"
        )
    seekable = bool(cursor.number("B"))
    cursor.take(UUID_LENGTH)
    read_metadata(cursor)
    return seekable


def _read_entry(cursor: Cursor) -> Entry:
    name, tree, parent = cursor.text(), cursor.text(), cursor.text()
    kind = TREES.get(tree.removesuffix(HALF_SUFFIX))
    if kind is not None and tree.endswith(HALF_SUFFIX):
        kind = replace(kind, half=True)
    return Entry(name, kind, parent, *cursor.numbers("3q"))


def _skip(cursor: Cursor, entry: Entry, seekable: bool) -> None:
    if not seekable:
        raise VdbError(
            f"{cursor.path} was written as a stream, so that {entry.title}, whose type is not "
            "supported, cannot be skipped: save it again without this grid"
        )
    cursor.seek(entry.end)


def _read_grid(
    cursor: Cursor, entry: Entry, kind: ValueType, grids: dict[str, VdbGrid], seekable: bool
) -> VdbGrid:
    """One grid; `grids` holds those before it, one of which may be its parent."""
    if seekable:
        cursor.seek(entry.start)
    compression = cursor.number("I")
    if compression & ~(ZIP | ACTIVE_MASK | BLOSC):
        raise cursor.damaged(f"{entry.title} is compressed in an unknown way")
    metadata = read_metadata(cursor)
    voxel_size, origin = read_transform(cursor, entry.title)
    if entry.parent and entry.parent not in grids:
        raise cursor.damaged(f"{entry.title} shares the tree of a missing grid")
    tree = grids[entry.parent] if entry.parent else _read_tree(cursor, kind, compression)
    if seekable and cursor.at != entry.end:
        raise cursor.damaged(f"{entry.title} should end at byte {entry.end}")
    return replace(
        tree,
        name=entry.name,
        voxel_size=voxel_size,
        origin=origin,
        grid_class=_grid_class(metadata),
        metadata=_kept(metadata),
    )


def _read_tree(cursor: Cursor, kind: ValueType, compression: int) -> VdbGrid:
    """A grid that has as yet neither name nor place."""
    background = read_background(cursor, kind)
    encoding = Encoding(kind, compression, background)
    origins, tiles = read_nodes(cursor, encoding)
    values, active = read_leaves(cursor, encoding, len(origins))
    vector = kind.channels == 3
    return VdbGrid(
        name="",
        origins=origins,
        values=values.reshape((-1, 8, 8, 8, 3) if vector else (-1, 8, 8, 8)),
        active=active.reshape(-1, 8, 8, 8),
        background=_background(narrow(background)),
        voxel_size=1.0,
        origin=(0.0, 0.0, 0.0),
        tiles=tiles if vector else tiles._replace(values=tiles.values[:, 0]),
    )


def _background(value: Floats) -> float | tuple[float, float, float]:
    numbers = value.tolist()
    if len(numbers) == 1:
        return float(numbers[0])
    x, y, z = numbers
    return x, y, z


def _grid_class(metadata: dict[str, MetaValue]) -> str:
    name = metadata.get("class")
    return name if isinstance(name, str) and name in CLASSES else "unknown"


def _kept(metadata: dict[str, MetaValue]) -> dict[str, MetaValue]:
    return {
        name: value
        for name, value in metadata.items()
        if name not in OWN_PLACE and not name.startswith(FILE_PREFIX)
    }
