"""Steps that go wrong are taken again, shorter; speeds that energy does not allow stop a run."""

import math
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest
from simulation_rigs import block, scene, state, weightless

from viscoil.core.errors import DivergedError
from viscoil.particles.diagnostics import Diagnosis
from viscoil.simulation.safety import HALVINGS, JETS, UNUSUAL, SpeedLimit
from viscoil.simulation.simulation import Simulation
from viscoil.simulation.stepping import LARGEST_FALL, LARGEST_RISE, next_step
from viscoil.solvers.protocol import State

pytestmark = pytest.mark.usefixtures("compute")


class Fragile:
    """A solver's step that goes wrong if it is longer than it can take, or else is doubtful."""

    def __init__(self, simulation: Simulation, longest: float, doubtful: bool = False) -> None:
        self._step = simulation._solver.step
        self._longest = longest
        self._doubtful = doubtful
        self.tried: list[float] = []
        simulation._solver.step = self  # type: ignore[method-assign]

    def __call__(self, state: State, dt: float) -> Mapping[str, float]:
        self.tried.append(dt)
        report = self._step(state, dt)
        if dt > self._longest and self._doubtful:
            return {**report, "density_error_max": 0.3}
        if dt > self._longest:
            state.particles["velocity"][0] = np.nan
        return report


def falling() -> Simulation:
    return Simulation(scene(fluids=[block(4)], simulation={"time_step": 1.0 / 30.0}))


def test_a_step_that_goes_wrong_is_taken_again_with_half_its_length() -> None:
    """As often as it takes, from where it started, to the same end as if it had been short at once."""
    simulation, reference = falling(), falling()
    fragile = Fragile(simulation, 1.0 / 100.0)
    figures = simulation.step()
    assert np.allclose(fragile.tried, [1.0 / 30.0, 1.0 / 60.0, 1.0 / 120.0])
    assert figures["halvings"] == 2
    assert figures["dt"] == pytest.approx(1.0 / 120.0)
    assert reference.step(1.0 / 120.0)["halvings"] == 0
    assert state(simulation) == state(reference)
    assert simulation.next_frame().frame == 1


def test_after_some_halvings_the_run_stops() -> None:
    """In the state of its last frame."""
    simulation = falling()
    before = state(simulation)
    fragile = Fragile(simulation, 0.0)
    with pytest.raises(DivergedError, match="diverged at step 1"):
        simulation.step()
    assert len(fragile.tried) == HALVINGS + 1
    assert state(simulation) == before


def test_a_doubtful_step_is_taken_with_half_its_length_if_that_helps() -> None:
    simulation = falling()
    fragile = Fragile(simulation, 1.0 / 100.0, doubtful=True)
    assert simulation.step()["halvings"] == 2
    assert simulation.step()["halvings"] == 2
    rest = 1.0 / 30.0 - 1.0 / 120.0  # of the frame
    tried = [1.0 / 30.0, 1.0 / 60.0, 1.0 / 120.0, rest, rest / 2.0, rest / 4.0]
    assert np.allclose(fragile.tried, tried)


def test_a_step_that_stays_doubtful_is_taken_and_those_after_it_too(tmp_path: Path) -> None:
    """With whole steps, in a run that goes on from a checkpoint as well, until there is no doubt."""
    simulation = falling()
    fragile = Fragile(simulation, 0.0, doubtful=True)
    assert simulation.step()["halvings"] == HALVINGS
    assert simulation.step()["halvings"] == 0
    simulation.save(tmp_path / "doubtful.npz")
    resumed = Simulation(simulation.scene, checkpoint=tmp_path / "doubtful.npz")
    Fragile(resumed, 0.0, doubtful=True)
    assert resumed.step()["halvings"] == 0
    fragile._longest = 1.0
    simulation.step()
    fragile._longest = 0.0
    assert simulation.step()["halvings"] == HALVINGS


def test_a_doubtful_step_is_taken_after_all_if_shorter_ones_go_wrong() -> None:
    """As a start does whose particles lie in a wall: they leave it the faster, the shorter the step."""
    simulation = falling()
    step = simulation._solver.step
    tried = []

    def hasty(state: State, dt: float) -> Mapping[str, float]:
        report = step(state, dt)
        tried.append(dt)
        if dt < 1.0 / 31.0:
            state.particles["velocity"][0] = np.nan
        return {**report, "density_error_max": 0.3}

    simulation._solver.step = hasty  # type: ignore[method-assign]
    figures = simulation.step()
    assert np.allclose(tried, [1.0 / 30.0, 1.0 / 60.0, 1.0 / 30.0])
    assert figures["halvings"] == 0
    assert figures["dt"] == pytest.approx(1.0 / 30.0)


def test_speeds_that_energy_does_not_allow_stop_it() -> None:
    """A block at rest, weightless, one of whose particles is suddenly fast; a user may make it so."""
    simulation = Simulation(weightless(block(4), time_step=None))
    step = simulation._solver.step

    def throw(state: State, dt: float) -> Mapping[str, float]:
        report = step(state, dt)
        state.particles["velocity"][0] = 50.0
        return report

    simulation._solver.step = throw  # type: ignore[method-assign]
    with pytest.raises(DivergedError, match="a particle moves at"):
        simulation.step()
    simulation._solver.step = step  # type: ignore[method-assign]
    simulation.particles["velocity"][0] = 50.0
    assert simulation.step()["max_speed"] > 10.0


def test_the_limit_is_that_of_a_fall() -> None:
    """√(2 g H) and the speed of what drives, times what jets may have."""
    limit = SpeedLimit()
    seen = Diagnosis(0.0, (0.0,) * 3, (0.0,) * 3, 0.0, 0, highest=9.81 * 2.0, lowest=0.0)
    limit.see(seen)
    limit.admit(3.0)
    limit.push(2.0, 0.5)
    adaptive = weightless(block(4), time_step=None)
    expected = JETS * math.sqrt(2.0 * 9.81 * 2.0 + 4.0**2)
    assert limit.speed(0.0, adaptive) == pytest.approx(expected)


def test_speeds_are_doubted_where_they_are_new() -> None:
    """Fluid between two plates that come together at 0.1 m/s may flow at 0.5 m/s, if it did before."""
    limit = SpeedLimit()
    limit.see(Diagnosis(0.0, (0.0,) * 3, (0.0,) * 3, max_speed=0.5, broken=0))
    limit.admit(0.1)
    limit.speed(0.0, weightless(block(4), time_step=None))
    assert limit.is_exceeded(UNUSUAL, before=0.0)
    assert limit.is_exceeded(UNUSUAL, before=0.2)
    assert not limit.is_exceeded(UNUSUAL, before=0.3)


@pytest.mark.parametrize("speed", [0.0, 1e3])
def test_adaptive_steps_change_gradually(speed: float) -> None:
    """By a quarter up or a half down from the step before, and never beyond what forces can take."""
    settings = weightless(block(4), time_step=None).simulation
    last = 1e-3
    dt = next_step(settings, 0.0, 0, speed, last=last)
    assert LARGEST_FALL * last * 0.9 <= dt <= LARGEST_RISE * last * (1.0 + 1e-9)
    assert next_step(settings, 0.0, 0, speed, limit=1e-6, last=last) <= 1e-6
