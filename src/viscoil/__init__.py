"""Viscoil: viscoelastic fluids with particles.

The names below are loaded when first used, so that `import viscoil` stays quick.
"""

import os
from typing import TYPE_CHECKING, Any

# Here, because it is read when Quadrants is first imported, by whichever module that may be.
os.environ.setdefault("ENABLE_QUADRANTS_HEADER_PRINT", "0")

if TYPE_CHECKING:
    from viscoil.core.errors import ViscoilError
    from viscoil.scene import Material, Scene
    from viscoil.simulation.simulation import Simulation

__all__ = ["Material", "Scene", "Simulation", "ViscoilError"]

_HOMES = {
    "Material": "viscoil.scene",
    "Scene": "viscoil.scene",
    "Simulation": "viscoil.simulation.simulation",
    "ViscoilError": "viscoil.core.errors",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'viscoil' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
