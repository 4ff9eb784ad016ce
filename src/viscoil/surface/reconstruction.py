"""The triangles around the particles of a frame, made by splashsurf.

Each material gets a closed surface of its own, and the surfaces lie side by side in one mesh: no triangle
joins two materials, and the vertex attribute `material` tells them apart.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from viscoil.core.errors import MissingExtraError, RunError
from viscoil.geometry.meshes import TriangleMesh
from viscoil.snapshots.snapshot import Array, Snapshot, check_places
from viscoil.surface.settings import NORMAL_SMOOTHING, SNAP, SUPPORT, THRESHOLD, SurfaceSettings

LONGEST_SIDE = 2**22  # cubes
MOST_CUBES = 2**62  # the library numbers them with 64 bits


def require_library() -> Any:
    """The module pysplashsurf, or MissingExtraError."""
    try:
        import pysplashsurf
    except ImportError:
        raise MissingExtraError(
            "surfaces need pysplashsurf, which is not here: pip install 'viscoil[surface]'"
        ) from None
    return pysplashsurf


def surface_of(snapshot: Snapshot, settings: SurfaceSettings | None = None) -> TriangleMesh:
    """The surface of the fluid, m, with `normal`, `material`, `velocity` and chosen attributes.

    Without particles it is a mesh without faces. Particles of several sizes are cut into small ones.
    """
    settings = settings or SurfaceSettings()
    require_library()
    check_places(snapshot)
    channels = {name: snapshot.channels[name] for name in _carried(snapshot, settings)}
    position = np.asarray(snapshot.channels["position"], dtype=np.float64)
    material = snapshot.channels.get("material", np.zeros(len(position), dtype=np.int32))
    spacing = snapshot.spacing
    if "size" in snapshot.channels:
        size = np.asarray(snapshot.channels["size"], dtype=np.float64)
        position, row, spacing = split(position, size * spacing)
        material = material[row]
        channels = {name: values[row] for name, values in channels.items()}
    parts = []
    for index in np.unique(material):
        here = material == index
        values = {name: np.asarray(array)[here] for name, array in channels.items()}
        parts.append(_closed_surface(position[here], values, spacing, int(index), settings))
    return _joined(parts)


def particle_volume(snapshot: Snapshot) -> float:
    """Volume of the particles at rest, m³."""
    count = len(snapshot.channels["position"])
    size = np.asarray(snapshot.channels.get("size", np.ones(count)), dtype=np.float64)
    return float(np.sum((size * snapshot.spacing) ** 3))


def _carried(snapshot: Snapshot, settings: SurfaceSettings) -> list[str]:
    """Names of the channels that vertices get, each once."""
    wanted = dict.fromkeys(("velocity", *settings.attributes))
    return [n for n in wanted if n in snapshot.channels and n not in ("position", "material")]


def split(position: Array, edge: Array) -> tuple[Array, Array, float]:
    """Cuts cubes with these edges (m) into cubes that are about as large as the smallest.

    Returns positions (n, 3), the row that each comes from, and the smallest edge.
    """
    if not len(edge):
        return position, np.zeros(0, dtype=np.int64), 1.0
    smallest = float(edge.min())
    pieces = np.maximum(np.rint(edge / smallest), 1).astype(np.int64)
    places, rows = [], []
    for count in np.unique(pieces):
        row = np.flatnonzero(pieces == count)
        ticks = (np.arange(count) - 0.5 * (count - 1)) / count
        offsets = np.stack(np.meshgrid(ticks, ticks, ticks), axis=-1).reshape(-1, 3)
        whole = position[row, None] + edge[row, None, None] * offsets
        places.append(whole.reshape(-1, 3))
        rows.append(np.repeat(row, len(offsets)))
    return np.concatenate(places), np.concatenate(rows), smallest


def _closed_surface(
    position: Array,
    channels: Mapping[str, Array],
    spacing: float,
    material: int,
    settings: SurfaceSettings,
) -> TriangleMesh:
    """The surface of one material."""
    middle = 0.5 * (position.min(axis=0) + position.max(axis=0))  # single precision lasts longer
    _check_extent(position, spacing / settings.resolution)
    columns = dict(_columns(channels))
    mesh = _run_library((position - middle).astype(np.float32), columns, spacing, settings)
    vertices = np.asarray(mesh.mesh.vertices, dtype=np.float64) + middle
    found = mesh.point_attributes
    attributes = {"normal": found["normals"], **_gathered(channels, found)}
    attributes["material"] = np.full(len(vertices), material, dtype=np.int32)
    return TriangleMesh(vertices, np.asarray(mesh.mesh.triangles).astype(np.int32), attributes)


def _run_library(
    position: Array, columns: Mapping[str, Array], spacing: float, settings: SurfaceSettings
) -> Any:
    radius = 0.5 * spacing  # the library's lengths below are in radii, and its reach is 2 lengths
    try:
        mesh, _ = require_library().reconstruction_pipeline(
            position,
            attributes_to_interpolate=columns,
            particle_radius=radius,
            smoothing_length=SUPPORT,
            cube_size=2.0 / settings.resolution,
            iso_surface_threshold=THRESHOLD,
            mesh_cleanup=True,
            mesh_cleanup_snap_dist=SNAP,
            decimate_barnacles=settings.smoothing > 0,
            mesh_smoothing_iters=settings.smoothing,
            mesh_smoothing_weights=True,
            compute_normals=True,
            normals_smoothing_iters=NORMAL_SMOOTHING if settings.smoothing else 0,
        )
    except (RuntimeError, ValueError, TypeError) as error:
        reason = str(error).strip().splitlines()[0]
        raise RunError(
            f"no surface could be made ({reason}): try another --resolution, or other frames"
        ) from error
    return mesh


def _check_extent(position: Array, cube: float) -> None:
    """Raises RunError if the library could not number the cubes of its grid."""
    sides = np.ptp(position, axis=0) / cube + 16
    if sides.max() > LONGEST_SIDE or np.prod(sides) > MOST_CUBES:
        reach = sides.max() * cube
        raise RunError(
            f"the particles are strewn over {reach:.3g} m, too far for a surface: remove what flies "
            "off with simulation.kill_bounds, or use a smaller --resolution"
        )


def _columns(channels: Mapping[str, Array]) -> Iterator[tuple[str, Array]]:
    """Channels as the library takes them: numbers and triples in single precision.

    Whole numbers of 64 bits make it panic, and other widths it refuses.
    """
    for name, values in channels.items():
        numbers = np.ascontiguousarray(values, dtype=np.float32)
        if numbers.ndim == 1 or numbers.shape[1] == 3:
            yield name, numbers
        else:
            for i in range(numbers.shape[1]):
                yield f"{name}_{i}", np.ascontiguousarray(numbers[:, i])


def _gathered(channels: Mapping[str, Array], found: Mapping[str, Array]) -> dict[str, Array]:
    """What `_columns` took apart, put together again."""
    together = {}
    for name, values in channels.items():
        if name in found:
            together[name] = np.asarray(found[name])
        else:
            parts = [found[f"{name}_{i}"] for i in range(values.shape[1])]
            together[name] = np.stack(parts, axis=1)
    return together


def _joined(parts: Sequence[TriangleMesh]) -> TriangleMesh:
    """Meshes side by side in one, with the attributes that they all have."""
    if not parts:
        return TriangleMesh(np.zeros((0, 3)), np.zeros((0, 3), dtype=np.int32))
    first = np.cumsum([0, *(len(p.vertices) for p in parts[:-1])])
    faces = [p.faces + start for p, start in zip(parts, first, strict=True)]
    names = parts[0].attributes
    return TriangleMesh(
        np.concatenate([p.vertices for p in parts]),
        np.concatenate(faces),
        {name: np.concatenate([p.attributes[name] for p in parts]) for name in names},
    )


def of_material(mesh: TriangleMesh, material: int) -> TriangleMesh:
    """The part of a mesh from `surface_of` that bounds one material."""
    chosen = mesh.attributes["material"] == material
    number = np.cumsum(chosen, dtype=np.int64) - 1
    faces = number[mesh.faces[chosen[mesh.faces[:, 0]]]]
    attributes = {name: values[chosen] for name, values in mesh.attributes.items()}
    return TriangleMesh(mesh.vertices[chosen], faces.astype(np.int32), attributes)
