"""Settings of DC-PBD."""

from collections.abc import Iterator
from typing import Annotated, ClassVar, Literal

from annotated_types import Ge
from pydantic import Field

from viscoil.scene._base import NonNegative, Positive, Problem, Switch, Whole
from viscoil.scene.solvers.base import SolverSettings

DEFAULT_MAX_POSITION_ITERATIONS = 60


class DcpbdSettings(SolverSettings):
    """Doubly constrained position-based dynamics (Barreiro et al. 2017)."""

    CHANNELS: ClassVar[tuple[str, ...]] = (
        "pressure", "remainder", "conformation", "dilation", "curvature", "stress", "bend",
    )  # fmt: skip

    method: Literal["dcpbd"] = "dcpbd"
    """Solver."""
    projection: Literal["doubly", "position"] = "doubly"
    """Project velocities and positions, or positions alone (regular position-based dynamics)."""
    corotation: Switch = True
    """Measure deformation in the rotated frame of each neighbourhood, so that rotation is kept."""
    gradients: Literal["corrected", "plain"] = "corrected"
    """First-order corrected smoothing gradients, or the plain ones of the paper."""
    velocity_solver: Literal["pcg", "jacobi"] = "pcg"
    """Preconditioned conjugate gradients, or the damped Jacobi iteration of the paper."""
    velocity_iterations: Annotated[Whole, Ge(0)] = 20
    """Iterations of the velocity projection per step that are spent on velocity_tolerance."""
    velocity_tolerance: NonNegative = 1e-3
    """Relative residual at which conjugate gradients stop; 0 never stops early."""
    max_velocity_iterations: Annotated[Whole, Ge(0)] = Field(
        default_factory=lambda data: data["velocity_iterations"]
    )
    """Most iterations of the velocity projection per step, spent where more than max_velocity_residual
    is left (velocity_iterations unless given)."""
    max_velocity_residual: NonNegative = 1e-2
    """Relative residual that may be left after velocity_iterations."""
    position_iterations: Annotated[Whole, Ge(0)] = 4
    """Least iterations of the position projection per step."""
    max_position_iterations: Annotated[Whole, Ge(0)] = Field(
        default_factory=lambda data: max(
            DEFAULT_MAX_POSITION_ITERATIONS, data["position_iterations"]
        )
    )
    """Most iterations of the position projection per step (60, or position_iterations if more)."""
    density_tolerance: NonNegative = 1e-3
    """Mean relative compression at which position iterations may stop; 0 always takes the most."""
    stiffness: Literal["exact", "prototype"] = "exact"
    """Density stiffness of each neighbourhood, or of a full one for all (DYVERSO, eqs. 3 and 4)."""
    jacobi_relaxation: Positive = 5.0
    """Relaxation β of the Jacobi iterations."""
    conformation_update: Literal["convected", "implicit"] = "convected"
    """How the stored conformation follows the flow; implicit is equation 6 of the paper."""

    def _problems(self) -> Iterator[Problem]:
        yield from super()._problems()
        if self.max_velocity_iterations < self.velocity_iterations:
            text = f"must be at least velocity_iterations ({self.velocity_iterations})"
            yield ("max_velocity_iterations",), text, self.max_velocity_iterations
        if self.max_position_iterations < self.position_iterations:
            text = f"must be at least position_iterations ({self.position_iterations})"
            value = self.max_position_iterations
            yield ("max_position_iterations",), text, value
