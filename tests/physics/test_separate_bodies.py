"""Bodies that touch: separate ones collide, rub and part; others grow together."""

import itertools
from typing import Any

import numpy as np
import pytest
from bars import above, below, near
from numpy.typing import NDArray

from viscoil import Scene, Simulation

D = 0.02  # m
GEL = {"density": 1000.0, "modulus": 2e4, "relaxation_time": float("inf")}
HONEY = {"density": 1000.0, "viscosity": 20.0}

pytestmark = [pytest.mark.usefixtures("compute"), pytest.mark.physics]


def cube(layers: int, center: tuple[float, float, float], **values: Any) -> dict[str, Any]:
    """Of so many particles each way, with its centre given in spacings."""
    place = tuple(D * c for c in center)
    return {"shape": "box", "size": (layers * D,) * 3, "material": "gel", "center": place, **values}


def bodies(*fluids: dict[str, Any], gravity: Any = (0.0, 0.0, 0.0), **tables: Any) -> Scene:
    materials = {"gel": {**GEL, **tables.pop("gel", {})}, "honey": HONEY}
    return Scene.model_validate(
        {
            "simulation": {"spacing": D, "duration": 9.0, "gravity": gravity},
            "materials": materials,
            "fluids": fluids,
            **tables,
        }
    )


def of_fluids(simulation: Simulation, channel: str, *counts: int) -> list[NDArray[np.float64]]:
    """A channel of each fluid, given their numbers of particles; ids count up from fluid to fluid."""
    order = np.argsort(simulation.particles["id"])
    values = np.asarray(simulation.particles[channel][order], np.float64)
    return np.split(values, np.cumsum(counts)[:-1])


def run(simulation: Simulation, time: float) -> None:
    while simulation.time < time - 1e-9:
        simulation.step()


def collision(**values: Any) -> Scene:
    return bodies(
        cube(7, (-5.0, 0.0, 0.0), velocity=(0.5, 0.0, 0.0), **values),
        cube(7, (5.0, 0.0, 0.0), velocity=(-0.5, 0.0, 0.0), **values),
    )


def test_elastic_cubes_rebound() -> None:
    """At 1 m/s, without losing momentum: 1e-7 of the speed, the rounding of each particle's, a step."""
    simulation = Simulation(collision())
    run(simulation, 0.5)
    left, right = (u.mean(axis=0) for u in of_fluids(simulation, "velocity", 343, 343))
    above(right[0] - left[0], 0.15, "relative speed after, of that before")
    below(np.abs(left + right).max(), 2e-5, "sum of velocities, m/s", derived=True)
    first, second = of_fluids(simulation, "position", 343, 343)
    above((second[:, 0].min() - first[:, 0].max()) / D, 3.0, "gap, spacings")


def test_cubes_that_are_not_separate_weld() -> None:
    simulation = Simulation(collision(separate=False))
    run(simulation, 0.5)
    assert "body" not in simulation.particles
    first, second = of_fluids(simulation, "position", 343, 343)
    below((second[:, 0].min() - first[:, 0].max()) / D, 1.5, "gap, spacings")


def test_a_stack_of_three_rests() -> None:
    """On top of each other, with a spacing between them, and without sliding off."""
    gel = {"solvent_viscosity": 5.0}
    scene = bodies(
        *(cube(5, (0.0, 2.5 + 5.0 * k, 0.0)) for k in range(3)),
        gravity=(0.0, -9.81, 0.0), gel=gel, colliders=[{"shape": "plane", "contact": "sticky"}],
    )  # fmt: skip
    simulation = Simulation(scene)
    run(simulation, 0.9)
    velocity = np.concatenate(of_fluids(simulation, "velocity", 125, 125, 125))
    below(np.linalg.norm(velocity, axis=1).mean(), 0.02, "mean speed, m/s")
    cubes = of_fluids(simulation, "position", 125, 125, 125)
    for lower, upper in itertools.pairwise(cubes):
        above((upper[:, 1].min() - lower[:, 1].max()) / D, 0.75, "gap, spacings")
    aside = max(np.abs(x[:, axis].mean()) for x in cubes for axis in (0, 2))
    below(aside / D, 0.1, "aside, spacings")


@pytest.mark.parametrize(("slope", "bar"), [(0.15, 0.15), (1.0, 0.25)])
def test_they_rub(slope: float, bar: float) -> None:
    """A cube on a slab that gravity draws aside, μ = 0.3: at rest below it, g (sin − μ cos) above."""
    angle = np.arctan(slope)
    gravity = (9.81 * np.sin(angle), -9.81 * np.cos(angle), 0.0)
    slab = cube(1, (8.0, 1.5, 0.0), size=(24 * D, 3 * D, 5 * D))
    scene = bodies(
        slab, cube(5, (0.0, 5.5, 0.0)), gravity=gravity, gel={"modulus": 1e5},
        colliders=[{"shape": "plane", "contact": "sticky"}],
    )  # fmt: skip
    simulation = Simulation(scene)
    speeds = []
    for _ in range(60):
        simulation.step(1 / 240)
        speeds.append(of_fluids(simulation, "velocity", 360, 125)[1][:, 0].mean())
    acceleration = (speeds[-1] - speeds[29]) / (30 / 240)
    expected = max(0.0, 9.81 * (np.sin(angle) - 0.3 * np.cos(angle)))
    free = 9.81 * np.sin(angle)
    near(acceleration, expected, "acceleration, m/s²", abs=bar * free)


def test_gel_and_honey_stick_unless_the_scene_parts_them() -> None:
    """Honey that touches gel and is drawn away takes it along; as a body of its own it comes off."""

    def gap(separate: bool | None) -> float:
        away = {"velocity": (0.2, 0.0, 0.0), "separate": separate}
        honey = cube(5, (2.5, 0.0, 0.0), material="honey", **away)
        simulation = Simulation(bodies(cube(5, (-2.5, 0.0, 0.0)), honey))
        run(simulation, 0.3)
        first, second = of_fluids(simulation, "position", 125, 125)
        return float((second[:, 0].min() - first[:, 0].max()) / D)

    below(gap(None), 1.5, "gap to honey that may stick, spacings")
    above(gap(True), 3.0, "gap to honey of its own, spacings")


def test_bodies_are_numbered() -> None:
    scene = bodies(
        cube(2, (0.0, 0.0, 0.0)),
        cube(2, (9.0, 0.0, 0.0), material="honey"),
        cube(2, (18.0, 0.0, 0.0)),
        cube(2, (27.0, 0.0, 0.0), separate=False),
        cube(2, (36.0, 0.0, 0.0), material="honey", separate=True),
    )
    assert scene.bodies == (1, 0, 2, 0, 3)
    assert scene.parted
    counts = of_fluids(Simulation(scene), "body", 8, 8, 8, 8, 8)
    assert [set(numbers) for numbers in counts] == [{1}, {0}, {2}, {0}, {3}]


def test_a_body_alone_costs_nothing() -> None:
    scene = bodies(cube(2, (0.0, 0.0, 0.0)), cube(2, (9.0, 0.0, 0.0), material="honey"))
    assert not scene.parted
    assert "body" not in Simulation(scene).particles
