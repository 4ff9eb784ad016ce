# mypy: disable-error-code="arg-type,call-arg"
"""What a script may do with a simulation, and that what it may not do is said in one sentence."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sentences import is_sentence
from simulation_rigs import FLOOR, NOZZLE, block, by_id, scene, state, weightless

from viscoil.core.errors import DivergedError, SceneError, ViscoilError
from viscoil.simulation.simulation import Simulation


@pytest.fixture
def fluid() -> Simulation:
    """64 particles at rest, without gravity."""
    return Simulation(weightless(block(4)))


# Channels by id


def sinking(**tables: Any) -> Simulation:
    """Two drops that fall, of which one leaves the scene, and a nozzle."""
    return Simulation(
        scene(
            fluids=[block(3, center=(0.0, 0.2, 0.0)), block(3, center=(0.5, 0.1, 0.0))],
            emitters=[NOZZLE],
            colliders=[FLOOR],
            simulation={"kill_bounds": {"min": (-1.0, -0.01, -1.0), "max": (0.4, 1.0, 1.0)}},
            **tables,
        )
    )


def test_channels_by_id_follow_particles() -> None:
    """What was written for an id is found at that id, whatever was sorted, removed or added."""
    simulation = sinking()
    simulation.add_channel("mark", dtype=int)
    seen: dict[int, np.ndarray] = {}
    for _ in range(4):
        ids = simulation.ids
        assert (np.diff(ids) > 0).all()
        new = ids[~np.isin(ids, list(seen))]
        simulation.set_channel("mark", 3 * new + 1, new)
        np.testing.assert_array_equal(simulation.channel("mark"), 3 * ids + 1)
        seen |= dict(zip(ids.tolist(), simulation.channel("position"), strict=True))
        simulation.step()
    shown = simulation.snapshot().channels
    assert simulation.ids.tolist() == sorted(shown["id"].tolist())
    assert len(simulation.ids) < len(seen)  # some left
    place = np.argsort(shown["id"])
    np.testing.assert_array_equal(simulation.channel("position"), shown["position"][place])


def test_written_by_id_in_any_order(fluid: Simulation) -> None:
    rng = np.random.default_rng(0)
    ids = rng.permutation(fluid.ids)[:10]
    values = rng.normal(size=(10, 3)).astype(np.float32)
    before = fluid.channel("velocity")
    fluid.set_channel("velocity", values, ids)
    before[ids] = values  # ids are 0 to 63
    np.testing.assert_array_equal(fluid.channel("velocity"), before)
    fluid.set_channel("velocity", (1.0, 2.0, 3.0))
    assert (fluid.channel("velocity") == (1.0, 2.0, 3.0)).all()
    copied = fluid.channel("velocity")
    copied[:] = 0.0
    assert fluid.channel("velocity").all()


@pytest.mark.parametrize(
    ("name", "values", "ids", "sentence"),
    [
        ("velocty", 0.0, None, "'velocty' is no known channel: did you mean \"velocity\"?"),
        ("id", 0, None, "ids cannot be written"),
        ("velocity", np.zeros((3, 3)), None, r"shape \(3, 3\) do not fit .* shape \(64, 3\)"),
        ("velocity", 0.0, [0, 64], "no particle with the id 64"),
        ("velocity", 0.0, [0, -1], "no particle with the id -1"),
        ("velocity", 0.0, [0, 0], "twice"),
        ("velocity", 0.0, [0.5], "whole numbers"),
        ("velocity", "fast", None, "holds numbers"),
        ("velocity", [[1.0], [1.0, 2.0]], None, "holds numbers"),
        ("material", 3, None, "use 0 to 2"),
    ],
)
def test_what_cannot_be_written_by_id(
    name: str, values: Any, ids: Any, sentence: str, fluid: Simulation
) -> None:
    before = state(fluid)
    with pytest.raises(ViscoilError, match=sentence) as caught:
        fluid.set_channel(name, values, ids)
    assert is_sentence(caught.value)
    assert state(fluid) == before


# Channels of one's own


def test_a_channel_of_ones_own_lasts(tmp_path: Path) -> None:
    """Through sorting, removal, inflow and a checkpoint."""
    simulation = sinking()
    simulation.add_channel("dye")
    simulation.add_channel("age", rest=7.0, unit="s")
    simulation.add_channel("arrow", width=3, rest=(0.0, 1.0, 0.0))
    first = simulation.ids
    simulation.set_channel("dye", 2.0 * first)
    for _ in range(4):
        simulation.step()
    ids = simulation.ids
    old = np.isin(ids, first)
    assert 0 < old.sum() < len(first) and not old.all()
    expected = np.where(old, 2.0 * ids, 0.0)
    np.testing.assert_array_equal(simulation.channel("dye"), expected)
    assert (simulation.channel("age") == 7.0).all()
    assert (simulation.channel("arrow") == (0.0, 1.0, 0.0)).all()
    assert simulation.particles.kinds["age"].unit == "s"
    simulation.save(tmp_path / "saved.npz")
    again = Simulation(simulation.scene, checkpoint=tmp_path / "saved.npz")
    np.testing.assert_array_equal(again.channel("dye"), expected)
    with pytest.raises(ViscoilError, match="already"):
        again.add_channel("age")  # as another kind
    again.add_channel("dye")  # the script that resumes is the one that started
    np.testing.assert_array_equal(again.channel("dye"), expected)
    with pytest.raises(ViscoilError, match="already"):
        again.add_channel("dye")


@pytest.mark.parametrize(
    ("name", "how", "sentence"),
    [
        ("position", {}, "'position' is a name that Viscoil uses itself"),
        ("temperature", {}, "Viscoil uses itself"),
        ("solver_x", {}, "Viscoil uses itself"),
        ("two words", {}, "use letters, digits and underscores"),
        ("", {}, "use letters, digits and underscores"),
        (3, {}, "use a text"),
        ("dye", {"width": 2}, "1 integer, or 1, 3 or 6 floats"),
        ("dye", {"width": 3, "dtype": int}, "1 integer, or 1, 3 or 6 floats"),
        ("dye", {"dtype": complex}, "give float or int"),
        ("dye", {"dtype": "colour"}, "give float or int"),
        ("dye", {"rest": (1.0, 2.0)}, "at rest: give a finite number"),
        ("dye", {"rest": float("nan")}, "at rest: give a finite number"),
        ("dye", {"width": 3, "rest": (1.0, 2.0)}, "at rest: give a finite number, or 3 of them"),
        ("dye", {"rest": "red"}, "holds numbers"),
        ("taken", {}, "already a channel named 'taken'"),
    ],
)
def test_channels_that_cannot_be(name: Any, how: Any, sentence: str, fluid: Simulation) -> None:
    fluid.add_channel("taken")
    before = list(fluid.particles)
    with pytest.raises(ViscoilError, match=sentence) as caught:
        fluid.add_channel(name, **how)
    assert is_sentence(caught.value)
    assert list(fluid.particles) == before


# Callbacks


def test_a_uniform_force_is_gravity() -> None:
    """Δt g is added to velocities either way, in another order of roundings.

    After 4 steps of 1/240 s velocities are 0.16 m/s, rounded by 2⁻²⁷ a few times a step.
    """
    falling = Simulation(weightless(block(4), gravity=(0.0, -9.81, 0.0)))
    pulled = Simulation(weightless(block(4)))
    seen: list[Any] = []

    def pull(p: Any) -> Any:
        seen.append((len(p), p.time, p.dt, p.position.shape, p.mass.sum(), p.material[0], p.id[0]))
        assert not p.velocity.flags.writeable and not p["pressure"].flags.writeable
        return np.broadcast_to((0.0, -9.81, 0.0), (len(p), 3))

    handle = pulled.add_force(pull)
    for _ in range(4):
        falling.step()
        pulled.step()
    np.testing.assert_allclose(by_id(pulled, "velocity"), by_id(falling, "velocity"), atol=1e-6)
    n, time, dt, shape, mass, material, _ = seen[-1]
    assert (n, shape, material) == (64, (64, 3), 0)
    assert (time, dt) == pytest.approx((3 / 240, 1 / 240))
    assert mass == pytest.approx(64 * 1200.0 * 0.02**3, rel=1e-5)
    assert "add_force(pull)" in repr(handle)
    handle.remove()
    handle.remove()
    assert "removed" in repr(handle)
    before = by_id(pulled, "velocity").mean(axis=0)
    pulled.step()
    np.testing.assert_allclose(by_id(pulled, "velocity").mean(axis=0), before, atol=1e-6)
    assert len(seen) == 4


def test_three_numbers_are_for_all_particles(fluid: Simulation) -> None:
    with fluid.add_force(lambda p: (24.0, 0.0, 0.0)):
        dt = fluid.step()["dt"]
    np.testing.assert_allclose(by_id(fluid, "velocity")[:, 0].mean(), 24.0 * dt, rtol=1e-4)


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        (None, "the force wrong returned nothing: return accelerations"),
        (np.zeros((5, 3)), r"an array of shape \(5, 3\): .* \(64, 3\)"),
        ("up", "returned 'up'"),
        (np.full((64, 3), np.inf), "not finite, at 0 s"),
        ((0.0, np.nan, 0.0), "not finite"),
    ],
)
def test_forces_that_are_none_leave_no_step_half_done(
    given: Any, sentence: str, fluid: Simulation
) -> None:
    def wrong(p: Any) -> Any:
        return given

    before = state(fluid)
    with fluid.add_force(wrong), pytest.raises(ViscoilError, match=sentence) as caught:
        fluid.step()
    assert is_sentence(caught.value)
    assert state(fluid) == before
    fluid.step()


def test_steps_are_shorter_for_a_force_that_is_announced() -> None:
    """a Δt² is at most cfl spacings, as with gravity."""
    fluid = Simulation(weightless(block(4), time_step=None))
    fluid.add_force(lambda p: (0.0, 0.0, 0.0), max_acceleration=1000.0)
    settings = fluid.scene.simulation
    assert fluid.step()["dt"] ** 2 <= settings.cfl * settings.spacing / 1000.0
    with pytest.raises(ViscoilError, match="max_acceleration"):
        fluid.add_force(lambda p: p.velocity, max_acceleration=-1.0)


def test_callbacks_hear_of_finished_steps() -> None:
    """After particles that leave were marked: neither figures nor snapshots count them."""
    simulation = sinking()
    heard: list[Any] = []
    simulation.on_step(lambda f: heard.append((f["step"], f["particles"], len(simulation.ids))))
    simulation.on_step(lambda f: f.update(heard=len(heard)))
    frames = simulation.on_frame(lambda snapshot: heard.append(snapshot.frame))
    figures = simulation.step()
    assert heard[0] == (1, figures["particles"], len(simulation.ids))
    assert figures["heard"] == len(heard)
    simulation.next_frame()
    assert heard[-1] == 1 and heard.count(1) == 1
    frames.remove()
    simulation.next_frame()
    assert 2 not in heard


def test_what_callbacks_write_is_remembered(fluid: Simulation) -> None:
    """Going back leads to the frame as its callbacks left it, unless they left nonsense."""
    fluid.on_frame(lambda snapshot: fluid.set_channel("velocity", (0.0, 1.0, 0.0)))
    fluid.next_frame()
    before = state(fluid)
    fluid.particles["velocity"][0] = np.nan
    with pytest.raises(DivergedError):
        fluid.step()
    assert state(fluid) == before
    fluid.on_frame(lambda snapshot: fluid.set_channel("velocity", np.nan))
    fluid.next_frame()
    with pytest.raises(DivergedError):
        fluid.step()
    assert state(fluid) == before


def test_callbacks_take_no_steps(fluid: Simulation) -> None:
    handle = fluid.on_step(lambda f: fluid.step())
    with pytest.raises(ViscoilError, match="within a step already"):
        fluid.step()
    handle.remove()
    fluid.step()
    for add in (fluid.on_step, fluid.on_frame, fluid.add_force):
        with pytest.raises(ViscoilError, match="needs a function, not 3"):
            add(3)


# Materials


def test_a_change_of_material_says_what_it_changed(fluid: Simulation) -> None:
    change = fluid.set_material("jelly", viscosity=300.0)
    assert dict(change) == {"viscosity": (600.0, 300.0), "modulus": (2000.0, 1000.0)}
    assert change["modulus"].after == fluid.material("jelly").modulus == 1000.0
    assert repr(change) == "<jelly: viscosity 600 → 300 Pa s, modulus 2000 → 1000 Pa>"
    assert repr(fluid.set_material("jelly", viscosity=300.0)) == "<jelly: nothing changed>"


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        ({"viscosity": -1.0}, "materials.jelly.viscosity is -1.0 but must be at least 0"),
        ({"viscositi": 1.0}, "did you mean"),
        ({"density": "heavy"}, "must be a number"),
        (
            {"thermal": {"temperatures": [300.0], "stiffening": [1.0]}},
            "needs temperatures, and this scene has none",
        ),
    ],
)
def test_a_bad_change_of_material_changes_nothing(
    values: Any, sentence: str, fluid: Simulation
) -> None:
    before = fluid.material("jelly")
    with pytest.raises(SceneError, match=sentence) as caught:
        fluid.set_material("jelly", **values)
    assert is_sentence(caught.value)
    assert fluid.material("jelly") == before


def test_a_material_that_a_scene_cannot_have() -> None:
    mixed = Simulation(weightless(block(4), block(2, center=(0.2, 0.0, 0.0), spacing=0.01)))
    with pytest.raises(SceneError, match="works with one resolution"):
        mixed.set_material("paste", surface_tension=0.07)
    assert mixed.material("paste").surface_tension == 0.0
