"""Bodies of fluid that start from particle files, and how far apart the particles in them are."""

from functools import lru_cache
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
_CLOSEST, _CLOSE, _WIDE = 0.75, 0.92, 1.12
_CELL = 3.0  # edge of a counting cell, in spacings
_ROUNDS = 8


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
    told = f"{fluid.file}: its particles are {found:.3g} m apart and the scene's {spacing:g} m"
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

    Particles are counted in cells of some spacings whose six neighbours are occupied, so that the
    surface does not count; for layers and threads, which have no inside, in the fullest cells. The
    cells are made smaller or larger until they fit what they find.
    """
    extent = np.ptp(position, axis=0)
    longest = float(extent.max())
    if len(position) < 2 or longest == 0.0:
        return np.inf
    # a flat body has a volume too: no axis is thinner than a particle
    guess = longest / len(position)
    guess = float(np.prod(np.maximum(extent, guess)) / len(position)) ** (1.0 / 3.0)
    for _ in range(_ROUNDS):
        new = _CELL * guess / _typical_count(position, _CELL * guess) ** (1.0 / 3.0)
        if abs(new - guess) < 0.005 * guess:
            break
        guess = new
    return guess


def _typical_count(position: Float, cell: float) -> float:
    """Particles in a full cell of edge `cell`."""
    index = np.floor((position - position.min(axis=0)) / cell).astype(np.int64) + 1
    sizes = index.max(axis=0) + 2
    strides = np.array([sizes[1] * sizes[2], sizes[2], 1])
    keys, counts = np.unique(index @ strides, return_counts=True)
    inside = np.ones(len(keys), dtype=bool)
    for step in (*strides, *-strides):
        at = np.minimum(np.searchsorted(keys, keys + step), len(keys) - 1)
        inside &= keys[at] == keys + step
    if np.count_nonzero(inside) >= 8:
        return float(counts[inside].mean())
    return float(np.quantile(counts, 0.9))
