"""A disc of viscous fluid between two sticky plates, one of which comes down on it."""

from math import pi, sqrt

import numpy as np
import pytest
from figures import report

from viscoil import Scene, Simulation

D = 0.01  # m
FIRST, LAST = 8 * D, 6 * D  # m, the gap
RADIUS = 26 * D  # of the disc at first: 3.3 gaps, and 5 in the end


def _squeezed(viscosity: float, speed: float, **solver: int) -> tuple[float, float, float]:
    """(force on the moving plate and on the other one over Stefan's, mean density error).

    Forces count as impulses, from 7.7 layers on, for in the first 0.3 of a spacing the flow comes about,
    until the plate stops, which may be within the last frame.
    """
    duration = (FIRST - LAST) / speed
    moves = [{"time": 0.0}, {"time": duration, "translation": (0.0, LAST - FIRST, 0.0)}]
    plate = {"shape": "plane", "point": (0.0, FIRST, 0.0), "normal": (0.0, -1.0, 0.0)}
    disc = {"shape": "cylinder", "center": (0.0, FIRST / 2, 0.0), "radius": RADIUS, "height": FIRST}
    scene = {
        "simulation": {
            "spacing": D,
            "duration": duration,
            "gravity": (0.0, 0.0, 0.0),
            "report_forces": True,
        },
        "solver": solver,
        "materials": {"paste": {"density": 1000.0, "viscosity": viscosity}},
        "fluids": [{"material": "paste", **disc}],
        "colliders": [
            {"shape": "plane", "contact": "sticky"},
            {"contact": "sticky", "motion": moves, **plate},
        ],
    }
    simulation = Simulation(Scene.model_validate(scene))
    impulses, stefan, errors = np.zeros(2), 0.0, []
    while simulation.frame < simulation.scene.frames:
        figures = simulation.step()
        dt = figures["dt"]
        errors.append(figures["density_error_mean"])
        gap = FIRST - speed * (simulation.time - dt / 2)
        radius = sqrt(simulation.particles.count * D**3 / (pi * gap))
        if gap < 7.7 * D and simulation.time <= duration + 1e-9:
            impulses += [dt * abs(force.force[1]) for force in simulation.collider_forces]
            stefan += dt * 1.5 * pi * viscosity * radius**4 * speed / gap**3
    below, above = impulses / stefan
    return above, below, float(np.mean(errors))


@pytest.mark.parametrize("solver", [{}, {"velocity_iterations": 100}], ids=["default", "100"])
@pytest.mark.parametrize("viscosity", [20.0, 200.0, 2000.0, 20000.0])
def test_the_force_that_squeezes_a_disc(viscosity: float, solver: dict[str, int]) -> None:
    """Stefan's 3π η R⁴ V/(2 h³), with R of a disc that keeps its volume, within 10 %.

    It is the first term for thin discs. Without shear at the rim, the pressure on the plates is 2 η V/h
    higher there, which adds 4/3 (h/R)² to the force: 5 to 12 % here, 8 % in the mean. Inertia is
    ρ V h/η = 0.16 of viscosity, or less; what it adds is a tenth of that.
    """
    speed = 0.04 if viscosity < 100.0 else 0.08
    above, below, density = _squeezed(viscosity, speed, **solver)
    name = f"squeeze: {viscosity:g} Pa s, {solver.get('velocity_iterations', 'default')} iterations"
    report(f"{name}: force of the moving plate over Stefan's", above, "within 0.1 of 1")
    report(f"{name}: force of the other one", below, "the same")
    report(f"{name}: mean density error", density, "within 0.005")
    assert density < 0.005
    assert abs(above - 1.0) < 0.1
