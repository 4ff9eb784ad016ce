"""Meshes as sources of fluid: flow, motion, and room for what appears."""

import numpy as np
import pytest
from bars import above, below, near

from viscoil import Scene, Simulation
from viscoil.emitters.mesh_emitters import MeshEmitter, clear_of
from viscoil.emitters.nozzles import Emission
from viscoil.scene import MeshEmitter as Spec


def emitter(**keys: object) -> MeshEmitter:
    base = {"material": "water", "file": "builtin:flipped-sphere", "speed": 2.0}
    return MeshEmitter(Spec.model_validate({**base, **keys}), 0, 0.05, seed=3)


def emitted(source: MeshEmitter, time: float, dt: float, layer: int) -> Emission:
    """What comes out in a step in which something must."""
    emission = source.emit(time, dt, layer)
    assert emission is not None
    return emission


def test_points_on_faces_are_spread_evenly_and_flow_out() -> None:
    """Two spheres of radius 0.3 m hold 0.9 points per d²; none are nearer than 0.8 d.

    The places of a thousand points that keep apart vary by less than 3 % in number.
    """
    source = emitter(jitter=0.0, file="builtin:two-spheres")
    emission = emitted(source, 0.0, 0.0, 0)
    x = emission.positions.astype(float)
    gaps = np.linalg.norm(x[:, None] - x[None], axis=2) + 9.0 * np.eye(len(x))
    assert len(x) == pytest.approx(0.9 * 2.0 * 4.0 * np.pi * 0.3**2 / 0.05**2, rel=0.06)
    assert gaps.min() >= 0.8 * 0.05 - 1e-6
    assert gaps.min(axis=1).max() < 1.5 * 0.05
    speed = np.linalg.norm(emission.velocities, axis=1)
    np.testing.assert_allclose(speed, 2.0, rtol=1e-5)


def test_layers_are_a_spacing_apart_in_time() -> None:
    source = emitter()
    assert emitted(source, 0.0, 0.0, 0).next_layer == 1
    assert source.emit(0.01, 0.01, 1) is None
    late = emitted(source, 0.03, 0.01, 1)
    assert late.next_layer == 2
    assert emitted(source, 1.0, 0.01, 2).next_layer == 41  # those in between are skipped
    owed = emitted(source, 1.0, 0.1, 2)  # a long step owes several layers
    assert len(owed.positions) == 5 * len(late.positions)


def test_motion_is_inherited() -> None:
    motion = [{"time": 0.0}, {"time": 1.0, "translation": [3.0, 0.0, 0.0]}]
    still = emitted(emitter(jitter=0.0), 0.5, 0.01, 0)
    for share in (0.0, 1.0):
        moving = emitted(emitter(jitter=0.0, motion=motion, inherit=share), 0.5, 0.01, 0)
        carried = moving.velocities - still.velocities
        np.testing.assert_allclose(
            carried, np.tile([3.0 * share, 0.0, 0.0], (len(carried), 1)), atol=1e-4
        )
        np.testing.assert_allclose(
            (moving.positions - still.positions).mean(axis=0), [1.5, 0.0, 0.0], atol=1e-3
        )


def test_a_parabolic_profile_carries_the_flow_of_its_mean_speed() -> None:
    """Of a disc ∫ 2 (1 − ρ²) is the area; the points sample it to some percent."""
    plug = emitter(file="builtin:bowl", profile="plug", direction=[0.0, -1.0, 0.0])
    pipe = emitter(file="builtin:bowl", profile="parabolic", direction=[0.0, -1.0, 0.0])
    assert emitted(plug, 0.0, 0.0, 0).velocities[:, 1].mean() == pytest.approx(-2.0)
    speeds = -emitted(pipe, 0.0, 0.0, 0).velocities[:, 1]
    assert speeds.min() >= 0.0 and 2.0 < speeds.max() <= 4.0


def test_what_is_taken_stays_free_of_newcomers() -> None:
    """Against all distances."""
    random = np.random.default_rng(0)
    points, others = random.random((2, 400, 3)).astype(np.float32)
    clear = clear_of(points, others, 0.1)
    nearest = np.linalg.norm(points[:, None] - others[None], axis=2).min(axis=1)
    np.testing.assert_array_equal(clear, nearest >= 0.05)
    assert clear.any() and not clear.all()


@pytest.mark.physics
def test_a_volume_is_filled_once_and_again_when_it_empties() -> None:
    text = """
[simulation]
spacing = 0.05
frames = 30
[[emitters]]
material = "water"
shape = "mesh"
file = "builtin:two-spheres"
source = "volume"
speed = 0.1
center = [0.0, 1.0, 0.0]
"""
    simulation = Simulation(Scene.from_toml(text))
    simulation.step(1e-3)
    full = simulation.particles.count
    assert full > 300
    simulation.step(1e-3)
    assert simulation.particles.count >= full
    below(simulation.particles.count / full - 1.0, 0.1, "newcomers to a full volume, of full")
    for _ in range(20):
        simulation.step(0.01)
    above(simulation.particles.count / full - 1.0, 0.2, "newcomers to one that empties, of full")


@pytest.mark.physics
def test_a_kill_volume_may_be_a_mesh() -> None:
    text = """
[simulation]
spacing = 0.05
frames = 1
gravity = [0.0, 0.0, 0.0]
[[fluids]]
material = "water"
shape = "box"
center = [0.0, 0.3, 0.0]
size = [1.5, 1.0, 1.0]
[[kill]]
shape = "mesh"
file = "builtin:two-spheres"
"""
    simulation = Simulation(Scene.from_toml(text))
    before = simulation.particles.count
    simulation.next_frame()
    simulation.step()
    removed = (before - simulation.particles.count) * 0.05**3
    # two balls of radius 0.3 m with centres 0.4 m apart
    ball = 4.0 / 3.0 * np.pi * 0.3**3
    lens = np.pi * (4 * 0.3 + 0.4) * (2 * 0.3 - 0.4) ** 2 / 12.0
    near(removed, 2 * ball - lens, "removed, m³", rel=0.05)
