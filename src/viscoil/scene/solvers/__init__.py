"""The settings of each solver: a model each, told apart by `solver.method`."""

from viscoil.scene.solvers.base import SolverSettings
from viscoil.scene.solvers.dcpbd import DcpbdSettings
from viscoil.scene.solvers.registry import AnySolverSettings, register_settings, settings_models

__all__ = [
    "AnySolverSettings",
    "DcpbdSettings",
    "SolverSettings",
    "register_settings",
    "settings_models",
]
