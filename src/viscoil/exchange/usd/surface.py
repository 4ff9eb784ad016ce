"""A surface of the fluid as UsdGeomMesh, with velocities for motion blur."""

from collections.abc import Iterator
from pathlib import Path

from viscoil.exchange.usd import library as usd
from viscoil.exchange.usd.names import SURFACE, identifier
from viscoil.exchange.usd.triangles import add_faces
from viscoil.exchange.usd.values import Attribute, extent, new_layer, prim_of, primvars, write
from viscoil.geometry.meshes import TriangleMesh
from viscoil.outputs.frames import frame_name
from viscoil.snapshots.snapshot import Array

_BUILT_IN = {
    "velocity": ("velocities", "Vector3f", None),
    "normal": ("normals", "Normal3f", "vertex"),
}


def surface_name(frame: int) -> str:
    """The file of a frame's surface, beside that of its particles."""
    return frame_name(frame, ".usdc").replace("frame", "surface")


def write_surface(path: Path, mesh: TriangleMesh, frame: int) -> None:
    """Writes the surface at a frame, whole or not at all.

    Attributes "velocity" (m/s), "normal" and "color" get their place in USD, others become
    primvars. Faces may change from frame to frame.
    """
    layer = new_layer(frame)
    with usd.Sdf.ChangeBlock():
        prim = prim_of(layer, SURFACE, "Mesh")
        add_faces(layer, prim, mesh, frame, constant=False)
        for attribute in _attributes(mesh):
            write(layer, prim, attribute, frame)
    usd.save(layer, path)


def _attributes(mesh: TriangleMesh) -> Iterator[Attribute]:
    yield Attribute("points", "Point3f", mesh.vertices)
    yield extent(mesh.vertices)
    for name, values in mesh.attributes.items():
        if name in _BUILT_IN and _vector(values, 3):
            place, kind, interpolation = _BUILT_IN[name]
            yield Attribute(place, kind, values, interpolation)
        elif name == "color" and (_vector(values, 3) or _vector(values, 4)):
            yield Attribute("primvars:displayColor", "Color3f", values[:, :3], "vertex")
        else:
            yield from primvars(identifier(name), values)


def _vector(values: Array, width: int) -> bool:
    return values.ndim == 2 and values.shape[1] == width
