"""Kernels that many tests call, compiled before tests start in several processes.

Each process would compile them for itself, because what others keep on disk is seen by those alone that
start afterwards.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from viscoil import Scene
from viscoil.running.compiling.needs import needs
from viscoil.running.compiling.team import ahead, import_quadrants

BOX = {"shape": "box", "size": (0.1, 0.1, 0.1), "center": (0.0, 0.1, 0.0)}
# Switches that are compiled into kernels
KINDS: tuple[dict[str, Any], ...] = (
    {},
    {"simulation": {"report_forces": True}},
    {"simulation": {"periodic": (1.0, 0.0, 0.0)}},
    {"fluid": {"spacing": 0.01}},
)


def compile_for_tests() -> None:
    """For water and syrup of each kind, and for bodies that collide."""
    import_quadrants()
    scenes = [_scene(material, **kind) for material in ("water", "syrup") for kind in KINDS]
    for scene in (*scenes, _scene("syrup", fluid={"separate": True})):
        ahead(needs(scene), 2, lambda _total: _quietly())


@contextmanager
def _quietly() -> Iterator[Callable[[], None]]:
    yield lambda: None


def _scene(
    material: str, simulation: dict[str, Any] | None = None, fluid: dict[str, Any] | None = None
) -> Scene:
    body = BOX | {"material": material} | (fluid or {})
    return Scene.model_validate(
        {
            "simulation": {"spacing": 0.02, "frames": 1} | (simulation or {}),
            "materials": {"syrup": {"density": 1000.0, "viscosity": 10.0}},
            "fluids": [body, body],
            "colliders": [{"shape": "plane"}],
        }
    )
