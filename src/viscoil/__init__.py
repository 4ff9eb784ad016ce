"""Viscoil: viscoelastic fluids with particles.

The names below are loaded when first used, so that `import viscoil` stays quick.
"""

import os
from typing import TYPE_CHECKING, Any

# Here, because it is read when Quadrants is first imported, by whichever module that may be.
os.environ.setdefault("ENABLE_QUADRANTS_HEADER_PRINT", "0")

if TYPE_CHECKING:
    from viscoil.core.errors import (
        DivergedError,
        ResumeError,
        RunError,
        SceneError,
        Stopped,
        ViscoilError,
    )
    from viscoil.running.runner import run
    from viscoil.runs.run import Run
    from viscoil.scene import Material, Scene
    from viscoil.simulation.simulation import Simulation

__all__ = [
    "DivergedError",
    "Material",
    "ResumeError",
    "Run",
    "RunError",
    "Scene",
    "SceneError",
    "Simulation",
    "Stopped",
    "ViscoilError",
    "run",
]

_HOMES = {
    "DivergedError": "viscoil.core.errors",
    "Material": "viscoil.scene",
    "ResumeError": "viscoil.core.errors",
    "Run": "viscoil.runs.run",
    "RunError": "viscoil.core.errors",
    "Scene": "viscoil.scene",
    "SceneError": "viscoil.core.errors",
    "Simulation": "viscoil.simulation.simulation",
    "Stopped": "viscoil.core.errors",
    "ViscoilError": "viscoil.core.errors",
    "run": "viscoil.running.runner",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'viscoil' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
