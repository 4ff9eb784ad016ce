"""OpenVDB: the fluid as a fog, its channels as fields, and its surface as a level set."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from viscoil.core.errors import RunError
from viscoil.exchange.format import Format
from viscoil.exchange.points import channel, check_names, radii
from viscoil.exchange.splat import (
    LEAF,
    Bools,
    Cloud,
    Floats,
    Layer,
    Longs,
    layers,
    lookup,
    packed,
    spread,
)
from viscoil.geometry.vdb import Tiles, VdbGrid, write_vdb
from viscoil.snapshots.snapshot import Array, Snapshot

FOG_REACH = 1.5  # voxels per spacing: the B-spline's own, so that a lattice fills space evenly
SURFACE_VOXELS = 2  # along a spacing
# Of the fog's density over a spacing, at a flat surface: by the B-spline, nodes half a spacing inside
# and outside of it have 7/8 and 1/8.
STEEPEST = 0.75
# Density above which there is no surface, which is at 0.5; the rest is a margin for disorder.
WITHIN = 0.7
DENSITY, SURFACE = "density", "surface"


class VdbFormat(Format):
    """Grids `density`, `surface`, and one for each chosen channel of 1 or 3 floats.

    Voxels of the fog are one spacing wide; `density` is the share of a voxel that fluid fills, and
    channels are means over the fluid there. Voxels of the level set are half as wide. Where particles
    differ in size, the smallest counts.
    """

    name = "vdb"
    suffix = ".vdb"
    opened_by = "Houdini and Blender"

    def holds(self, name: str, values: Array) -> bool:
        return values.dtype.kind == "f" and (values.ndim == 1 or values.shape[1] in (1, 3))

    def write(self, path: Path, snapshot: Snapshot, channels: Sequence[str]) -> None:
        check_names([DENSITY, SURFACE, *channels], self.name)
        fields = {name: channel(snapshot, name) for name in channels}
        position = channel(snapshot, "position").astype(np.float64)
        radius = radii(snapshot).astype(np.float64)
        spacing = snapshot.spacing * _smallest(snapshot)
        grids = _fog(position, radius, spacing, fields)
        grids.insert(1, _surface(position, radius, spacing / SURFACE_VOXELS, grids[0]))
        write_vdb(path, grids)


def _smallest(snapshot: Snapshot) -> float:
    """Size of the smallest particle, in spacings."""
    sizes = snapshot.channels.get("size", np.ones(1))
    return float(sizes.min()) if len(sizes) else 1.0


def _cloud(position: Floats, radius: Floats, voxel: float, reach: float, values: Floats) -> Cloud:
    """Particles in voxels; `reach` is how far each goes, in its own spacings."""
    cloud = Cloud(position / voxel, np.maximum(2.0 * reach * radius / voxel, 1.0), values)
    if spread(cloud):
        raise RunError(
            "the particles are too far apart for a volume: remove strays with "
            "simulation.kill_bounds, or choose other frames"
        )
    return cloud


# Fog


def _fog(position: Floats, radius: Floats, voxel: float, fields: dict[str, Array]) -> list[VdbGrid]:
    """The density, and the mean of each field where there is some."""
    volume = (2.0 * radius / voxel) ** 3  # in voxels
    columns = [v if v.ndim == 2 else v[:, None] for v in fields.values()]
    values = np.hstack([np.ones((len(volume), 1)), *columns]) * volume[:, None]
    found = list(layers(_cloud(position, radius, voxel, FOG_REACH, values)))
    origins, sums = _joined(found, values.shape[1])
    density = sums[..., 0]
    active = density > 0.0
    grids = [_grid(DENSITY, origins, density, active, voxel)]
    share = np.where(active, density, 1.0)[..., None]
    at = 1
    for name, column in zip(fields, columns, strict=True):
        mean = sums[..., at : at + column.shape[1]] / share
        at += column.shape[1]
        grids.append(
            _grid(name, origins, mean if mean.shape[-1] == 3 else mean[..., 0], active, voxel)
        )
    return grids


def _joined(found: Sequence[Layer], width: int) -> tuple[Longs, Array]:
    """Origins (k, 3) of all leaves in nodes, and their sums (k, 8, 8, 8, q) in single precision."""
    none = Layer(np.zeros((0, 3), np.int64), np.zeros((0, LEAF, width)))
    leaves = np.concatenate([layer.leaves for layer in (none, *found)])
    sums = np.concatenate([layer.sums.astype(np.float32) for layer in (none, *found)])
    return 8 * leaves, sums.reshape(-1, 8, 8, 8, width)


def _grid(name: str, origins: Longs, values: Array, active: Array, voxel: float) -> VdbGrid:
    vector = values.ndim == 5
    return VdbGrid(
        name=name,
        origins=origins.astype(np.int32),
        values=values.astype(np.float32),
        active=active,
        background=(0.0, 0.0, 0.0) if vector else 0.0,
        voxel_size=voxel,
        origin=(0.0, 0.0, 0.0),
        grid_class="fog volume" if name == DENSITY else "unknown",
        metadata={"vector_type": "contravariant relative"} if name == "velocity" else {},
    )


# Surface


def _surface(position: Floats, radius: Floats, voxel: float, fog: VdbGrid) -> VdbGrid:
    """The level set of Zhu and Bridson (2005): distance to the mean of particles, less their radius.

    A single particle is a sphere, and a lattice ends half a spacing beyond its last particles. It is
    a distance within half a spacing of the surface, which is how far the band goes. Where disordered
    particles are far apart the mean leaves holes: there the surface of half the fog's density counts,
    which lies at the same place and is smoother.
    """
    band = np.float32(voxel)
    density = NodeDensity(fog)
    values = np.hstack([np.ones((len(radius), 1)), position / voxel, radius[:, None]])
    cloud = _cloud(position, radius, voxel, 1.0, values)
    inner = [np.zeros((0, 3), np.int64)]

    def near(leaves: Longs) -> Bools:
        deep: Bools = density.at_leaves(leaves).min(axis=1) > WITHIN
        inner.append(8 * leaves[deep])
        return ~deep

    kept = [_band(layer, voxel, density) for layer in layers(cloud, near)]
    none = (np.zeros((0, 3), np.int64), np.zeros((0, 8, 8, 8), np.float32))
    origins, distances = (np.concatenate(parts) for parts in zip(none, *kept, strict=True))
    return VdbGrid(
        name=SURFACE,
        origins=origins.astype(np.int32),
        values=distances,
        active=np.abs(distances) < band,
        background=float(band),
        voxel_size=voxel,
        origin=(0.0, 0.0, 0.0),
        grid_class="level set",
        tiles=_solid(np.concatenate(inner), band),
    )


class NodeDensity:
    """The density of the fog at the nodes of the level set, which are twice as fine."""

    def __init__(self, fog: VdbGrid) -> None:
        leaves = fog.origins.astype(np.int64) // 8
        self._base = leaves.min(axis=0, initial=0)
        keys = packed(leaves - self._base)
        order = np.argsort(keys)
        self._keys = keys[order]
        nothing = np.zeros((1, LEAF), np.float32)
        self._density = np.concatenate([fog.values.reshape(-1, LEAF)[order], nothing])

    def at_leaves(self, leaves: Longs) -> Array:
        """(k, 512) At the nodes of leaves (k, 3) of the level set."""
        cube = self._at_nodes(4 * leaves[:, :, None] + np.arange(5))
        for axis in (1, 2, 3):
            low, high = (np.moveaxis(cube, axis, -1)[..., part] for part in (np.s_[:-1], np.s_[1:]))
            both = np.stack([low, 0.5 * (low + high)], axis=-1)
            cube = np.moveaxis(both.reshape(*low.shape[:-1], 8), -1, axis)
        return cube.reshape(-1, LEAF)

    def _at_nodes(self, nodes: Longs) -> Array:
        """(k, 5, 5, 5) At all combinations of fog nodes whose x, y and z are (k, 3, 5)."""
        leaf, local = np.divmod(nodes - 8 * self._base[:, None], 8)
        x, y, z = leaf[:, 0, :, None, None], leaf[:, 1, None, :, None], leaf[:, 2, None, None, :]
        leaves = np.stack(np.broadcast_arrays(x, y, z), axis=-1)
        outside = (leaves < 0).any(axis=-1)
        slot = lookup(self._keys, packed(leaves.reshape(-1, 3)).reshape(outside.shape))
        slot = np.where(outside, len(self._keys), slot)
        x, y, z = local[:, 0, :, None, None], local[:, 1, None, :, None], local[:, 2, None, None, :]
        found: Array = self._density[slot, (x * 8 + y) * 8 + z]
        return found


def _band(layer: Layer, voxel: float, density: "NodeDensity") -> tuple[Longs, Array]:
    """Origins, in nodes, and distances (m) of those leaves that have a part of the surface."""
    node = np.stack(np.unravel_index(np.arange(LEAF), (8, 8, 8)), axis=1)
    weight = layer.sums[..., 0]
    some = weight > 0.0
    share = np.where(some, weight, 1.0)
    away = layer.sums[..., 1:4] / share[..., None]
    away -= 8 * layer.leaves[:, None] + node
    distance = voxel * np.sqrt(np.einsum("ijk,ijk->ij", away, away)) - layer.sums[..., 4] / share
    distance = np.where(some, distance, voxel)
    thick = (0.5 - density.at_leaves(layer.leaves)) * (SURFACE_VOXELS * voxel / STEEPEST)
    distance = np.minimum(distance, thick).astype(np.float32).clip(-voxel, voxel)
    band = np.float32(voxel)
    kept = (np.abs(distance) < band).any(axis=1) | (distance.min(axis=1) < 0.0)
    return 8 * layer.leaves[kept], distance[kept].reshape(-1, 8, 8, 8)


def _solid(origins: Longs, band: np.float32) -> Tiles:
    count = len(origins)
    return Tiles(
        origins.astype(np.int32),
        np.full(count, 8, np.int32),
        np.full(count, -band, np.float32),
        np.zeros(count, np.bool_),
    )
