"""Water has no channels and no scratch for stress, and is none the worse for it."""

import dataclasses
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from simulation_rigs import NOZZLE

from viscoil.core import memory
from viscoil.core.checkpoint import load_checkpoint
from viscoil.core.compute import view
from viscoil.core.errors import DivergedError
from viscoil.materials.registry import element
from viscoil.scene import Material, Scene
from viscoil.simulation.simulation import Simulation
from viscoil.solvers.dcpbd.arrays import (
    IDLE_WITHOUT_STRESS,
    STRESS,
    Memory,
    Stencil,
    Unknowns,
    carry_stress,
)
from viscoil.solvers.dcpbd.coefficients import coefficients
from viscoil.solvers.dcpbd.solver import DCPBD

D = 0.02
WATER = {"density": 1000.0, "viscosity": 0.0}
WITH_CHANNELS = [{"type": "frames", "channels": ("position", "conformation")}]

pytestmark = pytest.mark.usefixtures("compute")


def splash(**tables: Any) -> Scene:
    """A block on the floor, a jet onto it, and a box that swallows what spreads."""
    out = {"min": (-0.11, -1.0, -0.11), "max": (0.11, 1.0, 0.11)}
    jet = {**NOZZLE, "material": "liquid", "radius": 0.05, "speed": 2.0}
    body = {
        "shape": "box",
        "material": "liquid",
        "center": (0.0, 0.1, 0.0),
        "size": (0.2, 0.2, 0.2),
    }
    return Scene.model_validate(
        {
            "simulation": {"spacing": D, "frames": 20, "kill_bounds": out},
            "materials": {"liquid": WATER},
            "fluids": [body],
            "emitters": [jet],
            "colliders": [{"shape": "plane", "contact": "slip"}],
            **tables,
        }
    )


def bits(simulation: Simulation) -> dict[str, bytes]:
    p = simulation.particles
    return {name: p[name].tobytes() for name in p if name not in STRESS}


def run(simulation: Simulation, steps: int) -> Simulation:
    for _ in range(steps):
        simulation.step()
    return simulation


def per_particle(simulation: Simulation) -> float:
    """Bytes of all arrays that grow with the particles."""
    held = memory.held({"particles": simulation.particles, "solver": simulation._solver})
    return sum(n for name, n in held.items() if "rows" not in name) / simulation.particles.capacity


def test_water_lacks_them_and_moves_to_the_same_bits() -> None:
    """As with the channels, which a scene gets that writes them; creation and removal included."""
    lean, full = Simulation(splash()), Simulation(splash(outputs=WITH_CHANNELS))
    assert not carry_stress(lean.particles)
    assert carry_stress(full.particles)
    run(lean, 60)
    run(full, 60)
    assert lean.particles.next_id > 1000
    assert lean.particles.count < lean.particles.next_id
    assert bits(lean) == bits(full)
    assert (full.particles["conformation"] == np.array(STRESS["conformation"].rest)).all()


def test_no_kernel_touches_the_idle_arrays() -> None:
    simulation = run(Simulation(splash()), 3)
    solver = simulation._solver
    assert isinstance(solver, DCPBD)
    workspace = solver._context.workspace
    found = set()
    for kind in (Stencil, Memory, Unknowns):
        for field in dataclasses.fields(kind):
            if field.name in IDLE_WITHOUT_STRESS:
                array = getattr(workspace._views[kind], field.name)
                assert array.shape == (1,), field.name
                assert not view(array).any(), field.name
                found.add(field.name)
    assert found == IDLE_WITHOUT_STRESS


def test_water_takes_half_the_memory() -> None:
    """By the table of arrays: about 330 bytes, pairs included, against about 690."""
    scene = splash(emitters=[])
    lean, full = (
        run(Simulation(s), 2) for s in (scene, splash(emitters=[], outputs=WITH_CHANNELS))
    )
    assert per_particle(lean) < 0.55 * per_particle(full)
    assert set(memory.held(lean.particles)) >= {"arrays.position", "alive"}


def test_switching_on_at_run_time() -> None:
    """Channels come at rest with the first step: the same bits as if they had always been there."""
    late, early = Simulation(splash()), Simulation(splash(outputs=WITH_CHANNELS))
    for simulation in (late, early):
        run(simulation, 4)
        simulation.set_material("liquid", viscosity=5.0)
        run(simulation, 4)
    assert carry_stress(late.particles)
    for name in early.particles:
        assert early.particles[name].tobytes() == late.particles[name].tobytes(), name
    assert np.ptp(late.particles["conformation"][:, 3]) > 0.0 or late.particles["stress"].any()


@pytest.mark.parametrize("switch", [False, True])
def test_resuming(tmp_path: Path, switch: bool) -> None:
    """A checkpoint of water has no such channels; what was switched on comes back as well."""
    first = run(Simulation(splash()), 4)
    if switch:
        first.set_material("liquid", viscosity=5.0)
    first.save(tmp_path / "a.npz")
    assert not set(load_checkpoint(tmp_path / "a.npz").arrays) & set(STRESS)
    second = Simulation(splash(), checkpoint=tmp_path / "a.npz")
    assert not carry_stress(second.particles)
    run(first, 4)
    run(second, 4)
    assert carry_stress(first.particles) == carry_stress(second.particles) == switch
    assert bits(first) == bits(second)
    first.save(tmp_path / "b.npz")
    third = Simulation(splash(), checkpoint=tmp_path / "b.npz")
    assert carry_stress(third.particles) == switch


def test_going_back_keeps_channels_that_came_since() -> None:
    """At rest, which for a conformation is the identity and not zero."""
    simulation = Simulation(splash())
    simulation.set_material("liquid", viscosity=5.0)
    simulation.step()
    simulation.particles["velocity"] = np.nan
    with pytest.raises(DivergedError):
        simulation.step()
    assert simulation.frame == 0
    assert carry_stress(simulation.particles)
    assert (simulation.particles["conformation"] == np.array(STRESS["conformation"].rest)).all()
    run(simulation, 2)


amounts = st.one_of(st.just(0.0), st.floats(1e-6, 1e6))


@given(viscosity=amounts, solvent=amounts, dt=st.floats(1e-5, 1.0))
def test_every_active_material_carries_stress(viscosity: float, solvent: float, dt: float) -> None:
    """What the solver takes for active has channels, and nothing else of ordinary numbers has."""
    material = Material(density=1000.0, viscosity=viscosity, solvent_viscosity=solvent)
    assert coefficients(element(material), dt).active == material.carries_stress
    elastic = Material(density=1000.0, modulus=viscosity + 1.0, relaxation_time=dt)
    assert elastic.carries_stress
    assert Material(density=1000.0, compliance=viscosity, relaxation_time=0.0).carries_stress
