"""Bodies in viscous fluid: it clings to them, presses on them, and all of it is one solve."""

from typing import Any

import numpy as np
import pytest
from bars import above, below, near

from viscoil import Scene, Simulation

D = 0.01  # m
RADIUS = 3 * D
pytestmark = [pytest.mark.usefixtures("compute"), pytest.mark.physics]


def ball_in_syrup(
    count: int, walls: list[dict[str, Any]], layers: int | None = None, **more: Any
) -> Simulation:
    """A sticky ball in the middle of count² × layers particles of syrup, whose floor is at y = 0."""
    edge, depth = count * D, (layers or count) * D
    middle, size = (0.0, 0.5 * depth, 0.0), (edge, depth, edge)
    ball = {"shape": "sphere", "radius": RADIUS, "center": middle, "dynamic": True}
    scene = {
        "simulation": {"spacing": D, "duration": 9.0, **more.pop("simulation", {})},
        "solver": {"velocity_iterations": 60, **more.pop("solver", {})},
        "materials": {"syrup": {"density": 1000.0, "viscosity": 50.0}},
        "fluids": [
            {"material": "syrup", "shape": "box", "center": middle, "size": size, "relax": True}
        ],
        "colliders": [{"contact": "sticky", **ball, **more}, *walls],
    }  # fmt: skip
    return Simulation(Scene.model_validate(scene))


def test_a_ball_that_turns_with_the_syrup_strains_nothing() -> None:
    """Both turn at 2 rad/s, and after ten steps still do.

    The syrup is not held together against its centrifugal force but by its viscosity, which is ρ ω² L²/η
    = 0.02 of it and lets it swell by that times ω t, some 0.3 %; twice that is the loss of spin.
    """
    spin = np.array([0.0, 0.0, 2.0])
    simulation = ball_in_syrup(
        11, [], density=3000.0, angular_velocity=tuple(spin), simulation={"gravity": (0, 0, 0)}
    )
    center = np.array(simulation.bodies.states[0].position)
    simulation.particles["velocity"] = np.cross(spin, simulation.particles["position"] - center)
    for _ in range(10):
        simulation.step()
    near(simulation.bodies.states[0].angular_velocity, spin, "spin, rad/s", abs=0.03 * 2.0)


def test_conjugate_gradients_see_one_symmetric_system() -> None:
    """They converge as far as single precision does: 1e-5 of the right side.

    A force on the body that is not the adjoint of what its motion does to the fluid would stop them.
    """
    simulation = ball_in_syrup(
        10,
        [{"shape": "plane", "contact": "sticky"}],
        density=3000.0,
        velocity=(0.1, -0.2, 0.0),
        angular_velocity=(0.0, 3.0, 5.0),
        solver={"velocity_iterations": 2000, "velocity_tolerance": 1e-5},
    )
    for _ in range(3):
        report = simulation.step()
        below(report["conformation_residual"], 1.1e-5, "residual", derived=True)


def test_a_ball_does_not_get_stuck_in_syrup() -> None:
    """After 0.35 s, on its way by two spacings, it is nearly as fast as after 0.1 s.

    Nothing but viscosity holds it, and the bottom is farther away than the sides and not yet felt. When
    the arrangement of particles resisted shear, in proportion to the pressure, a ball in a pipe had
    lost a third by then.
    """
    box = {"shape": "box", "container": True, "open": ["+y"], "contact": "slip"}
    size = {"center": (0.0, 20 * D, 0.0), "size": (14 * D, 40 * D, 14 * D)}
    simulation = ball_in_syrup(14, [{**box, **size}], layers=20, density=4000.0)
    speeds = []
    for start, end in ((0.1, 0.15), (0.3, 0.35)):
        while simulation.time < start:
            simulation.step()
        found = []
        while simulation.time < end:
            simulation.step()
            found.append(-simulation.bodies.states[0].velocity[1])
        speeds.append(np.mean(found))
    above(float(speeds[1] / speeds[0]), 0.7, "speed later over speed before")


def test_a_wall_is_told_all_that_syrup_does_to_it() -> None:
    """A cylinder of it slumps on a sticky plate, which bears its weight and what it gains, to rounding.

    Velocities of 0.5 m/s are rounded by 3e-8 m/s in each of a hundred operations of a step: 1e-4 of what
    gravity does in it, and less in the sum of 800 particles.
    """
    scene = {
        "simulation": {"spacing": D, "duration": 9.0, "report_forces": True},
        "solver": {"velocity_iterations": 60},
        "materials": {"syrup": {"density": 1000.0, "viscosity": 20.0}},
        "fluids": [
            {"material": "syrup", "shape": "cylinder", "center": (0, 5 * D, 0), "radius": 5 * D,
             "height": 10 * D}
        ],
        "colliders": [{"shape": "plane", "contact": "sticky"}],
    }  # fmt: skip
    simulation = Simulation(Scene.model_validate(scene))
    mass = 1000.0 * D**3
    told = 0.0
    for _ in range(25):
        figures = simulation.step()
        told -= figures["dt"] * simulation.collider_forces[0].force[1]
    velocity = np.array(simulation.particles["velocity"], dtype=np.float64)
    weight = mass * simulation.particles.count * 9.81 * simulation.time
    near(told, weight + mass * velocity[:, 1].sum(), "impulse, N s", rel=1e-3, derived=True)
