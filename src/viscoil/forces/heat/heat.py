"""The heat of a simulation, step by step.

Conduction is the SPH heat equation of Cleary and Monaghan (1999): C_i dT_i/dt = Σ_j Λ_ij (T_j − T_i) with
the conductances Λ_ij = V² 4 κ_i κ_j/(κ_i + κ_j) |W'|/r, symmetric, so that heat is conserved to
round-off; all of them are scaled by the second moment of a lattice, on which long waves are then exact.
Steps of any length are stable by more stages of an explicit scheme (`laws.stages`): no system is solved.

It is bad where few particles meet: at a surface, and through sheets thinner than the support.
"""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import quadrants as qd

from viscoil.colliders import ColliderSet
from viscoil.constraints.density import wall_table
from viscoil.core.compute import scalars, view, write
from viscoil.core.reductions import block_count
from viscoil.forces.exposure import Exposure, flat_lack
from viscoil.forces.heat import kernels
from viscoil.forces.heat.laws import stage_weights, stages
from viscoil.neighbors.lattice import smoothing_slope
from viscoil.neighbors.scale import make_scale
from viscoil.neighbors.smoothing import Smoothing
from viscoil.particles.store import Particles
from viscoil.scene import Collider, Material, Scene
from viscoil.solvers.dcpbd.projections import StepContext

HEAT_TRANSFER = (
    500.0  # W/(m² K): between a solid and fluid that sticks to it, unless the scene says
)


class Heat:
    """Temperatures of the particles, and what they do to materials."""

    def __init__(self, scene: Scene, colliders: ColliderSet) -> None:
        settings = scene.simulation
        kind = Smoothing[scene.solver.smoothing.upper()]
        self._volume = settings.spacing**3
        self._moment = lattice_moment(kind, scene.solver.support)
        self._exposure = Exposure()
        self._table = _make_table(len(scene.materials))
        self._materials: list[Material] = []
        self._scratch = [scalars(qd.f32, 1) for _ in range(3)]
        self._largest: Any = scalars(qd.f64, 1)
        self._wall_table = scalars(qd.f32, 129)
        self._around = kernels.Surroundings(
            air=settings.ambient_temperature or 0.0,
            cooling=settings.cooling or 0.0,
            area=settings.spacing**2,
            flat=flat_lack(kind, scene.solver.support),
            wall_temperature=scalars(qd.f32, colliders.count),
            wall_transfer=scalars(qd.f32, colliders.count),
        )
        specs = colliders.part_specs
        self._walls_matter = any(spec.temperature is not None for spec in specs)
        if self._walls_matter:
            write(self._around.wall_temperature, [s.temperature or 0.0 for s in specs])
            write(self._around.wall_transfer, [_transfer(s) for s in specs])
            write(self._wall_table, wall_table(kind, scene.solver.support))

    def soften(self, c: StepContext, particles: Particles) -> None:
        """Sets the softness that the constraints of this step are to have."""
        self._update(c.materials.materials)
        kernels.soften(c.n, self._table, c.materials.table, particles.array("temperature"), c.fluid)

    def flow(self, c: StepContext, particles: Particles) -> None:
        """Advances the temperatures by the step; needs its contacts."""
        self._update(c.materials.materials)
        temperature = particles.array("temperature")
        self._conduct(c, temperature)
        if self._around.cooling > 0.0 or self._walls_matter:
            exposed = self._around.cooling > 0.0
            exposure = self._exposure(c) if exposed else self._scratch[0]
            kernels.exchange(
                c.n, c.scale.dt, c.scale, self._table, self._around, c.fluid, c.boundary.walls,
                self._wall_table, exposure, temperature,
            )  # fmt: skip

    def _conduct(self, c: StepContext, temperature: Any) -> None:
        if not any(material.conductivity for material in self._materials):
            return
        self._reserve(c)
        before, change, after = self._scratch
        unit = c.scale.volume**2 * c.scale.gradient_scale / self._moment
        same = (c.n, int(c.smoothing), c.periodic, unit)
        kernels.rates(*same, c.scale, self._table, c.fluid, before, self._largest)
        count = stages(c.scale.dt, float(view(self._largest, block_count(c.n)).max()))
        before.fill(0.0)
        change.fill(0.0)
        for j in range(1, count + 1):
            mu, nu, share = stage_weights(j, count)
            kernels.stage(
                *same, mu, nu, share * c.scale.dt, c.scale, self._table, c.fluid, temperature,
                before, change, after,
            )  # fmt: skip
            before, change, after = change, after, before
        kernels.add_changes(c.n, change, temperature)

    def _reserve(self, c: StepContext) -> None:
        capacity = c.fluid.position.shape[0]
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


def lattice_moment(kind: Smoothing, support: float) -> float:
    """Σ_j V |W'|/r x² of a cubic lattice (1 in the continuum); `support` is h in spacings."""
    scale = make_scale(1.0, support, kind)
    axis = np.arange(-math.ceil(support), math.ceil(support) + 1)
    x = np.stack(np.meshgrid(axis, axis, axis, indexing="ij"), -1).reshape(-1, 3)
    r = np.linalg.norm(x[x.any(axis=1)], axis=1)
    slope = smoothing_slope(kind, r / support) / (r / support)
    return float(-(scale.gradient_scale * slope * r * r).sum() / 3.0)


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
