"""Kill volumes and ages: who is taken and when, against brute force."""

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from viscoil.core.compute import view
from viscoil.particles.store import ChannelKind, Particles
from viscoil.sampling.initial_channels import random_shares
from viscoil.scene import Scene
from viscoil.scene.activity import overlap
from viscoil.simulation.removal import Removal
from viscoil.simulation.simulation import Simulation

pytestmark = pytest.mark.usefixtures("compute")

D = 0.02
POINTS = np.random.default_rng(2).uniform(-1.0, 1.0, (3000, 3)).astype(np.float32)


def scene(*kill: dict[str, Any], fluid: dict[str, Any] | None = None, **simulation: Any) -> Scene:
    goo = {"density": 1000.0, "viscosity": 0.0}
    box = {"shape": "box", "material": "wet", "center": (0, 0, 0), "size": (8 * D, 8 * D, 8 * D)}
    weightless = {"spacing": D, "frames": 30, "gravity": (0, 0, 0), "time_step": 1 / 120}
    return Scene.model_validate(
        {
            "simulation": {**weightless, **simulation},
            "materials": {"wet": goo, "dry": goo},
            "fluids": [{**box, **(fluid or {})}],
            "kill": kill,
        }
    )


def survivors(spec: Scene, time: float = 1.0, dt: float = 0.01, **channels: Any) -> np.ndarray:
    particles = Particles()
    if "lifespan" in channels:
        particles.add_channel("lifespan", ChannelKind("f32", 1, "s"))
    particles.append({"position": POINTS, **channels})
    removed = Removal(spec)(particles, time, dt)
    alive = view(particles.alive, particles.count) != 0
    assert removed == np.count_nonzero(~alive)
    return np.asarray(alive)


@pytest.mark.parametrize("outside", [False, True])
def test_volumes_take_what_is_in_them(outside: bool) -> None:
    turn = {"axis": (0, 0, 1), "angle": np.pi / 2}
    box = {"shape": "box", "center": (0.1, 0, 0), "size": (0.4, 1.0, 0.6), "rotation": turn}
    ball = {"shape": "sphere", "center": (0.2, 0.1, 0.0), "radius": 0.5}
    x = POINTS.astype(np.float64)
    in_box = (np.abs(x - [0.1, 0, 0]) < [0.5, 0.2, 0.3]).all(axis=1)  # a quarter turn swaps x, y
    in_ball = np.linalg.norm(x - [0.2, 0.1, 0.0], axis=1) < 0.5
    for kill, inside in ((box, in_box), (ball, in_ball)):
        alive = survivors(scene({**kill, "outside": outside}))
        assert 0 < inside.sum() < len(x)
        np.testing.assert_array_equal(alive, inside if outside else ~inside)


def test_a_plane_takes_what_is_behind_it() -> None:
    kill = {"shape": "plane", "point": (0.0, 0.2, 0.0), "normal": (0.0, 2.0, 2.0)}
    front = (POINTS.astype(np.float64) - [0, 0.2, 0]) @ [0, 1, 1] > 0
    np.testing.assert_array_equal(survivors(scene(kill)), front)


def test_only_some_materials_and_only_for_a_while() -> None:
    ball = {"shape": "sphere", "center": (0, 0, 0), "radius": 9.0, "materials": ["dry"]}
    material = np.arange(len(POINTS)) % 2
    spec = scene({**ball, "start": 0.5, "stop": 0.7})
    for time, active in ((0.5, False), (0.505, True), (0.7, True), (0.711, False)):
        alive = survivors(spec, time=time, material=material)
        np.testing.assert_array_equal(alive, (material == 0) | (not active))


def test_several_volumes_add_up() -> None:
    planes = [
        {"shape": "plane", "point": (0, -0.5, 0)},
        {"shape": "plane", "point": (0, 0.5, 0), "normal": (0, -1, 0)},
    ]
    np.testing.assert_array_equal(survivors(scene(*planes)), np.abs(POINTS[:, 1]) < 0.5)


def test_lifespans_are_a_channel() -> None:
    """Whoever is older than its own lifespan goes, infinite ones never do."""
    rng = np.random.default_rng(0)
    birth = rng.uniform(0.0, 1.0, len(POINTS)).astype(np.float32)
    lifespan = rng.uniform(0.0, 1.0, len(POINTS)).astype(np.float32)
    lifespan[::7] = np.inf
    alive = survivors(scene(fluid={"max_age": 1.0}), birth=birth, lifespan=lifespan)
    np.testing.assert_array_equal(alive, np.float32(1.0) - birth <= lifespan)


def test_a_body_fades_away_over_the_spread() -> None:
    """Uniform between max_age ∓ spread: nobody before, all after, half at max_age."""
    simulation = Simulation(scene(fluid={"max_age": 0.2, "max_age_spread": 0.1}))
    counts = {round(120 * simulation.time): simulation.step()["particles"] for _ in range(40)}
    left = [counts[k] for k in sorted(counts)]
    assert left[10] == 512 and left[-3:] == [0, 0, 0]
    # 24 steps are 0.2 s: half of 512, within four standard deviations of a fair coin
    assert abs(left[23] - 256) < 4 * np.sqrt(512) / 2
    assert all(a >= b for a, b in pairwise(left))


@given(st.integers(0, 2**31 - 1), st.integers(0, 2**40))
@settings(max_examples=30)
def test_random_shares_depend_on_ids_alone(seed: int, first: int) -> None:
    ids = np.arange(first, first + 1000)
    shares = random_shares(ids, seed)
    assert (shares >= 0.0).all() and (shares < 1.0).all()
    np.testing.assert_array_equal(random_shares(ids[::-1], seed)[::-1], shares)
    assert abs(shares.mean() - 0.5) < 5 / np.sqrt(12 * 1000)
    assert abs(np.corrcoef(shares[:-1], shares[1:])[0, 1]) < 0.2


@given(st.floats(0, 2), st.floats(0, 2), st.floats(0, 2), st.floats(0.01, 1))
def test_overlaps_of_all_steps_sum_up(start: float, length: float, end: float, dt: float) -> None:
    """Σ overlap Δt over steps that tile the time is the time between start and stop."""
    steps = int((start + length + end) / dt) + 1
    total = sum(overlap(start, start + length, k * dt, dt) * dt for k in range(steps))
    assert total == pytest.approx(length, abs=1e-9)
