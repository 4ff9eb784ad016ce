"""A heavy ball sinks in syrup: Stokes' drag with the wall of a pipe, whatever the iterations."""

from functools import cache
from pathlib import Path

import numpy as np
import pytest
from figures import report
from solid_meshes import pipe

from viscoil import Scene, Simulation
from viscoil.geometry.meshes import write_mesh

D = 0.01  # m
RADIUS, WALL, DEPTH = 4 * D, 12 * D, 30 * D  # of the ball, of the pipe, of the syrup
SYRUP, BALL = 1000.0, 3000.0  # kg/m³
ETA = 50.0  # Pa s
DURATION = 0.5  # s


def _faxen() -> float:
    """m/s: Stokes' 2/9 Δρ g a²/η, times the series of Happel and Brenner 1983 for a ball on the axis."""
    stokes = 2.0 / 9.0 * (BALL - SYRUP) * 9.81 * RADIUS**2 / ETA
    s = RADIUS / WALL
    return float(stokes * (1.0 - 2.10444 * s + 2.08877 * s**3 - 0.94813 * s**5 - 1.372 * s**6))


@cache
def _speed(iterations: int, folder: Path) -> float:
    """Over Faxén's, in the mean of the last 0.2 s.

    A ball at its speed forgets what it had in m/drag = 8 ms; the syrup around it takes (R − a)²/(π² ν),
    13 ms. It starts without pressure, and falls freely until that carries it, some 0.05 s. By the end it
    has sunk by three spacings of the 16 that are below it.
    """
    write_mesh(folder / "pipe.ply", pipe(WALL, 2 * DEPTH, 64))
    shape = {"shape": "cylinder", "center": (0, DEPTH / 2, 0), "radius": WALL, "height": DEPTH}
    ball = {"shape": "sphere", "radius": RADIUS, "center": (0, 0.55 * DEPTH, 0), "density": BALL}
    tube = {"shape": "mesh", "file": str(folder / "pipe.ply"), "mode": "container"}
    scene = {
        "simulation": {"spacing": D, "duration": DURATION},
        "solver": {"velocity_iterations": iterations},
        "materials": {"syrup": {"density": SYRUP, "viscosity": ETA}},
        "fluids": [{"material": "syrup", "relax": True, **shape}],
        "colliders": [
            {"contact": "sticky", **tube},
            {"contact": "sticky", "dynamic": True, **ball},
        ],
    }
    simulation = Simulation(Scene.model_validate(scene))
    speeds = []
    while simulation.time < DURATION:
        simulation.step()
        if simulation.time > DURATION - 0.2:
            speeds.append(-simulation.bodies.states[1].velocity[1])
    return float(np.mean(speeds)) / _faxen()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("pipe")


@pytest.mark.parametrize("iterations", [60, 150])
def test_a_ball_sinks_as_fast_as_it_should(iterations: int, folder: Path) -> None:
    """Within 10 % of Faxén's speed; top and bottom, four radii away, slow it down by 2 % or less."""
    error = _speed(iterations, folder) - 1.0
    name = f"sphere in syrup: error of the speed, {iterations} iterations"
    report(name, error, "within 0.1")
    assert abs(error) < 0.1


def test_more_iterations_are_never_worse(folder: Path) -> None:
    """But for the tolerance at which both stop, 1e-3 of the right side."""
    errors = {count: abs(_speed(count, folder) - 1.0) for count in (60, 150)}
    report(
        "sphere in syrup: error at 150 less that at 60", errors[150] - errors[60], "0.001 or less"
    )
    assert errors[150] <= errors[60] + 1e-3
