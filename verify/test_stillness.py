"""Fluids that stand still in a box or a bowl, whatever they are made of and however long steps are."""

from math import inf
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from figures import report

from viscoil import Scene, Simulation
from viscoil.geometry.meshes import write_mesh
from viscoil.geometry.meshes.builtin.sweeps import lathe

D = 0.02  # m
FLUIDS: dict[str, object] = {
    "water": "water",
    "honey": "honey",
    "syrup-1": {"density": 1000.0, "viscosity": 1.0},
    "syrup-100": {"density": 1000.0, "viscosity": 100.0},
    "ketchup": "ketchup",
    "thick-cream": "thick-cream",
    "dough": "dough",
}


def simulate(
    material: object, d: float, fluid: dict[str, Any], solid: dict[str, Any]
) -> Simulation:
    """A fluid of a preset, or of a material of its own, in one collider."""
    own = not isinstance(material, str)
    scene = {
        "simulation": {"spacing": d, "duration": 9.0},
        "materials": {"fluid": material} if own else {},
        "fluids": [{"material": "fluid" if own else material, **fluid}],
        "colliders": [solid],
    }
    return Simulation(Scene.model_validate(scene))


def box(material: object, d: float, contact: str) -> Simulation:
    """11 layers each way in a box that they fill to half of its height."""
    edge = 11 * d
    fluid = {"shape": "box", "center": (0, edge / 2, 0), "size": (edge, edge, edge)}
    walls = {"shape": "box", "container": True, "open": ["+y"], "contact": contact}
    size = {"center": (0, edge, 0), "size": (edge, 2 * edge, edge)}
    return simulate(material, d, fluid, {**walls, **size})


def bowl(material: object, contact: str, folder: Path) -> Simulation:
    """10 layers in an open mesh, a hemisphere of radius 0.25 m; its shell is a spacing thick."""
    radius = 0.25 - 0.5 * D
    angle = np.linspace(0.0, np.arccos(1.0 - 10 * D / radius), 25)
    arc = radius * np.stack([np.sin(angle), 1.0 - np.cos(angle)], axis=1)
    write_mesh(folder / "filling.ply", lathe([*arc, (0.0, 10 * D)], 72))
    fluid = {
        "shape": "mesh",
        "file": str(folder / "filling.ply"),
        "center": (0.0, 0.5 * D, 0.0),
        "relax": True,
    }
    shell = {"shape": "mesh", "file": "builtin:bowl", "scale": 0.5, "mode": "shell"}
    return simulate(material, D, fluid, {**shell, "contact": contact})


def stand(simulation: Simulation) -> list[float]:
    """Mean speeds, m/s, after 1, 3 and 5 s."""
    speeds = []
    for time in (1.0, 3.0, 5.0):
        while simulation.time < time - 1e-9:
            simulation.step()
        velocity = simulation.particles["velocity"].astype(np.float64)
        speeds.append(float(np.linalg.norm(velocity, axis=1).mean()))
    return speeds


def tell(name: str, speeds: list[float]) -> None:
    for time, speed in zip((1, 3, 5), speeds, strict=True):
        bar = "aim: 0.1" if time == 5 else ""
        report(f"stillness: {name}, after {time} s, mm/s", 1e3 * speed, bar)


@pytest.mark.parametrize("contact", ["slip", "sticky"])
@pytest.mark.parametrize("name", FLUIDS)
def test_fluid_in_a_box_comes_to_rest(name: str, contact: str) -> None:
    """The aim is 0.1 mm/s; what fails here is unrest that does not end."""
    speeds = stand(box(FLUIDS[name], D, contact))
    tell(f"{name}, {contact}", speeds)
    assert speeds[-1] < max(speeds[0], 2e-4)
    assert speeds[-1] < 3e-3


@pytest.mark.parametrize("contact", ["slip", "sticky"])
@pytest.mark.parametrize("name", ["water", "honey", "syrup-1", "thick-cream"])
def test_fluid_in_a_mesh_bowl_comes_to_rest(name: str, contact: str, tmp_path: Path) -> None:
    speeds = stand(bowl(FLUIDS[name], contact, tmp_path))
    tell(f"{name} in a mesh bowl, {contact}", speeds)
    assert speeds[-1] < 1e-4


