"""The simulation as a user drives it: channels, steps, frames, who leaves, and every switch."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from bars import below, near
from simulation_rigs import FLOOR, NOZZLE, D, block, busy, scene, state, weightless

from viscoil.core.errors import ViscoilError
from viscoil.particles.store import ChannelKind
from viscoil.simulation.simulation import Simulation

pytestmark = pytest.mark.usefixtures("compute")


def test_channels_of_a_user_go_with_the_particles(tmp_path: Path) -> None:
    simulation = Simulation(busy())
    simulation.particles.add_channel("tag", ChannelKind("f32"))
    simulation.particles["tag"] = simulation.particles["id"] * 2.0
    for _ in range(6):
        simulation.step()
    old = simulation.particles["id"] < 100
    np.testing.assert_array_equal(
        simulation.particles["tag"][old], 2.0 * simulation.particles["id"][old]
    )
    assert "tag" in simulation.snapshot().channels
    simulation.save(tmp_path / "state.npz")
    again = Simulation(busy(), checkpoint=tmp_path / "state.npz")
    np.testing.assert_array_equal(again.particles["tag"], simulation.particles["tag"])


@pytest.mark.parametrize("dt", [0.0, -1e-3, float("nan"), float("inf")])
def test_senseless_steps_are_refused(dt: float) -> None:
    simulation = Simulation(weightless(block(3)))
    before = state(simulation)
    with pytest.raises(ViscoilError, match="time step must be positive"):
        simulation.step(dt)
    assert state(simulation) == before


def test_steps_of_a_user_keep_the_time() -> None:
    """Shorter than a frame, up to its end, and beyond it: the clock shows what was simulated."""
    simulation = Simulation(weightless(block(3)))
    simulation.step(0.01)
    assert (simulation.time, simulation.frame) == (0.01, 0)
    simulation.step(1.0 / 30.0 - 0.01)
    assert (simulation.time, simulation.frame) == (1.0 / 30.0, 1)
    simulation.step(0.1)
    assert simulation.time == pytest.approx(1.0 / 30.0 + 0.1)
    assert simulation.frame == 4
    simulation.next_frame()
    assert (simulation.time, simulation.frame) == (5.0 / 30.0, 5)


def test_frames_end_on_time() -> None:
    simulation = Simulation(scene(fluids=[block(3)], simulation={"frames": 4}))
    frames = list(simulation.frames())
    assert [frame.frame for frame in frames] == [0, 1, 2, 3, 4]
    assert [frame.time for frame in frames] == [k / 30.0 for k in range(5)]


# When particles go


def test_the_removed_do_not_show() -> None:
    """Neither in the snapshot after the step in which they left, nor in its figures."""
    box = {"min": (-1.0, -1.0, -1.0), "max": (0.1, 1.0, 1.0)}
    simulation = Simulation(weightless(block(4, velocity=(2.0, 0.0, 0.0)), kill_bounds=box))
    removed = 0
    for _ in range(24):
        figures = simulation.step()
        shown = simulation.snapshot().channels
        assert (shown["position"][:, 0] <= 0.1).all()
        assert figures["particles"] == len(shown["id"])
        assert {len(values) for values in shown.values()} == {len(shown["id"])}
        momentum = 1200.0 * D**3 * shown["velocity"][:, 0].sum(dtype=np.float64)
        assert figures["linear_momentum"][0] == pytest.approx(momentum, rel=1e-5, abs=1e-9)
        removed += len(simulation.particles) > len(shown["id"])
    assert removed >= 3
    assert figures["particles"] == 0
    assert figures["max_speed"] == 0.0


def test_whoever_leaves_the_box_is_removed() -> None:
    """A block that flies through a wall of the box loses those outside, and at last all."""
    box = {"min": (-1.0, -1.0, -1.0), "max": (0.1, 1.0, 1.0)}
    simulation = Simulation(weightless(block(4, velocity=(2.0, 0.0, 0.0)), kill_bounds=box))
    counts = []
    for _ in range(24):
        inside = set(simulation.particles["id"][simulation.particles["position"][:, 0] <= 0.1])
        simulation.step()
        assert set(simulation.particles["id"].tolist()) == inside
        counts.append(len(simulation.particles))
    assert counts[0] == 64
    assert 0 < counts[13] < 64
    assert counts[-1] == 0
    assert simulation.snapshot().channels["position"].shape == (0, 3)


def test_the_old_are_removed() -> None:
    simulation = Simulation(
        scene(emitters=[NOZZLE], simulation={"max_age": 0.05, "gravity": (0.0, 0.0, 0.0)})
    )
    for _ in range(15):
        simulation.step()
        age = simulation.time - simulation.particles["birth"].astype(np.float64)
        # marked after a step, dropped by the sort in the next one
        assert age.max(initial=0.0) <= 0.05 + 2.0 * simulation.scene.simulation.max_time_step + 1e-6
    assert simulation.particles.next_id > len(simulation.particles) > 0


# Small and large scenes, and every way to solve


def test_an_empty_scene_runs() -> None:
    simulation = Simulation(scene(emitters=[NOZZLE | {"start": 0.05}]))
    assert simulation.step()["particles"] == 0
    while simulation.time < 0.07:
        simulation.step()
    assert len(simulation.particles) > 0


def test_the_most_particles() -> None:
    simulation = Simulation(scene(emitters=[NOZZLE], simulation={"max_particles": 60}))
    for _ in range(12):
        simulation.step()
        assert len(simulation.particles) <= 60


@pytest.mark.physics
@pytest.mark.parametrize(
    "settings",
    [
        {"conformation_update": "implicit"},
        {"velocity_solver": "jacobi"},
        {"gradients": "plain"},
        {"corotation": False},
        {"projection": "position"},
        {"stiffness": "prototype"},
        {"smoothing": "cubic_spline"},
        {"smoothing": "poly6_spiky"},
        {"support": 2.5},
    ],
    ids=lambda s: "-".join(map(str, next(iter(s.items())))),
)
def test_every_switch_changes_the_way_and_not_the_end(settings: dict[str, Any]) -> None:
    """No option that nobody tests: a jelly falls by half a spacing, sits down, and stays whole.

    Its four layers would end with their middle at 2 d. Under its own weight a column of height H sags
    by ρ g H²/(3 E) in the mean, E = 3 G, which is 0.17 d; the fall makes it at most twice that. It
    lands at √(2 g d/2) = 0.44 m/s, and swings no faster than half of that a few periods later.
    """
    simulation, figures = landed(**settings)
    assert state(simulation) != state(landed()[0])
    y = simulation.particles["position"][:, 1]
    sag = 1000.0 * 9.81 * (4 * D) ** 2 / (9.0 * 2000.0)
    near(2.0 * D - y.mean(), sag, "sag, m", rel=1.0)
    below(figures["max_speed"], 0.22, "speed, m/s")
    below(figures["density_error_mean"], 0.01, "density error")
    below(0.5 * D - y.min(), 0.1 * D, "depth in the floor, m")


def landed(**settings: Any) -> tuple[Simulation, Mapping[str, Any]]:
    """A jelly that fell onto a floor, 0.2 s later, and the figures of its last step."""
    jelly = block(4, material="jelly", center=(0.0, 0.05, 0.0))
    simulation = Simulation(scene(fluids=[jelly], colliders=[FLOOR], solver=settings))
    while simulation.time < 0.2 - 1e-9:
        figures = simulation.step()
    return simulation, figures
