"""Emitters: the same jet whatever the steps, no gaps, no clumps, the flow that was asked for."""

from math import pi
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from pydantic import TypeAdapter

from viscoil import Scene, Simulation
from viscoil.core.errors import SceneError
from viscoil.emitters.nozzles import Emission, Emitter
from viscoil.scene import Emitter as EmitterSpec

D = 0.01
FEW = settings(max_examples=50, deadline=None)

steps = st.lists(st.floats(1e-5, 0.05), min_size=1, max_size=40)
coordinate = st.floats(-1.0, 1.0)
direction = st.tuples(coordinate, coordinate, coordinate).filter(
    lambda v: float(np.linalg.norm(v)) > 0.01
)


def spec(**changes: Any) -> Any:
    table: dict[str, Any] = {
        "material": "honey",
        "shape": "disc",
        "center": (0.1, 0.2, -0.1),
        "direction": (0, -2, 0),
        "radius": 0.02,
        "jitter": 0.0,
    }
    if changes.get("shape") == "rectangle":
        del table["radius"]
    return TypeAdapter[EmitterSpec](EmitterSpec).validate_python({"speed": 0.5, **table, **changes})


def emitter(**changes: Any) -> Emitter:
    if "flow_rate" in changes:
        changes = {"speed": None, **changes}
    return Emitter(spec(**changes), material_index=0, spacing=D)


def run(nozzle: Emitter, dts: list[float]) -> tuple[float, list[tuple[float, Emission]]]:
    """Steps through the times; returns the last, and each emission with its own."""
    time, layer, emissions = 0.0, 0, []
    for dt in dts:
        time += dt
        emission = nozzle.emit(time, dt, layer)
        if emission is not None:
            emissions.append((time, emission))
            layer = emission.next_layer
    return time, emissions


def later(time: float, emissions: list[tuple[float, Emission]]) -> NDArray[np.float64]:
    """Where all particles would be at `time` if each flew on at its velocity."""
    parts = [e.positions + (time - t) * e.velocities.astype(np.float64) for t, e in emissions]
    return np.concatenate([np.zeros((0, 3)), *parts])


def closest_pair(points: NDArray[np.float64]) -> float:
    gap = np.linalg.norm(points[:, None] - points[None, :], axis=-1)
    return float(np.min(gap + np.where(np.eye(len(points)), np.inf, 0.0), initial=np.inf))


@FEW
@given(steps, st.floats(0.0, 0.1), st.floats(0.02, 1.0), direction)
def test_any_steps_give_the_same_jet(
    dts: list[float], start: float, speed: float, flow: Any
) -> None:
    """Layer k is at speed (t - start) - k d from the plane, for all k that have appeared by t."""
    nozzle = emitter(start=start, speed=speed, direction=flow, radius=0.011)
    time, emissions = run(nozzle, dts)
    points = later(time, emissions)
    travel = speed * (time - start)
    layers = 0 if time < start else int((travel + nozzle.frame.run_in) / D + 1e-6) + 1
    assert len(points) == layers * nozzle.points
    axial = (points - nozzle.frame.origin) @ np.array(nozzle.frame.direction)
    expected = np.repeat(travel - D * np.arange(layers), nozzle.points)
    np.testing.assert_allclose(axial, expected, rtol=0, atol=1e-6)
    _, whole = run(nozzle, [time])
    np.testing.assert_allclose(points, later(time, whole), rtol=0, atol=1e-6)


@FEW
@given(st.lists(st.floats(1e-4, 0.02), min_size=1, max_size=12), direction)
def test_no_two_particles_are_closer_than_the_spacing(dts: list[float], flow: Any) -> None:
    time, emissions = run(emitter(speed=0.7, direction=flow, radius=0.015), dts)
    points = later(time, emissions)
    assert len(points) >= 3 * 4
    assert closest_pair(points) > 0.999 * D


