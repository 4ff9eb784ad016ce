"""usd-core, loaded when it is first needed, and layers that are written whole.

`usd.Sdf`, `usd.Vt` and so on are the modules of the package pxr; without it, asking for one of them
raises MissingExtraError, which names the pip command.
"""

import importlib
from pathlib import Path
from typing import Any

from viscoil.core.errors import MissingExtraError, RunError
from viscoil.core.files import replacing

_MODULES = frozenset({"Gf", "Sdf", "Tf", "Usd", "UsdGeom", "UsdShade", "Vt"})


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        return importlib.import_module(f"pxr.{name}")
    except ImportError as error:
        raise MissingExtraError(
            "USD files need usd-core, which is not here: pip install 'viscoil[usd]'"
        ) from error


def save(layer: Any, path: Path) -> None:
    """Writes a layer, whole or not at all."""
    with replacing(path) as part:
        if not path.parent.is_dir():
            raise FileNotFoundError(2, "there is no such folder")
        _export(layer, part, path)


def _export(layer: Any, part: Path, path: Path) -> None:
    """USD says only that it could not write, and not why."""
    tf = __getattr__("Tf")
    try:
        done = layer.Export(str(part))
    except tf.ErrorException:
        done = False
    if not done:
        raise RunError(
            f"{path} cannot be written: see that the disk has room and that the folder may be "
            "written to, or choose another one with --out"
        )


def opened(path: Path) -> Any:
    """The layer of a file as it is on the disk now; RunError if it is damaged."""
    sdf, tf = __getattr__("Sdf"), __getattr__("Tf")
    try:
        # anonymous: the library would hand out what it has in memory under the file's name
        layer = sdf.Layer.OpenAsAnonymous(str(path))
    except tf.ErrorException:
        layer = None
    if layer is None:
        raise RunError(f"{path} is truncated or damaged: remove it and export the frame again")
    return layer
