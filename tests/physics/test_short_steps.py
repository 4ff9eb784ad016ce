"""Short steps, far from the origin: neither velocities nor positions are rounded away."""

import numpy as np
import pytest
from bars import below, near
from simulation_rigs import tank

from viscoil import Scene, Simulation

pytestmark = [pytest.mark.usefixtures("compute"), pytest.mark.physics]


@pytest.mark.parametrize("dt", [1e-5, 1e-4, 1.0 / 120.0])
@pytest.mark.parametrize("height", [0.3, 3.0, 100.0])
@pytest.mark.parametrize("viscosity", [0.0, 100.0])
def test_a_block_falls_with_g(height: float, dt: float, viscosity: float) -> None:
    """By its speed and by its way within 0.1 %.

    100 steps of 1e-5 s fall by 5e-6 m, less than the last bit of a coordinate of 100 m (8e-6 m): what
    a position cannot hold yet is in its remainder. Semi-implicit Euler falls by ½ g t (t + Δt).
    """
    simulation = Simulation(
        Scene.model_validate(
            {
                "simulation": {"spacing": 0.05, "duration": 100.0},
                "materials": {"fluid": {"density": 1000.0, "viscosity": viscosity}},
                "fluids": [
                    {
                        "material": "fluid",
                        "shape": "box",
                        "center": (0.0, height, 0.0),
                        "size": (0.2, 0.2, 0.2),
                    }
                ],
            }
        )
    )
    start = _height(simulation)
    for _ in range(100):
        simulation.step(dt)
    t = 100 * dt
    speed = simulation.particles["velocity"][:, 1].astype(np.float64).mean()
    near(-speed / t, 9.81, "acceleration by speed, m/s²", rel=1e-3, derived=True)
    fallen = start - _height(simulation)
    near(fallen * 2.0 / (t * (t + dt)), 9.81, "acceleration by way, m/s²", rel=1e-3, derived=True)


def _height(simulation: Simulation) -> float:
    """Of the middle, m, with what positions could not hold."""
    p = simulation.particles
    remainder = p["remainder"][:, 1].astype(np.float64) if "remainder" in p else np.zeros(1)
    return float(p["position"][:, 1].astype(np.float64).mean() + remainder.mean())


LONG = 1.0 / 120.0
FLUIDS = {
    "water": {"viscosity": 0.0},
    "honey": {"viscosity": 10.0},
    "gel": {"modulus": 1e5, "relaxation_time": float("inf"), "solvent_viscosity": 10.0},
}


def _box(spacing: float, fluid: str) -> Simulation:
    material = {"density": 1000.0, **FLUIDS[fluid]}
    return Simulation(tank(material, (11, 11, 11), spacing=spacing))


def _fastest(simulation: Simulation, dt: float, count: int) -> float:
    """The highest speed of any particle in so many steps, m/s."""
    return max(float(simulation.step(dt)["max_speed"]) for _ in range(count))


@pytest.mark.parametrize("fluid", FLUIDS)
@pytest.mark.parametrize("spacing", [0.02, 0.1])
def test_short_steps_do_not_turn_old_errors_into_speed(spacing: float, fluid: str) -> None:
    """Three long steps, then steps of 1e-4 s: no faster than before by more than 2 g Δt of the long ones.

    Undone within one short step, a density error of a thousandth would be a speed of up to
    1e-3 · 11 d/1e-4 s, 11 m/s at a spacing of 0.1 m.
    """
    simulation = _box(spacing, fluid)
    before = _fastest(simulation, LONG, 3)
    kick = _fastest(simulation, 1e-4, 30) - before
    below(max(kick, 0.0), 2.0 * 9.81 * LONG, "kick, m/s")


@pytest.mark.parametrize("dt", [1e-5, 1e-4])
def test_fluid_that_fills_a_box_starts_at_rest(dt: float) -> None:
    """Walls hide what a lattice lacks in every layer: none is too full, however short the first steps.

    Two thousandths in the second layer threw particles off at 45 m/s in steps of 1e-5 s.
    """
    below(_fastest(_box(0.1, "water"), dt, 100), 2.0 * 9.81 * LONG, "speed, m/s")


def test_long_steps_do_not_take_pressures_of_short_ones_for_impulses() -> None:
    """In a step of 1e-5 s it takes 1 kPa and more to move anything: in a long one that would be metres
    per second.
    """
    simulation = _box(0.02, "water")
    _fastest(simulation, LONG, 3)
    _fastest(simulation, 1e-5, 10)
    below(_fastest(simulation, LONG, 3), 2.0 * 9.81 * LONG, "speed, m/s")


def test_water_in_a_box_comes_to_rest() -> None:
    """A lattice under weight is no state of rest; what its collapse stirs up has calmed after 3 s.

    Without damping of short waves, particles still moved at 14 mm/s in the mean. It took half as long
    when waves lost two thirds of their energy in a period.
    """
    simulation = _box(0.02, "water")
    while simulation.time < 3.0:
        simulation.step()
    speed = np.linalg.norm(simulation.particles["velocity"].astype(np.float64), axis=1)
    below(float(speed.mean()), 8e-3, "mean speed, m/s")


@pytest.mark.parametrize(("where", "told"), [(1000.0, False), (5000.0, True)])
def test_a_start_too_far_from_the_origin_is_told(where: float, told: bool) -> None:
    """At a spacing of 5 cm a kilometre is safe, where coordinates are 6e-5 m apart."""
    fluid = {
        "material": "water",
        "shape": "box",
        "center": (where, 0.0, 0.0),
        "size": (0.2, 0.2, 0.2),
    }
    scene = {"simulation": {"spacing": 0.05, "duration": 1.0}, "fluids": [fluid]}
    notes = Simulation(Scene.model_validate(scene)).notes
    assert [note for note in notes if "from the origin" in note] == notes
    assert bool(notes) == told