@pytest.mark.parametrize("dt", [1 / 120, 0.004, 0.33])
def test_flow_rate_is_exact_over_a_long_time(dt: float) -> None:
    """After T the volume is flow_rate T plus the filled run-in, to within one layer."""
    flow_rate = 3e-5
    nozzle = emitter(flow_rate=flow_rate)
    time, layer, particles = 0.0, 0, 0
    while time < 40.0:
        time += dt
        emission = nozzle.emit(time, dt, layer)
        if emission is not None:
            layer, particles = emission.next_layer, particles + len(emission.positions)
    layer_volume = nozzle.points * D**3
    passed = particles * D**3 - nozzle.frame.run_in / D * layer_volume
    assert nozzle.flow_rate == pytest.approx(flow_rate, rel=1e-12)
    assert 0.0 <= passed - flow_rate * time <= layer_volume * 1.0001


def test_stop_ends_the_flow_through_the_nozzle_plane() -> None:
    """At 0.5 m/s from 0.1 s to 0.3 s, 0.1 m pass: 10 layers, the last on its way before stop."""
    nozzle = emitter(start=0.1, stop=0.3)
    _, emissions = run(nozzle, [0.007] * 100)
    assert sum(len(e.positions) for _, e in emissions) == 10 * nozzle.points
    last_crossing = 0.1 + 9 * D / 0.5
    assert last_crossing < 0.3 <= last_crossing + D / 0.5 + 1e-12
    assert nozzle.emit(0.0999, 0.01, 0) is None


def test_the_run_in_zone_is_full_at_the_start() -> None:
    emission = emitter().emit(0.0, 0.0, 0)
    assert emission is not None and emission.next_layer == 3
    heights = np.unique(emission.positions[:, 1])
    np.testing.assert_allclose(heights, [0.2, 0.2 + D, 0.2 + 2 * D], atol=1e-7)


def test_first_call_after_the_first_step_loses_nothing() -> None:
    """A caller who never asks at time 0 still gets the layers of the run-in zone."""
    emission = emitter().emit(0.001, 0.001, 0)
    assert emission is not None and emission.next_layer == 3


@FEW
@given(st.lists(st.floats(1e-4, 0.05), min_size=2, max_size=30), st.data())
def test_a_resumed_run_emits_the_same_bits(dts: list[float], data: Any) -> None:
    """A fresh emitter that is given only time, step and counter goes on as if nothing happened."""
    cut = data.draw(st.integers(1, len(dts) - 1))
    _, whole = run(emitter(), dts)
    time, head = run(emitter(), dts[:cut])
    layer = head[-1][1].next_layer
    fresh, tail = emitter(), []
    for dt in dts[cut:]:
        time += dt
        emission = fresh.emit(time, dt, layer)
        if emission is not None:
            tail.append((time, emission))
            layer = emission.next_layer
    for (t, a), (u, b) in zip(whole, head + tail, strict=True):
        assert t == u and a.positions.tobytes() == b.positions.tobytes()
        assert a.velocities.tobytes() == b.velocities.tobytes()


def test_layers_missed_long_ago_are_skipped() -> None:
    """After a pause the jet goes on from the nozzle; it does not appear all along its way."""
    nozzle = emitter()
    emission = nozzle.emit(10.0, 0.01, 3)
    assert emission is not None
    axial = (emission.positions - np.array(nozzle.frame.origin)) @ np.array([0, -1, 0])
    assert axial.min() >= -nozzle.frame.run_in - 1e-6
    assert axial.max() <= -nozzle.frame.run_in + 0.5 * 0.01 + D
    assert emission.next_layer == int((5.0 + nozzle.frame.run_in) / D + 1e-6) + 1


@FEW
@given(direction)
def test_frame_is_right_handed_and_holds_the_layer(flow: Any) -> None:
    nozzle = emitter(shape="rectangle", size=(0.07, 0.03), direction=flow)
    frame = nozzle.frame
    axes = np.array([frame.width_axis, frame.height_axis, frame.direction])
    np.testing.assert_allclose(axes @ axes.T, np.eye(3), atol=1e-12)
    assert np.linalg.det(axes) == pytest.approx(1.0)
    assert axes[2] == pytest.approx(np.array(flow) / np.linalg.norm(flow))
    emission = nozzle.emit(0.0, 0.0, 0)
    assert emission is not None and nozzle.points == 21
    local = (emission.positions[:21] - np.array(frame.origin)) @ axes.T
    np.testing.assert_allclose(np.abs(local).max(axis=0), [0.03, 0.01, 0.0], atol=1e-6)
    np.testing.assert_allclose(emission.velocities, np.tile(0.5 * axes[2], (63, 1)), atol=1e-6)


