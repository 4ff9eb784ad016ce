"""Simple shapes and the badly made ones that a collider has to bear."""

import numpy as np

from viscoil.geometry.meshes.builtin.noise import hashed
from viscoil.geometry.meshes.builtin.solids import icosphere
from viscoil.geometry.meshes.builtin.sweeps import lathe, sheet
from viscoil.geometry.meshes.builtin.transforms import join, mesh, moved, scaled
from viscoil.geometry.meshes.mesh import TriangleMesh


def bullet() -> TriangleMesh:
    """A cylinder of radius 0.25 m and height 0.4 m under an ogive that ends at 1 m."""
    radius, shoulder, nose = 0.25, 0.4, 0.6
    # The ogive is an arc of this radius that leaves the cylinder upright.
    arc = (radius**2 + nose**2) / (2.0 * radius)
    y = nose * np.sin(np.linspace(0.0, 0.5 * np.pi, 25))
    r = np.sqrt(arc**2 - y**2) + radius - arc
    r[-1] = 0.0
    wall = [(radius, shoulder * k / 6) for k in range(6)]
    profile = [(0.0, 0.0), (0.5 * radius, 0.0), *wall, *zip(r, shoulder + y, strict=True)]
    return lathe(profile, 48)


def two_spheres() -> TriangleMesh:
    """Two closed spheres of radius 0.3 m that overlap by a third of their width."""
    ball = scaled(icosphere(4), 0.3)
    return join(moved(ball, (-0.2, 0.3, 0.0)), moved(ball, (0.2, 0.3, 0.0)))


def hemisphere() -> TriangleMesh:
    """The upper half of a sphere of radius 0.5 m, without a floor."""
    angle = np.linspace(0.0, 0.5 * np.pi, 17)
    profile = 0.5 * np.stack([np.cos(angle), np.sin(angle)], axis=1)
    profile[-1, 0] = 0.0
    return lathe(profile, 64)


def flipped_sphere() -> TriangleMesh:
    """A sphere of radius 0.5 m, a third of whose triangles have their inside outside."""
    unit = icosphere(4)
    wrong = hashed(np.arange(len(unit.faces))[:, None], seed=3) < 1.0 / 3.0
    faces = np.where(wrong[:, None], unit.faces[:, ::-1], unit.faces)
    return moved(mesh(0.5 * unit.vertices, faces), (0.0, 0.5, 0.0))


def mobius() -> TriangleMesh:
    """A strip 0.3 m wide with half a twist, about a circle of radius 0.35 m: it has one side."""
    turns, across = 96, 9
    s = np.linspace(-0.15, 0.15, across)
    angle = 2.0 * np.pi * np.arange(turns + 1)[:, None] / turns
    radius = 0.35 + s * np.cos(0.5 * angle)
    rows = [radius * np.cos(angle), s * np.sin(0.5 * angle) + 0.15, -radius * np.sin(angle)]
    strip = sheet(np.stack(rows, axis=-1))
    # The last row is the first one backwards: its vertices are those of the first.
    count = turns * across
    last = np.arange(across)[::-1]
    number = np.concatenate([np.arange(count), last])
    return mesh(strip.vertices[:count], number[strip.faces])
