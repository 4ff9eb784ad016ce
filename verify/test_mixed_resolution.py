"""Two resolutions in one scene: interfaces at rest, rotation, shear, and oil on water."""

from dataclasses import dataclass
from math import pi, sqrt
from typing import Any

import numpy as np
import pytest
from figures import by_id, picture, report

from viscoil import Scene, Simulation
from viscoil.core.timing import PhaseClock
from viscoil.neighbors.levels import MixedNeighbors
from viscoil.particles.store import SIZE, Particles
from viscoil.rheology.slab import free_state
from viscoil.scene import DcpbdSettings, Material
from viscoil.solvers.registry import make_solver

D = 0.01
WIDTH, HEIGHT = 28 * D, 40 * D


def tank(layout: str, spacings: tuple[float, float], materials: tuple[str, str]) -> Scene:
    """A tank with slip walls, filled by two boxes: the first below or left of the second."""
    half = [WIDTH, HEIGHT / 2, WIDTH] if layout == "over" else [WIDTH / 2, HEIGHT, WIDTH]
    axis = 1 if layout == "over" else 0
    fluids = []
    for k, (d, material) in enumerate(zip(spacings, materials, strict=True)):
        center = [WIDTH / 2, HEIGHT / 2, WIDTH / 2]
        center[axis] = (0.5 + k) * half[axis]
        box = {"shape": "box", "center": center, "size": half}
        fluids.append({"material": material, "spacing": d, **box})
    container = {
        "shape": "box",
        "container": True,
        "open": ["+y"],
        "center": [WIDTH / 2, HEIGHT, WIDTH / 2],
        "size": [WIDTH, 2 * HEIGHT, WIDTH],
        "contact": "slip",
    }
    simulation = {"spacing": D, "duration": 3.0, "name": f"tank-{layout}"}
    data = {"simulation": simulation, "fluids": fluids, "colliders": [container]}
    return Scene.model_validate(data)


@dataclass(frozen=True)
class Rest:
    """What a tank does that should do nothing."""

    particles: int
    density_error: float  # mean
    loss: float  # share of the height
    fastest: float  # over √(gH)
    moved: tuple[float, float]  # RMS, in spacings: at the interface, and elsewhere
    depth: float  # of the deepest on the other side of the interface, in mean spacings


def _rest(layout: str, spacings: tuple[float, float]) -> Rest:
    scene = tank(layout, spacings, ("water", "water"))
    simulation = Simulation(scene)
    start = simulation.snapshot()
    errors = []
    while simulation.frame < scene.frames:
        errors.append(simulation.step()["density_error_mean"])
    end = simulation.snapshot()
    picture(f"mixed-{layout}-{spacings[0] / D:g}-{spacings[1] / D:g}", scene, end)
    size = by_id(start, "size") if spacings[0] != spacings[1] else np.ones(len(by_id(start)))
    d = size * min(spacings)
    x0, x = by_id(start), by_id(end)
    axis, middle = (1, HEIGHT / 2) if layout == "over" else (0, WIDTH / 2)
    moved = np.linalg.norm(x - x0, axis=1) / d
    near = np.abs(x0[:, axis] - middle) < 4 * D
    across = np.where(x0[:, axis] < middle, x[:, axis] - middle, middle - x[:, axis])
    below = x[:, 1] < HEIGHT - 4 * D  # at the free surface they roam
    return Rest(
        particles=len(x),
        density_error=float(np.mean(errors)),
        loss=1.0 - float((d**3 * x[:, 1]).sum() / (d**3 * x0[:, 1]).sum()),
        fastest=float(np.linalg.norm(by_id(end, "velocity"), axis=1).max()) / sqrt(9.81 * HEIGHT),
        moved=(_rms(moved[near]), _rms(moved[~near])),
        depth=float(across[below].max()) / float(np.mean(spacings)),
    )


def _rms(values: np.ndarray) -> float:
    return float(np.sqrt((values**2).mean()))


