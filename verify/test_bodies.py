"""Rigid bodies in fluid: Archimedes, momentum, drag, and the weight that a floor feels."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from figures import picture, report
from scipy.optimize import brentq
from solid_meshes import pipe

from viscoil import Scene, Simulation
from viscoil.geometry.meshes import write_mesh

D = 0.01  # m
RADIUS = 6 * D
DEPTH = 16 * D  # of the water
SIDE = 24 * D  # of the tank
WATER = {"density": 1000.0, "viscosity": 0.0}


def _cap(h: float) -> float:
    """Volume of the part of the ball that is lower than h above its lowest point, m³."""
    h = min(max(h, 0.0), 2.0 * RADIUS)
    return float(np.pi * h * h * (3.0 * RADIUS - h) / 3.0)


def _archimedes(density: float) -> float:
    """How deep a ball floats, m: its cap displaces its own mass of water."""
    mass = density * _cap(2.0 * RADIUS)
    return float(brentq(lambda h: 1000.0 * _cap(h) - mass, 0.0, 2.0 * RADIUS))


def _tank(ball: dict[str, Any], duration: float, material: dict[str, Any] = WATER) -> Scene:
    scene = {
        "simulation": {"spacing": D, "duration": duration, "report_forces": True},
        "materials": {"fluid": material},
        "fluids": [
            {
                "material": "fluid",
                "shape": "box",
                "center": [0.0, DEPTH / 2, 0.0],
                "size": [SIDE, DEPTH, SIDE],
            }
        ],
        "colliders": [
            {
                "shape": "box",
                "container": True,
                "open": ["+y"],
                "center": [0.0, DEPTH, 0.0],
                "size": [SIDE, 2 * DEPTH, SIDE],
                "contact": "slip",
            },
            {"shape": "sphere", "radius": RADIUS, "dynamic": True, "contact": "slip", **ball},
        ],
    }
    return Scene.model_validate(scene)


def _level(simulation: Simulation) -> float:
    """Height of the water, m, by what stands within 5 spacings of the walls, away from the ball."""
    x = np.asarray(simulation.particles["position"])
    inner = SIDE / 2 - 5 * D
    outside = np.abs(x[:, [0, 2]]).max(axis=1) > inner
    return float(outside.sum() * D**3 / (SIDE**2 - (2 * inner) ** 2))


@pytest.mark.parametrize("density", [300.0, 600.0, 900.0])
def test_a_ball_floats_as_archimedes_says(density: float) -> None:
    """It starts a spacing too high and has 1.5 s to settle; the mean of the last 0.5 s counts."""
    h = _archimedes(density)
    ball = {"center": [0.0, DEPTH + RADIUS - h + D, 0.0], "density": density}
    simulation = Simulation(_tank(ball, 2.0))
    depths = []
    for frame in simulation.frames():
        lowest = simulation.bodies.states[1].position[1] - RADIUS
        if frame.time > 1.5:
            depths.append(_level(simulation) - lowest)
    error = float(np.mean(depths)) / h - 1.0
    bar = "within 0.05" if density == 600.0 else "as for 600"
    report(f"floating: error of the depth at {density:g} kg/m³", error, bar)
    report(f"floating: it bobs by, at {density:g} kg/m³", float(np.std(depths)) / h, "of the depth")
    picture(f"floating-{density:g}", simulation.scene, simulation.snapshot())
    assert abs(error) < 0.05


def test_a_heavy_ball_sinks_and_lies_on_the_floor() -> None:
    """At rest the fluid carries what it displaces, on average over a quarter of a second."""
    ball = {"center": [0.0, DEPTH - RADIUS - D, 0.0], "density": 2000.0}
    simulation = Simulation(_tank(ball, 1.2))
    carried, times = [], []
    while simulation.frame < simulation.scene.frames:
        dt = simulation.step()["dt"]
        if simulation.time > 0.9:
            carried.append(simulation.collider_forces[1].force[1] * dt)
            times.append(dt)
    state = simulation.bodies.states[1]
    buoyancy = sum(carried) / sum(times) / (1000.0 * 9.81 * _cap(2.0 * RADIUS))
    report("sinking: height above the floor over the radius", state.position[1] / RADIUS, "1")
    report("sinking: buoyancy on the floor over Archimedes'", buoyancy, "fluid cannot get below")
    assert state.position[1] == pytest.approx(RADIUS, abs=0.1 * D)
    assert np.linalg.norm(state.velocity) < 0.01


def test_the_floor_feels_the_weight_of_a_column() -> None:
    scene = Scene.load("column").model_dump(exclude_unset=True)
    scene["simulation"]["report_forces"] = True
    simulation = Simulation(Scene.model_validate(scene))
    density = next(iter(simulation.scene.materials.values())).density
    weight = density * simulation.particles.count * simulation.scene.simulation.spacing**3 * 9.81
    felt, total = 0.0, 0.0
    while simulation.frame < simulation.scene.frames:
        dt = simulation.step()["dt"]
        if simulation.frame >= simulation.scene.frames // 2:
            felt -= dt * sum(force.force[1] for force in simulation.collider_forces)
            total += dt
    error = felt / total / weight - 1.0
    report("column: error of the weight that its tank feels", error, "within 0.01")
    assert abs(error) < 0.01


def _momenta(simulation: Simulation, mass: float) -> tuple[Any, Any]:
    x = np.array(simulation.particles["position"], dtype=np.float64)
    p = mass * np.array(simulation.particles["velocity"], dtype=np.float64)
    linear, angular = p.sum(0), np.cross(x, p).sum(0)
    for s in simulation.bodies.states.values():
        linear = linear + s.properties.mass * s.velocity
        angular = angular + np.cross(s.position, s.properties.mass * s.velocity) + s.spin
    return linear, angular


@pytest.mark.parametrize("contact", ["slip", "sticky"])
@pytest.mark.parametrize("viscosity", [0.0, 50.0])
def test_a_body_hit_by_a_blob_in_free_space(viscosity: float, contact: str) -> None:
    """Off centre, so that it spins."""
    d = 0.02
    scene = Scene.model_validate(
        {
            "simulation": {"spacing": d, "duration": 0.5, "gravity": [0.0, 0.0, 0.0]},
            "materials": {"m": {"density": 1000.0, "viscosity": viscosity}},
            "fluids": [
                {
                    "material": "m",
                    "shape": "box",
                    "center": [-0.25, 0.07, 0.03],
                    "size": [0.16, 0.16, 0.16],
                    "velocity": [1.0, 0.0, 0.0],
                }
            ],
            "colliders": [
                {
                    "shape": "box",
                    "center": [0.0, 0.0, 0.0],
                    "size": [0.2, 0.3, 0.16],
                    "dynamic": True,
                    "density": 600.0,
                    "contact": contact,
                }
            ],
        }
    )
    simulation = Simulation(scene)
    mass = 1000.0 * d**3
    linear, angular = _momenta(simulation, mass)
    worst, turned = 0.0, 0.0
    while simulation.frame < scene.frames:
        simulation.step()
        p, moment = _momenta(simulation, mass)
        worst = max(worst, float(np.linalg.norm(p - linear) / np.linalg.norm(linear)))
        turned = max(turned, float(np.linalg.norm(moment - angular) / np.linalg.norm(angular)))
    name = f"{contact}, viscosity {viscosity:g}"
    report(f"free space: change of momentum, {name}", worst, "within 1e-3")
    report(f"free space: change of angular momentum, {name}", turned, "printed")
    assert simulation.bodies.states[0].velocity[0] > 0.1
    assert worst < 1e-3


def test_honey_drags_a_ball_along() -> None:
    """A ball as heavy as honey, without gravity, in a block of it that moves.

    Both keep their momentum, so the speed of a common motion is known; Stokes' drag alone would bring
    the ball there in some 0.2 s. Walls never pull, and without gravity no pressure closes the cavity
    that opens behind the ball, so it takes longer. The bar only says that it is carried along.
    """
    scene = _tank({"center": [0.0, DEPTH / 2, 0.0], "density": 1400.0, "contact": "sticky"}, 0.5)
    data = scene.model_dump(exclude_unset=True)
    data["simulation"]["gravity"] = [0.0, 0.0, 0.0]
    data["materials"]["fluid"] = {"density": 1400.0, "viscosity": 10.0}
    data["fluids"][0]["velocity"] = [0.0, 0.0, 0.3]
    data["colliders"] = data["colliders"][1:]
    simulation = Simulation(Scene.model_validate(data))
    share = (
        simulation.particles.count * D**3 / (simulation.particles.count * D**3 + _cap(2.0 * RADIUS))
    )
    for _ in simulation.frames():
        pass
    speed = simulation.bodies.states[0].velocity[2] / (0.3 * share)
    report("honey: speed of the ball over that of a common motion", speed, "0.7 to 1.02")
    assert 0.7 < speed < 1.02


def test_a_ball_sinks_in_a_pipe_of_syrup_as_faxen_says(tmp_path: Path) -> None:
    """Stokes' speed, less what the wall of a pipe of three times its radius takes (Faxén 1923).

    The series is that of Happel and Brenner 1983 for a ball on the axis. Particles rest half a spacing
    from walls, so the ball is felt as if it were 4.5 spacings large, in a pipe of 11.5: that slows it
    down to 0.7 of the theory, and a coarser ball would be slower still.
    """
    radius, wall, depth, eta = 4 * D, 12 * D, 36 * D, 20.0
    write_mesh(tmp_path / "pipe.ply", pipe(wall, 2 * depth, 64))
    shape = {"shape": "cylinder", "center": (0, depth / 2, 0), "radius": wall, "height": depth}
    ball = {"shape": "sphere", "radius": radius, "center": (0, 0.55 * depth, 0), "density": 3000.0}
    scene = Scene.model_validate(
        {
            "simulation": {"spacing": D, "duration": 0.3},
            "solver": {"velocity_iterations": 120},
            "materials": {"syrup": {"density": 1000.0, "viscosity": eta}},
            "fluids": [{"material": "syrup", "relax": True, **shape}],
            "colliders": [
                {
                    "shape": "mesh",
                    "file": str(tmp_path / "pipe.ply"),
                    "mode": "container",
                    "contact": "sticky",
                },
                {"dynamic": True, "contact": "sticky", **ball},
            ],
        }
    )
    simulation = Simulation(scene)
    speeds = [-simulation.bodies.states[1].velocity[1] for _ in simulation.frames()]
    stokes = 2.0 / 9.0 * 2000.0 * 9.81 * radius**2 / eta
    share = radius / wall
    faxen = 1.0 - 2.10444 * share + 2.08877 * share**3 - 0.94813 * share**5 - 1.372 * share**6
    ratio = float(np.mean(speeds[-4:])) / (stokes * faxen)
    report("syrup: speed of a ball in a pipe over Faxén's", ratio, "0.5 to 1.2")
    assert 0.5 < ratio < 1.2
