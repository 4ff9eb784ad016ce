# mypy: disable-error-code="valid-type,no-untyped-def,no-untyped-call,misc"
"""Surface tension as a stress in the surface, and adhesion as a potential of walls.

Where particles have neighbours on one side only, n = Σ V ∇W̃ points inwards and is about as long as
one over the thickness of the surface. There a fluid carries a stress, as in the continuum surface
stress of Lafaurie et al. 1994,

    Π = c κ w(|n|) (I − β e e),   f_i = Σ_j V² (Π_i + Π_j) ∇W̃_ij,

tension along the surface and, because β < 1, some across it, which holds the outermost particles.
Inside w is 0, so the fluid stays a fluid. The direction e across is the shortest axis of the moments
M = −Σ V x ⊗ ∇W̃, and not n: then Π commutes with M, and the forces, opposite in pairs, have no torque
either (Σ_j x × Π_i ∇W̃ is the antisymmetric part of M Π).

W̃ has a slope that grows up to 2/3 h: near neighbours pull less than far ones, or they would fall onto
each other. A push between particles nearer than 0.8 d, also proportional to κ, keeps apart those that
would still do so: it stands for the tensile term of DYVERSO, as Π does for their attraction that is
limited by f(κ). A drag between approaching particles of the surface brings them to rest.

Lengths: d is the spacing, h the support; c is calibrated by drops (`verify/test_surface_tension.py`).
"""

import math
from dataclasses import dataclass

import numpy as np
import quadrants as qd

from viscoil.constraints.symmetric import times_vector
from viscoil.core.compute import vec3, vec6

ACROSS = 0.5  # β
FAINT, FULL = 0.3, 0.7  # |n| h from which on there is a surface, and at which it counts in full
CALIBRATION = 1.08  # tension of a flat lattice, where only Π acts, over that of drops of fluid
WALL_CALIBRATION = 0.68  # work of adhesion of a layered lattice over that which lying drops show
CORE = 3.5  # force on coincident particles, in κ d
DRAG = 0.07  # of √(κ m)
CORE_RADIUS = 0.8  # of the push, in spacings


@dataclass
class Capillarity:
    """Constants of the surface stress and of adhesion for one discretisation."""

    slope: qd.f32  # A: W̃' = −A q² (1 − q), 1/m⁴
    strength: qd.f32  # c
    across: qd.f32  # β
    faint: qd.f32  # |n| of the faintest surface, 1/m
    full: qd.f32  # |n| from which on w = |n|, 1/m
    core: qd.f32  # force on coincident particles over κ, m
    core_radius: qd.f32  # m
    drag: qd.f32  # share of √(κ m) that resists approach in the surface
    grip: qd.f32  # a wall's potential at contact over κ − W, m²
    behind: qd.f32  # what walls add to n, over the shape of `wall_side`, 1/m


def make_capillarity(spacing: float, support: float) -> Capillarity:
    """`support` in spacings."""
    h = support * spacing
    return Capillarity(
        slope=_slope(h),
        strength=CALIBRATION / lattice_tension(support),
        across=ACROSS,
        faint=FAINT / h,
        full=FULL / h,
        core=CORE * spacing,
        core_radius=CORE_RADIUS * spacing,
        drag=DRAG,
        grip=WALL_CALIBRATION * spacing**2 / _wall_layers(support),
        behind=_behind(support) / spacing,
    )


def _slope(support: float) -> float:
    """A with which Σ V x ⊗ ∇W̃ = −I: (4π/3) A h⁴ ∫ q⁵ (1 − q) dq = 1."""
    return 42.0 * 3.0 / (4.0 * math.pi * support**4)


def _lattice(support: float) -> tuple[np.ndarray, np.ndarray]:
    """Neighbours on a cubic lattice of spacing 1, and −W̃'/r of each."""
    reach = math.ceil(support)
    axis = np.arange(-reach, reach + 1)
    x = np.stack(np.meshgrid(axis, axis, axis, indexing="ij"), -1).reshape(-1, 3)
    q = np.linalg.norm(x, axis=1) / support
    x, q = x[(q > 0.0) & (q < 1.0)], q[(q > 0.0) & (q < 1.0)]
    return x, _slope(support) * q * (1.0 - q) / support


