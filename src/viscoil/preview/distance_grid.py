# mypy: disable-error-code="valid-type,name-defined,attr-defined,index,operator"
# mypy: disable-error-code="no-untyped-def,no-any-return,untyped-decorator"
"""The fluid's surface as a sparse grid of signed distances.

Particles are blended as in Zhu and Bridson, "Animating sand as a fluid" (2005): the distance at a
point is that to the weighted mean of the particles around it, less a radius. With the weight
(1 - s^2)^3 the mean lies 0.246 supports below the surface of a half space, so that a support of
2.5 spacings and a radius of 0.62 spacings put a flat surface where it is, half a spacing above its
outermost particles, and give a lone drop its own volume (4/3 pi 0.62^3 = 1). The method is bad at
sharp edges, which it rounds by about one spacing. Where particles differ in size each has a support
of its own spacing, and offsets count in units of it: the surface is where their mean is 0.248.

Each block of the grid gathers from its particles in a fixed order, so that the result does not
depend on the number of threads. Kernels must be pure, so they write the constants 8 (cells per
block side), 9 (nodes) and 729 (nodes per block) as numbers.
"""

import dataclasses
from typing import Any

import numpy as np
import quadrants as qd

from viscoil.core.compute import replace
from viscoil.preview.blocks import CELLS, NODES, Blocks, sort_into_blocks
from viscoil.snapshots.snapshot import Array

vec3 = qd.types.vector(3, qd.f32)
vec4 = qd.types.vector(4, qd.f32)
ivec3 = qd.types.vector(3, qd.i32)

SUPPORT = 2.5  # radius of the blend, in spacings
RADIUS = 0.62  # of a particle, in spacings; see the module's text
BLOCKS_PER_PASS = 4096  # bounds the scratch memory to about 50 MB


@dataclasses.dataclass
class DistanceGrid:
    """A surface on the device, as kernels see it."""

    slot: qd.types.NDArray[qd.i32, 3]  # number of the block at a place; -k: k places to the nearest
    occupancy: qd.types.NDArray[qd.f32, 3]  # share of a block's place that fluid fills
    distance: qd.types.NDArray[qd.f32, 1]  # m, 9 x 9 x 9 nodes per block; negative inside
    paint: qd.types.NDArray[vec4, 4]  # rgb and transmission per node; one entry if all alike
    frame: qd.types.NDArray[vec3, 1]  # origin; block, cell and particle spacing; lower; upper (m)


@dataclasses.dataclass
class BlockParticles:
    """Particles on the device, sorted by the block in whose place they are."""

    place: qd.types.NDArray[ivec3, 1]  # of each block with distances, among all places
    start: qd.types.NDArray[qd.i32, 1]  # of each place's particles in the arrays below, and the end
    position: qd.types.NDArray[vec3, 1]  # m
    size: qd.types.NDArray[qd.f32, 1]  # in spacings; one entry if all alike
    paint: qd.types.NDArray[vec4, 1]  # rgb and transmission; one entry if all alike


@qd.func
def add_particle(
    position: vec3,
    paint: vec4,
    corner: vec3,
    cell: qd.f32,
    support: qd.f32,
    b: qd.i32,
    c: qd.i32,
    painted: qd.i32,
    total: qd.types.NDArray[vec4, 1],
    colors: qd.types.NDArray[vec4, 4],
):
    """Adds a particle to the sums of the nodes that it reaches: row `b` of sums, `c` of colours.

    Offsets from the node, not positions, are summed: they lose no digits far from the origin.
    """
    local = (position - corner) / cell
    r = support / cell
    scale = cell / support
    low = qd.max(qd.cast(qd.ceil(local - r), qd.i32), 0)
    high = qd.min(qd.cast(qd.floor(local + r), qd.i32), 8)
    for i in range(low.x, high.x + 1):
        x = (local.x - i) * scale
        for j in range(low.y, high.y + 1):
            y = (local.y - j) * scale
            row = 1.0 - x * x - y * y
            if row > 0.0:
                reach = r * qd.sqrt(row)
                first = qd.max(qd.cast(qd.ceil(local.z - reach), qd.i32), 0)
                last = qd.min(qd.cast(qd.floor(local.z + reach), qd.i32), 8)
                row_start = b * 729 + i * 81 + j * 9
                for k in range(first, last + 1):
                    z = (local.z - k) * scale
                    q = qd.max(row - z * z, 0.0)
                    w = q * q * q
                    # Not `+=`, which would be an atomic: the block belongs to this thread.
                    at = row_start + k
                    total[at] = total[at] + w * qd.Vector([x, y, z, 1.0])
                    if painted == 1:
                        colors[c, i, j, k] = colors[c, i, j, k] + w * paint


