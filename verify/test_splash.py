"""Splashes that do not depend on the step: how high water runs up a wall, how far a drop spreads."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from figures import by_id, report

from viscoil import Scene, Simulation

D = 0.04  # m
STEPS = {"1/120 s": 1 / 120, "1/480 s": 1 / 480, "1/2000 s": 1 / 2000, "adaptive": None}


def frames(
    step: float | None, seconds: float, fluid: dict[str, Any], solid: dict[str, Any]
) -> Iterator[np.ndarray]:
    """Places of all particles, 60 times a second."""
    settings = {"spacing": D, "duration": seconds, "fps": 60.0, "time_step": step}
    scene = {
        "simulation": settings,
        "fluids": [{"material": "water", **fluid}],
        "colliders": [{"contact": "slip", **solid}],
    }
    return map(by_id, Simulation(Scene.model_validate(scene)).frames())


def run_up(step: float | None) -> np.ndarray:
    """Height, m, that the highest 20 particles of the far half reach in a tank 2 m long."""
    column = {"shape": "box", "center": (0.3, 0.5, 0.2), "size": (0.6, 1.0, 0.4)}
    tank = {"shape": "box", "container": True, "open": ["+y"]}
    size = {"center": (1.0, 2.0, 0.2), "size": (2.0, 4.0, 0.4)}
    heights = [
        np.sort(x[x[:, 0] > 1.0, 1])[-20:].mean()
        for x in frames(step, 1.5, column, {**tank, **size})
        if np.count_nonzero(x[:, 0] > 1.0) >= 20
    ]
    return np.array([max(heights)])


def spread(step: float | None) -> np.ndarray:
    """Radius, m, that holds 95 % of a drop of 0.6 m that falls on a plate at 3 m/s, in each frame."""
    drop = {"shape": "sphere", "center": (0.0, 0.32, 0.0), "radius": 0.3, "velocity": (0, -3, 0)}
    return np.array(
        [
            np.percentile(np.hypot(x[:, 0], x[:, 2]), 95)
            for x in frames(step, 0.5, drop, {"shape": "plane"})
        ]
    )


def compare(name: str, measure: Callable[[float | None], np.ndarray]) -> float:
    """The worst difference between steps of 1/480 and of 1/2000 s, as a share."""
    results = {label: measure(step) for label, step in STEPS.items()}
    finest = results["1/2000 s"]
    for label, result in results.items():
        report(f"{name}, {label}, m", float(result.max()), "printed")
        worst = float(np.abs(result / finest - 1.0).max())
        bar = "within 0.05" if label == "1/480 s" else "printed"
        report(f"{name}, {label}: worst difference to 1/2000 s", worst, bar)
    return float(np.abs(results["1/480 s"] / finest - 1.0).max())


def test_water_runs_up_a_wall_as_high_with_any_step() -> None:
    """The highest 20 particles, so that no single one decides."""
    assert compare("splash: highest point at the far wall", run_up) < 0.05


def test_a_drop_spreads_as_far_with_any_step() -> None:
    """In every frame; 95 %, so that spray does not decide."""
    assert compare("splash: radius of a drop on a plate", spread) < 0.05
