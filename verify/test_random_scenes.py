"""Random valid scenes: none diverges that a shorter step saves, and none gains energy from nowhere."""

from typing import Any

import numpy as np
import pytest
from figures import report

from viscoil import DivergedError, Scene, SceneError, Simulation
from viscoil.colliders import ColliderSet
from viscoil.sampling.seeding import seed as seed_particles
from viscoil.scene._toml import tomllib
from viscoil.scene.loader import builtin_scenes

SCENES = 200
STEPS = 50
MOST = 4000  # particles
G = 9.81


def material(rng: np.random.Generator) -> dict[str, Any]:
    """Anything from water to tar, and from egg white to a stiff gel."""
    density = float(rng.uniform(300.0, 3000.0))
    kind = rng.choice(["inviscid", "viscous", "viscoelastic", "elastic"])
    if kind == "inviscid":
        return {"density": density, "viscosity": 0.0}
    if kind == "viscous":
        return {"density": density, "viscosity": float(10.0 ** rng.uniform(-3.0, 4.0))}
    relaxation = float("inf") if kind == "elastic" else float(10.0 ** rng.uniform(-2.0, 1.0))
    return {
        "density": density,
        "modulus": float(10.0 ** rng.uniform(1.0, 5.0)),
        "relaxation_time": relaxation,
        "solvent_viscosity": float(10.0 ** rng.uniform(-2.0, 1.0)),
    }


def contact(rng: np.random.Generator) -> dict[str, Any]:
    kind = str(rng.choice(["slip", "sticky", "friction"]))
    return {
        "contact": kind,
        **({"friction": float(rng.uniform(0, 1))} if kind == "friction" else {}),
    }


def made_up(rng: np.random.Generator) -> dict[str, Any]:
    """Up to three bodies of fluid in a box that is open or closed, tight or wide, or on a plane."""
    d = float(10.0 ** rng.uniform(-2.3, -1.0))
    counts = rng.integers(3, 10, size=3)
    number = int(rng.integers(1, 4))
    size = counts * d
    fluids = [
        {
            "material": f"m{k}",
            "shape": "box",
            "size": tuple(size.tolist()),
            "center": (0.0, float((k + 0.5) * size[1]), 0.0),
            "velocity": tuple(rng.uniform(-1.0, 1.0, size=3).tolist()),
        }
        for k in range(number)
    ]
    slack = 1.0 if rng.random() < 0.5 else float(rng.uniform(1.0, 2.0))
    height = size[1] * number * float(rng.choice([1.0, 1.5, 2.0]))
    box = {
        "shape": "box",
        "container": True,
        "open": [] if rng.random() < 0.3 else ["+y"],
        "size": (float(slack * size[0]), float(height), float(slack * size[2])),
        "center": (0.0, float(0.5 * height), 0.0),
        **contact(rng),
    }
    floor = {"shape": "plane", **contact(rng)}
    step = rng.choice([0.0, 1 / 120, 1 / 480, 1 / 2000])
    return {
        "simulation": {
            "name": "made-up", "spacing": d, "duration": 9.0,
            **({"time_step": float(step)} if step else {}),
        },
        "materials": {f"m{k}": material(rng) for k in range(number)},
        "fluids": fluids,
        "colliders": [box if rng.random() < 0.7 else floor],
    }  # fmt: skip


def text_of(name: str) -> str:
    return Scene.load(name).to_toml()


def changed(rng: np.random.Generator) -> dict[str, Any]:
    """A built-in scene of a few thousand particles with other materials, and other contacts."""
    name = str(rng.choice([n for n in builtin_scenes() if 'shape = "mesh"' not in text_of(n)]))
    tables = tomllib.loads(text_of(name))
    tables["outputs"] = []
    tables["simulation"]["name"] = name
    known = tables.get("materials", {})
    used = {body["material"] for group in ("fluids", "emitters") for body in tables.get(group, ())}
    tables["materials"] = {
        key: material(rng) if rng.random() < 0.7 else known[key] for key in used if key in known
    } | {key: value for key, value in known.items() if key not in used}
    for key in used - known.keys():
        tables["materials"][key] = material(rng)
    for collider in tables.get("colliders", ()):
        if rng.random() < 0.5 and not collider.get("dynamic"):
            collider.pop("friction", None)
            collider.pop("contact", None)
            collider.update(contact(rng))
    return tables


