"""Named values that go with a grid: NumPy types keep the width that they have in the file."""

import struct
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from viscoil.core.errors import VdbError
from viscoil.geometry.vdb.cursor import Cursor
from viscoil.geometry.vdb.grid import MetaValue
from viscoil.geometry.vdb.layout import Numbers

# dtype and shape of what is more than one number
ARRAYS: dict[str, tuple[str, tuple[int, ...]]] = {
    f"vec{n}{letter}": (dtype, (n,))
    for n in (2, 3, 4)
    for letter, dtype in (("i", "<i4"), ("s", "<f4"), ("d", "<f8"))
}
ARRAYS |= {"mat4s": ("<f4", (4, 4)), "mat4d": ("<f8", (4, 4))}
ARRAY_KINDS = {(np.dtype(dtype), shape): kind for kind, (dtype, shape) in ARRAYS.items()}
SCALARS = {"bool": "<?", "int32": "<i", "int64": "<q", "float": "<f", "double": "<d"}
PYTHON_TYPES: dict[str, Callable[[Any], MetaValue]] = {
    "bool": bool,
    "int32": int,
    "int64": np.int64,
    "float": np.float32,
    "double": float,
}


def text_bytes(text: str) -> bytes:
    """A text as the format has it, preceded by its length."""
    encoded = text.encode("utf-8", "replace")
    return struct.pack("<I", len(encoded)) + encoded


def read_metadata(cursor: Cursor) -> dict[str, MetaValue]:
    """All values whose type is known; other programs' private types are left out."""
    values: dict[str, MetaValue] = {}
    for _ in range(cursor.number("I")):
        name, kind = cursor.text(), cursor.text()
        value = _decode(cursor, kind, cursor.take(cursor.number("I")))
        if value is not None:
            values[name] = value
    return values


def _decode(cursor: Cursor, kind: str, data: bytes) -> MetaValue | None:
    if kind == "string":
        return data.decode("utf-8", "replace")
    try:
        if kind in ARRAYS:
            dtype, shape = ARRAYS[kind]
            array: Numbers = np.frombuffer(data, dtype).reshape(shape)
            return array
        if kind in SCALARS:
            scalar: MetaValue = PYTHON_TYPES[kind](*struct.unpack(SCALARS[kind], data))
            return scalar
    except (ValueError, struct.error):
        raise cursor.damaged(f"a {kind} of metadata has {len(data)} bytes") from None
    return None


def metadata_bytes(values: Mapping[str, MetaValue]) -> bytes:
    """All values, sorted by name as OpenVDB does."""
    pieces = [struct.pack("<I", len(values))]
    for name in sorted(values):
        kind, data = _encode(name, values[name])
        pieces += [text_bytes(name), text_bytes(kind), struct.pack("<I", len(data)), data]
    return b"".join(pieces)


def _encode(name: str, value: MetaValue) -> tuple[str, bytes]:
    if isinstance(value, str):
        return "string", value.encode("utf-8", "replace")
    array = np.asarray(value)
    if array.ndim:
        narrow = array.astype(np.int32) if array.dtype == np.int64 else array
        kind = ARRAY_KINDS.get((narrow.dtype, narrow.shape))
        if kind is None or not np.array_equal(narrow, array, equal_nan=True):
            raise _unfit(name, value)
        return kind, narrow.tobytes()
    kind = _scalar_kind(name, value)
    return kind, struct.pack(SCALARS[kind], value)


def _scalar_kind(name: str, value: MetaValue) -> str:
    if isinstance(value, bool | np.bool_):
        return "bool"
    if isinstance(value, int) and -(2**31) <= value < 2**31:
        return "int32"
    if isinstance(value, int | np.integer) and -(2**63) <= value < 2**63:
        return "int32" if isinstance(value, np.int32) else "int64"
    if isinstance(value, np.float32):
        return "float"
    if isinstance(value, float):
        return "double"
    raise _unfit(name, value)


def _unfit(name: str, value: object) -> VdbError:
    return VdbError(
        f"metadata {name!r} is {value!r}, but only texts, numbers, and vectors and matrices of "
        "numbers can be written: convert it"
    )
