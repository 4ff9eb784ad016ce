"""Particles come and go by the thousand: the store against a plain model of it, and a stream."""

from typing import Any

import numpy as np
import pytest
import quadrants as qd
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from viscoil.core import memory
from viscoil.core.compute import scalars, view, write
from viscoil.particles.store import (
    GROWTH,
    PATIENCE,
    SMALLEST_CAPACITY,
    ChannelKind,
    Particles,
)
from viscoil.scene import Scene
from viscoil.simulation.simulation import Simulation
from viscoil.solvers.dcpbd.arrays import STRESS
from viscoil.solvers.dcpbd.solver import DCPBD

KINDS = (
    ChannelKind("i32"),
    ChannelKind("f32"),
    ChannelKind("f32", 3),
    ChannelKind("f32", 6),
)

pytestmark = pytest.mark.usefixtures("compute")


class Store(RuleBasedStateMachine):
    """Every operation is done to the particles and to NumPy arrays that know no capacity."""

    @initialize(capacity=st.integers(0, 3000), stress=st.booleans())
    def make(self, capacity: int, stress: bool) -> None:
        self.store = Particles(capacity, STRESS if stress else None)
        self.model = {name: self._at_rest(name, 0) for name in self.store}
        self.alive = np.ones(0, dtype=bool)
        self.born = 0
        self.given: set[int] = set()

    def _at_rest(self, name: str, count: int) -> np.ndarray:
        kind = self.store.kinds[name]
        shape = (count,) if kind.width == 1 else (count, kind.width)
        dtype = np.int32 if kind.dtype == "i32" else np.float32
        return np.array(np.broadcast_to(kind.rest, shape), dtype=dtype)

    @rule(count=st.integers(0, 2500), seed=st.integers(0, 99), every=st.booleans())
    def append(self, count: int, seed: int, every: bool) -> None:
        """With a value for every channel, or for the position alone."""
        rng = np.random.default_rng(seed)
        fresh = {name: self._at_rest(name, count) for name in self.store}
        fresh["id"] = np.arange(self.born, self.born + count, dtype=np.int32)
        for name in fresh if every else ["position"]:
            if name != "id":
                fresh[name] = rng.integers(-1000, 1000, fresh[name].shape).astype(fresh[name].dtype)
        given = [n for n in fresh if n != "id"] if every else ["position"]
        self.store.append({name: fresh[name] for name in given})
        assert not self.given & set(fresh["id"].tolist())
        self.given |= set(fresh["id"].tolist())
        self.born += count
        self.model = {name: np.concatenate([self.model[name], fresh[name]]) for name in fresh}
        self.alive = np.concatenate([self.alive, np.ones(count, dtype=bool)])

    @precondition(lambda self: len(self.alive) > 0)
    @rule(share=st.sampled_from([0.01, 0.3, 0.9, 1.0]), seed=st.integers(0, 99))
    def kill(self, share: float, seed: int) -> None:
        dying = np.random.default_rng(seed).random(len(self.alive)) < share
        view(self.store.alive, self.store.count)[dying] = 0
        self.alive &= ~dying

    @rule(seed=st.integers(0, 99))
    def reorder(self, seed: int) -> None:
        """As a sort does: in any order, the living first and the dead cut off."""
        order = np.random.default_rng(seed).permutation(len(self.alive)).astype(np.int32)
        order = np.concatenate([order[self.alive[order]], order[~self.alive[order]]])
        survivors = int(self.alive.sum())
        places = scalars(qd.i32, len(order))
        write(places, order)
        self.store.reorder(places, survivors)
        self.model = {name: values[order[:survivors]] for name, values in self.model.items()}
        self.alive = np.ones(survivors, dtype=bool)

    @rule(sorts=st.sampled_from([1, PATIENCE - 1, PATIENCE]))
    def trim(self, sorts: int) -> None:
        before = self.store.capacity
        for _ in range(sorts):
            self.store.trim()
        if self.store.capacity != before:
            assert self.store.capacity < before
            assert self.store.count < before / 2
            assert self.store.capacity <= max(GROWTH * before / 2, SMALLEST_CAPACITY)

    @rule(kind=st.sampled_from(KINDS))
    def add_channel(self, kind: ChannelKind) -> None:
        name = f"own_{len(self.model)}"
        self.store.add_channel(name, kind)
        self.model[name] = self._at_rest(name, len(self.alive))

    @rule()
    def add_stress(self) -> None:
        self.store.require(STRESS)
        for name in self.store:
            self.model.setdefault(name, self._at_rest(name, len(self.alive)))

    @invariant()
    def agrees(self) -> None:
        if not hasattr(self, "store"):
            return
        store = self.store
        assert store.count == len(self.alive) <= store.capacity
        assert store.next_id == self.born
        np.testing.assert_array_equal(view(store.alive, store.count) != 0, self.alive)
        assert set(store) == set(self.model)
        for name, values in self.model.items():
            np.testing.assert_array_equal(store[name], values, err_msg=name)
            assert store.array(name).shape[0] == store.capacity


