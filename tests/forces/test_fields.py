"""Fields in a simulation: closed forms for lone particles, who is spared, same bits after a stop."""

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from bars import above, near
from rigs import FLOOR, SPACING, USUAL, Rig, lattice

from viscoil.forces.exposure import Exposure
from viscoil.forces.fields.force_fields import ForceFields
from viscoil.scene import Field, Scene
from viscoil.simulation.simulation import Simulation

pytestmark = [pytest.mark.usefixtures("compute"), pytest.mark.physics]

D = 0.02
WET = {"density": 1000.0, "viscosity": 0.0}


def drop(*center: float, material: str = "wet", **values: Any) -> dict[str, Any]:
    return {
        "shape": "box", "material": material, "center": center, "size": (D, D, D), **values,
    }  # fmt: skip


def scene(fluids: list[dict[str, Any]], *fields: dict[str, Any], **simulation: Any) -> Scene:
    settings = {"spacing": D, "frames": 60, "gravity": (0.0, 0.0, 0.0), "time_step": 1 / 120}
    return Scene.model_validate(
        {
            "simulation": {**settings, **simulation},
            "materials": {"wet": WET, "dry": WET},
            "fluids": fluids,
            "fields": fields,
        }
    )


def velocities(simulation: Simulation) -> np.ndarray:
    """By id. A velocity is a difference of positions below 1 m: 6e-8 m over a step of 1/120 s."""
    order = np.argsort(simulation.particles["id"])
    return np.array(simulation.particles["velocity"], np.float64)[order]


ROUNDING = 2e-5  # m/s


@pytest.mark.parametrize("steps_per_second", [30, 77, 120])
def test_an_impulse_does_not_depend_on_the_step(steps_per_second: int) -> None:
    """2 m/s² from 0.1 to 0.25 s give 0.3 m/s, wherever steps begin and end."""
    push = {"type": "uniform", "acceleration": (2.0, 0.0, -1.0), "start": 0.1, "stop": 0.25}
    simulation = Simulation(scene([drop(0.0, 0.0, 0.0)], push, time_step=1.0 / steps_per_second))
    while simulation.time < 0.4:
        simulation.step()
    np.testing.assert_allclose(velocities(simulation), [[0.3, 0.0, -0.15]], atol=ROUNDING)


def test_wind_and_drag() -> None:
    """w (1 − (1 + k Δt)⁻ⁿ) after n steps; without wind u⁰ (1 + k Δt)⁻ⁿ; others fly on."""
    simulation = Simulation(
        scene(
            [
                drop(0.0, 0.0, 0.0),
                drop(0.0, 0.5, 0.0, velocity=(0.0, 0.0, 0.4)),
                drop(0.0, -0.5, 0.0, material="dry", velocity=(0.0, 0.0, 0.4)),
            ],
            {"type": "wind", "velocity": (0.5, 0.0, 0.0), "rate": 6.0, "materials": ["wet"],
             "region": {"shape": "sphere", "radius": 0.45}},
            {"type": "drag", "linear": 3.0, "materials": ["wet"],
             "region": {"shape": "box", "center": (0, 0.5, 0), "size": (9, 0.1, 9)}},
        )
    )  # fmt: skip
    for _ in range(40):
        simulation.step()
    blown, slowed, free = velocities(simulation)
    assert blown[0] == pytest.approx(0.5 * (1.0 - 1.05**-40), abs=ROUNDING)
    assert slowed[2] == pytest.approx(0.4 * 1.025**-40, abs=ROUNDING)
    np.testing.assert_allclose(free, [0.0, 0.0, 0.4], atol=ROUNDING)


@pytest.mark.parametrize("linear, quadratic", [(20.0, 0.0), (0.0, 100.0), (1e6, 0.0)])
def test_terminal_speed_is_exact_and_any_rate_stable(linear: float, quadratic: float) -> None:
    """g = k u + q u²: the implicit step ends there whatever its length."""
    drag = {"type": "drag", "linear": linear, "quadratic": quadratic}
    settings = {"gravity": (0.0, -9.81, 0.0), "time_step": 1.0 / 60.0}
    simulation = Simulation(
        scene([drop(0.0, 0.0, 0.0, velocity=(0.0, -1.0, 0.0))], drag, **settings)
    )
    for _ in range(60):
        simulation.step()
    speed = 9.81 / linear if linear else math.sqrt(9.81 / quadratic)
    assert velocities(simulation)[0, 1] == pytest.approx(-speed, abs=ROUNDING)


