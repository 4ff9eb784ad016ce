"""How a surface is made; lengths are in particle spacings, so that they hold for every scene."""

from dataclasses import dataclass

SUPPORT = 2.0
"""Reach of a particle in spacings: less shows single particles, more swallows thin ropes."""
THRESHOLD = 0.5
"""Share of fluid at which the surface lies.

With this reach, balls of 20 and 8 spacings and ropes of 5 and 3 spacings across enclose 103 %, 103 %,
100 % and 95 % of their particles' volume (the library's usual 0.6 leaves 81 % of the thinnest).
"""
SNAP = 0.5
"""How far vertices may move to merge with a neighbour, in cubes: removes slivers."""
NORMAL_SMOOTHING = 10
"""Iterations on the normals, after those on the vertices."""


@dataclass(frozen=True)
class SurfaceSettings:
    """What a user may choose."""

    smoothing: int = 25
    """Iterations of weighted Laplacian smoothing (Löschner et al. 2023); 0 leaves the grid's steps."""
    resolution: float = 3.0
    """Cubes of the grid per particle spacing."""
    attributes: tuple[str, ...] = ()
    """Channels that vertices carry beside velocity and material."""