@pytest.mark.parametrize(
    ("flow", "width", "height"),
    [((0, -1, 0), "x", "z"), ((0, 1, 0), "x", "z"), ((1, 0, 0), "z", "y"), ((0, 0, -1), "x", "y")],
)
def test_width_is_horizontal_and_height_upright(flow: Any, width: str, height: str) -> None:
    frame = emitter(shape="rectangle", size=(0.02, 0.02), direction=flow).frame
    assert np.abs(frame.width_axis)["xyz".index(width)] == pytest.approx(1.0)
    assert np.abs(frame.height_axis)["xyz".index(height)] == pytest.approx(1.0)


def test_a_wide_disc_holds_its_area_in_points() -> None:
    """The lattice count of a disc of 20 spacings radius misses its area by less than 1 %."""
    assert emitter(radius=20 * D).points == pytest.approx(pi * 20**2, rel=0.01)


def test_a_nozzle_narrower_than_the_spacing_emits_a_thread() -> None:
    nozzle = emitter(radius=0.1 * D, flow_rate=1e-6)
    assert nozzle.points == 1
    assert nozzle.frame.speed == pytest.approx(1e-6 / D**2)


def test_jitter_scatters_by_at_most_what_was_asked_and_alike_in_every_run() -> None:
    dts = [0.01] * 5
    _, plain = run(emitter(), dts)
    _, scattered = run(emitter(jitter=0.2), dts)
    _, again = run(emitter(jitter=0.2), dts)
    for (_, a), (_, b), (_, c) in zip(plain, scattered, again, strict=True):
        offset = np.abs(a.positions - b.positions)
        assert 0.1 * D < offset.max() <= 0.2 * D * (1 + 1e-4)
        assert np.array_equal(b.positions, c.positions)


def in_a_duct(width: float, **changes: Any) -> Scene:
    """A square nozzle of 4 cm that emits down a duct of this width (m)."""
    duct = {"shape": "box", "size": (width, 0.2, width), "container": True, "open": ["+y", "-y"]}
    nozzle = {"material": "honey", "shape": "rectangle", "size": (0.042, 0.042)}
    place = {"center": (0.0, 0.05, 0.0), "direction": (0, -1, 0), "flow_rate": 1e-5}
    scene = {
        "simulation": {"spacing": 0.005, "duration": 1.0},
        "emitters": [{**nozzle, **place, **changes}],
        "colliders": [{**duct, "center": (0.0, 0.0, 0.0)}],
    }
    return Scene.model_validate(scene)


def test_what_would_start_in_a_wall_is_left_out_and_the_flow_is_kept() -> None:
    """In a duct narrower than the nozzle nothing starts nearer to a wall than 0.45 spacings."""
    simulation = Simulation(in_a_duct(0.036))
    (nozzle,) = simulation._inflow.emitters
    assert isinstance(nozzle, Emitter)
    assert nozzle.flow_rate == pytest.approx(1e-5)
    assert nozzle.left_out > 0
    assert f"emitters.0: {nozzle.left_out} of " in simulation.notes[0]
    for _ in range(5):
        simulation.step(1e-3)
    x = np.asarray(simulation.particles["position"], dtype=np.float64)
    assert len(x) >= nozzle.points
    assert np.abs(x[:, [0, 2]]).max() < 0.018 - 0.4 * 0.005


def test_a_nozzle_with_room_around_it_keeps_all_its_places() -> None:
    simulation = Simulation(in_a_duct(0.05))
    assert simulation.notes == []
    assert all(isinstance(e, Emitter) and e.left_out == 0 for e in simulation._inflow.emitters)


def test_a_nozzle_within_a_collider_is_an_error() -> None:
    with pytest.raises(SceneError, match=r"emitters\.0 lies within colliders"):
        Simulation(in_a_duct(0.036, center=(0.2, 0.05, 0.0)))
