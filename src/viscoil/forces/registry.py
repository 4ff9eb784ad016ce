"""The forces that act in simulations: a file or folder each, and a line each here."""

from collections.abc import Callable
from dataclasses import dataclass

from viscoil.colliders import ColliderSet
from viscoil.core.timing import PhaseClock
from viscoil.forces.exposure import Exposure
from viscoil.forces.fields.force_fields import ForceFields
from viscoil.forces.heat.heat import Heat
from viscoil.forces.protocol import Force, Forces
from viscoil.forces.surface_tension import SurfaceTension
from viscoil.forces.xsph import VelocitySmoothing
from viscoil.neighbors.smoothing import Smoothing
from viscoil.scene import Scene, SolverSettings


@dataclass(frozen=True)
class Setting:
    """What forces are made for; without a scene there are materials alone."""

    spacing: float  # m
    smoothing: Smoothing
    support: float  # h in spacings
    scene: Scene | None = None
    colliders: ColliderSet | None = None

    @property
    def exposure(self) -> Exposure:
        """A measure of open surface."""
        return Exposure(self.smoothing, self.support)


def _heat(setting: Setting) -> Force | None:
    scene, colliders = setting.scene, setting.colliders
    if scene is None or colliders is None or "temperature" not in scene.channel_widths:
        return None
    return Heat(scene, colliders, setting.exposure)


def _fields(setting: Setting) -> Force:
    scene = setting.scene
    if scene is None:
        return ForceFields((), (), setting.exposure)
    return ForceFields(scene.fields, list(scene.materials), setting.exposure)


def _surface_tension(setting: Setting) -> Force:
    return SurfaceTension(setting.spacing, setting.support)


def _velocity_smoothing(_: Setting) -> Force:
    return VelocitySmoothing()


FORCES: tuple[Callable[[Setting], Force | None], ...] = (
    _heat,
    _fields,  # with gravity
    _surface_tension,
    _velocity_smoothing,
)
"""In the order in which they act."""


def make_forces(setting: Setting, clock: PhaseClock | None = None) -> Forces:
    """Those that there are in this setting."""
    made = [make(setting) for make in FORCES]
    return Forces([force for force in made if force is not None], clock)


def bare_forces(spacing: float, settings: SolverSettings) -> Forces:
    """Of materials without a scene, for instruments and tests: no fields, no heat."""
    smoothing = Smoothing[settings.smoothing.upper()]
    return make_forces(Setting(spacing, smoothing, settings.support))
