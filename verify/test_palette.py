"""Figure 4 of Barreiro 2017: elastic, viscous and inviscid cubes dropped side by side."""

import numpy as np
from figures import by_id, picture, report

from viscoil import Scene, Simulation

EDGE = 0.44  # m


def test_palette_of_three_cubes() -> None:
    """Elastic: rises by 20 % of its drop and gets its shape back within 5 % of its edge.

    The viscous one neither bounces nor spreads within a second of contact; the inviscid one ends as
    a puddle. Heights of the puddle are those below which 99 % of its particles lie: a few ride on
    the other cubes, which stand in it.
    """
    scene = Scene.load("palette", [("simulation.spacing", "0.04")])
    simulation = Simulation(scene)
    heights: list[list[float]] = []
    start = simulation.snapshot()
    material = by_id(start, "material").astype(int)
    first = by_id(start)
    for frame in simulation.frames():
        x = by_id(frame)
        heights.append([float(x[material == k, 1].mean()) for k in range(3)])
        if frame.frame in (0, 8, 12, 40):
            picture(f"figure-4-palette-{frame.frame:02d}", scene, frame)
    last = by_id(frame)
    height = np.array(heights)
    drop = first[:, 1].min() - 0.5 * scene.simulation.spacing

    lowest = int(np.argmin(height[: len(height) // 2, 0]))
    rise = float(height[lowest:, 0].max() - height[lowest, 0])
    report("palette: elastic cube rises, share of its drop", rise / drop, "at least 0.2")
    shape = _deformation(first[material == 0], last[material == 0])
    report("palette: elastic cube's shape, RMS share of edge", shape / EDGE, "at most 0.05")

    viscous = height[:, 1]
    lowest = int(np.argmin(viscous))
    bounce = float(viscous[lowest:].max() - viscous[lowest])
    spread = _width(last[material == 1]) / _width(first[material == 1]) - 1.0
    report("palette: viscous cube bounces, share of its drop", bounce / drop, "at most 0.01")
    report("palette: viscous cube spreads", spread, "at most 0.02")

    puddle = float(np.quantile(last[material == 2, 1], 0.99))
    report("palette: inviscid puddle's height, share of edge", puddle / EDGE, "below 0.25")
    assert rise >= 0.2 * drop
    assert shape <= 0.05 * EDGE
    assert bounce <= 0.01 * drop
    assert spread <= 0.02
    assert puddle < 0.25 * EDGE


def _width(x: np.ndarray) -> float:
    """Between the first and the last percent: a few particles are carried off by the water."""
    return float(np.quantile(x[:, 0], 0.99) - np.quantile(x[:, 0], 0.01))


def _deformation(a: np.ndarray, b: np.ndarray) -> float:
    offset = (b - b.mean(axis=0)) - (a - a.mean(axis=0))
    return float(np.sqrt((offset**2).sum(axis=1).mean()))
