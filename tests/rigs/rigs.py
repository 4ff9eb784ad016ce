"""Small bodies of particles and one solver around them, for tests of single phases."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from viscoil.colliders import ColliderSet
from viscoil.core.compute import view, write
from viscoil.core.timing import PhaseClock
from viscoil.forces.registry import bare_forces
from viscoil.materials.table import Materials
from viscoil.neighbors.lattice import smoothing_slope
from viscoil.neighbors.levels import MixedNeighbors
from viscoil.neighbors.pairs import Neighbors
from viscoil.neighbors.smoothing import Smoothing
from viscoil.particles.store import SIZE, Particles
from viscoil.scene import Collider, DcpbdSettings, Material, PlaneCollider
from viscoil.scene.solvers import settings_model
from viscoil.solvers.dcpbd.context import StepContext
from viscoil.solvers.protocol import State
from viscoil.solvers.registry import make_solver
from viscoil.walls.contact_walls import ContactWalls

Float = NDArray[np.float64]

SPACING = 0.02  # m
USUAL = Smoothing[DcpbdSettings().smoothing.upper()]  # the smoothing function of scenes
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
        size: ArrayLike | None = None,
        **solver: Any,
    ) -> None:
        """`solver` are settings, of the default one unless there is a `method` among them."""
        self.particles = Particles()
        self.neighbors = Neighbors(periodic)
        if size is not None:
            self.particles.add_channel("size", SIZE)
            self.neighbors = MixedNeighbors(
                np.unique(np.asarray(size, np.float32)).tolist(), periodic
            )
        sizes = 1.0 if size is None else size
        self.particles.append({"position": position, "velocity": velocity, "size": sizes})
        settings = settings_model(solver).model_validate(solver)
        # Any: tests of single phases know what theirs is made of
        self.solver: Any = make_solver(settings, SPACING, self.neighbors, PhaseClock())
        self.particles.require(self.solver.channels([material], settings.CHANNELS))
        self.materials = Materials([material])
        self.forces = bare_forces(SPACING, settings)
        self.surround(ColliderSet(colliders))

    def surround(self, colliders: ColliderSet, *bodies: Any) -> None:
        """Walls around the colliders; `bodies` are arrays of those that are tracked, and a count."""
        self.walls = ContactWalls(
            colliders.arrays, colliders.count, self.solver.smoothing, self.solver.settings.support,
            *bodies,
        )  # fmt: skip

    @property
    def state(self) -> State:
        """What the solver is given."""
        return State(self.particles, self.materials, self.walls, self.forces)

    def step(self, dt: float) -> Mapping[str, float]:
        """One step without gravity; its figures."""
        figures: Mapping[str, float] = self.solver.step(self.state, dt)
        return figures

    def prepare(self, dt: float) -> StepContext:
        """The step as it is before its projections; u* is the velocity as it is."""
        self.materials.update()
        self.particles.require(self.solver.channels(self.materials.materials))
        self.solver.find_neighbors(self.state, 0.05)
        c: StepContext = self.solver._context(self.solver.view(self.state, dt))
        self.solver._prepare(c)
        write(c.unknowns.free_velocity, self.particles["velocity"])
        self.walls.choose_planes(c.view.scale, c.view.near, c.unknowns.velocity)
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
    """Constraints of a step, assembled in double precision from weights and positions.

    Stresses and strains are Mandel vectors (off-diagonals times √2), in which the Frobenius
    product is the plain dot product; bends are plain vectors.
    """

    strain: sp.csr_matrix  # B: Δt (L + Lᵀ) or e, or one after the other, is B u
    volume: float
    mass: float
    dt: float

    def force(self, stress: Float) -> Float:
        """f = −∂(V/(2Δt) σ·B u)/∂u of the multipliers σ; of stresses V σ:L is this virtual work."""
        return np.asarray(-self.volume / (2.0 * self.dt) * (self.strain.T @ stress))

    def operator(self, free: Float | None = None) -> sp.csr_matrix:
        """A = −E(Δt/m f(·)); `free` is 1 for each velocity component that can change."""
        b = self.strain
        if free is not None:
            b = b @ sp.diags(free)
        return sp.csr_matrix(b @ b.T * (self.volume / (2.0 * self.mass)))

    def above(self, other: "Discretisation") -> "Discretisation":
        """These constraints, followed by others on the same velocities."""
        rows = sp.csr_matrix(sp.vstack([self.strain, other.strain]))
        return Discretisation(rows, self.volume, self.mass, self.dt)


def mandel(six: Float) -> Float:
    """(n, 6) to a flat Mandel vector."""
    return np.asarray(six * np.array([1.0, 1.0, 1.0, *[np.sqrt(2.0)] * 3])).reshape(-1)


def unmandel(flat: Float) -> Float:
    return np.asarray(flat.reshape(-1, 6) / np.array([1.0, 1.0, 1.0, *[np.sqrt(2.0)] * 3]))


def assemble(rig: Rig, c: StepContext) -> Discretisation:
    """Δt (L + Lᵀ) with L_i = 1/V Σ_j g_ij (u_j − u_i) ⊗ K_i x_ij as a sparse matrix."""
    i, j, g, x, k = _pairs(rig, c)
    arm = g[:, None] * np.einsum("pab,pb->pa", k[i], x)
    links = np.einsum("nab,nb->na", k, _links(c))
    derivative = [
        _differences(i, j, arm[:, along], c.n) - sp.diags(links[:, along]) for along in range(3)
    ]
    rows = sp.csr_matrix((6 * c.n, 3 * c.n))
    for component, (a, b) in enumerate(((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))):
        for axis, along in ((a, b), (b, a)):
            place = np.zeros((6, 3))
            place[component, axis] = 1.0 if a == b else np.sqrt(2.0)
            rows = rows + sp.kron(derivative[along], place)
    dt = float(c.view.scale.dt)
    return Discretisation(sp.csr_matrix(dt * rows), SPACING**3, rig.mass, dt)


def assemble_bends(rig: Rig, c: StepContext) -> Discretisation:
    """e_i = b Δt/V Σ_j g_ij (1 + s_i·x_ij) (u_j − u_i) as a sparse matrix; none where K is 0.

    With b = √2 d and the asymmetry s_i = K_i Σ_j g_ij x_ij/V, taken anew from the weights.
    """
    i, j, g, x, k = _pairs(rig, c)
    total = np.zeros((c.n, 3))
    np.add.at(total, i, g[:, None] * x)
    asymmetry = np.einsum("nab,nb->na", k, total)
    tilted = (
        g * (1.0 + np.einsum("pa,pa->p", asymmetry[i], x)) * (np.abs(k).max(axis=(1, 2)) > 0.0)[i]
    )
    dt = float(c.view.scale.dt)
    linked = sp.diags(np.einsum("na,na->n", asymmetry, _links(c)))
    bent = _differences(i, j, tilted, c.n) - linked
    rows = np.sqrt(2.0) * SPACING * dt * sp.kron(bent, np.eye(3))
    return Discretisation(sp.csr_matrix(rows), SPACING**3, rig.mass, dt)


def assemble_pressures(rig: Rig, c: StepContext) -> Discretisation:
    """2 Δt Σ_j V ∇W_ij·(u_i − u_j) times √w, the share by which particles are pressed.

    With images in a floor of normal y, whose velocities have the opposite u_y.
    """
    i, j, g, x, _k = _pairs(rig, c)
    seen, away = _images(c, i, j, x), g * _images(c, i, j, x)
    rows = sp.csr_matrix((c.n, 3 * c.n))
    for axis in range(3):
        unit = np.zeros((1, 3))
        unit[0, axis] = 1.0
        rate = -_differences(i, j, g * (1.0 + seen) * x[:, axis], c.n)
        if axis == 1 and seen.any():
            h = np.minimum(_heights(c), c.view.scale.support)
            own = 4.0 * h * _weight_of_own_image(c, h)
            np.add.at(own, i, 2.0 * away * h[j])
            back = 2.0 * away * h[i]
            rate = rate + sp.diags(own) + sp.csr_matrix((back, (i, j)), shape=(c.n, c.n))
        rows = rows + sp.kron(rate, unit)
    dt = float(c.view.scale.dt)
    pressed = sp.diags(np.sqrt(numbers(c.stencil.pressed, c.n)))
    return Discretisation(sp.csr_matrix(2.0 * dt * pressed @ rows), SPACING**3, rig.mass, dt)


def _pairs(rig: Rig, c: StepContext) -> tuple[Any, Any, Float, Float, Float]:
    """i, j, g_ij/V and x_ij of all pairs, and K of all particles, in double precision."""
    start, j = rig.neighbors.as_numpy(c.n)
    i = np.repeat(np.arange(c.n), np.diff(start))
    x = numbers(c.view.near.position, c.n)
    k = tensors(numbers(c.stencil.correction, c.n))
    return i, j, numbers(c.stencil.weight, len(j)) / SPACING**3, x[i] - x[j], k


def _images(c: StepContext, i: Any, j: Any, x: Float) -> Float:
    """What images of pairs in one wall, half a support away at most, add to their weights, of these."""
    scale, height = c.view.scale, _heights(c)
    kind = Smoothing(scale.kind)
    q = np.linalg.norm(x, axis=1) / scale.support
    away = np.sqrt(q**2 + 4.0 * height[i] * height[j] / scale.support**2)
    seen = np.isfinite(away) & (away < 1.0) & (q < 1.0)
    share = np.zeros(len(q))
    share[seen] = smoothing_slope(kind, away[seen]) / away[seen]
    share[seen] /= smoothing_slope(kind, q[seen]) / q[seen]
    return share


def _heights(c: StepContext) -> Float:
    """Of all particles above the wall, m; infinite where none is near."""
    contact = view(c.view.near.contact, c.n)
    heights = numbers(c.view.walls.arrays.contacts.height, max(int(contact.max()) + 1, 1))
    return np.asarray(np.where(contact >= 0, heights[contact], np.inf))


def _weight_of_own_image(c: StepContext, height: Float) -> Float:
    """V W'(r)/r of each particle and its own image, 2 h away."""
    scale = c.view.scale
    q = np.minimum(2.0 * height / scale.support, 1.0)
    slope = smoothing_slope(Smoothing(scale.kind), q) / q
    return np.asarray(scale.volume * scale.gradient_scale * slope)


def _links(c: StepContext) -> Float:
    """Σ g x/V of what each particle is linked to of walls, in double precision."""
    contact = view(c.view.near.contact, c.n)
    arms = numbers(c.view.walls.arrays.contacts.link_arm, max(int(contact.max()) + 1, 1))
    return np.asarray(np.where(contact[:, None] >= 0, arms[contact], 0.0) / SPACING**3)


def _differences(i: Any, j: Any, factor: Float, n: int) -> sp.csr_matrix:
    """Σ_j factor_ij (u_j − u_i) of one component u."""
    others = sp.csr_matrix((factor, (i, j)), shape=(n, n))
    return sp.csr_matrix(others - sp.diags(np.asarray(others.sum(axis=1)).reshape(-1)))
