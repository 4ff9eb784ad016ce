"""A sitting rabbit of our own, modelled as soft bodies that melt into each other."""

from viscoil.meshes.builtin.blends import Field, blob, both_sides, melted, rod, surface
from viscoil.meshes.builtin.transforms import fitted
from viscoil.meshes.triangle_mesh import TriangleMesh


def bunny() -> TriangleMesh:
    """A rabbit 1 m high that sits and looks along +x: one closed surface."""
    return fitted(surface(_rabbit(), (-0.5, -0.05, -0.36), (0.5, 1.12, 0.36), 0.021), 1.0, 1)


def _rabbit() -> Field:
    return melted([*_trunk(), *_limbs(), *_face(), *_ears()])


def _trunk() -> list[tuple[Field, float]]:
    return [
        (blob((-0.14, 0.26, 0.0), (0.25, 0.25, 0.23)), 0.0),
        (blob((0.04, 0.31, 0.0), (0.19, 0.25, 0.165), 25.0), 0.12),
        (blob((-0.41, 0.15, 0.0), (0.075, 0.075, 0.075)), 0.03),
        (blob((0.13, 0.46, 0.0), (0.12, 0.13, 0.12)), 0.1),
    ]


def _limbs() -> list[tuple[Field, float]]:
    return [
        (both_sides(blob((-0.1, 0.17, 0.165), (0.17, 0.165, 0.095), 20.0)), 0.05),
        (both_sides(rod((-0.1, 0.04, 0.19), (0.12, 0.032, 0.2), 0.05, 0.042)), 0.03),
        (both_sides(rod((0.13, 0.26, 0.09), (0.19, 0.05, 0.085), 0.065, 0.04)), 0.05),
        (both_sides(rod((0.18, 0.035, 0.085), (0.25, 0.032, 0.085), 0.038, 0.034)), 0.03),
    ]


def _face() -> list[tuple[Field, float]]:
    return [
        (blob((0.19, 0.61, 0.0), (0.155, 0.135, 0.125), -12.0), 0.06),
        (blob((0.31, 0.575, 0.0), (0.075, 0.065, 0.065)), 0.06),
        (both_sides(blob((0.345, 0.55, 0.03), (0.045, 0.04, 0.038))), 0.025),
        (blob((0.385, 0.58, 0.0), (0.02, 0.016, 0.024)), 0.01),
        (both_sides(blob((0.24, 0.57, 0.075), (0.07, 0.06, 0.05))), 0.04),
        (both_sides(blob((0.265, 0.645, 0.098), (0.03, 0.032, 0.022))), 0.008),
    ]


def _ears() -> list[tuple[Field, float]]:
    return [
        (both_sides(blob((0.03, 0.88, 0.085), (0.045, 0.2, 0.06), 22.0)), 0.05),
    ]