Store.TestCase.settings = settings(max_examples=12, stateful_step_count=20, deadline=None)
TestStore = pytest.mark.usefixtures("compute")(Store.TestCase)


def test_growth_copies_channel_by_channel(monkeypatch: pytest.MonkeyPatch) -> None:
    """When an array is made for a channel, those of the channels before are no longer held."""
    particles = Particles()
    particles.append({"position": np.zeros((5000, 3))})
    before = sum(memory.held(particles).values())
    widest = 24 * 2 * 5000
    most = []
    allocate = ChannelKind.allocate

    def noting(self: ChannelKind, capacity: int) -> Any:
        array = allocate(self, capacity)
        most.append(sum(memory.held(particles).values()) + view(array).nbytes)
        return array

    monkeypatch.setattr(ChannelKind, "allocate", noting)
    particles.reserve(10_000)
    after = sum(memory.held(particles).values())
    assert after == 2 * before
    assert max(most) <= after + widest


def stream(layers: int) -> Scene:
    """One layer of 12 x 12 a step, removed after 12 layers."""
    d, step = 0.02, 1 / 240
    box = {"min": (-1.0, -1.0, -1.0), "max": (1.0, 1.0, 12 * d)}
    nozzle = {
        "material": "water",
        "shape": "rectangle",
        "center": (0.0, 0.0, 0.0),
        "direction": (0.0, 0.0, 1.0),
        "size": (12 * d, 12 * d),
        "speed": d / step,
        "stop": layers * step,
    }
    timing = {"spacing": d, "frames": 1000, "time_step": step, "gravity": (0.0, 0.0, 0.0)}
    return Scene.model_validate(
        {
            "simulation": {**timing, "kill_bounds": box},
            "materials": {"water": {"density": 1000.0, "viscosity": 0.0}},
            "emitters": [nozzle],
        }
    )


def test_a_stream_that_passes_through() -> None:
    """Ids never repeat, a user's channel stays with its particle, capacity first rises, then falls.

    The window holds 12 layers, and up to 4 more wait before the nozzle or to be dropped.
    """
    layers, layer = 60, 144
    simulation = Simulation(stream(layers))
    particles = simulation.particles
    particles.add_channel("mark", ChannelKind("i32"))
    seen, capacities = 0, [particles.capacity]
    for _ in range(layers + 16 + 2 * PATIENCE):
        simulation.step()
        ids = np.array(particles["id"])
        assert len(np.unique(ids)) == len(ids) <= 16 * layer
        fresh = ids >= seen
        assert fresh.sum() == particles.next_id - seen
        assert not particles["mark"][fresh].any()
        particles["mark"][fresh] = ids[fresh]
        np.testing.assert_array_equal(particles["mark"], ids)
        seen = particles.next_id
        if particles.capacity != capacities[-1]:
            capacities.append(particles.capacity)
    assert seen == layers * layer
    assert particles.count == 0
    turn = capacities.index(max(capacities))
    assert capacities[: turn + 1] == sorted(capacities[: turn + 1])
    assert capacities[turn:] == sorted(capacities[turn:], reverse=True)
    assert capacities[-1] == SMALLEST_CAPACITY
    assert len(capacities) - turn <= 3  # half of the window, then the rest of it
    assert max(capacities) < GROWTH * 16 * layer
    simulation.step()  # what is left of the arrays of a step goes with the channels
    assert simulation._neighbors.pairs.start.shape[0] <= SMALLEST_CAPACITY + 1
    solver = simulation._solver
    assert isinstance(solver, DCPBD) and not solver._context.workspace._arrays