SEQUENCES = {"down and up": [1 / 120, 1e-3, 1e-4, 1e-5, 1e-4, 1e-3], "to and fro": [1 / 120, 1e-4]}


@pytest.mark.parametrize("sequence", SEQUENCES)
@pytest.mark.parametrize("name", ["water", "honey", "gel"])
@pytest.mark.parametrize("d", [0.02, 0.05, 0.1])
def test_steps_of_any_length_leave_it_at_rest(d: float, name: str, sequence: str) -> None:
    """No particle is faster than 2 g Δt_max and no energy comes in, whichever steps follow each other.

    Energy is kinetic and potential. A fluid stores none elsewhere, so that it may never grow; a gel
    gives back what its springs took, and may never have more than at the start.
    """
    gel = {"modulus": 1e5, "relaxation_time": inf, "solvent_viscosity": 10.0}
    laws = {"water": {"viscosity": 1e-3}, "honey": {"viscosity": 10.0}, "gel": gel}
    simulation = box({"density": 1000.0, **laws[name]}, d, "slip")
    largest, gain = 0.0, 0.0
    lowest = energy(simulation)
    for dt in 3 * [dt for dt in SEQUENCES[sequence] for _step in range(4)]:
        simulation.step(dt)
        velocity = simulation.particles["velocity"].astype(np.float64)
        largest = max(largest, float(np.linalg.norm(velocity, axis=1).max()))
        gain = max(gain, energy(simulation) - lowest)
        if name != "gel":
            lowest = min(lowest, energy(simulation))
    gain /= 9.81 * 11 * d
    label = f"any step: {name}, {sequence}, d = {d} m"
    report(f"{label}, m/s", largest, "at most 0.1635")
    report(f"{label}: energy gained, of m g H", gain, "at most 0.001")
    assert largest < 2 * 9.81 / 120
    assert gain < 1e-3


def energy(simulation: Simulation) -> float:
    """Kinetic and potential energy per mass, J/kg; all particles have the same mass."""
    x = simulation.particles["position"].astype(np.float64)
    u = simulation.particles["velocity"].astype(np.float64)
    return float((0.5 * (u**2).sum(axis=1) + 9.81 * x[:, 1]).mean())


def test_light_below_heavy_turns_over() -> None:
    """800 below 1000 kg/m³ without viscosity, eight layers each, after 3 s.

    By linear theory the interface of a tank L wide grows by √(A g π/L) = 4.6 /s with A = 1/9. It starts
    with a ripple of 0.3 spacings: a lattice without one is so even that nothing but rounding would
    grow, which takes as long again.
    """
    edge = 8 * D
    fluids, densities = [], {"light": 800.0, "heavy": 1000.0}
    for k, name in enumerate(densities):
        place = {"center": (0, (k + 0.5) * edge, 0), "size": (edge, edge, edge)}
        fluids.append({"material": name, "shape": "box", **place})
    walls = {"shape": "box", "container": True, "open": ["+y"], "contact": "slip"}
    size = {"center": (0, 2 * edge, 0), "size": (edge, 4 * edge, edge)}
    scene = {
        "simulation": {"spacing": D, "duration": 3.0},
        "materials": {n: {"density": rho, "viscosity": 0.0} for n, rho in densities.items()},
        "fluids": fluids,
        "colliders": [{**walls, **size}],
    }
    simulation = Simulation(Scene.model_validate(scene))
    x = np.array(simulation.particles["position"])
    x[:, 1] += 0.3 * D * np.cos(np.pi * (x[:, 0] / edge + 0.5))
    simulation.particles["position"] = x
    for frame in simulation.frames():
        y, light = frame.channels["position"][:, 1], frame.channels["material"] == 0
        above = float(y[light].mean() - y[~light].mean()) / edge
        if frame.frame % 30 == 0:
            name = (
                f"800 below 1000 kg/m³, after {frame.time:g} s: centre of the light above the heavy"
            )
            report(name, above, "from −1 to more than 0 after 3 s")
    assert above > 0.0
