"""Bodies of fluid that start from particle files, and how far apart the particles in them are."""

from functools import lru_cache
from itertools import product
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from viscoil.colliders import quaternions
from viscoil.colliders.motion import turn
from viscoil.errors import SceneError
from viscoil.exchange.reading import ParticleFile, read_particles
from viscoil.scene import ParticleFluid

Float = NDArray[np.float64]

# Spacing in the file over that of the scene: closer than the first explodes, and between the
# others is what samplers make of the same spacing.
_CLOSEST, _CLOSE, _WIDE = 0.75, 0.92, 1.15
_DENSE_SHARE = 0.1  # of the particles
_MOST_SAMPLES = 2000
_ROUNDS = 12


def seed_file(file: str) -> ParticleFile:
    """The particles in a file; read once as long as it does not change."""
    path = Path(file)
    try:
        info = path.stat()
    except OSError:
        raise SceneError(
            f"there is no particle file {file}: check the path, relative to the scene file"
        ) from None
    return _read(file, info.st_mtime_ns, info.st_size)


@lru_cache(maxsize=8)
def _read(file: str, changed: int, size: int) -> ParticleFile:
    return read_particles(file)


def seeded(fluid: ParticleFluid) -> tuple[Float, Float]:
    """Offsets from the centre (m) and velocities (m/s), both (n, 3), of a body's particles."""
    source, turned = seed_file(fluid.file), turn(fluid.rotation)
    offset = quaternions.rotate(turned, fluid.scale * source.position)
    velocity = np.asarray(fluid.velocity) + np.cross(fluid.angular_velocity, offset)
    if fluid.velocities and source.velocity is not None:
        velocity = velocity + quaternions.rotate(turned, fluid.scale * source.velocity)
    return offset, velocity


def spacing_note(fluid: ParticleFluid, spacing: float) -> str | None:
    """A sentence if the particles are closer or wider than `spacing` (m), the scene's.

    Raises SceneError if they are so close that they would burst apart.
    """
    found = fluid.scale * mean_spacing(seed_file(fluid.file).position)
    ratio = found / spacing
    if _CLOSE <= ratio <= _WIDE:
        return None
    told = f"{Path(fluid.file).name}: its particles are {found:.3g} m apart and the scene's {spacing:g} m"
    if ratio < _CLOSEST:
        raise SceneError(
            f"{told}, so that they would burst apart: set simulation.spacing, or the spacing of "
            f"this fluid, to about {found:.2g}, or its scale to about {fluid.scale / ratio:.2g}"
        )
    if ratio < 1.0:
        return f"{told}: the fluid will swell by {ratio**-3 - 1.0:.0%}"
    if ratio < 1.5:
        return f"{told}: the fluid will shrink by {1.0 - ratio**-3:.0%}"
    return f"{told}: they start as separate drops"


def mean_spacing(position: Float) -> float:
    """Cube root of the volume per particle where they are dense, in the unit of `position`.

    The density Σ W(x − x_j) by the cubic spline whose support is two spacings, at a sample of the
    particles: on a lattice it is that of the lattice within a percent. A tenth of them, at least,
    lies inside, so the spacing is that of the densest tenth; it is refined until it fits itself.
    A layer one particle thick comes out 13 % wider than it is.
    """
    extent = np.ptp(position, axis=0)
    longest = float(extent.max())
    if len(position) < 2 or longest == 0.0:
        return np.inf
    # a flat body has a volume too: no axis is thinner than a particle
    volume = float(np.prod(np.maximum(extent, longest / len(position))))
    spacing: float = (volume / len(position)) ** (1.0 / 3.0)
    for _ in range(_ROUNDS):
        density = np.quantile(_densities(position, 2.0 * spacing), 1.0 - _DENSE_SHARE)
        before, spacing = spacing, float(density) ** (-1.0 / 3.0)
        if abs(spacing - before) < 0.002 * spacing:
            break
    return spacing


def _densities(position: Float, support: float) -> Float:
    """Particles per volume about some of them, by a cubic spline of this support."""
    index = np.floor((position - position.min(axis=0)) / support).astype(np.int64) + 1
    sizes = index.max(axis=0) + 2
    keys = (index[:, 0] * sizes[1] + index[:, 1]) * sizes[2] + index[:, 2]
    order = np.argsort(keys, kind="stable")
    ordered, places = keys[order], position[order]
    sample = np.arange(0, len(position), -(-len(position) // _MOST_SAMPLES))
    sums = np.zeros(len(sample))
    for i, j, k in product((-1, 0, 1), repeat=3):
        wanted = ordered[sample] + (i * sizes[1] + j) * sizes[2] + k
        first = np.searchsorted(ordered, wanted)
        count = np.searchsorted(ordered, wanted, side="right") - first
        here = np.repeat(np.arange(len(sample)), count)
        there = np.arange(len(here)) + np.repeat(first - np.cumsum(count) + count, count)
        q = np.linalg.norm(places[sample][here] - places[there], axis=1) / support
        sums += np.bincount(here, _spline(q), len(sample))
    return sums / support**3


def _spline(q: Float) -> Float:
    """The cubic spline times its support cubed, at the distance q in supports."""
    near = 6.0 * (q**3 - q**2) + 1.0
    return np.asarray(8.0 / np.pi * np.where(q < 0.5, near, 2.0 * np.maximum(1.0 - q, 0.0) ** 3))
