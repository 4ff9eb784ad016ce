"""Incompressibility of velocities: pressures and contacts, before stress (`incompressibility`)."""

import math

from viscoil.neighbors.scale import Scale
from viscoil.neighbors.smoothing import Smoothing
from viscoil.scene import DcpbdSettings
from viscoil.solvers.dcpbd import incompressibility, velocity_system
from viscoil.solvers.dcpbd.context import StepContext
from viscoil.solvers.dcpbd.density import FIRST_MOMENTUM, LEAST_STIFFNESS, Tally, lattice_stiffness
from viscoil.solvers.dcpbd.short_waves import damped_share
from viscoil.solvers.dcpbd.velocity_projection import Convergence
from viscoil.solvers.linear.iterations import Loop


class PressureProjection:
    """Projects u* so that no neighbourhood that is full gets fuller and nothing enters a wall."""

    def __init__(self, settings: DcpbdSettings, smoothing: Smoothing, scale: Scale) -> None:
        self._loop = Loop()
        least = LEAST_STIFFNESS * lattice_stiffness(smoothing, settings.support, scale)
        self._options = incompressibility.PressureOptions(
            stiffness=least,
            fewest=min(2, settings.pressure_iterations),
            most=settings.pressure_iterations,
            tolerance=settings.pressure_tolerance,
            damping=0.0,
        )

    def __call__(self, c: StepContext) -> Convergence:
        """u ← Π(u* + Δt M⁻¹ f(p)), and `free_velocity` the same without walls."""
        common = (c.view.scale, c.view.near, c.view.walls.arrays, c.stencil, c.unknowns)
        view = c.view
        gravity = math.hypot(*view.gravity)
        self._options.damping = damped_share(view.scale.dt, gravity, view.scale.spacing)
        self._loop.reserve(c.n)
        self._loop.start({Tally.NESTEROV: FIRST_MOMENTUM})
        if c.carries_stress:
            velocity_system.let_stress_act(
                c.n, c.view.scale, c.view.near, c.stencil, c.unknowns
            )
        incompressibility.begin_pressures(c.n, self._options, c.carries_stress, *common)
        if self._options.most:
            incompressibility.find_pressures(
                self._loop.go, c.n, self._options, *common, self._loop.arrays
            )
        incompressibility.finish_pressures(c.n, *common)
        return Convergence(self._loop.iterations, self._loop.number(Tally.UNBALANCED))
