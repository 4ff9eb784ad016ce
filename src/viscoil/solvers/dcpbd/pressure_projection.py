"""Incompressibility of velocities: pressures and contacts, before stress (`incompressibility`)."""

from viscoil.neighbors.scale import Scale
from viscoil.neighbors.smoothing import Smoothing
from viscoil.scene import DcpbdSettings
from viscoil.solvers.dcpbd import incompressibility
from viscoil.solvers.dcpbd.context import StepContext
from viscoil.solvers.dcpbd.density import FIRST_MOMENTUM, LEAST_STIFFNESS, Tally, lattice_stiffness
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
        )

    def __call__(self, c: StepContext) -> Convergence:
        """u ← Π(u* + Δt M⁻¹ f(p)), and `free_velocity` the same without walls."""
        common = (c.view.scale, c.view.near, c.view.walls.arrays, c.stencil, c.unknowns)
        self._loop.reserve(c.n)
        self._loop.start({Tally.NESTEROV: FIRST_MOMENTUM})
        incompressibility.begin_pressures(c.n, self._options, *common)
        if self._options.most:
            incompressibility.find_pressures(
                self._loop.go, c.n, self._options, *common, self._loop.arrays
            )
        incompressibility.finish_pressures(c.n, *common)
        return Convergence(self._loop.iterations, self._loop.number(Tally.UNBALANCED))
