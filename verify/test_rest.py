"""Bodies at rest, free fall, and the dam break: what a density solver gets wrong first."""

from math import sqrt

import numpy as np
import pytest
from figures import by_id, cube, picture, report

from viscoil import Scene, Simulation

# Martin and Moyce 1952: column a wide and 2a high, a = 0.05715 m
FRONT_T = [0.41, 0.84, 1.19, 1.43, 1.63, 1.83, 1.98, 2.20, 2.32, 2.51, 2.65, 2.83, 2.98, 3.11, 3.33]
FRONT_Z = [1.11, 1.22, 1.44, 1.67, 1.89, 2.11, 2.33, 2.56, 2.78, 3.00, 3.22, 3.44, 3.67, 3.89, 4.11]
HEIGHT_T = [0.56, 0.77, 0.93, 1.08, 1.28, 1.46, 1.66, 1.84, 2.00, 2.21, 2.45, 2.70, 3.06, 3.44]
HEIGHT_H = [0.94, 0.89, 0.83, 0.78, 0.72, 0.67, 0.61, 0.56, 0.50, 0.44, 0.39, 0.33, 0.28, 0.22]


def test_a_compliant_rest_state_does_not_depend_on_the_iterations() -> None:
    """A gel cube sags under its weight; the sag is the same for 20 and 80 iterations."""
    sag = {count: _sag(count) for count in (20, 80)}
    difference = abs(sag[20] - sag[80]) / sag[80]
    report("rest: sag of a gel cube, m", sag[80], "under its own weight")
    report("rest: change between 20 and 80 iterations", difference, "at most 0.01")
    assert sag[80] > 1e-3
    assert difference <= 0.01


def _sag(iterations: int) -> float:
    d = 0.02
    scene = Scene.model_validate(
        {
            "simulation": {"spacing": d, "duration": 3.0, "time_step": 1 / 240},
            "solver": {
                "velocity_iterations": iterations,
                "velocity_tolerance": 0.0,
                "position_iterations": iterations,
                "max_position_iterations": iterations,
            },
            "materials": {
                "gel": {
                    "density": 1000.0,
                    "modulus": 1e4,
                    "relaxation_time": float("inf"),
                    "solvent_viscosity": 200.0,
                }
            },
            "fluids": [cube("gel", 10, d, 0.0)],
            "colliders": [{"shape": "plane", "contact": "sticky"}],
        }
    )
    simulation = Simulation(scene)
    start = by_id(simulation.snapshot())[:, 1].mean()
    heights = [by_id(frame)[:, 1].mean() for frame in simulation.frames()]
    return float(start - np.mean(heights[-10:]))


def test_a_column_of_water_stands_and_comes_to_rest() -> None:
    scene = Scene.load("column")
    simulation = Simulation(scene)
    d = scene.simulation.spacing
    start = _top(simulation.snapshot(), d)
    first = by_id(simulation.snapshot())[:, 1].mean()
    for _frame in simulation.frames():
        pass
    end = simulation.snapshot()
    surface = (start - _top(end, d)) / start
    loss = 1.0 - by_id(end)[:, 1].mean() / first
    u = np.linalg.norm(by_id(end, "velocity"), axis=1)
    report("column: share of its height lost, by its centre of mass", loss, "under 0.01")
    report("column: the same by its uppermost particles", surface, "disorder counts as loss here")
    report("column: max speed over √(gH)", float(u.max()) / sqrt(9.81 * start), "under 0.1")
    report("column: RMS speed, m/s", float(np.sqrt((u**2).mean())), "comes to rest")
    picture("column", scene, end)
    assert abs(loss) < 0.01
    assert u.max() < 0.1 * sqrt(9.81 * start)
    assert np.sqrt((u**2).mean()) < 0.01 * sqrt(9.81 * start)


def _top(snapshot: object, d: float) -> float:
    """Height of the free surface, m: the mean of the uppermost layer plus half a spacing."""
    y = np.sort(by_id(snapshot)[:, 1])  # type: ignore[arg-type]
    x = by_id(snapshot)  # type: ignore[arg-type]
    footprint = round((np.ptp(x[:, 0]) / d + 1) * (np.ptp(x[:, 2]) / d + 1))
    return float(y[-footprint:].mean()) + 0.5 * d


def test_free_fall_does_not_deform_a_block() -> None:
    """Gravity is the same for all particles, so only round-off of positions (1e-7 m) may appear."""
    d = 0.02
    for material in (
        {"viscosity": 50.0},
        {"viscosity": 0.0},
        {"modulus": 1e4, "relaxation_time": 0.1},
    ):
        scene = Scene.model_validate(
            {
                "simulation": {"spacing": d, "duration": 0.5},
                "materials": {"m": {"density": 1000.0, **material}},
                "fluids": [cube("m", 10, d, 0.0)],
            }
        )
        simulation = Simulation(scene)
        before = by_id(simulation.snapshot())
        for frame in simulation.frames():
            after = by_id(frame)
        shape = (after - after.mean(0)) - (before - before.mean(0))
        report(f"free fall: deformation of {material}", float(np.abs(shape).max()) / d, "spacings")
        assert np.abs(shape).max() < 1e-3 * d


def test_dam_break_at_default_settings() -> None:
    scene = Scene.load("dam-break")
    simulation = Simulation(scene)
    errors = []
    while simulation.frame < scene.frames:
        errors.append(simulation.step()["density_error_mean"])
    report("dam break: mean density error", float(np.mean(errors)), "under 0.005")
    report("dam break: largest mean density error of a step", float(np.max(errors)), "")
    picture("dam-break", scene, simulation.snapshot())
    assert np.mean(errors) < 0.005


@pytest.mark.parametrize("per_a", [12, 24])
def test_dam_break_follows_martin_and_moyce(per_a: int) -> None:
    """Front within 10 %, height within 7 % of the measured collapse, at so many particles per a."""
    a = 0.05715
    scene = Scene.model_validate(
        {
            "simulation": {"spacing": a / per_a, "duration": 0.27, "fps": 200.0},
            "fluids": [
                {
                    "material": "water",
                    "shape": "box",
                    "center": [0.5 * a, a, 0.25 * a],
                    "size": [a, 2 * a, 0.5 * a],
                }
            ],
            "colliders": [
                {
                    "shape": "box",
                    "container": True,
                    "open": ["+y", "+x"],
                    "center": [5 * a, 5 * a, 0.25 * a],
                    "size": [10 * a, 10 * a, 0.5 * a],
                    "contact": "slip",
                }
            ],
        }
    )
    simulation = Simulation(scene)
    times, fronts, heights = [], [], []
    for frame in simulation.frames():
        x = by_id(frame)
        times.append(frame.time)
        fronts.append(float(np.sort(x[:, 0])[-20:].mean()) / a)
        at_wall = x[x[:, 0] < 3 * scene.simulation.spacing, 1]
        heights.append(float(np.sort(at_wall)[-20:].mean()) / (2 * a))
    front = np.interp(np.array(FRONT_T) * sqrt(a / (2 * 9.81)), times, fronts)
    height = np.interp(np.array(HEIGHT_T) * sqrt(a / 9.81), times, heights)
    front_error = np.abs(front / FRONT_Z - 1.0)
    height_error = np.abs(height - HEIGHT_H)
    label = f"dam break, {per_a} per a: worst error of the"
    report(f"{label} front", float(front_error.max()), "within 0.1")
    report(f"{label} height, of 2a", float(height_error.max()), "within 0.07")
    assert front_error.max() < 0.1
    assert height_error.max() < 0.07
