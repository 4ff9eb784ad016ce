"""Everything that the projections of one step share."""

from dataclasses import dataclass
from typing import Any

from viscoil.forces.protocol import StepView
from viscoil.solvers.dcpbd.arrays import Memory, Stencil, Unknowns, Workspace
from viscoil.solvers.dcpbd.stress_table import StressTable, StressTables
from viscoil.solvers.dcpbd.velocity_system import System


@dataclass
class StepContext:
    """A step of DC-PBD: what forces see of it, and the arrays of the solver."""

    view: StepView
    materials: StressTable
    stencil: Stencil
    memory: Memory
    unknowns: Unknowns
    system: System
    """All of it as the kernels of the velocity projection take it."""
    carries_stress: bool
    """Whether any material does."""

    @property
    def n(self) -> int:
        """Of particles."""
        return self.view.n


class ContextMaker:
    """Makes the contexts of a solver; what kernels take stays the same object from step to step.

    A kernel that is launched with arguments it has seen before starts sooner.
    """

    def __init__(self, corotated: bool) -> None:
        self.workspace = Workspace()
        self._materials = StressTables()
        self._corotated = corotated
        self._system: System | None = None

    def __call__(self, view: StepView) -> StepContext:
        """Of a step whose pairs are known."""
        self._materials.update(view.materials.materials, view.scale.dt)
        materials = self._materials.table
        stencil = self.workspace.stencil(view.particles, view.near.pairs)
        memory = self.workspace.memory(view.particles)
        unknowns = self.workspace.unknowns(view.particles)
        parts: dict[str, Any] = {
            "scale": view.scale,
            "materials": materials,
            "near": view.near,
            "walls": view.walls.arrays,
            "stencil": stencil,
            "memory": memory,
            "unknowns": unknowns,
        }
        if self._system is None:
            self._system = System(**parts, corotated=self._corotated)
        for name, part in parts.items():
            setattr(self._system, name, part)
        return StepContext(
            view, materials, stencil, memory, unknowns, self._system, self._materials.any_active
        )
