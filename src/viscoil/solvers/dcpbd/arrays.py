# mypy: disable-error-code="valid-type,misc"
"""Arrays of a step of DC-PBD: what is constant over its iterations, and the unknowns."""

import dataclasses
from collections.abc import Mapping
from typing import Any

import quadrants as qd

from viscoil.core.compute import Floats, Ints, Mat3s, Vec3s, Vec6s, matrices, scalars, vectors
from viscoil.neighbors.pairs import PairList
from viscoil.particles.store import ChannelKind, Particles

PRESSURE: Mapping[str, ChannelKind] = {
    "pressure": ChannelKind("f32", 1, "Pa"),
    "remainder": ChannelKind("f32", 3, "m"),  # of the position, what its last bit could not hold
}
"""Channels of every particle."""
STRESS: Mapping[str, ChannelKind] = {
    "conformation": ChannelKind("f32", 6, "1", rest=(1.0, 1.0, 1.0, 0.0, 0.0, 0.0)),
    "dilation": ChannelKind("f32", 1, "1"),
    "curvature": ChannelKind("f32", 3, "1"),
    "stress": ChannelKind("f32", 6, "Pa"),
    "bend": ChannelKind("f32", 3, "Pa"),
}
"""Channels where a material carries stress: they are two thirds of a particle; water has none."""
CONTACT: Mapping[str, ChannelKind] = {"rubbing": ChannelKind("f32", 3, "Pa")}
"""Channels where separate bodies may collide."""


@dataclasses.dataclass
class Stencil:
    """The operators of the conformation constraint at x⁰ (see `operators`)."""

    weight: Floats  # (pairs) g_ij = V_i V_j W'(r)/r at x⁰, m; negative
    weighted_end: Ints  # end of the pairs of each particle that have a weight; the others follow
    correction: Vec6s  # K_i: inverse moment matrix; 0 where no gradient can be taken
    asymmetry: Vec3s  # s_i = K_i Σ_j g_ij x_ij/V_i, 1/m: how lopsided the neighbourhood is
    diagonal: Floats  # D_i: mean diagonal of the conformation system, 1/Pa
    bend_diagonal: Floats  # mean diagonal of the bends, 1/Pa
    bend_share: Floats  # of the material's compliance, what bends have: less under much pressure
    firmness: Floats  # 0 (inviscid) to 1: how much of its volume stress alone can keep
    spin: Vec3s  # ω of u⁰, 1/s
    loose: Floats  # 0 to 1: whether another separate body is in reach
    touching: Floats  # w of particles whose pressure keeps another body away, 0 to 1
    # Of particles whose volume pressure keeps within the velocity projection (`pressure_rows`):
    pressed: Floats  # w: the share of the volume that pressure keeps, from 0 to 1
    pressed_diagonal: Floats  # diagonal of the pressures' system, 1/Pa
    pressed_compliance: Floats  # χ: what a rise of pressure costs, 1/Pa
    pressed_offset: Floats  # the part of the row that no velocity changes
    wall_slope: Vec3s  # what images push particle i with per unit of p_i, 1/m; 0 for others


@dataclasses.dataclass
class Memory:
    """What materials remember of their deformation, as the step starts."""

    conformation: Vec6s  # Q⁰
    dilation: Floats  # θ⁰: to the mean of strain what Q⁰ − I is to the rest
    curvature: Vec3s  # c⁰: to bends what Q⁰ − I is to strain


@dataclasses.dataclass
class Unknowns:
    """What the iterations change; some of it lies in common memory (`SHARED`)."""

    velocity: Vec3s  # u, m/s: u⁰, then u*, then u**, and at the end u¹
    free_velocity: Vec3s  # u*, m/s: kept while the velocity projection changes u
    velocity_change: Vec3s  # w, m/s: what p of the conjugate gradients does to u
    place: Vec3s  # y, m: from x** to x¹ in the position projection
    place_change: Vec3s  # m: what one iteration of the pressures does to y
    difference: Vec3s  # m/s: of u to that of the neighbours (`short_waves`)
    shift: Vec3s  # the part of y that only rearranges particles and is no motion of the fluid, m
    stress: Vec6s  # σ, Pa: the multiplier of the conformation constraint
    residual: Vec6s  # r of the conjugate gradients
    direction: Vec6s  # p of the conjugate gradients, Pa
    added_stress: Vec6s  # Pa: all Δσ of Jacobi iterations since the position projection began
    bend: Vec3s  # μ, Pa: the multiplier of what the gradient does not see
    bend_residual: Vec3s  # r of the bends
    bend_direction: Vec3s  # p of the bends
    term: Floats  # what a particle adds to a scalar product
    traction: Mat3s  # T = σ K + (b/2) μ ⊗ s of the stresses that act, Pa
    pull: Vec3s  # (b/2) μ of the bends that act, Pa m
    uneven: Vec6s  # p dev M: minus the shear stress that pressure has in a neighbourhood, Pa
    relief: Vec6s  # the same, smoothed (`relief`), Pa
    repulsion: Floats  # p that acts between separate bodies, Pa
    rubbing: Vec3s  # τ: the traction of friction between separate bodies, Pa
    pressure: Floats  # p, Pa: the multiplier of the density constraint
    # p that is set aside, Pa: what was recalled until shifts begin, then what was found
    pressure_aside: Floats
    old_compression: Floats  # C at x⁰; 0 where nothing asks for it
    firm_share: Floats  # f_i times the mean f_j of the neighbours: how much of C shifts can undo
    allowance: Floats  # C up to which a neighbourhood may stay compressed
    pressure_residual: Floats  # r of the pressures
    pressure_direction: Floats  # p of the conjugate gradients, of the pressures, Pa
    projected_pressure: Floats  # p of the last iteration before momentum was added, Pa
    pressure_change: Floats  # Δp of one iteration, Pa
    lateness: Floats  # θ: how much of a push is taken where the step ends
    stiffness: Floats  # −dC_i/dp_i over the length of a Jacobi step, 1/Pa
    compression: Floats  # C_i, relative excess of density
    tally: Vec3s  # what a particle adds to the figures of an iteration of the pressures


