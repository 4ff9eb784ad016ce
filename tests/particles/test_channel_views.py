# mypy: disable-error-code="arg-type,call-arg"
"""Views of channels work like arrays until the next step, and not at all after it."""

import copy
import pickle
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from simulation_rigs import block, state, weightless

from viscoil.core.compute import view
from viscoil.core.errors import DivergedError, ViscoilError
from viscoil.particles import store
from viscoil.particles.store import Particles
from viscoil.particles.views import ChannelView
from viscoil.simulation.simulation import Simulation

OUT_OF_DATE = re.escape('take particles["velocity"] anew after each step')


@pytest.fixture
def fluid() -> Simulation:
    """64 particles at rest, without gravity."""
    return Simulation(weightless(block(4)))


def assert_over(old: Any) -> None:
    with pytest.raises(ViscoilError, match="out of date"):
        old[0]


def test_a_view_that_is_held_over_a_step_writes_nothing_anywhere(fluid: Simulation) -> None:
    """Sorting swaps channels with spares: the old memory of one is soon that of another."""
    untouched = Simulation(fluid.scene)
    for _ in range(8):
        held = fluid.particles["velocity"]
        for simulation in (fluid, untouched):
            simulation.particles["position"][::7] += np.float32(0.003)  # so that it has to sort
            simulation.step()
        with pytest.raises(ViscoilError, match=OUT_OF_DATE):
            held[:] = 60.0
        with pytest.raises(ViscoilError, match=OUT_OF_DATE):
            held += 1.0
    assert state(fluid) == state(untouched)


USES: dict[str, Callable[[Any], object]] = {
    "index": lambda v: v[0],
    "slice": lambda v: v[1:3],
    "assign": lambda v: v.__setitem__(0, 1.0),
    "in place": lambda v: v.__iadd__(1.0),
    "arithmetic": lambda v: v + 1.0,
    "arithmetic with an array": lambda v: np.ones(3) * v,
    "comparison": lambda v: v > 0.0,
    "ufunc": np.sqrt,
    "ufunc into it": lambda v: np.add(1.0, 2.0, out=v),
    "ufunc at": lambda v: np.add.at(v, [0], 1.0),
    "function": np.mean,
    "writing function": lambda v: np.copyto(v, 1.0),
    "asarray": np.asarray,
    "copy": np.array,
    "method": lambda v: v.mean(),
    "writing method": lambda v: v.fill(1.0),
    "length": len,
    "shape": lambda v: v.shape,
    "type": lambda v: v.dtype,
    "transposed": lambda v: v.T,
    "iteration": list,
    "membership": lambda v: 1.0 in v,
    "as values": lambda v: np.zeros((64, 3)).__setitem__(slice(None), v),
    "among others": lambda v: np.concatenate([np.zeros((1, 3)), v]),
    "pickle": pickle.dumps,
    "deep copy": copy.deepcopy,
}
PARTS: dict[str, Callable[[Any], Any]] = {
    "all": lambda v: v,
    "slice": lambda v: v[:64],
    "reversed": lambda v: v[::-1],
    "reshaped": lambda v: v.reshape(32, 6).reshape(64, 3),
    "raveled": lambda v: np.reshape(np.ravel(v), (64, 3)),
    "transposed": lambda v: np.transpose(v.T),
    "split": lambda v: np.split(v, 1)[0],
    "broadcast": lambda v: np.broadcast_arrays(np.zeros((64, 3)), v)[1],
    "bare": lambda v: v.view(),
}


@pytest.mark.parametrize("use", USES)
def test_every_use_of_an_old_view_is_refused(use: str, fluid: Simulation) -> None:
    held = {name: part(fluid.particles["velocity"]) for name, part in PARTS.items()}
    method = held["all"].mean
    USES[use](np.array(held["all"]))  # what is refused is its age
    fluid.step()
    before = state(fluid)
    for name, old in held.items():
        assert isinstance(old, ChannelView), name
        with pytest.raises(ViscoilError, match=OUT_OF_DATE):
            USES[use](old)
        assert "out of date" in repr(old)
    with pytest.raises(ViscoilError, match=OUT_OF_DATE):
        method()
    assert state(fluid) == before


def add_one(particles: Particles) -> None:
    particles.append({"position": np.ones((1, 3))})


@pytest.mark.parametrize(
    "move",
    [
        add_one,
        lambda p: p.reserve(5000),
        lambda p: p.trim(),
        lambda p: p.become(Particles.load(*p.save())),
    ],
)
def test_whatever_may_move_arrays_ends_views(
    move: Callable[[Particles], object], fluid: Simulation
) -> None:
    held = fluid.particles["velocity"]
    move(fluid.particles)
    assert_over(held)
    assert np.isfinite(fluid.particles["velocity"]).all()


def test_going_back_ends_views_and_keeps_the_store(fluid: Simulation) -> None:
    """`particles` that a script holds stay those of the simulation."""
    particles, before = fluid.particles, state(fluid)
    particles["velocity"][0] = np.nan
    held = particles["velocity"]
    with pytest.raises(DivergedError):
        fluid.step()
    assert_over(held)
    assert fluid.particles is particles
    assert state(fluid) == before


def test_a_refused_step_leaves_views_alone(fluid: Simulation) -> None:
    held = fluid.particles["velocity"]
    with pytest.raises(ViscoilError, match="time step"):
        fluid.step(-1.0)
    assert held.shape == (64, 3)


