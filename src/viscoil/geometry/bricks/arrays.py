# mypy: disable-error-code="valid-type,index,no-untyped-def,no-untyped-call,misc,untyped-decorator"
"""Brick fields as kernels see them: all fields of a scene in one set of arrays."""

import dataclasses
from collections.abc import Sequence

import numpy as np
import quadrants as qd

from viscoil.core.compute import Floats, Ints, Vec3s, scalars, vec3, vec4, vectors, write
from viscoil.geometry.bricks.brick_field import BrickField, Int32


@dataclasses.dataclass
class BrickArrays:
    """One entry per field, then the tables and bricks of all fields one after the other."""

    origin: Vec3s  # m, in the frame of the mesh
    cell: Floats  # m
    band: Floats  # m
    beyond: Ints  # FREE or SOLID outside of the tables
    blocks: Ints  # (3 fields) blocks along x, y, z
    first_block: Ints  # of the field in `top`
    has_velocity: Ints
    has_friction: Ints
    top: Ints  # index into tables, FREE or SOLID
    table: Ints  # (512 tables) index of a brick, FREE or SOLID
    distance: Floats  # (729 bricks) m
    velocity: Vec3s  # (729 bricks) m/s, in the frame of the mesh; one entry if no field has any
    friction: Floats  # (729 bricks); one entry if no field has any


def pack_bricks(fields: Sequence[BrickField]) -> BrickArrays:
    """The fields in arrays of the backend; kernels know them by their place in the sequence."""
    blocks = [f.top.size for f in fields]
    tables = np.cumsum([0, *(len(f.table) for f in fields)])
    bricks = np.cumsum([0, *(len(f.places) for f in fields)])
    moving = any("velocity" in f.secondary for f in fields)
    rough = any("friction" in f.secondary for f in fields)
    arrays = BrickArrays(
        origin=vectors(3, len(fields)),
        cell=scalars(qd.f32, len(fields)),
        band=scalars(qd.f32, len(fields)),
        beyond=scalars(qd.i32, len(fields)),
        blocks=scalars(qd.i32, 3 * len(fields)),
        first_block=scalars(qd.i32, len(fields)),
        has_velocity=scalars(qd.i32, len(fields)),
        has_friction=scalars(qd.i32, len(fields)),
        top=scalars(qd.i32, sum(blocks)),
        table=scalars(qd.i32, 512 * int(tables[-1])),
        distance=scalars(qd.f32, 729 * int(bricks[-1])),
        velocity=vectors(3, 729 * int(bricks[-1]) if moving else 1),
        friction=scalars(qd.f32, 729 * int(bricks[-1]) if rough else 1),
    )
    write(arrays.origin, [f.origin for f in fields])
    write(arrays.cell, [f.cell for f in fields])
    write(arrays.band, [f.band for f in fields])
    write(arrays.beyond, [f.beyond for f in fields])
    write(arrays.blocks, [n for f in fields for n in f.top.shape])
    write(arrays.first_block, np.cumsum([0, *blocks])[:-1])
    write(arrays.has_velocity, ["velocity" in f.secondary for f in fields])
    write(arrays.has_friction, ["friction" in f.secondary for f in fields])
    for k, field in enumerate(fields):
        top = _shifted(field.top.transpose(2, 1, 0), tables[k])
        write(arrays.top, top.reshape(-1), sum(blocks[:k]))
        write(arrays.table, _shifted(field.table, bricks[k]).reshape(-1), 512 * int(tables[k]))
        first = 729 * int(bricks[k])
        write(arrays.distance, field.distance.reshape(-1), first)
        if "velocity" in field.secondary:
            write(arrays.velocity, field.secondary["velocity"].reshape(-1, 3), first)
        if "friction" in field.secondary:
            write(arrays.friction, field.secondary["friction"].reshape(-1), first)
    return arrays


def _shifted(indices: Int32, by: int) -> Int32:
    """Indices raised by a number; FREE and SOLID, which are no indices, stay."""
    return np.where(indices >= 0, indices + by, indices).astype(np.int32)