@pytest.mark.parametrize("layout", ["over", "beside"])
def test_an_interface_of_two_to_one_stays_at_rest(layout: str) -> None:
    """Fine over coarse, and beside it: the bars of a resting column, and no mixing.

    Everywhere particles move by a spacing or two while the lattice settles into disorder. Mixing would
    show as several times that at the interface (three to four with plain volumes), and as particles
    deep on the other side (six mean spacings). What an imagined interface does in a tank of one
    resolution is printed beside it.
    """
    rest = _rest(layout, (2 * D, D))
    label = f"mixed, fine {layout} coarse"
    report(f"{label}: particles", rest.particles, "about 20 000")
    report(f"{label}: mean density error", rest.density_error, "under 0.01")
    report(f"{label}: share of the height lost", rest.loss, "under 0.01")
    report(f"{label}: max speed over √(gH)", rest.fastest, "under 0.1")
    report(f"{label}: RMS displacement at the interface", rest.moved[0], "spacings")
    report(f"{label}: the same elsewhere", rest.moved[1], "not much less")
    report(f"{label}: deepest on the other side", rest.depth, "mean spacings; under 2.5")
    for d in (2 * D, D):
        uniform = _rest(layout, (d, d))
        label = f"all at {d:g} m, {layout}"
        report(f"{label}: RMS displacement at the imagined interface", uniform.moved[0], "printed")
        report(f"{label}: the same elsewhere", uniform.moved[1], "printed")
        report(f"{label}: deepest on the other side", uniform.depth, "spacings; printed")
    assert rest.density_error < 0.01
    assert abs(rest.loss) < 0.01
    assert rest.fastest < 0.1
    assert rest.moved[0] < 2.0 * rest.moved[1]
    assert rest.depth < 2.5


def test_a_mixed_spinning_block_keeps_its_angular_momentum() -> None:
    """As the uniform block of `test_rotation`: half of it at twice the spacing."""
    d = 0.02
    half = [8 * d, 16 * d, 16 * d]
    stiff = {"density": 1000.0, "relaxation_time": 0.0, "compliance": 0.0}
    scene = Scene.model_validate(
        {
            "simulation": {
                "spacing": d,
                "duration": 1.0,
                "gravity": [0.0, 0.0, 0.0],
                "time_step": 1 / 240,
            },
            "solver": {
                "velocity_iterations": 20,
                "velocity_tolerance": 0.0,
                "position_iterations": 20,
            },
            "materials": {"stiff": stiff},
            "fluids": [
                {
                    "material": "stiff",
                    "shape": "box",
                    "center": [x, 0.0, 0.0],
                    "size": half,
                    "spacing": spacing,
                    "angular_velocity": [0.0, 0.0, 10.0],
                    "velocity": [0.0, 10.0 * x, 0.0],
                }
                for x, spacing in ((-4 * d, d), (4 * d, 2 * d))
            ],
        }
    )
    simulation = Simulation(scene)
    before = simulation.snapshot()
    for frame in simulation.frames():
        last = frame
    kept = _angular(last) / _angular(before)
    u, m = by_id(last, "velocity"), by_id(last, "size")[:, None] ** 3
    drift = float(np.linalg.norm((m * u).sum(0)) / (m * np.linalg.norm(u, axis=1)[:, None]).sum())
    report("mixed: angular momentum left after 1 s", kept, "at least 0.95, as in one resolution")
    report("mixed: linear momentum drift", drift, "at most 1e-5")
    assert kept >= 0.95
    assert drift <= 1e-5


def _angular(snapshot: Any) -> float:
    x, u, m = by_id(snapshot), by_id(snapshot, "velocity"), by_id(snapshot, "size")[:, None] ** 3
    x, u = x - (m * x).sum(0) / m.sum(), u - (m * u).sum(0) / m.sum()
    return float((m * np.cross(x, u)).sum(0)[2])