def scene_of(seed: int) -> Scene:
    """The scene of that number; every fourth is a built-in one, as coarse as it takes to be small."""
    rng = np.random.default_rng(seed)
    if seed % 4:
        return Scene.model_validate(made_up(rng))
    tables = changed(rng)
    spacing = tables["simulation"]["spacing"]
    for factor in (1.0, 1.5, 2.0, 3.0, 4.0):
        tables["simulation"]["spacing"] = factor * spacing
        scene = Scene.model_validate(tables)
        if len(seed_particles(scene, ColliderSet(scene.colliders)).position) <= MOST:
            return scene
    raise SceneError("too many particles")


def energy(simulation: Simulation) -> float:
    """Kinetic energy and that of height, J."""
    p = simulation.particles
    material_of = np.asarray(p["material"])
    density = np.array([m.density for m in simulation.scene.materials.values()])[material_of]
    size = np.asarray(p["size"], np.float64) if "size" in p else np.ones(len(material_of))
    mass = density * (size * simulation.scene.simulation.spacing) ** 3
    speed = np.linalg.norm(np.asarray(p["velocity"], np.float64), axis=1)
    g = np.array(simulation.scene.simulation.gravity)
    height = -np.asarray(p["position"], np.float64) @ g
    return float((mass * (0.5 * speed**2 + height)).sum())


def advance(scene: Scene) -> tuple[Simulation, float]:
    """After all steps, and the energy of the start, J."""
    simulation = Simulation(scene)
    start = energy(simulation)
    for _ in range(STEPS):
        simulation.step()
    return simulation, start


def halved(scene: Scene) -> Scene:
    settings = scene.simulation
    half = {"max_time_step": 0.5 * settings.max_time_step}
    if settings.time_step:
        half["time_step"] = 0.5 * settings.time_step
    return scene.model_copy(update={"simulation": settings.model_copy(update=half)})


@pytest.mark.parametrize("seed", range(SCENES))
def test_random_scene(seed: int) -> None:
    """50 steps. Where nothing but gravity drives it, its energy never exceeds that of the start.

    What the density constraint lifts by a thousandth of the body's height is allowed for, and what a
    step of gravity is off by, g Δt in speed.
    """
    try:
        scene = scene_of(seed)
    except (SceneError, ValueError) as error:
        pytest.skip(f"not valid: {error}")
    try:
        simulation, start = advance(scene)
    except DivergedError as error:
        report(f"random scene {seed} ({scene.name}) diverges: {error}", 1, "at most 0")
        with pytest.raises(DivergedError):
            advance(halved(scene))
        return
    moving = any(c.motion for c in scene.colliders) or any(
        getattr(c, "dynamic", False) for c in scene.colliders
    )
    if scene.emitters or scene.fields or moving or not simulation.particles.count:
        return
    p = simulation.particles
    mass = sum(
        m.density * scene.simulation.spacing**3 * int((np.asarray(p["material"]) == k).sum())
        for k, m in enumerate(scene.materials.values())
    )
    extent = float(np.ptp(np.asarray(p["position"], np.float64)[:, 1])) + scene.simulation.spacing
    allowed = mass * G * (2e-3 * extent) + 0.5 * mass * (G * scene.simulation.max_time_step) ** 2
    gain = energy(simulation) - start
    report(
        f"random scene {seed} ({scene.name}): energy gained, of what is allowed",
        gain / allowed,
        "at most 1",
    )
    assert gain <= allowed
