"""Density corrections between firm particles move the particles and not the fluid."""

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


def test_a_squeezed_firm_block_expands_without_velocity() -> None:
    """Its density is right after a few steps, and it has neither moved, nor strained, nor gained speed.

    Water in the same state flies apart: the excess of 9.6 % is undone at once, at some tenths of a
    spacing per step.
    """
    firm, thin = squeezed(STIFF), squeezed(THIN)
    before = ordered(firm, "position")
    below(run(firm, 4)["density_error_mean"], 1e-3, "density error")
    run(thin, 4)
    moved = ordered(firm, "position") - before
    above(np.abs(moved).max(), 0.02 * D, "expansion, m")
    speed = np.abs(ordered(firm, "velocity")).max()
    below(speed, 1e-3 * np.abs(ordered(thin, "velocity")).max(), "speed, m/s")
    strain = ordered(firm, "conformation") - [1.0, 1.0, 1.0, 0.0, 0.0, 0.0]
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
    """Two blocks pressed into each other: corrections are opposite in pairs, whatever the pair.

    Round-off of positions, 1e-7 of 0.1 m over 1/240 s, is 3e-6 m/s a particle, and averages out.
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
    x[:, 0] -= np.where(simulation.particles["material"] == 1, 0.15 * D, 0.0)
    run(simulation, 3)
    velocity, material = ordered(simulation, "velocity"), ordered(simulation, "material")
    below(np.abs(velocity.mean(axis=0)).max(), 3e-6, "mean velocity, m/s", derived=True)
    apart = velocity[material == 1].mean(axis=0) - velocity[material == 0].mean(axis=0)
    if other is THIN:
        above(apart[0], 0.01, "water and a firm body part, m/s")
    else:
        below(np.abs(apart).max(), 1e-3, "two firm bodies part, m/s")


def test_where_there_are_no_shifts_forces_undo_all_of_it() -> None:
    """The paper's positions-only variant: what is too dense flies apart, however firm it is."""
    simulation = squeezed(STIFF, solver={"projection": "position"})
    before = np.ptp(ordered(simulation, "position"), axis=0)
    run(simulation, 10)
    after = np.ptp(ordered(simulation, "position"), axis=0)
    above((after / before).min(), 1.0 + 0.5 * (1.0 / SQUEEZE - 1.0), "expansion")


def test_who_outran_the_pair_list_is_told_of_firm_fluids_too() -> None:
    """Two halves that meet at a spacing a step: neighbours come within reach that no list has."""
    simulation = squeezed({"density": 1000.0, "viscosity": 1.0})
    x = simulation.particles["position"][:, 0]
    speed = 0.5 * D / (1 / 240)
    simulation.particles["velocity"][:, 0] = np.where(x > x.mean(), -speed, speed)
    assert run(simulation, 1)["outran_neighbors"] > 0