@pytest.mark.parametrize("ratio", [1, 2, 3])
def test_a_shear_wave_sees_the_same_viscosity(ratio: int) -> None:
    """Viscosity from the decay of a shear wave across both interfaces of a periodic slab.

    Half a wave length is coarse, half fine; 48 fine spacings make up the wave, so that the coarse
    half has 24 or 16 of its own to the wave.
    """
    per_wave, eta, rho, dt = 48, 100.0, 1000.0, 1e-3
    d = 0.01
    width, length = 7 * d * ratio, per_wave * d
    depth = 12 * d
    coarse, fine = (
        _fill((width, length / 2, depth), s * d, y) for s, y in ((ratio, 0.0), (1, 1.0))
    )
    x = np.concatenate([coarse, fine])
    size = np.repeat([float(ratio), 1.0], [len(coarse), len(fine)])
    k = 2.0 * pi / length
    wave = np.sin(k * x[:, 1])
    u = np.zeros_like(x)
    u[:, 0] = 0.01 * wave
    particles = Particles()
    particles.add_channel("size", SIZE)
    particles.append({"position": x, "velocity": u, "size": size})
    near = MixedNeighbors(np.unique(size).tolist(), (width, length, 0.0))
    settings = DcpbdSettings(velocity_iterations=200)
    solver = make_solver(settings, d, near, PhaseClock())
    state = free_state(particles, Material(density=rho, viscosity=eta), d, settings)
    amplitude = [_amplitude(particles, k)]
    for _ in range(10):
        solver.step(state, dt)
        amplitude.append(_amplitude(particles, k))
    # an implicit step divides the amplitude by 1 + η k² Δt/ρ
    factors = np.array(amplitude[2:-1]) / np.array(amplitude[3:])
    found = float((factors.mean() - 1.0) * rho / (k**2 * dt)) / eta
    report(f"mixed 1:{ratio}: viscosity seen by a shear wave", found, "1 within 0.05")
    assert found == pytest.approx(1.0, abs=0.05)


def _fill(extent: tuple[float, float, float], d: float, from_y: float) -> np.ndarray:
    """A lattice from (0, from_y · extent_y, 0) on."""
    counts = [round(length / d) for length in extent]
    grid = np.stack(np.meshgrid(*map(np.arange, counts), indexing="ij"), axis=-1).reshape(-1, 3)
    points = (grid + 0.5) * d
    points[:, 1] += from_y * extent[1]
    return np.asarray(points)


def _amplitude(particles: Particles, k: float) -> float:
    """Of u_x = U sin(k y), by mass."""
    m = particles["size"].astype(np.float64) ** 3
    wave = np.sin(k * particles["position"][:, 1].astype(np.float64))
    return float((m * wave * particles["velocity"][:, 0]).sum() / (m * wave**2).sum())


def test_oil_spreads_on_water_and_floats() -> None:
    """The built-in scene: the oil covers the tank, and hardly any of it is at the bottom."""
    scene = Scene.load("oil-on-water")
    simulation = Simulation(scene)
    for frame in simulation.frames():
        last = frame
    oil = by_id(last, "material") == list(scene.materials).index("oil")
    x = by_id(last)
    width = float(np.ptp(x[oil, 0])) / 0.24
    above = float(x[oil, 1].mean() - x[~oil, 1].mean())
    sunk = float((x[oil, 1] < 0.02).mean())
    report("oil on water: width of the oil at the end, of the tank", width, "above 0.8")
    report("oil on water: how much higher the oil is, m", above, "above 0.02")
    report("oil on water: share of the oil in the lowest 2 cm", sunk, "below 0.05")
    picture("oil-on-water", scene, last)
    assert width > 0.8
    assert above > 0.02
    assert sunk < 0.05


@pytest.mark.parametrize("spacings", [(D, D), (D, 2 * D), (2 * D, D)])
def test_light_below_heavy_turns_over(spacings: tuple[float, float]) -> None:
    """A third of the density below: √(A g k) is 11/s, so disorder grows to an overturning in a second."""
    width, half = 12 * D, 8 * D
    scene = Scene.model_validate(
        {
            "simulation": {"spacing": D, "duration": 1.2},
            "materials": {"foam": {"density": 300.0, "viscosity": 0.0}},
            "fluids": [
                {
                    "material": material,
                    "shape": "box",
                    "spacing": spacing,
                    "center": [0.0, y, 0.0],
                    "size": [width, half, width],
                }
                for material, spacing, y in zip(
                    ("foam", "water"), spacings, (0.5 * half, 1.5 * half), strict=True
                )
            ],
            "colliders": [
                {
                    "shape": "box",
                    "container": True,
                    "open": ["+y"],
                    "center": [0.0, 2 * half, 0.0],
                    "size": [width, 4 * half, width],
                    "contact": "slip",
                }
            ],
        }
    )
    for frame in Simulation(scene).frames():
        last = frame
    light = by_id(last, "material") == list(scene.materials).index("foam")
    y = by_id(last)[:, 1]
    above = float(y[light].mean() - y[~light].mean()) / half
    ratio = f"{spacings[0] / D:g}:{spacings[1] / D:g}"
    report(f"light below heavy, {ratio}: height over the heavy after 1.2 s", above, "above 0.2")
    assert above > 0.2
