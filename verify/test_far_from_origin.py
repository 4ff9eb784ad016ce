"""The same dam break wherever it stands: places are single precision, 0.06 mm apart at 1 km."""

import numpy as np
import pytest
from figures import by_id, report

from viscoil import Scene, Simulation

D = 0.05  # m
PLACES = {
    "100 m": (100.0, 0.0, 0.0),
    "1 km": (1000.0, 0.0, 0.0),
    "1 km each way": (1000.0, 1000.0, 1000.0),
}


def dam_break(place: tuple[float, float, float]) -> np.ndarray:
    """Centre of mass along x and y, and the front, m, in each frame; from the tank's lower corner."""
    corner = np.array(place)
    column, tank = np.array((0.8, 1.2, 0.6)), np.array((4.0, 2.0, 0.6))
    walls = {"shape": "box", "container": True, "open": ["+y"], "contact": "slip"}
    scene = {
        "simulation": {"spacing": D, "duration": 0.6},
        "fluids": [
            {
                "material": "water",
                "shape": "box",
                "center": tuple(corner + column / 2),
                "size": tuple(column),
            }
        ],
        "colliders": [{**walls, "center": tuple(corner + tank / 2), "size": tuple(tank)}],
    }
    figures = []
    for frame in Simulation(Scene.model_validate(scene)).frames():
        x = by_id(frame) - corner
        figures.append((*x.mean(axis=0)[:2], np.sort(x[:, 0])[-20:].mean()))
    return np.array(figures)


@pytest.fixture(scope="module")
def at_the_origin() -> np.ndarray:
    return dam_break((0.0, 0.0, 0.0))


@pytest.mark.parametrize("place", PLACES)
def test_a_dam_breaks_alike_far_from_the_origin(place: str, at_the_origin: np.ndarray) -> None:
    """Centre of mass and front are within 1 % of those at the origin in every frame."""
    off = np.abs(dam_break(PLACES[place]) / at_the_origin - 1.0).max(axis=0)
    for name, error in zip(("centre of mass, x", "centre of mass, y", "front"), off, strict=True):
        report(f"dam break at {place}: worst difference of the {name}", error, "within 0.01")
    assert off.max() < 0.01