def test_vortex_and_attractor_act_as_their_laws_say() -> None:
    """One short step from rest; the strongest whirl is at the radius, where it has its strength."""
    places = [(0.1, 0.0, 0.0), (0.0, 0.0, -0.3), (0.0, 0.2, 0.4)]
    whirl = {"type": "vortex", "radius": 0.1, "strength": 3.0}
    pull = {"type": "attractor", "center": (0.0, 0.0, 0.0), "strength": 2.0, "radius": 0.2}
    dt = 1.0 / 120.0
    for field, expected in (
        (whirl, lambda s: 3.0 * 2.0 * (s / 0.1) / (1.0 + (s / 0.1) ** 2)),
        (pull, lambda s: 2.0 * (s / 0.2 if s < 0.2 else (0.2 / s) ** 2)),
    ):
        simulation = Simulation(scene([drop(*p) for p in places], field))
        simulation.step()
        for place, got in zip(places, velocities(simulation), strict=True):
            x, y, z = place
            s = math.hypot(x, z) if field is whirl else math.hypot(x, y, z)
            towards = np.array([z, 0.0, -x] if field is whirl else [-x, -y, -z]) / s
            np.testing.assert_allclose(got, dt * expected(s) * towards, atol=ROUNDING)


def test_a_spinning_vortex_turns_a_body_as_a_whole() -> None:
    """Deep inside the radius the fluid is dragged to rigid rotation ω r.

    An implicit step from rest gets k Δt/(1 + k Δt) of the way there.
    """
    spin = {"type": "vortex", "radius": 100.0, "angular_speed": 1.5, "rate": 1e4, "axis": (0, 0, 2)}
    simulation = Simulation(scene([drop(0.3, 0.0, 0.0), drop(0.0, 0.2, 0.0)], spin))
    simulation.step()
    share = 1e4 / 120 / (1.0 + 1e4 / 120)
    expected = share * np.array([[0.0, 0.45, 0.0], [-0.3, 0.0, 0.0]])
    near(velocities(simulation), expected, "velocity, m/s", abs=ROUNDING, derived=True)


def test_noise_drifts_and_changes_with_time() -> None:
    """Pictures repeat after no time scale at all, and move with their velocity."""
    still = {"type": "noise", "amplitude": 4.0, "length": 0.1}
    drifting = {**still, "velocity": (0.1, 0.0, 0.0)}
    there, here = [drop(0.13, 0.04, 0.02)], [drop(0.13 - 0.05, 0.04, 0.02)]

    def kick(fluids: list[dict[str, Any]], field: dict[str, Any], time: float) -> np.ndarray:
        simulation = Simulation(scene(fluids, field))
        simulation.time, simulation.frame = time, round(30 * time)
        simulation.step()
        return velocities(simulation)[0]

    first = kick(here, still, 0.0)
    assert 0.001 < np.linalg.norm(first) < 0.2
    np.testing.assert_allclose(kick(here, still, 0.5), first, atol=ROUNDING)
    np.testing.assert_allclose(kick(there, drifting, 0.5), first, atol=5 * ROUNDING)
    changing = {**still, "time_scale": 0.4}
    np.testing.assert_allclose(kick(here, changing, 0.0), first, atol=ROUNDING)
    change = np.linalg.norm(kick(here, changing, 0.2) - first) / np.linalg.norm(first)
    above(float(change), 0.2, "change of noise")


def force_fields(fields: Sequence[Field], materials: Sequence[str]) -> ForceFields:
    return ForceFields(fields, materials, Exposure(USUAL, 2.0))


def test_exposure_is_the_area_of_a_body() -> None:
    """Lacks of a lattice cube of 8³ add up to nearly six faces, five on the floor, none inside.

    An edge lacks a little less than twice a face's share, which is 12 edges of 8 in 384.
    """
    for center, walls, faces in (((0.0, 1.0, 0.0), [], 6), ((0.0, 4 * SPACING, 0.0), [FLOOR], 5)):
        rig = Rig(lattice((8, 8, 8), center=center), colliders=walls)
        c = rig.prepare(1 / 120)
        measured = Exposure(USUAL, 2.0)(c.view)
        exposure = np.array(measured.to_numpy()[: c.n], np.float64)
        away = np.abs(rig.particles["position"] - center).max(axis=1)
        assert (exposure[away < 3 * SPACING] == 0.0).all()
        near(exposure.sum(), faces * 64, "exposure", rel=0.08)


def test_surface_wind_leaves_the_inside_alone() -> None:
    """Of a cube of inviscid fluid only the outermost layer is dragged at first."""
    wind = {"type": "wind", "velocity": (1.0, 0.0, 0.0), "rate": 12.0, "surface_only": True}
    block = drop(0.0, 0.0, 0.0) | {"size": (8 * D, 8 * D, 8 * D)}
    fields = force_fields(scene([block], wind).fields, ["wet"])
    rig = Rig(lattice((8, 8, 8)))
    c = rig.prepare(1 / 120)
    fields.act(c.view, c.unknowns.velocity)
    u = np.array(rig.particles["velocity"], np.float64)[:, 0]
    outer = np.abs(rig.particles["position"]).max(axis=1) > 3 * SPACING
    assert (u[~outer] == 0.0).all()
    np.testing.assert_allclose(u[outer], 0.1 / 1.1, rtol=1e-4)


