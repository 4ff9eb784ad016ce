"""Connections follow their particles: compared with dictionaries of ids, whatever happens."""

import numpy as np
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule
from simulation_rigs import block, weightless

from viscoil.core.compute import scalars, view, write
from viscoil.core.errors import ViscoilError
from viscoil.core.progress import line
from viscoil.neighbors.pairs import Neighbors
from viscoil.particles import connections
from viscoil.particles.store import Particles
from viscoil.simulation.simulation import Simulation

import quadrants as qd  # isort: skip

ROOM, WIDTH = 3, 2

pytestmark = pytest.mark.usefixtures("compute")


class Net(RuleBasedStateMachine):
    """Every operation is done to the particles and to a dictionary from ids to connections."""

    @initialize(count=st.integers(1, 40))
    def make(self, count: int) -> None:
        self.particles = Particles(1)
        self.net = self.particles.connect("net", ROOM, WIDTH)
        self.model: dict[int, list[tuple[int, float]]] = {}
        self.lost = 0
        self.born(count)

    @rule(count=st.integers(1, 400))
    def born(self, count: int) -> None:
        first = self.particles.next_id
        self.particles.append({"position": np.zeros((count, 3))})
        self.model |= {first + k: [] for k in range(count)}

    @rule(seed=st.integers(0, 999), count=st.integers(1, 60))
    def connect(self, seed: int, count: int) -> None:
        rng = np.random.default_rng(seed)
        ids = np.array(self.particles["id"])
        places = rng.integers(0, len(ids), count)
        others = rng.choice(ids, count)
        values = rng.random(count).astype(np.float32)
        full = 0
        for place, other, value in zip(places, others, values, strict=True):
            row = self.model[int(ids[place])]
            if len(row) < ROOM:
                row.append((int(other), float(value)))
            else:
                full += 1
        assert self.net.add(places, others, np.stack([values, -values], axis=1)) == full
        self.lost += full
        self.particles.update_connections()

    @rule(seed=st.integers(0, 999), share=st.floats(0.0, 0.9))
    def sort_and_remove(self, seed: int, share: float) -> None:
        rng = np.random.default_rng(seed)
        n = self.particles.count
        order = rng.permutation(n)[: max(1, round((1.0 - share) * n))]
        array = scalars(qd.i32, n)
        write(array, order.astype(np.int32))
        alive = {int(i) for i in np.array(self.particles["id"])[order]}
        self.particles.reorder(array, len(order))
        for _ in range(40):  # so often that arrays shrink
            self.particles.trim()
        self.particles.update_connections()
        kept = {i: row for i, row in self.model.items() if i in alive}
        self.model = {i: [c for c in row if c[0] in alive] for i, row in kept.items()}

    @rule()
    def save_and_load(self) -> None:
        self.particles = Particles.load(*self.particles.save())
        self.net = self.particles.connections["net"]

    @invariant()
    def agrees(self) -> None:
        if not hasattr(self, "particles"):
            return
        ids = np.array(self.particles["id"])
        assert self.net.overflow == self.lost
        links, n = self.net.links, len(ids)
        counts = np.array(view(links.count)[:n])
        used = np.arange(ROOM)[None] < counts[:, None]
        other = np.array(view(links.other)[: n * ROOM]).reshape(n, ROOM)
        value = np.array(view(links.value)[: n * ROOM * WIDTH]).reshape(n, ROOM, WIDTH)
        place = np.array(view(links.place)[: n * ROOM]).reshape(n, ROOM)
        assert (ids[place[used]] == other[used]).all()  # as a kernel finds them
        assert (value[used][:, 0] == -value[used][:, 1]).all()
        rows = zip(ids.tolist(), counts, other.tolist(), value[..., 0].tolist(), strict=True)
        assert {i: list(zip(o[:c], v[:c], strict=True)) for i, c, o, v in rows} == self.model


TestNet = Net.TestCase
TestNet.settings = settings(max_examples=10, stateful_step_count=10, deadline=None)


def test_connections_survive_the_sort_of_neighbours_and_the_loss_of_particles() -> None:
    """A chain through a random cloud, sorted along the Z-curve; the middle dies."""
    rng = np.random.default_rng(0)
    particles = Particles()
    particles.append({"position": rng.random((200, 3))})
    chain = particles.connect("chain", 2)
    chain.add(np.arange(199), np.arange(1, 200), np.arange(199.0)[:, None])
    view(particles.alive, 200)[100] = 0
    Neighbors().update(particles, 0.2)
    ids = np.array(particles["id"])
    assert len(ids) == 199 and (np.diff(ids) < 0).any()
    for place, own in enumerate(ids):
        others, values = chain.of(place)
        alone = own in (99, 199)  # the next one died, or there is none
        assert others.tolist() == ([] if alone else [own + 1])
        assert values.tolist() == ([] if alone else [[own]])


def test_what_is_added_reaches_arrays_of_which_there_are_only_copies(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """As on a GPU: a view is a copy there, and only `write` and `replace` change an array."""
    monkeypatch.setattr(connections, "view", lambda *given: np.array(view(*given)))
    particles = Particles(8)
    net = particles.connect("net", 2)
    particles.append({"position": np.zeros((3, 3))})
    net.add([0, 2, 2], [1, 0, 1], [[0.5], [1.5], [2.5]])
    assert view(net.links.count, 3).tolist() == [1, 0, 2]
    assert view(net.links.other, 6).tolist() == [1, 0, 0, 0, 0, 1]
    assert view(net.links.value, 6).tolist() == [0.5, 0.0, 0.0, 0.0, 1.5, 2.5]
    net.clear_rows(2, 3)
    assert view(net.links.count, 3).tolist() == [1, 0, 0]


def test_connections_without_room_are_told() -> None:
    """In the figures of every step, and in the progress of a run as soon as there are any."""
    simulation = Simulation(weightless(block(2)))
    assert "lost_connections" not in simulation.step()
    simulation.particles.connect("net", 1)
    figures = simulation.step()
    assert figures["lost_connections"] == {"net": 0}
    assert "without room" not in line(figures, ())
    net = simulation.particles.connections["net"]
    assert net.add([0, 0, 0], [1, 2, 3]) == 2
    figures = simulation.step()
    assert figures["lost_connections"] == {"net": 2}
    assert "connections without room: 2" in line(figures, ())


def test_bad_wishes() -> None:
    with pytest.raises(ViscoilError, match="room for at least one per particle, not 0"):
        Particles().connect("none", 0)
    with pytest.raises(ViscoilError, match="holds at least one number, not 0"):
        Particles().connect("none", 2, width=0)
    particles = Particles()
    assert particles.connect("a", 2) is particles.connect("a", 2)
