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


def test_water_beside_a_separate_gel_stays_in_its_tank() -> None:
    """Both fall by 1.5 layers, and water runs out: no faster than the tip of a dam break, 2 √(g H)."""
    tank = {
        "shape": "box", "container": True, "open": ["+y"],
        "size": (15 * D, 20 * D, 8 * D), "center": (0.0, 10 * D, 0.0),
    }  # fmt: skip
    scene = bodies(
        cube(6, (-3.5, 4.5, 0.0), separate=True, material="water"),
        cube(6, (3.5, 4.5, 0.0), separate=True),
        gravity=(0.0, -9.81, 0.0),
        colliders=[tank],
    )
    simulation = Simulation(scene)
    fastest = 0.0
    while simulation.time < 0.5:
        fastest = max(fastest, simulation.step()["max_speed"])
    below(fastest, 2.0 * (9.81 * 7.5 * D) ** 0.5, "fastest, m/s")


def test_a_step_that_drives_soft_bodies_into_each_other_is_taken_again() -> None:
    """A heavy one below a light one fill a box; whole steps made their particles 60 m/s fast."""
    d = 0.03
    half = {"shape": "box", "size": (6 * d, 8 * d, 8 * d)}
    soft = {"relaxation_time": float("inf"), "solvent_viscosity": 0.7}
    scene = {
        "simulation": {"spacing": d, "duration": 1.0, "time_step": 1 / 120},
        "materials": {
            "heavy": {"density": 2600.0, "modulus": 200.0, **soft},
            "light": {"density": 370.0, "modulus": 1800.0, **soft},
        },
        "fluids": [
            {**half, "material": "heavy", "center": (0, 4 * d, 0), "velocity": (0.0, 0.9, 0.6)},
            {**half, "material": "light", "center": (0, 12 * d, 0), "velocity": (-0.5, 0.6, -1.0)},
        ],
        "colliders": [
            {"shape": "box", "container": True, "size": (6 * d, 16 * d, 8 * d),
             "center": (0, 8 * d, 0), "contact": "slip"}
        ],
    }  # fmt: skip
    simulation = Simulation(Scene.model_validate(scene))
    steps = [simulation.step() for _ in range(12)]
    assert any(step["halvings"] for step in steps)
    below(max(step["max_speed"] for step in steps), 2.5, "fastest, m/s")
    below(steps[-1]["kinetic_energy"], steps[0]["kinetic_energy"], "kinetic energy, J")
