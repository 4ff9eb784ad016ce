"""A step that is ready for its velocity projection, and what the projection should find."""

from dataclasses import dataclass

import numpy as np
from rigs import Float, Rig, numbers
from scipy.linalg import block_diag

from viscoil.core.compute import view, write
from viscoil.solvers.dcpbd.context import StepContext
from viscoil.solvers.dcpbd.velocity_projection import Convergence

# Whatever was there before.
SCRATCH = ["residual", "direction", "velocity_change", "traction", "pull"]
SCRATCH += ["bend_residual", "bend_direction"]


@dataclass
class Problem:
    """A small block in a random smooth flow, ready for the projection."""

    rig: Rig
    c: StepContext
    free_velocity: Float
    memory: Float

    @property
    def n(self) -> int:
        return self.c.n

    def solve(self, warm: Float | None = None) -> tuple[Float, Float, Convergence]:
        """u** and σ from u* and the stresses and bends of the last step."""
        write(self.c.unknowns.velocity, self.free_velocity)
        write(self.c.unknowns.free_velocity, self.free_velocity)
        write(self.c.unknowns.stress, np.zeros((self.n, 6)) if warm is None else warm)
        if warm is None:
            self.c.unknowns.bend.fill(0.0)
        for name in SCRATCH:
            getattr(self.c.unknowns, name).fill(np.nan)
        view = self.c.view
        self.rig.walls.choose_planes(view.scale, view.near, self.c.unknowns.velocity)
        report = self.rig.solver._project_velocities(self.c)
        velocity, stress = self.c.unknowns.velocity, self.c.unknowns.stress
        return numbers(velocity, self.n), numbers(stress, self.n), report


def compliance(p: Problem, bends: bool = True) -> Float:
    """a of all particles as a dense matrix in Mandel form, floor included; that of bends below."""
    table = p.c.materials
    normal, shear, volume = (
        float(view(getattr(table, f"{name}_compliance"))[0])
        for name in ("normal", "shear", "volume")
    )
    block = np.diag([normal] * 3 + [shear] * 3)
    block[:3, :3] += (volume - normal) / 3.0
    floor = 1e-5 * np.repeat(numbers(p.c.stencil.diagonal, p.n), 6)
    stresses = np.asarray(np.kron(np.eye(p.n), block) + np.diag(floor), np.float64)
    if not bends:
        return stresses
    floor = 1e-5 * np.repeat(numbers(p.c.stencil.bend_diagonal, p.n), 3)
    return np.asarray(block_diag(stresses, np.diag(shear + floor)))
