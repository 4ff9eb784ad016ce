"""Bodies of fluid that start from particle files, and how far apart the particles in them are."""

from functools import lru_cache
from itertools import product
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from viscoil.colliders.motion import turn
from viscoil.core.errors import SceneError
from viscoil.geometry import quaternions
from viscoil.geometry.particle_files import ParticleFile, read_particles
from viscoil.scene import ParticleFluid

Float = NDArray[np.float64]
Int = NDArray[np.int64]

# Spacing in the file over that of the scene. Below _CLOSEST the fluid starts at 0.75⁻³ = 2.4 times its
# density and bursts apart. From _CLOSE to _WIDE there is nothing to say: that is the range that usual
# samplers (lattices, hexagonal packings, Poisson discs) give for the same spacing.
_CLOSEST, _CLOSE, _WIDE = 0.75, 0.92, 1.15
_DENSE_SHARE = 0.1  # of the particles
_MOST_SAMPLES = 2000
_ROUNDS = 12  # at most, of the iteration for the spacing, which ends at changes below 0.2 %
_MOST_NEIGHBOURS = 2000  # in 27 cells; a lattice has 216 there if cells are two spacings wide
_MOST_IN_A_CELL = 4000
_SAMPLES_AT_ONCE = 100
_SMALLEST = 1e-12  # spacing over the size of everything, below which particles are in one place
_LARGE = 2**26  # bytes: of larger files only the last one is kept in memory


def seed_file(file: str) -> ParticleFile:
    """The particles in a file; read once as long as it does not change."""
    path = Path(file)
    try:
        info = path.stat()
    except OSError:
        raise SceneError(
            f"there is no particle file {file}: check the path, relative to the scene file"
        ) from None
    read = _read if info.st_size < _LARGE else _read_large
    return read(file, info.st_mtime_ns, info.st_size)


@lru_cache(maxsize=8)
def _read(file: str, changed: int, size: int) -> ParticleFile:
    return read_particles(file)


@lru_cache(maxsize=1)
def _read_large(file: str, changed: int, size: int) -> ParticleFile:
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
    lies inside, so the spacing is that of the densest tenth; it is iterated to a fixed point.
    A layer one particle thick comes out 13 % wider than it is.
    """
    extent = np.ptp(position, axis=0)
    longest = float(extent.max())
    if len(position) < 2 or longest == 0.0:
        return np.inf
    # a flat body has a volume too: no axis is thinner than a particle
    volume = float(np.prod(np.maximum(extent, longest / len(position))))
    spacing = _shrunk(position, (volume / len(position)) ** (1.0 / 3.0), _SMALLEST * longest)
    for _ in range(_ROUNDS):
        density = np.quantile(_Cells(position, 2.0 * spacing).densities(), 1.0 - _DENSE_SHARE)
        before, spacing = spacing, float(density) ** (-1.0 / 3.0)
        if abs(spacing - before) < 0.002 * spacing or spacing < _SMALLEST * longest:
            break
    return spacing


def _shrunk(position: Float, spacing: float, smallest: float) -> float:
    """A guess at the spacing at which particles have few neighbours, not much below `smallest`.

    The box around all of them makes it too large if one is astray, or if there are two bodies, and
    then everything is a neighbour of everything. Each round counts, and takes less.
    """
    while spacing > smallest:
        neighbours = np.quantile(_Cells(position, 2.0 * spacing).counts(), 1.0 - _DENSE_SHARE)
        if neighbours <= _MOST_NEIGHBOURS:
            break
        spacing *= 6.0 / float(neighbours) ** (1.0 / 3.0)
    return spacing


class _Cells:
    """Particles in cells as large as a support, and some of them as samples."""

    def __init__(self, position: Float, support: float) -> None:
        index = np.floor((position - position.min(axis=0)) / support).astype(np.int64) + 1
        sizes = index.max(axis=0) + 2
        keys = (index[:, 0] * sizes[1] + index[:, 1]) * sizes[2] + index[:, 2]
        self._position, self._support = position, support
        self._order = np.argsort(keys, kind="stable")
        self._keys = keys[self._order]
        self._sample = np.arange(0, len(position), -(-len(position) // _MOST_SAMPLES))
        # keys may overflow, and then cells far apart share one: farther than a support counts nothing
        steps = np.array(list(product((-1, 0, 1), repeat=3)))
        self._offsets = (steps[:, 0] * sizes[1] + steps[:, 1]) * sizes[2] + steps[:, 2]

    def counts(self) -> Int:
        """How many particles are in the cells about each sample."""
        counts = [self._neighbours(self._sample, offset)[1] for offset in self._offsets]
        return np.asarray(np.sum(counts, axis=0))

    def densities(self) -> Float:
        """Particles per volume about each sample, by a cubic spline of this support."""
        places = range(0, len(self._sample), _SAMPLES_AT_ONCE)
        parts = [self._sums(self._sample[i : i + _SAMPLES_AT_ONCE]) for i in places]
        return np.concatenate(parts) / self._support**3

    def _sums(self, sample: Int) -> Float:
        sums = np.zeros(len(sample))
        own = self._position[self._order[sample]]
        for offset in self._offsets:
            first, count = self._neighbours(sample, offset)
            count = np.minimum(count, _MOST_IN_A_CELL)  # so many are too close in any case
            here = np.repeat(np.arange(len(sample)), count)
            there = np.arange(len(here)) + np.repeat(first - np.cumsum(count) + count, count)
            distance = np.linalg.norm(own[here] - self._position[self._order[there]], axis=1)
            sums += np.bincount(here, _spline(distance / self._support), len(sample))
        return sums

    def _neighbours(self, sample: Int, offset: np.int64) -> tuple[Int, Int]:
        """Where in the order the particles of a cell next to each sample's begin, and how many."""
        wanted = self._keys[sample] + offset
        first = np.searchsorted(self._keys, wanted)
        return first, np.searchsorted(self._keys, wanted, side="right") - first


def _spline(q: Float) -> Float:
    """The cubic spline times its support cubed, at the distance q in supports."""
    near = 6.0 * (q**3 - q**2) + 1.0
    return np.asarray(8.0 / np.pi * np.where(q < 0.5, near, 2.0 * np.maximum(1.0 - q, 0.0) ** 3))
