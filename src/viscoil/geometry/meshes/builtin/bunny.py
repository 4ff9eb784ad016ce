"""A sitting rabbit of our own, modelled as soft bodies that melt into each other."""

from viscoil.geometry.meshes.builtin.blends import (
    DistanceFunction,
    blob,
    both_sides,
    carved,
    melted,
    rod,
    surface,
)
from viscoil.geometry.meshes.builtin.solids import ellipsoid
from viscoil.geometry.meshes.builtin.transforms import fitted, join, mirrored
from viscoil.geometry.meshes.mesh import TriangleMesh


def bunny() -> TriangleMesh:
    """A rabbit 1 m high that sits and looks along +x: a closed body, eyes and a nose."""
    body = surface(_rabbit(), (-0.52, -0.03, -0.32), (0.46, 1.12, 0.32), 0.0185)
    eyes = mirrored(ellipsoid((0.262, 0.648, 0.104), (0.026, 0.03, 0.02), 2))
    nose = ellipsoid((0.381, 0.588, 0.0), (0.018, 0.015, 0.024), 2)
    return fitted(join(body, eyes, nose), 1.0, 1)


def _rabbit() -> DistanceFunction:
    hollow = both_sides(blob((0.074, 0.9, 0.096), (0.03, 0.15, 0.036), 20.0))
    ears = carved(both_sides(blob((0.03, 0.88, 0.088), (0.045, 0.205, 0.066), 20.0)), hollow, 0.025)
    return melted([*_trunk(), *_limbs(), *_face(), (ears, 0.035)])


def _trunk() -> list[tuple[DistanceFunction, float]]:
    return [
        (blob((-0.15, 0.25, 0.0), (0.24, 0.24, 0.2)), 0.0),
        (blob((0.03, 0.31, 0.0), (0.18, 0.24, 0.155), 25.0), 0.12),
        (blob((-0.405, 0.15, 0.0), (0.075, 0.075, 0.075)), 0.03),
        (blob((0.13, 0.46, 0.0), (0.115, 0.13, 0.11)), 0.1),
        (blob((0.15, 0.37, 0.0), (0.09, 0.11, 0.1)), 0.05),
    ]


def _limbs() -> list[tuple[DistanceFunction, float]]:
    return [
        (both_sides(blob((-0.11, 0.175, 0.155), (0.165, 0.155, 0.085), 28.0)), 0.018),
        (both_sides(rod((-0.12, 0.04, 0.175), (0.1, 0.034, 0.2), 0.046, 0.043)), 0.02),
        (both_sides(rod((0.13, 0.26, 0.085), (0.18, 0.06, 0.08), 0.062, 0.04)), 0.035),
        (both_sides(rod((0.18, 0.036, 0.082), (0.25, 0.034, 0.084), 0.04, 0.036)), 0.02),
    ]


def _face() -> list[tuple[DistanceFunction, float]]:
    return [
        (blob((0.19, 0.61, 0.0), (0.155, 0.132, 0.122), -12.0), 0.05),
        (blob((0.3, 0.58, 0.0), (0.08, 0.07, 0.066)), 0.05),
        (both_sides(blob((0.34, 0.552, 0.03), (0.05, 0.042, 0.042))), 0.02),
        (both_sides(blob((0.23, 0.565, 0.072), (0.07, 0.06, 0.055))), 0.04),
        (both_sides(rod((0.235, 0.688, 0.08), (0.295, 0.672, 0.075), 0.016, 0.01)), 0.035),
    ]
