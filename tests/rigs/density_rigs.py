# mypy: disable-error-code="valid-type,no-untyped-def,no-untyped-call,misc"
"""One look at the density constraint: what it measures, and how its pressures move particles."""

import numpy as np
import quadrants as qd
from numpy.typing import ArrayLike, NDArray
from rigs import Rig, numbers

from viscoil.core.compute import Floats, view, write
from viscoil.neighbors.scale import Scale
from viscoil.solvers.dcpbd.density_kernels import apply_pressure_change
from viscoil.solvers.dcpbd.projections import StepContext
from viscoil.solvers.dcpbd.workspace import Fluid, Unknowns
from viscoil.walls.walls import Contacts, Walls

Float = NDArray[np.float64]


def measure(rig: Rig, c: StepContext) -> tuple[Float, Float]:
    """C and S of all particles where they are: a projection that stops before its first iteration."""
    c.unknowns.compression.fill(np.nan)
    c.unknowns.stiffness.fill(np.nan)
    write(c.unknowns.trial, view(c.fluid.position, c.n))
    rig.solver._project_positions(c, conform=False)
    return numbers(c.unknowns.compression, c.n), numbers(c.unknowns.stiffness, c.n)


@qd.kernel
def _apply_pressure_change(
    n: qd.i32,
    kind: qd.template(),
    scale: Scale,
    fluid: Fluid,
    walls: Walls,
    contacts: Contacts,
    wall_table: Floats,
    unknowns: Unknowns,
):
    apply_pressure_change(
        n, kind, False, False, False, scale, fluid, walls, contacts, wall_table, unknowns
    )


def displacements(rig: Rig, c: StepContext, pressure: ArrayLike) -> Float:
    """How far these pressures move the particles from where they are."""
    write(c.unknowns.trial, view(c.fluid.position, c.n))
    write(c.unknowns.pressure_change, pressure)
    c.unknowns.change.fill(np.nan)
    projection = rig.solver._project_positions
    _apply_pressure_change(
        c.n, projection.kind, c.scale, c.fluid, c.boundary.walls, c.boundary.contacts,
        projection._wall_table, c.unknowns,
    )  # fmt: skip
    return numbers(c.unknowns.change, c.n)
