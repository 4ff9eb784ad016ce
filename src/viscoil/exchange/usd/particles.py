"""Particles of a frame as UsdGeomPoints, one prim a material."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from viscoil.core.errors import RunError
from viscoil.exchange.usd.names import PARTICLES, identifier, identifiers
from viscoil.exchange.usd.values import Attribute, extent, prim_of, primvars, write
from viscoil.snapshots.snapshot import Array, MaterialLook, Snapshot

_BUILT_IN = ("position", "velocity", "id", "material", "size", "color")  # those with a place in USD


def add_particles(layer: Any, snapshot: Snapshot, channels: Sequence[str]) -> None:
    """A prim for each material, also without particles: else viewers would show an earlier frame."""
    missing = [name for name in channels if name not in snapshot.channels]
    if missing:
        known = ", ".join(sorted(snapshot.channels))
        raise RunError(f"frame {snapshot.frame} has no channel {missing[0]!r}: it has {known}")
    names = identifiers(look.name for look in snapshot.materials)
    parts = zip(names, snapshot.materials, _rows(snapshot), strict=True)
    for name, look, rows in parts:
        prim = prim_of(layer, f"{PARTICLES}/{name}", "Points")
        prim.SetInfo("displayName", look.name)
        prim.customData = {"material": look.name}
        for attribute in _attributes(snapshot, channels, rows, look):
            write(layer, prim, attribute, snapshot.frame)


def _rows(snapshot: Snapshot) -> list[Array]:
    """Particles of each material, by id, so that the same place holds the same particle if it can.

    Programs blend neighbouring frames of equally many points; blending different particles would
    send them across the scene.
    """
    n = len(snapshot.channels["position"])
    material = snapshot.channels.get("material")
    order = _by_id(snapshot.channels.get("id"), n)
    count = len(snapshot.materials)
    if material is None or not n:
        return [order, *(order[:0] for _ in range(count - 1))][:count]
    if int(material.min()) < 0 or int(material.max()) >= count:
        raise RunError(
            f"frame {snapshot.frame} has particles of material {int(material.max())}, and the "
            f"scene has {count} materials, counted from 0: run the scene again"
        )
    if count == 1:
        return [order]
    sorted_material = np.take(material, order)
    return [order[sorted_material == k] for k in range(count)]


def _by_id(ids: Array | None, n: int) -> Array:
    """Indices that put particles in the order of their ids."""
    if ids is None or not n:
        return np.arange(n)
    least, most = int(ids.min()), int(ids.max())
    if most - least >= 16 * n + 1024:  # few are left of many: a table of all would be too large
        return np.argsort(ids, kind="stable")
    slots = np.full(most - least + 1, -1, dtype=np.int64)
    slots[ids - least] = np.arange(n)
    order = slots[slots >= 0]
    return order if len(order) == n else np.argsort(ids, kind="stable")  # an id was given twice


def _attributes(
    snapshot: Snapshot, channels: Sequence[str], rows: Array, look: MaterialLook
) -> Iterator[Attribute]:
    known = snapshot.channels
    points = np.take(known["position"], rows, axis=0)
    yield Attribute("points", "Point3f", points)
    if "velocity" in known:
        velocities = np.take(known["velocity"], rows, axis=0)
        yield Attribute("velocities", "Vector3f", velocities)
    if "id" in known:
        yield Attribute("ids", "Int64", np.take(known["id"], rows))
    widths = _widths(snapshot, rows)
    yield widths
    largest = float(widths.values.max()) if len(widths.values) else 0.0
    yield extent(points, 0.5 * largest)
    yield _color(known.get("color"), rows, look)
    for name in channels:
        if name not in _BUILT_IN:
            yield from primvars(identifier(name), np.take(known[name], rows, axis=0))


def _widths(snapshot: Snapshot, rows: Array) -> Attribute:
    """Diameters (m). Whether they differ must be the same in all frames: the size channel tells."""
    sizes = snapshot.channels.get("size")
    if sizes is None:
        return Attribute("widths", "Float", np.array([snapshot.spacing]), "constant", constant=True)
    return Attribute("widths", "Float", snapshot.spacing * np.take(sizes, rows), "vertex")


def _color(colors: Array | None, rows: Array, look: MaterialLook) -> Attribute:
    """Of each particle if they have a colour of their own, else that of the material; linear RGB."""
    name = "primvars:displayColor"
    if colors is None:
        return Attribute(name, "Color3f", np.array([look.color]), "constant", constant=True)
    return Attribute(name, "Color3f", np.take(colors, rows, axis=0), "vertex")
