"""The channel store: nothing is lost or mixed up when it grows, sorts, removes and shrinks."""

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from viscoil.core.compute import view
from viscoil.core.errors import ViscoilError
from viscoil.neighbors.pairs import Neighbors
from viscoil.particles.store import (
    BASE_CHANNELS,
    GROWTH,
    MOST_IDS,
    PATIENCE,
    SMALLEST_CAPACITY,
    ChannelKind,
    Particles,
)
from viscoil.solvers.dcpbd.arrays import STRESS

FEW = settings(max_examples=12, deadline=None)

pytestmark = pytest.mark.usefixtures("compute")


def tagged(particles: Particles, count: int, rng: np.random.Generator) -> None:
    """Appends particles whose every channel can be told from their id."""
    ids = np.arange(particles.next_id, particles.next_id + count)
    channels: dict[str, Any] = {"position": rng.uniform(-1.0, 1.0, (count, 3))}
    for name, kind in particles.kinds.items():
        if name not in ("position", "id"):
            channels[name] = tag(ids, kind)
    particles.append(channels)


def tag(ids: np.ndarray, kind: ChannelKind) -> np.ndarray:
    """Small whole numbers, which floats hold exactly."""
    return ids if kind.width == 1 else ids[:, None] + 10_000 * np.arange(kind.width)


def check_tags(particles: Particles) -> None:
    ids = particles.numpy("id")
    for name, kind in particles.kinds.items():
        if name not in ("position", "id"):
            np.testing.assert_array_equal(particles[name], tag(ids, kind), err_msg=name)


def kill(particles: Particles, dying: np.ndarray) -> None:
    view(particles.alive, particles.count)[dying] = 0


def update(particles: Particles) -> None:
    Neighbors().update(particles, 0.1)


def test_fresh_particles_are_at_rest() -> None:
    particles = Particles(channels=STRESS)
    particles.append({"position": np.zeros((3, 3)), "material": 2, "velocity": [1.0, 2.0, 3.0]})
    assert particles["id"].tolist() == [0, 1, 2]
    assert particles["material"].tolist() == [2, 2, 2]
    assert particles["velocity"].tolist() == [[1.0, 2.0, 3.0]] * 3
    assert particles["conformation"].tolist() == [[1.0, 1.0, 1.0, 0.0, 0.0, 0.0]] * 3
    for name in ("stress", "bend", "birth"):
        assert not particles[name].any()
    assert len(particles) == 3
    assert set(particles) == {*BASE_CHANNELS, *STRESS}


def test_capacity_grows_in_steps() -> None:
    """By a quarter at a time, so that n appends cost only a logarithmic number of copies."""
    particles, rng = Particles(), np.random.default_rng(0)
    capacities = [particles.capacity]
    for _ in range(60):
        tagged(particles, 100, rng)
        if particles.capacity != capacities[-1]:
            capacities.append(particles.capacity)
        assert particles.count <= particles.capacity
    assert capacities[1] == SMALLEST_CAPACITY
    for before, after in pairwise(capacities[1:]):
        assert after == int(before * GROWTH)
    assert particles["id"].tolist() == list(range(6000))
    check_tags(particles)


def test_one_big_append_makes_just_enough_room() -> None:
    particles = Particles()
    particles.append({"position": np.zeros((5000, 3))})
    assert particles.capacity == 5000


def test_views_are_the_particles_themselves() -> None:
    particles = Particles()
    particles.append({"position": np.zeros((4, 3))})
    particles["velocity"][2] = [1.0, 2.0, 3.0]
    assert particles["velocity"].tolist()[2] == [1.0, 2.0, 3.0]
    particles["velocity"] = [0.0, 5.0, 0.0]
    assert particles["velocity"].tolist() == [[0.0, 5.0, 0.0]] * 4
    with pytest.raises(ValueError, match="broadcast"):
        particles["velocity"] = np.zeros((3, 3))


def test_user_channels() -> None:
    particles = Particles()
    particles.append({"position": np.zeros((2, 3))})
    particles.add_channel("temperature", ChannelKind("f32", 1, "K"))
    assert "temperature" in particles
    assert particles["temperature"].tolist() == [0.0, 0.0]
    with pytest.raises(ViscoilError, match="already a channel named 'temperature'"):
        particles.add_channel("temperature", ChannelKind("f32"))
    with pytest.raises(ViscoilError, match="1 integer, or 1, 3 or 6 floats"):
        particles.add_channel("color", ChannelKind("f32", 4))


