"""Small bodies of particles and one solver around them, for tests of single phases."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from viscoil.colliders import ColliderSet
from viscoil.compute import view, write
from viscoil.neighbors import Neighbors
from viscoil.particles import Particles
from viscoil.scene import Collider, Material, SolverSettings
from viscoil.scene.shapes import PlaneCollider
from viscoil.solvers.contact import Boundary
from viscoil.solvers.dcpbd import DCPBD
from viscoil.solvers.projections import StepContext
from viscoil.solvers.tables import Materials
from viscoil.timing import PhaseClock

Float = NDArray[np.float64]

SPACING = 0.02  # m
VISCOUS = Material(density=1000.0, viscosity=100.0)
FLOOR = PlaneCollider(point=(0.0, 0.0, 0.0), normal=(0.0, 1.0, 0.0), contact="sticky")


def lattice(
    shape: tuple[int, int, int], spacing: float = SPACING, center: ArrayLike = (0.0, 0.0, 0.0)
) -> Float:
    """Points (n, 3) of a cubic lattice around a centre, m."""
    axes = [(np.arange(m) - 0.5 * (m - 1)) * spacing for m in shape]
    grid = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 3)
    return np.asarray(grid + np.asarray(center))


def jitter(points: Float, share: float, seed: int = 0, spacing: float = SPACING) -> Float:
    """The points, each moved by up to `share` of the spacing along each axis."""
    rng = np.random.default_rng(seed)
    return np.asarray(points + rng.uniform(-share, share, points.shape) * spacing)


class Rig:
    """Particles with all that a solver needs."""

    def __init__(
        self,
        position: ArrayLike,
        velocity: ArrayLike = 0.0,
        material: Material = VISCOUS,
        colliders: Sequence[Collider] = (),
        periodic: tuple[float, float, float] = (0.0, 0.0, 0.0),
        **solver: Any,
    ) -> None:
        self.particles = Particles()
        self.particles.append({"position": position, "velocity": velocity})
        self.neighbors = Neighbors(periodic)
        self.solver = DCPBD(SolverSettings(**solver), SPACING, self.neighbors, PhaseClock())
        self.materials = Materials([material])
        walls = ColliderSet(colliders)
        self.boundary = Boundary(walls.arrays, walls.count)

    def prepare(self, dt: float) -> StepContext:
        """The step as it is before its projections; u* is the velocity as it is."""
        self.solver.scale.dt = dt
        self.materials.update(dt)
        self.neighbors.update(self.particles, 1.05 * self.solver.scale.support)
        c = self.solver._context(self.particles, self.materials, self.boundary)
        self.solver._prepare(c)
        write(c.unknowns.trial, self.particles["velocity"])
        return c

    @property
    def mass(self) -> float:
        """Of a particle, kg."""
        return self.materials.materials[0].density * SPACING**3


def numbers(array: Any, count: int) -> Float:
    """A copy in double precision."""
    return np.array(view(array, count), dtype=np.float64)


def tensors(six: Float) -> Float:
    """Symmetric matrices (n, 3, 3) from (xx, yy, zz, xy, xz, yz)."""
    xx, yy, zz, xy, xz, yz = np.moveaxis(six, -1, 0)
    return np.stack([xx, xy, xz, xy, yy, yz, xz, yz, zz], axis=-1).reshape(*six.shape[:-1], 3, 3)


@dataclass(frozen=True)
class Discretisation:
    """The conformation system of a step, assembled in double precision from weights and positions.

    Stresses and strains are Mandel vectors (off-diagonals times √2), in which the Frobenius
    product is the plain dot product.
    """

    strain: sp.csr_matrix  # B: Δt (L + Lᵀ) = B u
    volume: float
    mass: float
    dt: float

    def force(self, stress: Float) -> Float:
        """f = −∂(V Σ σ:L)/∂u, with V σ:L = V/(2Δt) σ·B u."""
        return np.asarray(-self.volume / (2.0 * self.dt) * (self.strain.T @ stress))

    def operator(self, free: Float | None = None) -> sp.csr_matrix:
        """A = −E(Δt/m f(·)); `free` is 1 for each velocity component that can change."""
        b = self.strain
        if free is not None:
            b = b @ sp.diags(free)
        return sp.csr_matrix(b @ b.T * (self.volume / (2.0 * self.mass)))


def mandel(six: Float) -> Float:
    """(n, 6) to a flat Mandel vector."""
    return np.asarray(six * np.array([1.0, 1.0, 1.0, *[np.sqrt(2.0)] * 3])).reshape(-1)


def unmandel(flat: Float) -> Float:
    return np.asarray(flat.reshape(-1, 6) / np.array([1.0, 1.0, 1.0, *[np.sqrt(2.0)] * 3]))


def assemble(rig: Rig, c: StepContext) -> Discretisation:
    """L_i = 1/V Σ_j g_ij (u_j − u_i) ⊗ K_i x_ij as a sparse matrix."""
    n, dt = c.n, float(c.scale.dt)
    start, j = rig.neighbors.as_numpy(n)
    i = np.repeat(np.arange(n), np.diff(start))
    x = numbers(c.fluid.position, n)
    k = tensors(numbers(c.fluid.correction, n))
    g = numbers(c.fluid.weight, len(j))
    volume = SPACING**3
    arm = (g / volume)[:, None] * np.einsum("pab,pb->pa", k[i], x[i] - x[j])
    rows: list[Any] = []
    columns: list[Any] = []
    values: list[Any] = []

    def add(component: int, axis: int, factor: float, along: int) -> None:
        for sign, particle in ((1.0, j), (-1.0, i)):
            rows.append(6 * i + component)
            columns.append(3 * particle + axis)
            values.append(sign * factor * dt * arm[:, along])

    for a in range(3):
        add(a, a, 2.0, a)
    for component, (a, b) in enumerate(((0, 1), (0, 2), (1, 2)), start=3):
        add(component, a, np.sqrt(2.0), b)
        add(component, b, np.sqrt(2.0), a)
    entries = (np.concatenate(values), (np.concatenate(rows), np.concatenate(columns)))
    strain = sp.csr_matrix(entries, shape=(6 * n, 3 * n))
    return Discretisation(strain, volume, rig.mass, dt)