@qd.kernel(fastcache=True)
def sum_blocks(
    first: qd.i32,
    count: qd.i32,
    painted: qd.i32,
    sized: qd.i32,
    support: qd.f32,
    particles: BlockParticles,
    grid: DistanceGrid,
    total: qd.types.NDArray[vec4, 1],
):
    """Sums over all particles that reach each block's nodes.

    Weights and weighted offsets go into `total`, weighted colours into the grid's paint.
    """
    for b in range(count):
        for node in range(729):
            total[b * 729 + node] = qd.Vector([0.0, 0.0, 0.0, 0.0])
            if painted == 1:
                grid.paint[first + b, node // 81, node // 9 % 9, node % 9] = qd.Vector(
                    [0.0, 0.0, 0.0, 0.0]
                )
        here = particles.place[first + b]
        width = grid.frame[1].x
        corner = grid.frame[0] + width * qd.cast(here, qd.f32)
        for di, dj, dk in qd.ndrange((-1, 2), (-1, 2), (-1, 2)):
            at = here + qd.Vector([di, dj, dk])
            if (
                at.min() >= 0
                and at.x < grid.slot.shape[0]
                and at.y < grid.slot.shape[1]
                and at.z < grid.slot.shape[2]
            ):
                flat = (at.x * grid.slot.shape[1] + at.y) * grid.slot.shape[2] + at.z
                for p in range(particles.start[flat], particles.start[flat + 1]):
                    color = qd.Vector([0.0, 0.0, 0.0, 0.0])
                    if painted == 1:
                        color = particles.paint[p]
                    reach = support
                    if sized == 1:
                        reach *= particles.size[p]
                    add_particle(
                        particles.position[p], color, corner, grid.frame[1].y, reach,
                        b, first + b, painted, total, grid.paint,
                    )  # fmt: skip


@qd.kernel(fastcache=True)
def finish_blocks(
    first: qd.i32,
    count: qd.i32,
    painted: qd.i32,
    support: qd.f32,
    radius: qd.f32,
    total: qd.types.NDArray[vec4, 1],
    grid: DistanceGrid,
):
    """Turns the sums into distances (m) and mean colours."""
    for b, i, j, k in qd.ndrange(count, 9, 9, 9):
        node = i * 81 + j * 9 + k
        s = total[b * 729 + node]
        d = support - radius
        if s.w > 1e-6:
            d = support * qd.Vector([s.x, s.y, s.z]).norm() / s.w - radius
        grid.distance[(first + b) * 729 + node] = d
        if painted == 1:
            c = grid.paint[first + b, i, j, k]
            grid.paint[first + b, i, j, k] = c / qd.max(s.w, 1e-6)


def device_array(array: Array, dtype: Any) -> Any:
    """A copy of a NumPy array on the device; the last axis is the element of vector types."""
    shape = array.shape if dtype in (qd.f32, qd.i32) else array.shape[:-1]
    out = qd.ndarray(dtype, shape=shape)
    replace(out, array)
    return out


