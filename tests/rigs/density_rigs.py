# mypy: disable-error-code="valid-type,no-untyped-def,no-untyped-call,misc"
"""One look at the density constraint: what it measures, and how its pressures move particles."""

import numpy as np
import quadrants as qd
from numpy.typing import ArrayLike, NDArray
from rigs import Rig, numbers

from viscoil.core.compute import view, write
from viscoil.neighbors.arrays import ParticleArrays
from viscoil.neighbors.scale import Scale
from viscoil.solvers.dcpbd.arrays import Stencil, Unknowns
from viscoil.solvers.dcpbd.context import StepContext
from viscoil.solvers.dcpbd.density import apply_pressure_change
from viscoil.walls.arrays import WallArrays

Float = NDArray[np.float64]


def measure(rig: Rig, c: StepContext) -> tuple[Float, Float]:
    """C and S of all particles where they are: a projection that stops before its first iteration."""
    c.unknowns.compression.fill(np.nan)
    c.unknowns.stiffness.fill(np.nan)
    rig.solver._project_positions.predict(c)
    rig.solver._project_positions(c)
    return numbers(c.unknowns.compression, c.n), numbers(c.unknowns.stiffness, c.n)


@qd.kernel
def _apply_pressure_change(
    n: qd.i32,
    scale: Scale,
    near: ParticleArrays,
    walls: WallArrays,
    stencil: Stencil,
    unknowns: Unknowns,
):
    apply_pressure_change(n, False, True, True, scale, near, walls, stencil, unknowns)


def displacements(rig: Rig, c: StepContext, pressure: ArrayLike) -> Float:
    """How far these pressures move the particles from where they are."""
    write(c.unknowns.place, view(c.view.near.position, c.n))
    write(c.unknowns.pressure_change, pressure)
    c.unknowns.place_change.fill(np.nan)
    _apply_pressure_change(
        c.n, c.view.scale, c.view.near, c.view.walls.arrays, c.stencil, c.unknowns
    )
    return numbers(c.unknowns.place_change, c.n)
