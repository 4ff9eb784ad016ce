"""Fluid that fills a closed volume, of which there is more than fits: it is taken for full as it is."""

from typing import Any

import numpy as np
import pytest
from bars import below

from viscoil import Scene, Simulation
from viscoil.solvers.dcpbd.position_projection import FADING, SealedFluid

D, LAYERS = 0.02, 8  # m
MOST = 120  # iterations of the position projection
DENSITY, GRAVITY = 1000.0, 9.81


def between_plates(viscosity: float, gap: float) -> Simulation:
    """Eight layers between plates that slip, endless along them."""
    width = 8 * D
    top = LAYERS * D
    lid = {"shape": "plane", "point": (0.0, gap, 0.0), "normal": (0.0, -1.0, 0.0)}
    fluid = {"shape": "box", "size": (width, top, width), "center": (width / 2, top / 2, width / 2)}
    scene: dict[str, Any] = {
        "simulation": {"spacing": D, "duration": 9.0, "periodic": (width, 0.0, width)},
        "materials": {"fluid": {"density": DENSITY, "viscosity": viscosity}},
        "fluids": [{"material": "fluid", **fluid}],
        "colliders": [{"shape": "plane", "contact": "slip"}, {"contact": "slip", **lid}],
    }
    return Simulation(Scene.model_validate(scene))


@pytest.mark.physics
@pytest.mark.parametrize("viscosity", [0.0, 10.0])
def test_pressures_of_overfull_fluid_do_not_pile_up(viscosity: float) -> None:
    """A hundredth too much between plates: the pressure is that of its weight, less than 3 ρ g H.

    No pressure can make room, so that all particles stay too dense. Pressures that answered to that
    would grow in every step: to a thousand times ρ g H within 2 s in syrup, and twelve times in water.
    Twice ρ g H is left for what disorder adds. The last steps do not need all iterations.
    """
    gap = 0.99 * LAYERS * D
    simulation = between_plates(viscosity, gap)
    most, iterations = 0.0, []
    while simulation.time < 1.0:
        figures = simulation.step()
        if simulation.time > 0.5:
            most = max(most, float(np.asarray(simulation.particles["pressure"]).max()))
            iterations.append(figures["position_iterations"])
    name = f"{viscosity:g} Pa s sealed: largest pressure over ρ g H"
    below(most / (DENSITY * GRAVITY * gap), 3.0, name)
    below(float(np.median(iterations)), MOST / 2, name)


def test_fluid_with_a_surface_is_never_taken_for_sealed() -> None:
    """Its pressures at the surface are 0, whatever iterations leave undone: one a step is too few."""
    simulation = between_plates(0.0, 2.0 * LAYERS * D)
    few = simulation.scene.model_dump(exclude_unset=True)
    few["solver"] = {"position_iterations": 1, "max_position_iterations": 1}
    simulation = Simulation(Scene.model_validate(few))
    for _ in range(30):
        simulation.step()
    state = simulation._solver.save()
    assert state["excess"] == 0.0


def test_what_is_learned_fades_where_there_is_a_way_out() -> None:
    """Within 500 steps: 0.01 · 0.99^500 is below the least that counts, 1e-4."""
    sealed = SealedFluid()
    sealed.learn(used_up=True, left=0.01)
    assert sealed.excess == 0.01
    sealed.learn(used_up=False, left=0.01)
    assert sealed.excess == pytest.approx(0.01 * FADING)
    for _ in range(500):
        sealed.learn(used_up=True, left=0.0)
    assert sealed.excess == 0.0