def build_distance_grid(
    position: Array, paint: Array, spacing: float, size: Array | None = None
) -> DistanceGrid:
    """The surface of particles at `position` (n, 3), n > 0, with rgb and transmission (n, 4).

    Where all particles are painted alike, `paint` may have a single row. Particles may have spacings
    `size` (n,) times `spacing`, size >= 1.
    """
    blocks = sort_into_blocks(position, spacing, size)
    width = CELLS * blocks.cell
    scale = (width, blocks.cell, spacing)
    frame = np.array([blocks.origin, scale, blocks.lower, blocks.upper], dtype=np.float32)
    shape = blocks.slot.shape
    share = _filled(blocks, size).reshape(shape) * (spacing / width) ** 3
    count, painted = len(blocks.place), len(paint) > 1
    painted_shape = (count, NODES, NODES, NODES) if painted else (1, 1, 1, 1)
    grid = DistanceGrid(
        slot=device_array(blocks.slot, qd.i32),
        occupancy=device_array(np.minimum(share, 1.0).astype(np.float32), qd.f32),
        distance=qd.ndarray(qd.f32, shape=(count * NODES**3,)),
        paint=qd.ndarray(vec4, shape=painted_shape),
        frame=device_array(frame, vec3),
    )
    if not painted:
        replace(grid.paint, paint.reshape(1, 1, 1, 1, 4).astype(np.float32))
    _fill(grid, blocks, position, paint, spacing, size)
    return grid


def _filled(blocks: Blocks, size: Array | None) -> Array:
    """Volume of the particles in each block's place, in those of the smallest."""
    if size is None:
        return np.diff(blocks.start)
    volume = np.concatenate([[0.0], np.cumsum(size[blocks.order].astype(np.float64) ** 3)])
    return np.asarray(np.diff(volume[blocks.start]))


def _fill(
    grid: DistanceGrid,
    blocks: Blocks,
    position: Array,
    paint: Array,
    spacing: float,
    size: Array | None,
) -> None:
    """Computes distances and colours, some blocks at a time to bound the scratch memory."""
    count, painted = len(blocks.place), len(paint) > 1
    # Cells coarsened to save memory need a support that still spans them.
    support = max(SUPPORT * spacing, 2.0 * blocks.cell)
    radius = RADIUS / SUPPORT * support
    sized = size is not None
    sizes = np.ones(1) if size is None else size[blocks.order]
    paints = paint[blocks.order] if painted else paint
    particles = BlockParticles(
        place=device_array(blocks.place, ivec3),
        start=device_array(blocks.start, qd.i32),
        position=device_array(position[blocks.order].astype(np.float32), vec3),
        size=device_array(sizes.astype(np.float32), qd.f32),
        paint=device_array(paints.astype(np.float32), vec4),
    )
    total = qd.ndarray(vec4, shape=(min(count, BLOCKS_PER_PASS) * NODES**3,))
    for first in range(0, count, BLOCKS_PER_PASS):
        n = min(BLOCKS_PER_PASS, count - first)
        sum_blocks(first, n, painted, sized, support, particles, grid, total)
        finish_blocks(first, n, painted, support, radius, total, grid)


def empty_distance_grid() -> DistanceGrid:
    """A surface of nothing: its bounds are empty, so that no ray enters it."""
    frame = np.array([[0, 0, 0], [1, 1, 1], [1, 1, 1], [-1, -1, -1]], dtype=np.float32)
    return DistanceGrid(
        slot=device_array(np.full((1, 1, 1), -1, dtype=np.int32), qd.i32),
        occupancy=device_array(np.zeros((1, 1, 1), dtype=np.float32), qd.f32),
        distance=device_array(np.ones(NODES**3, dtype=np.float32), qd.f32),
        paint=device_array(np.ones((1, 1, 1, 1, 4), dtype=np.float32), vec4),
        frame=device_array(frame, vec3),
    )


