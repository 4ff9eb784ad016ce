"""A simulation that goes wrong goes back to its last good frame."""

import numpy as np
import pytest
from simulation_rigs import block, busy, state, weightless

from viscoil.core.errors import DivergedError
from viscoil.particles.store import ChannelKind
from viscoil.simulation.simulation import Simulation

pytestmark = pytest.mark.usefixtures("compute")


@pytest.mark.parametrize("poison", [np.nan, np.inf, 1e7])
def test_divergence_goes_back_to_the_last_frame(poison: float) -> None:
    """And from there the run can go on as if nothing had happened."""
    simulation, reference = Simulation(busy()), Simulation(busy())
    simulation.next_frame()
    reference.next_frame()
    good = state(reference)
    simulation.step()
    simulation.particles["velocity"][3] = poison
    with pytest.raises(DivergedError, match="diverged at step"):
        for _ in range(3):
            simulation.step()
    assert state(simulation) == good
    assert simulation.frame == 1
    simulation.step()
    reference.step()
    assert state(simulation) == state(reference)


def test_divergence_keeps_what_the_user_added_since() -> None:
    """Channels start again from zero, gravity and materials stay; and the run can go on."""
    simulation = Simulation(busy())
    simulation.next_frame()
    simulation.particles.add_channel("heat", ChannelKind("f32"))
    simulation.particles.add_channel("flow", ChannelKind("f32", 3, "m/s"))
    simulation.particles["heat"] = 7.0
    simulation.gravity = (0.0, -1.0, 0.0)
    simulation.set_material("jelly", modulus=500.0)
    simulation.particles["velocity"][3] = np.nan
    with pytest.raises(DivergedError):
        simulation.step()
    assert simulation.particles["heat"].shape == (len(simulation.particles),)
    assert not simulation.particles["heat"].any()
    assert simulation.particles.kinds["flow"] == ChannelKind("f32", 3, "m/s")
    assert simulation.gravity == (0.0, -1.0, 0.0)
    assert simulation.material("jelly").modulus == 500.0
    simulation.particles["heat"] = 2.0
    assert simulation.next_frame().channels["heat"].max() == 2.0


def test_divergence_does_not_bring_back_the_removed() -> None:
    """Who left with the last step of a good frame is gone also in the state that is restored."""
    box = {"min": (-1.0, -1.0, -1.0), "max": (0.035, 1.0, 1.0)}
    moving = weightless(block(4, velocity=(0.3, 0.0, 0.0)), kill_bounds=box, time_step=1.0 / 30.0)
    simulation = Simulation(moving)
    left = len(simulation.next_frame().channels["id"])
    assert left == 48
    simulation.particles["velocity"][0] = np.nan
    with pytest.raises(DivergedError):
        simulation.step()
    assert len(simulation.snapshot().channels["id"]) == left
