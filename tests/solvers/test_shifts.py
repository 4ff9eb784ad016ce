"""Density corrections move the particles and not the fluid."""

from typing import Any

import numpy as np
import pytest
from bars import above, below
from numpy.typing import NDArray

from viscoil import Scene, Simulation

D = 0.02  # m
SQUEEZE = 0.97  # of the spacing, in all directions: 9.6 % too dense
STIFF = {"density": 1000.0, "viscosity": 1e4}
THIN = {"density": 1000.0, "viscosity": 0.0}

pytestmark = [pytest.mark.usefixtures("compute"), pytest.mark.physics]


def squeezed(material: dict[str, Any], height: float = 0.0, **more: Any) -> Simulation:
    """A cube of 8³ particles, too dense and at rest, without gravity."""
    edge = 8 * D
    box = {"shape": "box", "center": [0.0, height + 0.5 * edge, 0.0], "size": [edge] * 3}
    scene = Scene.model_validate(
        {
            "simulation": {
                "spacing": D, "frames": 1, "time_step": 1 / 240, "gravity": [0.0, 0.0, 0.0],
            },
            "materials": {"body": material},
            "fluids": [{"material": "body", **box}],
            **more,
        }
    )  # fmt: skip
    simulation = Simulation(scene)
    foot = np.array([0.0, height + 0.5 * D, 0.0])
    simulation.particles["position"] = foot + SQUEEZE * (simulation.particles["position"] - foot)
    return simulation


def ordered(simulation: Simulation, channel: str) -> NDArray[np.float64]:
    order = np.argsort(simulation.particles["id"])
    return np.asarray(simulation.particles[channel][order], np.float64)


def run(simulation: Simulation, steps: int) -> dict[str, Any]:
    for _ in range(steps):
        figures = dict(simulation.step())
    return figures


@pytest.mark.parametrize("material", [THIN, STIFF], ids=["water", "firm"])
def test_a_squeezed_block_expands_without_velocity(material: dict[str, Any]) -> None:
    """Its density is right after a few steps, and it has neither moved, nor strained, nor gained speed.

    As a velocity the expansion would be 0.29 m/s. Nothing acts on velocities, which start at rest: no
    rounding either.
    """
    simulation = squeezed(material)
    before = ordered(simulation, "position")
    below(run(simulation, 4)["density_error_mean"], 1.5e-3, "density error")
    moved = ordered(simulation, "position") - before
    above(np.abs(moved).max(), 0.02 * D, "expansion, m")
    below(np.abs(ordered(simulation, "velocity")).max(), 1e-6, "speed, m/s", derived=True)
    if material is STIFF:
        strain = ordered(simulation, "conformation") - [1.0, 1.0, 1.0, 0.0, 0.0, 0.0]
        below(np.abs(strain).max(), 1e-4, "strain")
    below(np.abs(moved.mean(axis=0)).max(), 1e-4 * D, "way of the middle, m")


def test_a_shift_into_a_wall_does_not_become_a_velocity() -> None:
    """The block expands by 3 % of 8 d in 4 steps, which as a velocity would be 0.29 m/s.

    What the wall takes from shifts, and the fluid answers, is a hundredth of that at most.
    """
    wall = [{"shape": "plane", "contact": "slip"}]
    simulation = squeezed(STIFF, colliders=wall)
    run(simulation, 4)
    depth = 0.5 * D - ordered(simulation, "position")[:, 1].min()
    below(depth, 1e-3 * D, "depth in the wall, m")
    expansion = (1.0 - SQUEEZE) * 8 * D / (4 / 240)
    below(np.abs(ordered(simulation, "velocity")).max(), 0.01 * expansion, "speed, m/s")


@pytest.mark.parametrize("other", [THIN, STIFF], ids=["water", "itself"])
def test_shifts_and_forces_keep_momentum(other: dict[str, Any]) -> None:
    """Two blocks pressed into each other part without velocity: only shifts undo what was there before.

    They move both by opposite ways, so that the common middle stays, to the round-off of positions,
    6e-9 m a particle and step, which averages out.
    """
    box = {"shape": "box", "size": [0.08, 0.08, 0.08]}
    scene = Scene.model_validate(
        {
            "simulation": {
                "spacing": D, "frames": 1, "time_step": 1 / 240, "gravity": [0.0, 0.0, 0.0],
            },
            "materials": {"firm": STIFF, "other": other},
            "fluids": [
                {"material": "firm", "center": [0.0, 0.0, 0.0], **box},
                {"material": "other", "center": [0.08, 0.0, 0.0], **box},
            ],
        }
    )  # fmt: skip
    simulation = Simulation(scene)
    x = simulation.particles["position"]
    x[:, 0] -= np.where(simulation.particles["material"] == 1, 0.2 * D, 0.0)
    before = ordered(simulation, "position")
    run(simulation, 3)
    moved, material = ordered(simulation, "position") - before, ordered(simulation, "material")
    below(np.abs(moved.mean(axis=0)).max(), 2e-8, "way of the middle, m", derived=True)
    apart = moved[material == 1].mean(axis=0) - moved[material == 0].mean(axis=0)
    above(apart[0], 0.01 * D, "how far they part, m")
    below(np.abs(ordered(simulation, "velocity")).max(), 1e-6, "speed, m/s", derived=True)
