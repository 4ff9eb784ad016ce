# mypy: disable-error-code="valid-type,misc"
"""The fields of a scene as kernels see them."""

import dataclasses
import enum
from collections.abc import Sequence
from typing import Any

import numpy as np
import quadrants as qd

from viscoil.core.compute import Floats, Ints, Vec3s, scalars, vectors, write
from viscoil.forces.fields.noise import UNIT_RMS
from viscoil.scene import Field, Region
from viscoil.scene.fields import VortexField


class Kind(enum.IntEnum):
    """What a field does; cached kernels hold the values, so never renumber."""

    UNIFORM = 0
    WIND = 1
    SPIN = 2  # a vortex that drags to an angular speed
    SWIRL = 3  # a vortex that accelerates
    NOISE = 4
    ATTRACTOR = 5
    DRAG = 6


class Where(enum.IntEnum):
    """Kinds of regions; cached kernels hold the values, so never renumber."""

    EVERYWHERE = 0
    BOX = 1
    SPHERE = 2


@dataclasses.dataclass
class FieldTable:
    """One entry per field; what a kind does not use is 0."""

    kind: Ints  # a Kind
    share: Floats  # of the step during which the field acts
    amount: Floats  # m/s² or rad/s: strength, angular speed, or what scales unit noise
    radius: Floats  # m, of vortex and attractor; length of noise
    falloff: Floats  # power of an attractor
    rate: Floats  # k, 1/s
    quadratic: Floats  # q, 1/m
    center: Vec3s  # m; of noise, where its pattern has drifted to
    vector: Vec3s  # acceleration (m/s²), wind (m/s) or unit axis
    at_surface: Ints  # 1: only at the free surface
    where: Ints  # a Where
    region_center: Vec3s  # m
    region_half: Vec3s  # m: half sizes, or the radius in x
    region_edge: Floats  # m
    salt_now: Ints  # of the two pictures that noise blends
    salt_next: Ints
    weight_now: Floats
    weight_next: Floats
    acts_on: Ints  # (fields x materials) 1 if the field acts on the material


@dataclasses.dataclass(frozen=True)
class Row:
    """The constant numbers of a field."""

    kind: Kind
    amount: float = 0.0
    radius: float = 1.0
    falloff: float = 0.0
    rate: float = 0.0
    quadratic: float = 0.0
    center: tuple[float, float, float] = (0.0, 0.0, 0.0)
    vector: tuple[float, float, float] = (0.0, 0.0, 0.0)
    at_surface: int = 0


def spin_rate(field: VortexField) -> float:
    """k of a vortex that drags, 1/s."""
    return 1.0 if field.rate is None else field.rate


def row(field: Field) -> Row:
    """The numbers of a field as the scene describes it."""
    match field.type:
        case "uniform":
            return Row(Kind.UNIFORM, vector=field.acceleration)
        case "wind":
            surface = int(field.surface_only)
            return Row(Kind.WIND, rate=field.rate, vector=field.velocity, at_surface=surface)
        case "vortex":
            axis = _unit(field.axis)
            place: dict[str, Any] = {
                "radius": field.radius, "center": field.center, "vector": axis,
            }  # fmt: skip
            if field.angular_speed is not None:
                return Row(Kind.SPIN, field.angular_speed, rate=spin_rate(field), **place)
            assert field.strength is not None, "the scene has exactly one of the two"
            # `whirl` has the length R/2 where it is strongest
            return Row(Kind.SWIRL, 2.0 * field.strength / field.radius, **place)
        case "noise":
            return Row(Kind.NOISE, field.amplitude / UNIT_RMS, radius=field.length)
        case "attractor":
            place = {"radius": field.radius, "falloff": field.falloff, "center": field.center}
            return Row(Kind.ATTRACTOR, field.strength, **place)
        case "drag":
            return Row(Kind.DRAG, rate=field.linear, quadratic=field.quadratic)


def make_table(fields: Sequence[Field], materials: Sequence[str]) -> FieldTable:
    """All that does not change with time."""
    count = len(fields)
    arrays = {f.name: _allocate(f.type, count) for f in dataclasses.fields(FieldTable)}
    table = FieldTable(**{**arrays, "acts_on": scalars(qd.i32, count * len(materials))})
    rows = [row(field) for field in fields]
    for part in dataclasses.fields(Row):
        write(getattr(table, part.name), np.array([getattr(r, part.name) for r in rows]))
    write(
        table.acts_on, [int(not f.materials or m in f.materials) for f in fields for m in materials]
    )
    for k, field in enumerate(fields):
        if field.region is not None:
            _write_region(table, k, field.region)
    return table


def _write_region(table: FieldTable, k: int, region: Region) -> None:
    half = [0.5 * e for e in region.size] if region.size else [region.radius or 0.0, 0.0, 0.0]
    write(table.where, [Where[region.shape.upper()]], k)
    write(table.region_center, [region.center], k)
    write(table.region_half, [half], k)
    write(table.region_edge, [region.soft_edge], k)


def _allocate(kind: Any, count: int) -> Any:
    if kind is Vec3s:
        return vectors(3, count)
    return scalars(qd.i32 if kind is Ints else qd.f32, count)


def _unit(v: tuple[float, float, float]) -> tuple[float, float, float]:
    x, y, z = np.asarray(v) / np.linalg.norm(v)
    return float(x), float(y), float(z)
