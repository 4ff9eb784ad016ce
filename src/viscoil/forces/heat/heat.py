"""The heat of a simulation, step by step.

Conduction is the SPH heat equation of Cleary and Monaghan (1999): C_i dT_i/dt = Σ_j Λ_ij (T_j − T_i) with
the conductances Λ_ij = V² 4 κ_i κ_j/(κ_i + κ_j) |W'|/r, symmetric, so that heat is conserved to
round-off; all of them are scaled by the second moment of a lattice, on which long waves are then exact.
Steps of any length are stable by more stages of an explicit scheme (`laws.stages`): no system is solved.

It is bad where few particles meet: at a surface, and through sheets thinner than the support.
"""

import math
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
import quadrants as qd

from viscoil.colliders import ColliderSet
from viscoil.core.compute import scalars, view, write
from viscoil.core.reductions import block_count
from viscoil.forces.exposure import Exposure, flat_lack
from viscoil.forces.heat import kernels
from viscoil.forces.heat.laws import stage_weights, stages
from viscoil.forces.protocol import Force, StepView
from viscoil.neighbors.smoothing import Smoothing
from viscoil.scene import Collider, Material, Scene

# W/(m² K): between a solid and fluid that sticks to it, unless the scene gives it.
HEAT_TRANSFER = 500.0


class Heat(Force):
    """Temperatures of the particles, and what they do to materials."""

    name: ClassVar[str] = "heat"

    def __init__(self, scene: Scene, colliders: ColliderSet, exposure: Exposure) -> None:
        settings = scene.simulation
        smoothing = Smoothing[scene.solver.smoothing.upper()]
        self._volume = settings.spacing**3
        self._exposure = exposure
        self._table = _make_table(len(scene.materials))
        self._materials: list[Material] = []
        self._scratch = [scalars(qd.f32, 1) for _ in range(3)]
        self._largest: Any = scalars(qd.f64, 1)
        self._around = kernels.Surroundings(
            air=settings.ambient_temperature or 0.0,
            cooling=settings.cooling or 0.0,
            area=settings.spacing**2,
            flat=flat_lack(smoothing, scene.solver.support),
            wall_temperature=scalars(qd.f32, colliders.count),
            wall_transfer=scalars(qd.f32, colliders.count),
        )
        specs = colliders.part_specs
        self._walls_matter = any(spec.temperature is not None for spec in specs)
        if self._walls_matter:
            write(self._around.wall_temperature, [s.temperature or 0.0 for s in specs])
            write(self._around.wall_transfer, [_transfer(s) for s in specs])

    def begin(self, step: StepView) -> None:
        """Sets the softness that the materials of this step are to have."""
        self._update(step.materials.materials)
        temperature = step.particles.array("temperature")
        kernels.soften(step.n, self._table, step.materials.table, temperature, step.near)

    def act(self, step: StepView, velocity: Any) -> None:
        """Advances the temperatures by the step."""
        self._update(step.materials.materials)
        temperature = step.particles.array("temperature")
        self._conduct(step, temperature)
        if self._around.cooling > 0.0 or self._walls_matter:
            exposed = self._around.cooling > 0.0
            exposure = self._exposure(step) if exposed else self._scratch[0]
            kernels.transfer_to_surroundings(
                step.n, step.scale, self._table, self._around, step.near, step.walls.arrays,
                exposure, temperature,
            )  # fmt: skip

    def _conduct(self, step: StepView, temperature: Any) -> None:
        if not any(material.conductivity for material in self._materials):
            return
        self._reserve(step.capacity)
        before, change, after = self._scratch
        scale = step.scale
        unit = scale.volume**2 * scale.gradient_scale
        kernels.rates(step.n, unit, scale, self._table, step.near, before, self._largest)
        count = stages(scale.dt, float(view(self._largest, block_count(step.n)).max()))
        before.fill(0.0)
        change.fill(0.0)
        for j in range(1, count + 1):
            mu, nu, share = stage_weights(j, count)
            kernels.stage(
                step.n, unit, mu, nu, share * scale.dt, scale, self._table, step.near, temperature,
                before, change, after,
            )  # fmt: skip
            before, change, after = change, after, before
        kernels.add_changes(step.n, change, temperature)

    def _reserve(self, capacity: int) -> None:
        if self._scratch[0].shape[0] < capacity:
            self._scratch = [scalars(qd.f32, capacity) for _ in range(3)]
            self._largest = scalars(qd.f64, block_count(capacity))

    def _update(self, materials: Sequence[Material]) -> None:
        """Rewrites the table if a material has changed."""
        if list(materials) == self._materials:
            return
        self._materials = list(materials)
        curves = [material.thermal for material in materials]
        table = self._table
        write(table.conductivity, [m.conductivity for m in materials])
        write(table.capacity, [m.density * m.heat_capacity * self._volume for m in materials])
        counts = [len(curve.temperatures) if curve else 0 for curve in curves]
        write(table.curve_start, np.concatenate([[0], np.cumsum(counts)]))
        knots = [t for curve in curves if curve for t in curve.temperatures]
        factors = [math.log(f) for curve in curves if curve for f in curve.stiffening]
        table.knots, table.log_stiffening = _filled(knots), _filled(factors)


def _transfer(spec: Collider) -> float:
    """W/(m² K); 0 for a solid without a temperature."""
    if spec.temperature is None:
        return 0.0
    return HEAT_TRANSFER if spec.heat_transfer is None else spec.heat_transfer


def _make_table(materials: int) -> kernels.HeatTable:
    return kernels.HeatTable(
        conductivity=scalars(qd.f32, materials),
        capacity=scalars(qd.f32, materials),
        curve_start=scalars(qd.i32, materials + 1),
        knots=scalars(qd.f32, 1),
        log_stiffening=scalars(qd.f32, 1),
    )


def _filled(values: Sequence[float]) -> Any:
    array = scalars(qd.f32, len(values))
    write(array, values)
    return array
