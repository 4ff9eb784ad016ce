"""The library trimesh, which knows glTF: imported when needed, its errors as one sentence."""

from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

from viscoil.core.errors import MeshError, MissingExtraError, ViscoilError

_MAX_REASON = 120  # characters; what a library says may quote a whole file


def trimesh_module(name: str) -> Any:
    """A module of trimesh, or MissingExtraError; importing it takes a second, so it is done late."""
    try:
        return import_module(f"trimesh.{name}")
    except ImportError:
        raise MissingExtraError(
            "GLB and glTF meshes need trimesh, which is not here: pip install 'viscoil[meshes]'"
        ) from None


@contextmanager
def refusing(what: str) -> Iterator[None]:
    """Whatever a malformed file makes Python or the library raise becomes a MeshError.

    Any exception is caught: in a damaged file anything may stand anywhere, and neither our look at
    its tree nor the library's checks every type.
    """
    try:
        yield
    except (ViscoilError, MemoryError):
        raise
    except RecursionError:
        raise MeshError(
            f"is no valid {what}: it is nested too deeply, so export it again"
        ) from None
    except Exception as error:
        raise MeshError(f"is no valid {what} ({_reason(error)}): export it again") from None


def _reason(error: Exception) -> str:
    text = " ".join(str(error).split())
    if isinstance(error, KeyError):
        text = f"{text} is missing"
    text = text or "its parts do not fit together"
    return text if len(text) <= _MAX_REASON else f"{text[: _MAX_REASON - 3]}..."