def test_views_share_memory_and_results_do_not(fluid: Simulation) -> None:
    v = fluid.particles["velocity"]
    v[:, 1] += 1.0
    fluid.particles["velocity"][0] = 5.0
    fluid.particles["velocity"] += np.array([0.0, 0.0, 2.0])
    fluid.particles["velocity"][1][0] = 7.0
    np.testing.assert_array_equal(v[0], [5.0, 5.0, 7.0])
    np.testing.assert_array_equal(v[1], [7.0, 1.0, 2.0])
    np.testing.assert_array_equal(v[2:], np.broadcast_to([0.0, 1.0, 2.0], (62, 3)))
    for result in (v + 1, v[v[:, 0] > 0], v.copy(), v.astype(float), np.sort(v), v.mean(axis=0)):
        assert type(result) is np.ndarray
        assert not np.shares_memory(result, v)
    assert type(np.array(v)) is np.ndarray and np.array(v).flags.writeable


def test_a_bare_array_of_a_view_cannot_be_written_to(fluid: Simulation) -> None:
    """Nobody can tell when it is too old; without a copy it can only be read."""
    bare = np.asarray(fluid.particles["velocity"])
    assert np.shares_memory(bare, fluid.particles["velocity"])
    with pytest.raises(ValueError, match="read-only"):
        bare[0] = 1.0
    assert np.asarray(fluid.particles["velocity"], dtype=np.float64).flags.writeable
    for name in ("base", "data", "ctypes", "flat", "__array_interface__"):
        with pytest.raises(AttributeError, match=r"numpy\.array"):
            getattr(fluid.particles["velocity"], name)


def test_a_view_keeps_its_shape(fluid: Simulation) -> None:
    with pytest.raises(AttributeError, match="cannot be set"):
        fluid.particles["velocity"].shape = (32, 6)


def test_what_is_computed_outlives_the_step(fluid: Simulation) -> None:
    position = np.array(fluid.particles["position"])
    center = fluid.particles["position"].mean(axis=0)
    fluid.step()
    assert np.isfinite(position).all() and np.isfinite(center).all()


KEYS = st.one_of(
    st.integers(-8, 7),
    st.slices(8),
    st.just(Ellipsis),
    st.lists(st.integers(-8, 7), max_size=5).map(lambda k: np.array(k, dtype=int)),
    st.lists(st.booleans(), min_size=8, max_size=8).map(np.array),
    st.tuples(st.slices(8), st.integers(-3, 2)),
    st.tuples(st.integers(-8, 7), st.slices(3)),
)
CHANGES = st.lists(
    st.tuples(KEYS, st.sampled_from(("=", "+=", "*=", "out", "at")), st.integers(-3, 3)), max_size=6
)


@settings(max_examples=60, deadline=None)
@given(changes=CHANGES)
def test_views_do_what_arrays_do(changes: list[tuple[Any, str, int]]) -> None:
    """Any order of writes through any index leaves what it leaves in a plain array."""
    particles = Particles()
    start = np.arange(24.0).reshape(8, 3)
    particles.append({"position": start, "velocity": start})
    expected = start.astype(np.float32)
    for key, how, number in changes:
        for target in (expected, particles["velocity"]):
            if how == "=":
                target[key] = number
            elif how == "+=":
                target[key] += number
            elif how == "*=":
                target[key] *= number
            elif how == "out":
                np.subtract(target, number, out=target)
            else:
                np.add.at(target, key, number)
        np.testing.assert_array_equal(particles["velocity"][key], expected[key])
    found = particles["velocity"]
    np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(particles["position"], start)
    np.testing.assert_array_equal(np.linalg.norm(found, axis=1), np.linalg.norm(expected, axis=1))
    assert found.tobytes() == expected.tobytes()
    assert found.sum() == expected.sum() and found.max() == expected.max()
    assert [row.tolist() for row in found] == expected.tolist()


def test_views_that_are_copies_are_sent_back(
    fluid: Simulation, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As on a GPU: whatever writes to one is seen by kernels, and by the other views."""
    monkeypatch.setattr(store, "on_cpu", lambda: False)
    monkeypatch.setattr(store, "view", lambda *what: np.array(view(*what)))
    p = fluid.particles
    first, second = p["velocity"], p["velocity"]
    first[:, 1] += 1.0
    second[:, 0] = 2.0
    np.copyto(p["velocity"][1], 5.0)
    np.add.at(p["velocity"], 2, 1.0)
    p["velocity"][3:].T[2].fill(4.0)
    p["velocity"] *= 2.0
    expected = np.array([[4.0, 2.0, 0.0], [10.0] * 3, [6.0, 4.0, 2.0], *[[4.0, 2.0, 8.0]] * 61])
    np.testing.assert_array_equal(view(p.array("velocity"), 64), expected)
    np.testing.assert_array_equal(first, expected)
    fluid.step()
    assert_over(first)
    np.testing.assert_array_equal(p["velocity"], view(p.array("velocity"), 64))


def test_the_next_step_is_chosen_for_velocities_that_were_written() -> None:
    """cfl spacings in a step, and no particle of a body that was at rest is faster than written."""
    fluid = Simulation(weightless(block(4), time_step=None))
    fluid.particles["velocity"] = (0.0, 2.0, 0.0)
    spacing, cfl = fluid.scene.simulation.spacing, fluid.scene.simulation.cfl
    assert fluid.step()["dt"] <= cfl * spacing / 2.0