def test_a_scene_without_active_fields_pays_nothing() -> None:
    """The bits are those of a scene that never had any."""
    late = {"type": "noise", "amplitude": 5.0, "length": 0.1, "start": 0.5}
    fluids = [drop(0.0, 0.0, 0.0, velocity=(0.1, 0.2, 0.3))]
    with_field, without = Simulation(scene(fluids, late)), Simulation(scene(fluids))
    for _ in range(5):
        with_field.step()
        without.step()
    assert velocities(with_field).tobytes() == velocities(without).tobytes()


def test_adaptive_steps_know_the_fields() -> None:
    """A pull of 400 m/s² on fluid at rest: a Δt² may not exceed cfl spacings, from the first step on."""
    pull = {"type": "attractor", "center": (0, 0, 0), "strength": 400.0, "radius": 0.5}
    simulation = Simulation(
        scene([drop(0.4, 0.0, 0.0)], pull, time_step=None, max_time_step=1 / 30)
    )
    first = simulation.step()["dt"]
    assert 0.5 * math.sqrt(0.4 * D / 400.0) < first <= math.sqrt(0.4 * D / 400.0)


FIELDS: list[tuple[dict[str, Any], tuple[float, float, float]]] = [
    ({"type": "uniform", "acceleration": (3.0, 4.0, 0.0)}, (5.0, 0.0, 0.0)),
    ({"type": "wind", "velocity": (0.0, 2.0, 0.0), "rate": 3.0}, (0.0, 6.0, 2.0)),
    ({"type": "vortex", "radius": 0.4, "angular_speed": -5.0, "rate": 2.0}, (0.0, 2.0, 1.0)),
    ({"type": "vortex", "radius": 0.4, "strength": -5.0}, (5.0, 0.0, 0.0)),
    ({"type": "attractor", "center": (0, 0, 0), "strength": -7.0, "radius": 1.0}, (7.0, 0.0, 0.0)),
    ({"type": "noise", "amplitude": 2.0, "length": 1.0}, (6.0, 0.0, 0.0)),
    ({"type": "drag", "linear": 2.0}, (0.0, 0.0, 0.0)),
]


@pytest.mark.parametrize("spec, bound", FIELDS)
def test_what_a_field_can_do_at_most(
    spec: dict[str, Any], bound: tuple[float, float, float]
) -> None:
    field: Field = scene([drop(0, 0, 0)], {**spec, "start": 1.0, "stop": 2.0}).fields[0]
    fields = force_fields([field, field], ["wet"])
    for time, times in ((0.5, 0), (0.999, 1), (1.5, 1), (2.0, 0)):
        drive = fields.drive(time, 0.01)
        found = (drive.acceleration, drive.drag, drive.wind)
        assert found == pytest.approx(
            (2 * bound[0] * times, 2 * bound[1] * times, bound[2] * times)
        )


def everything(**simulation: Any) -> Scene:
    """All fields at once on two bodies, with removal and channels beside them."""
    tables = scene(
        [
            drop(0.0, 0.1, 0.0, color=(1, 0, 0)) | {"size": (5 * D, 5 * D, 5 * D)},
            drop(0.3, 0.1, 0.0, material="dry", max_age=0.08, max_age_spread=0.04)
            | {"size": (4 * D, 4 * D, 4 * D)},
        ],
        {"type": "uniform", "acceleration": (1.0, 0.0, 0.0), "stop": 0.03},
        {"type": "wind", "velocity": (0.0, 0.0, 1.0), "surface_only": True},
        {"type": "vortex", "radius": 0.1, "angular_speed": 5.0},
        {"type": "noise", "amplitude": 5.0, "length": 0.1, "time_scale": 0.05},
        {"type": "attractor", "center": (0, 0, 0), "strength": 3.0, "radius": 0.1},
        {"type": "drag", "quadratic": 0.5, "materials": ["dry"]},
        time_step=None,
        **simulation,
    ).to_dict()
    nozzle = {"shape": "disc", "material": "wet", "center": (0, 0.4, 0), "direction": (0, -1, 0),
              "radius": 0.03, "speed": 1.0, "max_age": 0.05, "channels": {"tag": 3.0}}  # fmt: skip
    tables["emitters"] = [nozzle]
    tables["kill"] = [{"shape": "plane", "point": (0.0, 0.08, 0.0), "start": 0.04}]
    return Scene.model_validate(tables)


def test_a_stopped_run_goes_on_to_the_same_bits(tmp_path: Path) -> None:
    whole = Simulation(everything())
    for _ in range(8):
        whole.step()
    whole.save(tmp_path / "state.npz")
    rest = Simulation(everything(), checkpoint=tmp_path / "state.npz")
    counts = []
    for _ in range(10):
        counts.append(whole.step()["particles"])
        rest.step()
    assert len(set(counts)) > 2  # some came and went
    assert list(whole.particles) == list(rest.particles)
    for name in whole.particles:
        assert whole.particles[name].tobytes() == rest.particles[name].tobytes(), name
