# mypy: disable-error-code="valid-type,misc"
"""Arrays that live for one step: what is constant over its iterations, and the unknowns."""

import dataclasses
from typing import Any

import quadrants as qd

from viscoil.compute import Floats, Ints, Mat3s, Vec3s, Vec6s, matrices, scalars, vectors
from viscoil.neighbors import PairList, Period
from viscoil.particles import STANDARD_CHANNELS, STRESS_CHANNELS, ChannelKind, Particles


@dataclasses.dataclass
class Fluid:
    """The particles at the start of the step; constant over the iterations."""

    position: Vec3s  # x⁰, m
    material: Ints
    size: Floats  # s: spacing in units of the scene's; a single number where all are 1
    conformation: Vec6s  # Q⁰
    dilation: Floats  # θ⁰: to the mean of strain what Q⁰ − I is to the rest
    curvature: Vec3s  # c⁰: to bends what Q⁰ − I is to strain
    pairs: PairList
    period: Period
    weight: Floats  # (pairs) g_ij = V_i V_j W'(r)/r at x⁰, m; negative
    weighty: Ints  # end of the pairs of each particle that have a weight; the others follow
    correction: Vec6s  # K_i: inverse moment matrix; 0 where no gradient can be taken
    lean: Vec3s  # s_i = K_i Σ_j g_ij x_ij/V_i, 1/m: how lopsided the neighbourhood is
    bend_diagonal: Floats  # mean diagonal of the bends, 1/Pa
    diagonal: Floats  # D_i: mean diagonal of the conformation system, 1/Pa
    inverse_mass: Floats  # 1/kg
    softness: Floats  # what heat makes of the material's compliance: a factor, 1 without
    firmness: Floats  # 0 (inviscid) to 1: how much of its volume stress alone can keep
    wall: Ints  # index of the particle's contact, -1 away from walls


@dataclasses.dataclass
class Unknowns:
    """What the iterations change."""

    velocity: Vec3s  # u, m/s
    trial: Vec3s  # u* (m/s) in the velocity projection, y (m) in the position projection
    change: Vec3s  # correction of one iteration, of u (m/s) or y (m)
    shift: Vec3s  # the part of y that only rearranges particles and is no motion of the fluid, m
    stress: Vec6s  # σ, Pa: the multiplier of the conformation constraint
    residual: Vec6s  # r of the conjugate gradients
    direction: Vec6s  # p of the conjugate gradients; Δσ in Jacobi iterations
    bend: Vec3s  # μ, Pa: the multiplier of what the gradient does not see
    bend_residual: Vec3s  # r of the bends
    bend_direction: Vec3s  # p of the bends
    term: Floats  # what a particle adds to a scalar product
    traction: Mat3s  # T = σ K + (b/2) μ ⊗ s of whatever is loaded, Pa
    pull: Vec3s  # (b/2) μ of whatever is loaded, Pa m
    pressure: Floats  # p, Pa: the multiplier of the density constraint
    projected_pressure: Floats  # p of the last iteration before momentum was added, Pa
    pressure_change: Floats  # Δp of one iteration, Pa
    stiffness: Floats  # −dC_i/dp_i over the length of a Jacobi step, 1/Pa
    compression: Floats  # C_i, relative excess of density
    tally: Vec3s  # what a particle adds to the figures of an iteration of the pressures


# Arrays of the views that are borrowed from the particles, which need them to be sorted.
BORROWED = {
    "residual": ChannelKind("f32", 6),
    "trial": ChannelKind("f32", 3),
    "compression": ChannelKind("f32", 1),
    "wall": ChannelKind("i32", 1),
}
# Arrays that hold something else than 0 until somebody writes them.
FILLED = {"softness": 1.0}
# Arrays that serve the position projection alone, in the place of one of the velocity projection.
SHARED = {"shift": "bend_direction", "tally": "bend_residual"}
# Arrays that no kernel touches while no material carries stress: one element has to be there.
IDLE_WITHOUT_STRESS = {
    *STRESS_CHANNELS,
    *("weight", "weighty", "correction", "lean", "bend_diagonal", "diagonal"),
    *("residual", "direction", "traction", "pull"),
}


class Workspace:
    """Owns the scratch arrays and hands out the kernels' views of a step.

    The views stay the same objects, because a kernel that is launched with arguments it has seen
    before starts sooner.
    """

    def __init__(self) -> None:
        self._capacity = 0
        self._weight: Any = scalars(qd.f32, 1)
        self._no_sizes: Any = scalars(qd.f32, 1)
        self._arrays: dict[str, Any] = {}
        self._idle: dict[Any, Any] = {}
        self._views: dict[type, Any] = {}

    def fluid(self, particles: Particles, pairs: PairList, period: Period) -> Fluid:
        self.follow(particles)
        length = pairs.neighbor.shape[0] if particles.carry_stress else 1
        if self._weight.shape[0] != length:
            self._views.pop(Fluid, None)  # frees the old one before the other is made
            self._weight = None
            self._weight = scalars(qd.f32, length)
        own = {"pairs": pairs, "period": period, "weight": self._weight}
        view: Fluid = self._view(Fluid, particles, own)
        return view

    def unknowns(self, particles: Particles) -> Unknowns:
        view: Unknowns = self._view(Unknowns, particles, {})
        return view

    def follow(self, particles: Particles) -> None:
        """Frees all arrays before others take their place when the particles have another capacity."""
        if particles.capacity != self._capacity:
            self._capacity = particles.capacity
            self._arrays.clear()
            self._views.clear()

    def _view(self, kind: Any, particles: Particles, own: dict[str, Any]) -> Any:
        self.follow(particles)
        values = {
            field.name: own[field.name] if field.name in own else self._array(field, particles)
            for field in dataclasses.fields(kind)
        }
        if kind not in self._views:
            self._views[kind] = kind(**values)
        for name, value in values.items():
            setattr(self._views[kind], name, value)
        return self._views[kind]

    def _array(self, field: Any, particles: Particles) -> Any:
        """A channel if the particles have one of that name, a borrowed array, or scratch."""
        name = SHARED.get(field.name, field.name)
        if name in IDLE_WITHOUT_STRESS and not particles.carry_stress:
            if field.type not in self._idle:
                self._idle[field.type] = _allocate(field.type, 1)
            return self._idle[field.type]
        if name == "size":
            return particles.array(name) if name in particles else self._no_sizes
        if name in STANDARD_CHANNELS:
            return particles.array(name)
        if name in BORROWED:
            return particles.spare(BORROWED[name])
        if name not in self._arrays:
            self._arrays[name] = _allocate(field.type, self._capacity)
            if name in FILLED:
                self._arrays[name].fill(FILLED[name])
        return self._arrays[name]


def _allocate(kind: Any, capacity: int) -> Any:
    if kind is Mat3s:
        return matrices(capacity)
    if kind in (Vec3s, Vec6s):
        return vectors(3 if kind is Vec3s else 6, capacity)
    return scalars(qd.i32 if kind is Ints else qd.f32, capacity)