@FEW
@given(
    seed=st.integers(0, 1000),
    counts=st.lists(st.integers(0, 1500), min_size=1, max_size=5),
    dying=st.sampled_from([0.0, 0.05, 0.7, 1.0]),
)
def test_ids_and_channels_survive(seed: int, counts: list[int], dying: float) -> None:
    """Whatever is appended, sorted and removed: the right ones live, with all that was theirs."""
    rng = np.random.default_rng(seed)
    particles = Particles()
    for name, kind in (("heat", ChannelKind("f32")), ("mark", ChannelKind("i32"))):
        particles.add_channel(name, kind)
    particles.add_channel("color", ChannelKind("f32", 3))
    places: dict[int, Any] = {}
    for count in counts:
        tagged(particles, count, rng)
        places |= dict(zip(particles["id"].tolist(), particles["position"].tolist(), strict=True))
        dead = rng.random(particles.count) < dying
        expected = set(particles["id"][~dead].tolist())
        kill(particles, dead)
        update(particles)
        assert set(particles["id"].tolist()) == expected
        assert particles.count == len(expected)
        check_tags(particles)
        assert [places[i] for i in particles["id"].tolist()] == particles["position"].tolist()
    assert particles.next_id == sum(counts)


def test_the_dying_die_even_if_the_store_grows_first() -> None:
    """An emitter may append between the marking of the dead and the sort that drops them."""
    particles, rng = Particles(), np.random.default_rng(0)
    tagged(particles, SMALLEST_CAPACITY, rng)
    kill(particles, particles["id"] < 10)
    tagged(particles, 100, rng)
    assert particles.capacity > SMALLEST_CAPACITY
    update(particles)
    assert sorted(particles["id"].tolist()) == list(range(10, SMALLEST_CAPACITY + 100))
    check_tags(particles)


def trim(particles: Particles, sorts: int) -> None:
    for _ in range(sorts):
        particles.trim()


def test_the_store_shrinks_once_it_has_been_half_empty() -> None:
    particles, rng = Particles(), np.random.default_rng(0)
    tagged(particles, 20_000, rng)
    kill(particles, particles["id"] >= 11_000)
    update(particles)
    trim(particles, PATIENCE)
    assert particles.capacity == 20_000
    kill(particles, particles["id"] >= 4_000)
    update(particles)
    assert particles.count == 4_000
    trim(particles, PATIENCE - 2)
    assert particles.capacity == 20_000
    particles.trim()
    assert particles.capacity == int(4_000 * GROWTH)
    check_tags(particles)
    kill(particles, particles["id"] >= 10)
    update(particles)
    trim(particles, PATIENCE)
    assert (particles.count, particles.capacity) == (10, SMALLEST_CAPACITY)
    tagged(particles, 2_000, rng)
    update(particles)
    check_tags(particles)
    assert particles["id"].max() == 21_999


def test_a_flow_that_comes_and_goes_keeps_its_room() -> None:
    """Between full and nearly empty within fewer sorts than the patience: no copy after the first."""
    particles, rng = Particles(), np.random.default_rng(0)
    capacities = set()
    for _ in range(5):
        tagged(particles, 4_000 - particles.count, rng)
        capacities.add(particles.capacity)
        kill(particles, np.arange(4_000) >= 100)
        update(particles)
        trim(particles, PATIENCE // 2)
        capacities.add(particles.capacity)
    assert capacities == {4_000}


def test_ids_end_with_a_sentence_instead_of_a_second_round() -> None:
    particles = Particles()
    particles.append({"position": np.zeros((2, 3))})
    particles.next_id = MOST_IDS - 1
    particles.append({"position": np.zeros((1, 3))})
    assert particles["id"].tolist() == [0, 1, MOST_IDS - 1]
    with pytest.raises(ViscoilError, match=r"ids end at 2147483647: start a new run"):
        particles.append({"position": np.zeros((1, 3))})
    assert particles.count == 3


def test_channels_of_a_solver_come_at_rest() -> None:
    particles = Particles()
    particles.append({"position": np.zeros((3, 3))})
    assert set(particles) == set(BASE_CHANNELS)
    with pytest.raises(ViscoilError, match="no channel 'heat': choose among position"):
        particles["heat"] = 1.0
    particles.require(STRESS)
    assert particles["conformation"].tolist() == [[1.0, 1.0, 1.0, 0.0, 0.0, 0.0]] * 3
    assert not particles["stress"].any()
    particles["dilation"] = 2.0
    particles.require(STRESS)
    assert particles["dilation"].tolist() == [2.0] * 3
