# mypy: disable-error-code="valid-type,misc"
"""Arrays that live for one step: what is constant over its iterations, and the unknowns."""

import dataclasses
from typing import Any

import quadrants as qd

from viscoil.compute import Floats, Ints, Mat3s, Vec3s, Vec6s, matrices, scalars, vectors
from viscoil.neighbors import PairList, Period
from viscoil.particles import Particles


@dataclasses.dataclass
class Fluid:
    """The particles at the start of the step; constant over the iterations."""

    position: Vec3s  # x⁰, m
    material: Ints
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
    bend_residual: Vec3s  # r of the bends; what `judge` adds up in the position projection
    bend_direction: Vec3s  # p of the bends
    term: Floats  # what a particle adds to a scalar product
    traction: Mat3s  # T = σ K + (b/2) μ ⊗ s of whatever is loaded, Pa
    pull: Vec3s  # (b/2) μ of whatever is loaded, Pa m
    pressure: Floats  # p, Pa: the multiplier of the density constraint
    projected_pressure: Floats  # p of the last iteration before momentum was added, Pa
    pressure_change: Floats  # Δp of one iteration, Pa
    stiffness: Floats  # −dC_i/dp_i over the length of a Jacobi step, 1/Pa
    compression: Floats  # C_i, relative excess of density


class Workspace:
    """Owns the scratch arrays and hands out the kernels' views of a step."""

    def __init__(self) -> None:
        self._capacity = 0
        self._weight: Any = scalars(qd.f32, 1)
        self._arrays: dict[str, Any] = {}

    def fluid(self, particles: Particles, pairs: PairList, period: Period) -> Fluid:
        self._reserve(particles.capacity)
        if self._weight.shape[0] < pairs.neighbor.shape[0]:
            self._weight = scalars(qd.f32, pairs.neighbor.shape[0])
        a = self._arrays
        return Fluid(
            position=particles.array("position"),
            material=particles.array("material"),
            conformation=particles.array("conformation"),
            dilation=particles.array("dilation"),
            curvature=particles.array("curvature"),
            pairs=pairs,
            period=period,
            weight=self._weight,
            weighty=a["weighty"],
            correction=a["correction"],
            lean=a["lean"],
            bend_diagonal=a["bend_diagonal"],
            diagonal=a["diagonal"],
            inverse_mass=a["inverse_mass"],
            firmness=a["firmness"],
            wall=a["wall"],
        )

    def unknowns(self, particles: Particles) -> Unknowns:
        self._reserve(particles.capacity)
        a = self._arrays
        return Unknowns(
            velocity=particles.array("velocity"),
            trial=a["trial"],
            change=a["change"],
            shift=a["shift"],
            stress=particles.array("stress"),
            residual=a["residual"],
            direction=a["direction"],
            bend=particles.array("bend"),
            bend_residual=a["bend_residual"],
            bend_direction=a["bend_direction"],
            term=a["term"],
            traction=a["traction"],
            pull=a["pull"],
            pressure=a["pressure"],
            projected_pressure=a["projected_pressure"],
            pressure_change=a["pressure_change"],
            stiffness=a["stiffness"],
            compression=a["compression"],
        )

    def _reserve(self, capacity: int) -> None:
        if capacity == self._capacity:
            return
        self._capacity = capacity
        a = self._arrays
        a.clear()
        for name in ("correction", "residual", "direction"):
            a[name] = vectors(6, capacity)
        for name in ("trial", "change", "shift", "lean", "bend_residual", "bend_direction", "pull"):
            a[name] = vectors(3, capacity)
        for name in (
            "diagonal",
            "bend_diagonal",
            "inverse_mass",
            "firmness",
            "pressure",
            "pressure_change",
            "projected_pressure",
            "stiffness",
            "compression",
            "term",
        ):
            a[name] = scalars(qd.f32, capacity)
        for name in ("wall", "weighty"):
            a[name] = scalars(qd.i32, capacity)
        a["traction"] = matrices(capacity)
