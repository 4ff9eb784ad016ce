"""What every solver can be told."""

from typing import Annotated, ClassVar, Literal

from annotated_types import Gt

from viscoil.scene._base import Model, Number


class SolverSettings(Model):
    """The [solver] table; a solver's own model derives from this and sets `method` to its name."""

    CHANNELS: ClassVar[tuple[str, ...]] = ()
    """The channels that the solver may give to particles, so that outputs can name them."""

    method: str
    """Solver."""
    smoothing: Literal["cubic_spline", "wendland_c2", "poly6_spiky"] = "wendland_c2"
    """Smoothing function."""
    support: Annotated[Number, Gt(1)] = 2.0
    """Radius of the smoothing function, in spacings."""
