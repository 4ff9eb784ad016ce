"""Distance fields of any triangle soup, in the three modes of DYVERSO's section 4.2."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from viscoil.core.errors import SceneError
from viscoil.geometry.bricks.brick_field import FREE, SOLID, BrickField, Float, Float32, Int32
from viscoil.geometry.bricks.caps import closing_points, extended, missing_bricks
from viscoil.geometry.bricks.hidden import without_hidden
from viscoil.geometry.bricks.layout import Layout, lay_out, tables
from viscoil.geometry.bricks.orient import oriented
from viscoil.geometry.bricks.rasterize import rasterize
from viscoil.geometry.bricks.sign import inside
from viscoil.geometry.bricks.winding import Winding

Mode = Literal["solid", "container", "shell"]
FACE_MIDDLE = 8 + 9 * (4 + 9 * 4)  # corner in the middle of a brick's face towards +x
SAFE = 1.01  # times the reach, for which bricks are laid out, so that rounding leaves none out


@dataclass(frozen=True)
class Request:
    """What decides a distance field besides the mesh."""

    cell: float
    """Edge of a cell, m."""
    band: float
    """Distance up to which the field is known, m."""
    offset: float = 0.0
    """How far the surface is moved into free space, m; half the thickness of a shell."""
    mode: Mode = "solid"
    """Solid inside the mesh, solid outside of it, or a shell about its faces."""
    cut: bool = True
    """Whether faces that others hide in part are cut there; that doubles the time of some meshes."""


class Surface(NamedTuple):
    """Triangles in cells, and the face that each belongs to (-1: it closes a hole)."""

    triangles: Float  # (m, 3, 3)
    face: Int32  # (m,)


class Raster(NamedTuple):
    layout: Layout
    distance: Float32  # (bricks, 729) unsigned, cells
    nearest: Int32  # (bricks, 729) triangle


def build(vertices: Float, faces: NDArray[np.integer], request: Request) -> BrickField:
    """The distance field of a mesh: vertices (n, 3) in m, faces (m, 3)."""
    faces = oriented(vertices, faces)
    reach = (request.band + abs(request.offset)) / request.cell
    low = vertices.min(axis=0) - request.cell * (reach + 1.0)
    extent = (np.ptp(vertices, axis=0) / request.cell + 2.0 * reach + 2.0) / 8.0
    if not (np.isfinite(extent).all() and (extent < 2**31).all()):
        raise SceneError("a mesh is too large for its cell_size: use a larger cell_size")
    x, y, z = (int(np.ceil(e)) for e in extent)
    in_cells = (vertices - low) / request.cell
    surface = Surface(in_cells[faces], np.arange(len(faces), dtype=np.int32))
    shape = (x, y, z)
    if request.mode == "shell":
        raster = _raster(surface, shape, reach)
        signed, states = raster.distance, _all_free(raster)
    else:
        surface, raster, within = _solid(surface, in_cells, faces, shape, reach, request.cut)
        signed = np.where(within, -raster.distance, raster.distance)
        states = _fill(raster, within)
    beyond = SOLID if request.mode == "container" else FREE
    top, table = tables(inverted(states) if request.mode == "container" else states, beyond)
    side = -1.0 if request.mode == "container" else 1.0
    values = np.clip(side * request.cell * signed - request.offset, -request.band, request.band)
    owner = np.append(surface.face, np.int32(-1))
    return BrickField(
        cell=request.cell,
        origin=low,
        band=request.band,
        beyond=beyond,
        top=top,
        table=table,
        places=raster.layout.places,
        distance=values.astype(np.float32),
        primitive=owner[raster.nearest],
    )


def _solid(
    surface: Surface,
    vertices: Float,
    faces: NDArray[np.integer],
    shape: tuple[int, int, int],
    reach: float,
    cut: bool,
) -> tuple[Surface, Raster, NDArray[np.bool_]]:
    """The surface of the solid that a mesh bounds, its distances, and which corners are inside.

    Holes are closed, and faces inside of the solid, where parts of the mesh overlap, do not count.
    """
    winding = Winding(vertices, faces)
    edges = boundary_edges(vertices, faces)

    def sign(raster: Raster) -> NDArray[np.bool_]:
        near = _near_edges(vertices[edges], raster.layout)
        return inside(raster.distance, raster.layout.places, winding, near)

    raster = _raster(surface, shape, reach)
    within = sign(raster)
    changed = surface
    if len(edges):
        changed = _closed(changed, raster, winding, sign)
    changed = Surface(*without_hidden(*changed, raster.layout, within, winding, cut))
    if changed.face is not surface.face:
        raster = _raster(changed, shape, reach)
        within = sign(raster)
    return changed, raster, within


def _closed(
    surface: Surface,
    raster: Raster,
    winding: Winding,
    sign: Callable[[Raster], NDArray[np.bool_]],
) -> Surface:
    """The surface and the points that close its holes, each a triangle whose corners coincide."""
    more = missing_bricks(raster.layout, winding)
    if len(more):
        layout = extended(raster.layout, more)
        reach = float(raster.distance.max(initial=1.0))
        raster = Raster(layout, *rasterize(layout, surface.triangles, reach))
    points = closing_points(raster.layout, raster.distance, sign(raster), winding)
    triangles = np.concatenate([surface.triangles, np.repeat(points[:, None, :], 3, axis=1)])
    face = np.concatenate([surface.face, np.full(len(points), -1, dtype=np.int32)])
    return Surface(triangles, face)


def _raster(surface: Surface, shape: tuple[int, int, int], reach: float) -> Raster:
    layout = lay_out(surface.triangles, shape, SAFE * reach)
    return Raster(layout, *rasterize(layout, surface.triangles, reach))


def _all_free(raster: Raster) -> Int32:
    """A dense table of brick places: the index of a brick, or FREE."""
    states = np.full(raster.layout.shape, FREE, dtype=np.int32)
    states[tuple(raster.layout.places.T)] = np.arange(len(raster.layout.places))
    return states


def _fill(raster: Raster, within: NDArray[np.bool_]) -> Int32:
    """The dense table of brick places, in which empty places inside the solid become SOLID.

    An empty place has the state of the last brick before it along x, at the middle of its +x face.
    """
    states = _all_free(raster)
    after = np.where(within[:, FACE_MIDDLE], SOLID, FREE).astype(np.int32)
    here = np.where(states >= 0, np.append(after, FREE)[states], 0)
    last = np.maximum.accumulate(np.where(here != 0, np.arange(len(states))[:, None, None], -1))
    filled = np.take_along_axis(here, np.maximum(last, 0), axis=0)
    return np.where(states >= 0, states, np.where(last >= 0, filled, FREE)).astype(np.int32)


def inverted(states: Int32) -> Int32:
    """FREE and SOLID exchanged."""
    return np.where(states == FREE, SOLID, np.where(states == SOLID, FREE, states)).astype(np.int32)


def boundary_edges(vertices: Float, faces: NDArray[np.integer]) -> NDArray[np.int64]:
    """(k, 2) Edges without an equal number of opposite ones: rims, and those of flipped faces.

    Vertices at the same place count as one. Without any such edge, the winding number of the mesh
    is constant away from its faces.
    """
    _, first, place = np.unique(vertices, axis=0, return_index=True, return_inverse=True)
    f = place.reshape(-1)[faces]
    edges = np.concatenate([f[:, [0, 1]], f[:, [1, 2]], f[:, [2, 0]]])
    low, high = edges.min(axis=1), edges.max(axis=1)
    found, index = np.unique(low * len(first) + high, return_inverse=True)
    forth = np.sign(edges[:, 1] - edges[:, 0])  # 0 for an edge without length
    balance = np.bincount(index.reshape(-1), forth, len(found))
    return np.asarray(first[np.stack(np.divmod(found[balance != 0], len(first)), axis=1)])


def _near_edges(edges: Float, layout: Layout) -> NDArray[np.bool_]:
    """Which bricks are within a brick of the edges (k, 2, 3), in cells."""
    marks = np.zeros(np.array(layout.shape) + 2, dtype=bool)
    length = np.linalg.norm(edges[:, 1] - edges[:, 0], axis=1)
    for share in np.linspace(0.0, 1.0, int(np.ceil(length.max(initial=0.0) / 8.0)) + 1):
        points = (1.0 - share) * edges[:, 0] + share * edges[:, 1]
        place = (points / 8.0).astype(np.int64) + 1
        for offset in np.ndindex(3, 3, 3):
            x, y, z = (place + offset - 1).T
            marks[x, y, z] = True
    x, y, z = layout.places.T + 1
    return np.asarray(marks[x, y, z])
