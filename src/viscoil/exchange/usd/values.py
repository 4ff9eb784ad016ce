"""NumPy arrays as USD values, and attributes that hold them at a frame."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from viscoil.core.errors import RunError
from viscoil.exchange.usd import library as usd
from viscoil.snapshots.snapshot import Array

_FLOATS = {1: "Float", 2: "Float2", 3: "Float3", 4: "Float4"}
_WHOLE = {1: "Int", 2: "Int2", 3: "Int3", 4: "Int4"}
_VT = {
    "Float": "FloatArray", "Float2": "Vec2fArray", "Float3": "Vec3fArray", "Float4": "Vec4fArray",
    "Int": "IntArray", "Int2": "Vec2iArray", "Int3": "Vec3iArray", "Int4": "Vec4iArray",
    "Int64": "Int64Array", "Point3f": "Vec3fArray", "Vector3f": "Vec3fArray",
    "Normal3f": "Vec3fArray", "Color3f": "Vec3fArray",
}  # fmt: skip


@dataclass(frozen=True)
class Attribute:
    """Values of a prim: `kind` is the type that USD calls `kind`Array, such as "Point3f".

    They are those of a frame, or of all frames if `constant`, when one value stands for all points.
    """

    name: str
    kind: str
    values: Array
    interpolation: str | None = None  # none for those that are no primvars
    constant: bool = False


def write(layer: Any, prim: Any, attribute: Attribute, frame: int) -> None:
    """Puts an attribute into a prim of a layer."""
    spec = declare(prim, attribute.name, f"{attribute.kind}Array", attribute.interpolation)
    values = packed(attribute.kind, attribute.values)
    if attribute.constant:
        spec.default = values
    else:
        layer.SetTimeSample(spec.path, float(frame), values)


def declare(prim: Any, name: str, kind: str, interpolation: str | None = None) -> Any:
    """An attribute without a value."""
    spec = usd.Sdf.AttributeSpec(prim, name, getattr(usd.Sdf.ValueTypeNames, kind))
    if interpolation is not None:
        spec.SetInfo("interpolation", interpolation)
    return spec


def set_uniform(prim: Any, name: str, kind: str, value: Any) -> None:
    """An attribute that cannot change over time, such as an order or a choice."""
    sdf = usd.Sdf
    kinds = sdf.ValueTypeNames
    spec = sdf.AttributeSpec(prim, name, getattr(kinds, kind), sdf.VariabilityUniform)
    spec.default = value


WIDTHS = (*_FLOATS, 6)
"""Numbers for each point that a channel may have; six are a symmetric tensor."""


def packed(kind: str, values: Array) -> Any:
    """A USD array; the numbers are copied as one block."""
    whole = np.int64 if kind == "Int64" else np.int32
    dtype = whole if kind.startswith("Int") else np.float32
    make = getattr(usd.Vt, _VT[kind])
    numbers = np.ascontiguousarray(values, dtype=dtype)
    return make.FromNumpy(numbers) if len(numbers) else make()


def primvars(name: str, values: Array, interpolation: str = "vertex") -> Iterator[Attribute]:
    """A channel in the type that fits; a symmetric tensor comes as its diagonal and the rest.

    Raises RunError for a channel of a width that USD has no type for.
    """
    width = 1 if values.ndim == 1 else values.shape[1]
    if width == 6:
        yield from primvars(f"{name}_diagonal", values[:, :3], interpolation)
        yield from primvars(f"{name}_shear", values[:, 3:], interpolation)
    elif width in _FLOATS and values.ndim <= 2 and values.dtype.kind in "fiub":
        column = values[:, 0] if values.ndim == 2 and width == 1 else values
        yield Attribute(f"primvars:{name}", _kind(values, width), column, interpolation)
    else:
        raise RunError(
            f"the channel {name!r} has {width} numbers for each point, and USD has types for 1, 2, "
            "3, 4 and 6: leave it out with --channels"
        )


def _kind(values: Array, width: int) -> str:
    if values.dtype.kind == "f":
        return _FLOATS[width]
    large = not np.can_cast(values.dtype, np.int32)
    return "Int64" if large and width == 1 else _WHOLE[width]


def extent(points: Array, radius: float = 0.0) -> Attribute:
    """The box about points (m), grown by a radius; of no points it is USD's empty box."""
    if len(points):
        # column by column, which is nine times as fast as along the first axis
        low, high = ([pick(column) for column in points.T] for pick in (np.min, np.max))
        corners = np.array([low, high]) + np.array([[-radius], [radius]])
    else:
        most = np.finfo(np.float32).max
        corners = np.array([[most] * 3, [-most] * 3])
    return Attribute("extent", "Float3", corners)


def new_layer(frame: int) -> Any:
    """An empty layer of a frame, in metres with y up."""
    layer = usd.Sdf.Layer.CreateAnonymous(".usdc")
    root = layer.pseudoRoot
    root.SetInfo("upAxis", "Y")
    root.SetInfo("metersPerUnit", 1.0)
    layer.defaultPrim = "World"
    layer.startTimeCode = layer.endTimeCode = float(frame)
    return layer


def prim_of(layer: Any, path: str, kind: str | None) -> Any:
    """A prim of that type, with parents that are Xforms; without a type it only adds to one."""
    spec = usd.Sdf.CreatePrimInLayer(layer, path)
    if kind is None:
        return spec
    spec.specifier = usd.Sdf.SpecifierDef
    spec.typeName = kind
    parent = spec.nameParent
    while parent is not None:
        parent.specifier, parent.typeName = usd.Sdf.SpecifierDef, "Xform"
        parent = parent.nameParent
    return spec