@qd.func
def _find(b: BrickArrays, f: qd.i32, cell: qd.types.vector(3, qd.i32)) -> qd.i32:
    """The brick that holds a cell of field f, FREE or SOLID."""
    found = b.beyond[f]
    block = cell >> 6
    nx, ny, nz = b.blocks[3 * f], b.blocks[3 * f + 1], b.blocks[3 * f + 2]
    inside = qd.min(cell[0], cell[1], cell[2]) >= 0
    if inside and block[0] < nx and block[1] < ny and block[2] < nz:
        found = b.top[b.first_block[f] + block[0] + nx * (block[1] + ny * block[2])]
        if found >= 0:
            at = (cell >> 3) & 7
            found = b.table[512 * found + at[0] + 8 * (at[1] + 8 * at[2])]
    return found


@qd.func
def _corner(brick: qd.i32, cell: qd.types.vector(3, qd.i32)) -> qd.i32:
    """The first of the eight corners of a cell, as an index into the values."""
    at = cell & 7
    return 729 * brick + at[0] + 9 * (at[1] + 9 * at[2])


@qd.func
def distance_in_bricks(b: BrickArrays, f: qd.i32, p: vec3) -> vec4:
    """Unit normal (xyz) and signed distance (w, m) of field f at p, in the frame of its mesh.

    Beyond the band the distance is ± band and the normal zero.
    """
    q = (p - b.origin[f]) / b.cell[f]
    cell = qd.cast(qd.floor(q), qd.i32)
    brick = _find(b, f, cell)
    result = vec4(0.0, 0.0, 0.0, b.band[f])
    if brick == -2:
        result[3] = -b.band[f]
    elif brick >= 0:
        t = q - qd.cast(cell, qd.f32)
        k = _corner(brick, cell)
        c00 = b.distance[k] + t[0] * (b.distance[k + 1] - b.distance[k])
        c10 = b.distance[k + 9] + t[0] * (b.distance[k + 10] - b.distance[k + 9])
        c01 = b.distance[k + 81] + t[0] * (b.distance[k + 82] - b.distance[k + 81])
        c11 = b.distance[k + 90] + t[0] * (b.distance[k + 91] - b.distance[k + 90])
        x0 = b.distance[k + 1] - b.distance[k]
        x1 = b.distance[k + 10] - b.distance[k + 9]
        x2 = b.distance[k + 82] - b.distance[k + 81]
        x3 = b.distance[k + 91] - b.distance[k + 90]
        low, high = c00 + t[1] * (c10 - c00), c01 + t[1] * (c11 - c01)
        slope = vec3(
            (1.0 - t[2]) * (x0 + t[1] * (x1 - x0)) + t[2] * (x2 + t[1] * (x3 - x2)),
            (1.0 - t[2]) * (c10 - c00) + t[2] * (c11 - c01),
            high - low,
        )
        n = slope / qd.max(slope.norm(), 1e-20)
        result = vec4(n[0], n[1], n[2], low + t[2] * (high - low))
    return result


@qd.func
def velocity_in_bricks(b: BrickArrays, f: qd.i32, p: vec3) -> vec3:
    """Velocity (m/s) of the surface of field f nearest to p, in the frame of its mesh."""
    velocity = vec3(0.0)
    if b.has_velocity[f] == 1:
        q = (p - b.origin[f]) / b.cell[f]
        cell = qd.cast(qd.floor(q), qd.i32)
        brick = _find(b, f, cell)
        if brick >= 0:
            t = q - qd.cast(cell, qd.f32)
            k = _corner(brick, cell)
            for corner in range(8):
                x, y, z = corner % 2, corner // 2 % 2, corner // 4
                share = qd.abs(1 - x - t[0]) * qd.abs(1 - y - t[1]) * qd.abs(1 - z - t[2])
                velocity += share * b.velocity[k + x + 9 * (y + 9 * z)]
    return velocity


@qd.func
def friction_in_bricks(b: BrickArrays, f: qd.i32, p: vec3, otherwise: qd.f32) -> qd.f32:
    """Friction coefficient of the surface of field f nearest to p, if the field knows it."""
    friction = otherwise
    if b.has_friction[f] == 1:
        q = (p - b.origin[f]) / b.cell[f]
        cell = qd.cast(qd.floor(q), qd.i32)
        brick = _find(b, f, cell)
        if brick >= 0:
            nearest = qd.cast(qd.round(q - qd.cast(cell, qd.f32)), qd.i32)
            k = _corner(brick, cell) + nearest[0] + 9 * (nearest[1] + 9 * nearest[2])
            friction = b.friction[k]
    return friction
