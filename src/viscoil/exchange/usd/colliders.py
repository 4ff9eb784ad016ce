"""Colliders in USD: their triangles in the stage, and what changes of them in the frames."""

from typing import Any

from viscoil.colliders.primitives import pose
from viscoil.exchange.usd import library as usd
from viscoil.exchange.usd.names import COLLIDERS, collider_name
from viscoil.exchange.usd.triangles import add_faces
from viscoil.exchange.usd.values import (
    Attribute,
    declare,
    extent,
    packed,
    prim_of,
    set_uniform,
    write,
)
from viscoil.geometry.meshes import TriangleMesh
from viscoil.scene import Collider, Scene
from viscoil.snapshots.collider_meshes import collider_mesh, deforms
from viscoil.snapshots.snapshot import ColliderPose, Snapshot

_STEPS = {"translate": "Double3", "orient": "Quatd", "scale": "Double3"}  # in this order


def add_motion(layer: Any, snapshot: Snapshot) -> None:
    """Where colliders that move stand at a frame, and the points of those that deform."""
    for index, collider in enumerate(snapshot.colliders):
        spec = collider.spec
        if not spec.visible or not (_moves(spec) or deforms(spec)):
            continue
        mesh = collider_mesh(spec, snapshot.time)
        if mesh is None:
            continue
        prim = prim_of(layer, f"{COLLIDERS}/{collider_name(index, spec.shape)}", None)
        if _moves(spec):
            for name, value in _placed(collider).items():
                attribute = declare(prim, f"xformOp:{name}", _STEPS[name])
                layer.SetTimeSample(attribute.path, float(snapshot.frame), value)
        if deforms(spec):
            for points in (_points(mesh), extent(mesh.vertices)):
                write(layer, prim, points, snapshot.frame)


def add_colliders(layer: Any, scene: Scene) -> list[tuple[str, Collider]]:
    """The triangles of all visible colliders, and the places of those that stay; their paths.

    A level set has no triangles and is left out.
    """
    found = []
    for index, spec in enumerate(scene.colliders):
        mesh = collider_mesh(spec) if spec.visible else None
        if mesh is None:
            continue
        path = f"{COLLIDERS}/{collider_name(index, spec.shape)}"
        prim = prim_of(layer, path, "Mesh")
        _add_triangles(layer, prim, mesh, spec)
        _add_place(prim, spec)
        found.append((path, spec))
    return found


def is_window(spec: Collider) -> bool:
    """Whether one has to see through it: a box that holds the fluid."""
    return spec.shape == "box" and spec.container


def _moves(spec: Collider) -> bool:
    return bool(spec.motion) or bool(getattr(spec, "dynamic", False))


def _points(mesh: TriangleMesh, constant: bool = False) -> Attribute:
    return Attribute("points", "Point3f", mesh.vertices, constant=constant)


def _add_triangles(layer: Any, prim: Any, mesh: TriangleMesh, spec: Collider) -> None:
    add_faces(layer, prim, mesh, 0, constant=True)
    set_uniform(prim, "doubleSided", "Bool", not is_window(spec))
    if not deforms(spec):
        write(layer, prim, _points(mesh, constant=True), 0)
        declare(prim, "extent", "Float3Array").default = packed(
            "Float3", extent(mesh.vertices).values
        )


def _add_place(prim: Any, spec: Collider) -> None:
    """The order of its transforms, and their values if it stays where it is."""
    rest = ColliderPose(spec, *pose(spec, 0.0))
    for name, value in _placed(rest).items():
        attribute = declare(prim, f"xformOp:{name}", _STEPS[name])
        if not _moves(spec):
            attribute.default = value
    order = usd.Vt.TokenArray([f"xformOp:{name}" for name in _STEPS])
    set_uniform(prim, "xformOpOrder", "TokenArray", order)


def _placed(collider: ColliderPose) -> dict[str, Any]:
    """Position (m), turn and size; a point is scaled, turned, then moved."""
    x, y, z, w = (float(q) for q in collider.orientation)
    return {
        "translate": usd.Gf.Vec3d(*(float(p) for p in collider.position)),
        "orient": usd.Gf.Quatd(w, x, y, z),
        "scale": usd.Gf.Vec3d(float(collider.scale)),
    }