# Arrays that are borrowed from the particles, which need them to be sorted.
BORROWED = {
    "residual": ChannelKind("f32", 6),
    "free_velocity": ChannelKind("f32", 3),
    "compression": ChannelKind("f32", 1),
}
# Arrays that serve from the prediction of positions on, in the memory of those of the velocity
# projection, which nothing needs any more. Quadrants takes arrays of two names for two arrays: a loop
# that uses two of one memory must not read one name after it has written the other.
SHARED = {
    "place": "free_velocity",
    "place_change": "velocity_change",
    "added_stress": "direction",
    "difference": "velocity_change",
    "shift": "bend_direction",
    "firm_share": "pressed_offset",
    "allowance": "old_compression",
    "projected_pressure": "pressure_residual",
    "pressure_change": "pressure_direction",
    "stiffness": "pressed_diagonal",
    "tally": "bend_residual",
}
# Arrays that no kernel touches while no material carries stress: one element has to be there.
IDLE_WITHOUT_STRESS = {
    *STRESS,
    *("weight", "weighted_end", "correction", "asymmetry", "bend_diagonal", "diagonal"),
    *("spin", "wall_slope", "pressed_offset", "pressed_compliance", "bend_share"),
    *("residual", "direction", "traction", "pull"),
}
# The same while there are no separate bodies.
IDLE_WITHOUT_BODIES = {"loose", "touching", "repulsion", "rubbing"}


def carry_stress(particles: Particles) -> bool:
    """Whether they have the channels for it."""
    return all(name in particles for name in STRESS)


class Workspace:
    """Owns the scratch arrays and hands out the kernels' views of a step.

    The views stay the same objects, because a kernel that is launched with arguments it has seen
    before starts sooner.
    """

    def __init__(self) -> None:
        self._capacity = 0
        self._weight: Any = scalars(qd.f32, 1)
        self._arrays: dict[str, Any] = {}
        self._idle: dict[Any, Any] = {}
        self._views: dict[type, Any] = {}

    def stencil(self, particles: Particles, pairs: PairList) -> Stencil:
        """Of a step; its arrays hold nothing yet."""
        self.follow(particles)
        length = pairs.neighbor.shape[0] if carry_stress(particles) else 1
        if self._weight.shape[0] != length:
            self._views.pop(Stencil, None)  # frees the old one before the other is made
            self._weight = None
            self._weight = scalars(qd.f32, length)
        view: Stencil = self._view(Stencil, particles, {"weight": self._weight})
        return view

    def memory(self, particles: Particles) -> Memory:
        """The channels that remember."""
        view: Memory = self._view(Memory, particles, {})
        return view

    def unknowns(self, particles: Particles) -> Unknowns:
        """Those that are channels hold what the last step left."""
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
        idle = name in IDLE_WITHOUT_STRESS and not carry_stress(particles)
        if idle or (name in IDLE_WITHOUT_BODIES and "body" not in particles):
            if field.type not in self._idle:
                self._idle[field.type] = _allocate(field.type, 1)
            return self._idle[field.type]
        if name in ("velocity", *PRESSURE, *STRESS, *CONTACT):
            return particles.array(name)
        if name in BORROWED:
            return particles.spare(BORROWED[name])
        if name not in self._arrays:
            self._arrays[name] = _allocate(field.type, self._capacity)
        return self._arrays[name]


def _allocate(kind: Any, capacity: int) -> Any:
    if kind is Mat3s:
        return matrices(capacity)
    if kind in (Vec3s, Vec6s):
        return vectors(3 if kind is Vec3s else 6, capacity)
    return scalars(qd.i32 if kind is Ints else qd.f32, capacity)
