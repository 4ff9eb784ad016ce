"""What no step of any solver may change: shapes in free fall, momentum, spin."""

import numpy as np
import pytest
from bars import above, below, near
from simulation_rigs import D, advance, block, by_id, scene, weightless

from viscoil.simulation.simulation import Simulation

pytestmark = [pytest.mark.usefixtures("compute"), pytest.mark.physics]


def test_free_fall_does_not_deform(method: str) -> None:
    """Nothing acts between particles that fall alike: they keep their places to 1e-5 d.

    Each step rounds coordinates of up to 0.12 m to 4e-9 m = 2e-7 d; 24 of them as a random walk
    make 1e-6 d, and the largest of 512 three times that. Where pressure has a speed of sound, 20 m/s,
    it also answers what rounding makes of the density, δ = 6e-8: ½ (c² δ/d) t² = 4e-6 d in 12 ms. And
    the block falls as a stone does: semi-implicit Euler is below ½ g t² by ½ g t Δt.
    """
    simulation = Simulation(scene(method, fluids=[block(8)]))
    start = by_id(simulation, "position")
    dt = advance(simulation, 24)["dt"]
    end = by_id(simulation, "position")
    moved = (end - end.mean(axis=0)) - (start - start.mean(axis=0))
    below(np.abs(moved).max(), 1e-5 * D, "change of shape, m", derived=True)
    fallen = -0.5 * 9.81 * simulation.time * (simulation.time + dt)
    near((end - start).mean(axis=0)[1], fallen, "fall, m", rel=1e-4)
    if "conformation" in simulation.particles:
        near(by_id(simulation, "conformation")[:, 3:], 0.0, "shear", abs=1e-4)


def test_linear_momentum_of_isolated_blobs(method: str) -> None:
    """All forces are pairwise opposite: momentum stays to 1e-5 of Σ m |u| while two blobs collide.

    n particles round their velocities to ε each and step: 6e-8 · 100 steps, if all erred alike.
    """
    simulation = Simulation(
        weightless(
            block(6, material="jelly", velocity=(0.5, 0.2, 0.0), angular_velocity=(2.0, 6.0, 1.0)),
            block(4, center=(0.12, 0.0, 0.0), velocity=(-1.0, 0.0, 0.3)),
            method=method,
        )
    )
    mass = np.where(by_id(simulation, "material") == 0, 1200.0, 1000.0)[:, None] * D**3
    before = (mass * by_id(simulation, "velocity")).sum(axis=0)
    size = np.linalg.norm(mass * by_id(simulation, "velocity"), axis=1).sum()
    first = by_id(simulation, "id") < 6**3
    of_first = (mass * by_id(simulation, "velocity"))[first, 0].sum()
    figures = advance(simulation, 100)
    after = (mass * by_id(simulation, "velocity")).sum(axis=0)
    given = (mass * by_id(simulation, "velocity"))[first, 0].sum() - of_first
    above(abs(given), 0.05 * size, "what one blob gave to the other")
    near(after, before, "momentum", abs=1e-5 * size, derived=True)
    near(figures["linear_momentum"], after, "told momentum", abs=1e-6 * size, derived=True)


@pytest.mark.parametrize("kind", ["rigid", "paste", "jelly"])
def test_a_spinning_block_keeps_its_spin(kind: str, method: str) -> None:
    """A free 8³ block at 10 rad/s for 0.1 s: angular momentum to 1e-5, and a rigid block stays a block.

    Corrections have no torque about x⁰, so Σ m x⁰ × (x − x⁰)/Δt is kept exactly, and it is the same
    as Σ m x × u at the end of the step. What is left is rounding, 6e-8 in each of 24 steps, and for
    the shape the residual: 1e-3 of the strain that a step would make, ½ (Δt ω)² = 9e-4, in each of
    24 steps over a radius of 5 d makes 1e-4 d.
    """
    spinning = block(8, angular_velocity=(0.0, 0.0, 10.0), material=kind)
    simulation = Simulation(weightless(spinning, method=method))
    before, start = _spin(simulation), by_id(simulation, "position")
    figures = advance(simulation, 24)
    after = _spin(simulation)
    near(figures["angular_momentum"], after, "told spin", abs=1e-6 * before[2], derived=True)
    near(after, before, "spin", abs=1e-5 * before[2], derived=True)
    if kind == "rigid" and "conformation" in simulation.particles:
        turned = by_id(simulation, "position")
        radius = np.linalg.norm(start[:, :2], axis=1)
        near(np.linalg.norm(turned[:, :2], axis=1), radius, "radii, m", abs=1e-3 * D)


def _spin(simulation: Simulation) -> np.ndarray:
    """Angular momentum about the origin, kg m²/s."""
    density = simulation.material(simulation.scene.fluids[0].material).density
    arms = np.cross(by_id(simulation, "position"), by_id(simulation, "velocity"))
    return np.asarray(density * D**3 * arms.sum(axis=0))