@qd.func
def block_distance(f: DistanceGrid, b: qd.i32, local: vec3) -> qd.f32:
    """Distance (m) in block `b` at `local` in cells, each in 0..8, linear between the nodes."""
    c = qd.min(qd.max(qd.cast(local, qd.i32), 0), 7)
    w = local - qd.cast(c, qd.f32)
    n = b * 729 + c.x * 81 + c.y * 9 + c.z
    a00 = f.distance[n] + (f.distance[n + 1] - f.distance[n]) * w.z
    a01 = f.distance[n + 9] + (f.distance[n + 10] - f.distance[n + 9]) * w.z
    a10 = f.distance[n + 81] + (f.distance[n + 82] - f.distance[n + 81]) * w.z
    a11 = f.distance[n + 90] + (f.distance[n + 91] - f.distance[n + 90]) * w.z
    b0 = a00 + (a01 - a00) * w.y
    b1 = a10 + (a11 - a10) * w.y
    return b0 + (b1 - b0) * w.x


@qd.func
def block_at(f: DistanceGrid, place: vec3) -> qd.i32:
    """What `slot` holds at a place in block units; -1 outside of it."""
    c = qd.cast(qd.floor(place), qd.i32)
    b = -1
    inside = c.min() >= 0
    if inside and c.x < f.slot.shape[0] and c.y < f.slot.shape[1] and c.z < f.slot.shape[2]:
        b = f.slot[c.x, c.y, c.z]
    return b


@qd.func
def distance_at(f: DistanceGrid, x: vec3) -> qd.f32:
    """Distance (m) to the surface at a point; one spacing where no block is near."""
    place = (x - f.frame[0]) / f.frame[1].x
    b = block_at(f, place)
    d = f.frame[1].z
    if b >= 0:
        d = block_distance(f, b, (place - qd.floor(place)) * 8.0)
    return d


@qd.func
def normal_at(f: DistanceGrid, x: vec3) -> vec3:
    """Outward unit normal from differences over a cell to either side, which also smooths it."""
    g = qd.Vector([0.0, 0.0, 0.0])
    for axis in range(3):
        e = qd.Vector([0.0, 0.0, 0.0])
        if axis == 0:
            e.x = f.frame[1].y
        elif axis == 1:
            e.y = f.frame[1].y
        else:
            e.z = f.frame[1].y
        slope = distance_at(f, x + e) - distance_at(f, x - e)
        g += slope * e
    return g / qd.max(g.norm(), 1e-20)


@qd.func
def paint_at(f: DistanceGrid, x: vec3) -> vec4:
    """Colour and transmission at a point on the surface, linear between the nodes."""
    color = f.paint[0, 0, 0, 0]
    if f.paint.shape[1] > 1:
        place = (x - f.frame[0]) / f.frame[1].x
        b = block_at(f, place)
        if b >= 0:
            local = (place - qd.floor(place)) * 8.0
            c = qd.min(qd.cast(local, qd.i32), 7)
            w = local - qd.cast(c, qd.f32)
            color *= 0.0
            for i, j, k in qd.ndrange(2, 2, 2):
                side = 1.0 - qd.Vector([i, j, k]) - w
                share = qd.abs(side.x * side.y * side.z)
                color += share * f.paint[b, c.x + i, c.y + j, c.z + k]
    return color


@qd.func
def occupancy_at(f: DistanceGrid, x: vec3) -> qd.f32:
    """Share of space around a point that fluid fills, smooth over a block's width."""
    q = (x - f.frame[0]) / f.frame[1].x - 0.5
    base = qd.floor(q)
    w = q - base
    c = qd.cast(base, qd.i32)
    total = 0.0
    nx, ny, nz = f.slot.shape[0], f.slot.shape[1], f.slot.shape[2]
    if c.min() >= -1 and c.x < nx and c.y < ny and c.z < nz:
        for i, j, k in qd.ndrange(2, 2, 2):
            at = c + qd.Vector([i, j, k])
            if at.min() >= 0 and at.x < nx and at.y < ny and at.z < nz:
                side = 1.0 - qd.Vector([i, j, k]) - w
                total += qd.abs(side.x * side.y * side.z) * f.occupancy[at.x, at.y, at.z]
    return total
