"""Free memory, and the memory of arrays."""

import ctypes
import os
from collections.abc import Iterator
from typing import Any

# Of the memory that is free, what work may take; the rest is for what estimates leave out.
SHARE_OF_MEMORY = 0.9


def available() -> int:
    """Memory in bytes that can be had without swapping; the limit of a container is not seen."""
    import psutil

    return int(psutil.virtual_memory().available)


def give_back() -> None:
    """Returns freed memory to the system where the C library keeps it: glibc, after large arrays."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None) if os.name == "posix" else None
    if trim is not None:
        trim(0)


def held(owner: Any) -> dict[str, int]:
    """Bytes of each array that an object (or a dictionary of them) holds, the longest first."""
    from viscoil.core.compute import view  # a scene is checked before the backend is loaded

    sizes = [(name, view(array).nbytes) for name, array in _arrays(owner, "", set())]
    return dict(sorted(sizes, key=lambda item: -item[1]))


def _arrays(value: Any, name: str, seen: set[int]) -> Iterator[tuple[str, Any]]:
    """Arrays with their dotted names; what is held twice comes under its first name."""
    if id(value) in seen:
        return
    seen.add(id(value))
    if hasattr(value, "to_dlpack"):
        yield name, value
    elif isinstance(value, dict) or type(value).__module__.startswith("viscoil."):
        items = value if isinstance(value, dict) else vars(value)
        for key, item in items.items():
            label = getattr(key, "__name__", str(key)).lstrip("_")
            yield from _arrays(item, f"{name}.{label}".lstrip("."), seen)
