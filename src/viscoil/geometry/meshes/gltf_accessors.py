"""Arrays of numbers in glTF buffers: strides, component types, normalised integers."""

from typing import Any

import numpy as np
import numpy.typing as npt

from viscoil.core.errors import MeshError
from viscoil.geometry.meshes.gltf_document import Document, get_count, get_object, malformed

_COMPONENTS = {5120: "i1", 5121: "u1", 5122: "i2", 5123: "u2", 5125: "u4", 5126: "f4"}
_WIDTHS = {"SCALAR": 1, "VEC2": 2, "VEC3": 3, "VEC4": 4}
_MAX_STRIDE = 252  # § 5.11.4
_COMPRESSED = ("EXT_meshopt_compression", "KHR_meshopt_compression")


def accessor_shape(document: Document, index: object) -> tuple[int, int]:
    """Rows and columns of an accessor, without reading it."""
    entry = document.item("accessors", index)
    width = entry.get("type")
    if not isinstance(width, str) or width not in _WIDTHS:
        raise malformed(f"accessors[{index}] has a type that is no scalar and no vector")
    return get_count(entry, "count", f"accessors[{index}]"), _WIDTHS[width]


def read_accessor(document: Document, index: object) -> npt.NDArray[Any]:
    """Numbers as they are stored, shape (count, width); a view of the buffer."""
    count, width = accessor_shape(document, index)
    entry = document.item("accessors", index)
    where = f"accessors[{index}]"
    if "sparse" in entry:
        raise MeshError(f"{where} is sparse, which is not read: export the mesh without it")
    kind = entry.get("componentType")
    if type(kind) is not int or kind not in _COMPONENTS:
        raise malformed(f"{where} has a componentType that is not known")
    if "bufferView" not in entry:
        raise malformed(f"{where} has no bufferView")
    number = np.dtype("<" + _COMPONENTS[kind])
    data, start, end, stride = _view(document, entry["bufferView"], width * number.itemsize)
    start += get_count(entry, "byteOffset", where, 0)
    if count and start + (count - 1) * stride + width * number.itemsize > end:
        raise MeshError(
            f"{where} says that it has {count} rows, which is more than its bufferView holds: "
            "the file is damaged, so export it again"
        )
    if not count:
        return np.zeros((0, width), dtype=number)
    return np.ndarray((count, width), number, data, start, (stride, number.itemsize))


def read_floats(document: Document, index: object) -> npt.NDArray[Any]:
    """The same with normalised integers as −1 to 1 or 0 to 1, glTF 2.0 § 3.6.2.2."""
    stored = read_accessor(document, index)
    if document.item("accessors", index).get("normalized") is not True or stored.dtype.kind == "f":
        return stored
    return np.maximum(stored / np.float32(np.iinfo(stored.dtype).max), np.float32(-1))


def _view(document: Document, index: object, packed: int) -> tuple[memoryview, int, int, int]:
    """Buffer, first byte, end, and bytes from row to row."""
    view = document.item("bufferViews", index)
    where = f"bufferViews[{index}]"
    if any(name in get_object(view, "extensions", where) for name in _COMPRESSED):
        raise MeshError(
            f"{where} is compressed with meshopt, which is not read: export the mesh uncompressed"
        )
    data = document.buffer(view.get("buffer"))
    start = get_count(view, "byteOffset", where, 0)
    end = start + get_count(view, "byteLength", where)
    stride = get_count(view, "byteStride", where, packed)
    if end > len(data):
        raise MeshError(
            f"{where} ends at byte {end} of a buffer of {len(data)}: "
            "the file is cut off, so export it again"
        )
    if not packed <= stride <= max(packed, _MAX_STRIDE):
        raise malformed(f"byteStride of {where} is {stride} but a row has {packed} bytes")
    return data, start, end, stride