def _behind(support: float) -> float:
    """n of the outermost layer of a lattice over `wall_side` there, with spacing 1."""
    x, pull = _lattice(support)
    t = 0.5 / support
    shape = 2.0 * (1.0 - t**2) - 3.2 * (1.0 - t**5) + 2.0 * (1.0 - t**6)
    return float((pull * x[:, 1])[x[:, 1] > 0].sum()) / shape


def lattice_tension(support: float) -> float:
    """Tension of a flat cubic lattice of spacing 1 for c = κ = 1, from Π alone."""
    x, pull = _lattice(support)
    total = 0.0
    for layer in range(math.ceil(support)):
        there = x[:, 1] <= layer  # neighbours up to the surface
        n = -float((pull * x[:, 1])[there].sum())
        moment = float((pull * x[:, 0] ** 2)[there].sum())
        share = min(max((n * support - FAINT) / (FULL - FAINT), 0.0), 1.0)
        total += n * share * moment
    return total


def _wall_layers(support: float) -> float:
    """Σ over layers of a lattice of a wall's potential, 1 at contact."""
    heights = np.minimum((np.arange(math.ceil(support)) / (support - 0.5)), 1.0)
    return float(((1.0 - heights) ** 2 * (1.0 + 2.0 * heights)).sum())


def capillary_step(density: float, spacing: float, tension: float) -> float:
    """The longest step that resolves capillary waves: √(ρ d³/(4π κ)) (Brackbill et al. 1992), s."""
    return math.sqrt(density * spacing**3 / (4.0 * math.pi * tension)) if tension > 0 else math.inf


@qd.func
def pull_over_r(c: Capillarity, support: qd.f32, r: qd.f32) -> qd.f32:
    """−W̃'(r)/r, 1/m⁵."""
    q = r / support
    return c.slope * q * qd.max(1.0 - q, 0.0) / support


@qd.func
def surface_weight(c: Capillarity, n: qd.f32) -> qd.f32:
    """w(|n|), 1/m: |n| at a surface and 0 inside, where n is noise."""
    return n * qd.min(qd.max((n - c.faint) / (c.full - c.faint), 0.0), 1.0)


@qd.func
def shortest_axis(moment: vec6, guess: vec3) -> vec3:
    """The axis of M that is nearest to a guess across the surface, by power iteration.

    The shift, the mean of M along the surface, leaves little but the axis looked for.
    """
    axis = guess
    for _ in range(8):
        along = 0.5 * (moment[0] + moment[1] + moment[2] - axis.dot(times_vector(moment, axis)))
        turned = along * axis - times_vector(moment, axis)
        length = turned.norm()
        if length > 1e-6:
            axis = turned / length
    return axis


@qd.func
def core_push(c: Capillarity, x: vec3, r: qd.f32) -> vec3:
    """Push on a particle at x from another, over κ, m."""
    return c.core * qd.max(1.0 - r / c.core_radius, 0.0) / qd.max(r, 1e-12) * x


@qd.func
def surface_drag(c: Capillarity, support: qd.f32, kappa: qd.f32, mass: qd.f32, r: qd.f32) -> qd.f32:
    """Resistance of a pair to approaching or parting along its line, over r², kg/(s m²)."""
    near = qd.max(1.0 - r / support, 0.0)
    return c.drag * qd.sqrt(kappa * mass) * near / qd.max(r * r, 1e-24)


@qd.func
def wall_side(c: Capillarity, support: qd.f32, distance: qd.f32) -> qd.f32:
    """How long n is of a fluid behind a wall, 1/m: 2π ∫ W̃ r dr beyond the distance."""
    t = qd.min(qd.max(distance / support, 0.0), 1.0)
    t2 = t * t
    shape = 2.0 * (1.0 - t2) - 3.2 * (1.0 - t2 * t2 * t) + 2.0 * (1.0 - t2 * t2 * t2)
    return c.behind * shape


@qd.func
def wall_pull(c: Capillarity, spacing: qd.f32, support: qd.f32, distance: qd.f32) -> qd.f32:
    """Force towards a wall over W − κ, m: the slope of (1 − t)² (1 + 2t) from contact (t = 0) to h."""
    reach = support - 0.5 * spacing
    t = qd.min(qd.max((distance - 0.5 * spacing) / reach, 0.0), 1.0)
    return c.grip * 6.0 * t * (1.0 - t) / reach
