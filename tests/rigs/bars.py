"""Bars that simulated figures are held to, and how far from them figures stay.

A figure of a simulation is a little different on another processor, and more than a little where
motion is chaotic. `make test-margins` runs the tests marked `physics` from starts that differ by
1e-6 spacings, and asks that a quarter of each bar is left. Bars that follow from rounding or from
theory, as the test's docstring says, are `derived`: those need to hold, and no more.
"""

import json
import math
import os
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.spatial import cKDTree

MARGINS = "VISCOIL_MARGINS"  # the file to which margins are appended, as lines of JSON
SHARE = 1e-6  # of the spacing, by which they are moved


def below(figure: float, bar: float, name: str, derived: bool = False) -> None:
    """The figure stays under an upper bar."""
    _note(name, figure, bar, 1.0 - figure / bar, derived)
    assert figure < bar, f"{name}: {figure:.6g}, but must be below {bar:.6g}"


def above(figure: float, bar: float, name: str, derived: bool = False) -> None:
    """The figure stays over a lower bar, which is positive."""
    _note(name, figure, bar, figure / bar - 1.0, derived)
    assert figure > bar, f"{name}: {figure:.6g}, but must be above {bar:.6g}"


def near(
    figure: ArrayLike,
    expected: ArrayLike,
    name: str,
    *,
    rel: float = 0.0,
    abs: ArrayLike = 0.0,
    derived: bool = False,
) -> None:
    """Every number is within rel |expected| or abs, whichever is more, of what is expected."""
    found, wanted = np.asarray(figure, np.float64), np.asarray(expected, np.float64)
    tolerance = np.maximum(rel * np.abs(wanted), np.asarray(abs, np.float64))
    off = np.abs(found - wanted)
    share = np.where(off == 0.0, 0.0, off / np.where(tolerance > 0.0, tolerance, 1e-300))
    worst = np.unravel_index(np.argmax(share), share.shape)
    values = [float(np.broadcast_to(a, share.shape)[worst]) for a in (found, wanted, tolerance)]
    _note(name, values[0], values[1], 1.0 - float(share[worst]), derived)
    assert share[worst] <= 1.0, f"{name}: {values[0]:.8g}, not {values[1]:.8g} ± {values[2]:.3g}"


def _note(name: str, figure: float, bar: float, margin: float, derived: bool) -> None:
    path = os.environ.get(MARGINS)
    if path is None:
        return
    running = os.environ["PYTEST_CURRENT_TEST"]
    test = re.sub(r"\[start\d+\]|start\d+-|-start\d+| \(call\)$", "", running)
    line = {
        "test": test, "name": name, "figure": float(figure), "bar": float(bar),
        "margin": float(margin) if math.isfinite(margin) else None, "derived": derived,
    }  # fmt: skip
    with Path(path).open("a", encoding="utf-8") as file:
        file.write(json.dumps(line) + "\n")


def perturbed(append: Callable[..., None], seed: int) -> Callable[..., None]:
    """`Particles.append` that moves what it adds by up to 1e-6 spacings along each axis.

    By at least the last bit of each coordinate: far from the origin that is more than 1e-6 spacings.
    Simulations that start alike are moved alike, so that they can be compared. Particles that have
    their ids already come from a checkpoint, and stay where they are.
    """

    def moved(particles: Any, values: Mapping[str, Any]) -> None:
        if "id" in values:
            return append(particles, values)
        x = np.asarray(values["position"], np.float32).reshape(-1, 3)
        reach = np.maximum(SHARE * _spacing(x), np.spacing(np.abs(x)).astype(np.float64))
        shift = np.random.default_rng(seed).uniform(-1.0, 1.0, x.shape) * reach
        append(particles, {**values, "position": (x + shift).astype(np.float32)})

    return moved


def _spacing(x: NDArray[np.float32]) -> float:
    """How far the nearest neighbour is, m: the median over all particles."""
    if len(x) < 2:
        return 0.0
    return float(np.median(cKDTree(x).query(x, k=2)[0][:, 1]))
