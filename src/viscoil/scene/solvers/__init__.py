"""The settings of each solver: a model each, told apart by `solver.method`."""

from viscoil.scene.solvers.base import SolverSettings
from viscoil.scene.solvers.dcpbd import DcpbdSettings
from viscoil.scene.solvers.registry import (
    AnySolverSettings,
    default_settings,
    register_settings,
    settings_model,
    settings_models,
)

__all__ = [
    "AnySolverSettings",
    "DcpbdSettings",
    "SolverSettings",
    "default_settings",
    "register_settings",
    "settings_model",
    "settings_models",
]
