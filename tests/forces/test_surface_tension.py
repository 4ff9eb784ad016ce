"""Surface tension, adhesion and wall friction: forces one by one, then a drop."""

import math

import numpy as np
import pytest
from bars import above, below, near
from rigs import SPACING, Rig, jitter, lattice, numbers

from viscoil import Scene, Simulation
from viscoil.constraints.capillary import (
    CALIBRATION,
    WALL_CALIBRATION,
    capillary_step,
    lattice_tension,
    make_capillarity,
)
from viscoil.core.compute import view, write
from viscoil.forces import surface_tension
from viscoil.forces.surface_tension import SurfaceTension
from viscoil.rheology.drop import FreeDrop, fit_swing
from viscoil.scene import Material, PlaneCollider, SimulationSettings
from viscoil.simulation.stepping import next_step

pytestmark = [pytest.mark.usefixtures("compute"), pytest.mark.physics]

KAPPA = 3.0  # N/m: steps may be as long as 14 ms at a spacing of 2 cm
TENSE = Material(density=1000.0, viscosity=0.0, surface_tension=KAPPA)
DT = 1.0 / 240.0


def forces(rig: Rig) -> np.ndarray:
    """Of surface tension and adhesion on particles at rest, N, in the present order."""
    c = rig.prepare(DT)
    rig.particles["velocity"] = 0.0
    SurfaceTension(SPACING, 2.0).act(c.view, c.unknowns.velocity)
    u = numbers(c.unknowns.velocity, c.n)
    return np.asarray(u / (DT * numbers(c.view.near.inverse_mass, c.n)[:, None]))


def test_tension_acts_in_opposite_pairs_and_without_torque() -> None:
    """No net force: of n forces of size F in single precision, n F 1e-6 may be left over.

    No net torque, as far as the axes of the surface are found: to 1e-4 of the torques.
    """
    ball = lattice((11, 11, 11))
    ball = ball[np.linalg.norm(ball, axis=1) < 5.2 * SPACING]
    rig = Rig(jitter(ball, 0.2), material=TENSE)
    f = forces(rig)
    size = np.abs(f).max()
    above(size, 0.1 * KAPPA * SPACING, "force, N")
    below(np.abs(f.sum(axis=0)).max(), 1e-6 * size * len(f), "net force, N", derived=True)
    x = rig.particles["position"].astype(np.float64)
    torques = np.linalg.norm(x, axis=1) * np.linalg.norm(f, axis=1)
    below(np.abs(np.cross(x, f).sum(axis=0)).max(), 1e-4 * torques.sum(), "net torque, N m")


def test_inside_a_lattice_nothing_pulls() -> None:
    rig = Rig(lattice((9, 9, 9)), material=TENSE)
    f = forces(rig)
    inside = (np.abs(rig.particles["position"]) < 2.5 * SPACING).all(axis=1)
    assert inside.sum() == 125
    below(np.abs(f[inside]).max(), 1e-4 * np.abs(f).max(), "force inside, N")


def test_a_slab_is_under_the_tension_that_its_edges_show() -> None:
    """The pull across a plane through a flat film, two surfaces, is what `lattice_tension` says.

    Half of the film is cut off: what it pulled with is the difference of the forces, over its width.
    Only pairs of surface particles count, so the answer is exact but for rounding (1e-4).
    """
    wide, high = 16, 8
    period = (wide * SPACING, 0.0, wide * SPACING)
    points = lattice((wide, high, wide), center=(0.5 * wide * SPACING, 0.0, 0.5 * wide * SPACING))
    rig = Rig(points, material=TENSE, periodic=period)
    c = rig.prepare(DT)
    s = SurfaceTension(SPACING, 2.0)
    surface = s.surface(c.n)
    surface_tension.find_surface(
        c.n, c.view.scale, s.capillarity, c.view.materials.table, c.view.near,
        c.view.walls.arrays, surface,
    )  # fmt: skip
    stress = numbers(surface.stress, c.n)
    start, neighbor = rig.neighbors.as_numpy(c.n)
    own = np.repeat(np.arange(c.n), np.diff(start))
    x = rig.particles["position"].astype(np.float64)
    apart = x[own] - x[neighbor]
    for axis in (0, 2):
        apart[:, axis] -= period[0] * np.round(apart[:, axis] / period[0])
    r = np.linalg.norm(apart, axis=1)
    q = np.minimum(r / c.view.scale.support, 1.0)
    pull = s.capillarity.slope * q * (1.0 - q) / c.view.scale.support
    along = (stress[own][:, [0, 3, 4]] * apart).sum(axis=1)
    virial = s.capillarity.strength * SPACING**6 * (pull * along * apart[:, 0]).sum()
    tension = virial / (2.0 * (wide * SPACING) ** 2)
    near(tension, CALIBRATION * KAPPA, "tension, N/m", rel=1e-4, derived=True)
    assert s.capillarity.strength * lattice_tension(2.0) == pytest.approx(CALIBRATION)


def test_forces_scale_so_that_tension_does_not_depend_on_resolution() -> None:
    """The forces of Π and core go as κ d, and the stress across a line therefore as κ."""
    coarse, fine = make_capillarity(0.02, 2.0), make_capillarity(0.01, 2.0)
    assert fine.core == pytest.approx(0.5 * coarse.core)
    assert fine.strength == coarse.strength
    # force: c κ V² w W̃' with w ~ 1/d, W̃' ~ 1/d⁴
    assert fine.slope * fine.full * 0.01**6 == pytest.approx(
        0.5 * coarse.slope * coarse.full * 0.02**6
    )


def test_adhesion_is_the_work_to_lift_a_layered_fluid_off_a_wall() -> None:
    """∫ f dz of the columns of a lattice, from contact to out of reach, is W d² each, as calibrated."""
    work, material = 0.5, Material(density=1000.0, viscosity=0.0, adhesion=0.5)
    heights = np.linspace(0.5, 2.5, 401) * SPACING
    along = 3.0 * SPACING * np.arange(401)
    points = np.stack([along, heights, 0.0 * heights], axis=1)
    rig = Rig(points, material=material, colliders=[PlaneCollider(contact="slip")])
    c = rig.prepare(DT)
    write(c.unknowns.velocity, np.zeros((c.n, 3)))
    surface_tension.add_adhesion(
        c.view.walls.count, c.view.scale, SurfaceTension(SPACING, 2.0).capillarity,
        c.view.materials.table, c.view.near, c.view.walls.arrays, c.unknowns.velocity,
    )  # fmt: skip
    f = numbers(c.unknowns.velocity, c.n)[:, 1] / (DT * numbers(c.view.near.inverse_mass, c.n))
    y = numbers(c.view.near.position, c.n)[:, 1]
    order = np.argsort(y)
    y, f = y[order], f[order]
    assert f.max() <= 0.0
    first = -np.trapezoid(f, y)
    upper = y > 1.499 * SPACING
    second = -np.trapezoid(f[upper], y[upper])
    near(first + second, WALL_CALIBRATION * work * SPACING**2, "work, J", rel=1e-3)


def test_without_tension_nothing_changes() -> None:
    """κ = c = W = 0 and a friction factor of one: the same bits, whatever the collider's factor."""
    scene = {
        "simulation": {"spacing": 0.02, "frames": 4},
        "materials": {"m": {"density": 1000.0, "viscosity": 0.0}},
        "fluids": [{"material": "m", "shape": "box", "center": [0, 0.08, 0], "size": [0.1] * 3}],
        "colliders": [{"shape": "plane", "contact": "friction", "friction": 0.3}],
    }
    ends = []
    for adhesion in (1.0, 5.0):
        scene["colliders"][0]["adhesion"] = adhesion  # type: ignore[index]
        simulation = Simulation(Scene.model_validate(scene))
        for _ in simulation.frames():
            pass
        ends.append(np.array(simulation.particles["position"]))
    np.testing.assert_array_equal(ends[0], ends[1])


def test_capillary_waves_limit_adaptive_steps_only() -> None:
    longest = capillary_step(1000.0, 5e-4, 0.07)
    assert longest == pytest.approx(math.sqrt(1000.0 * 1.25e-10 / (4 * math.pi * 0.07)))
    assert capillary_step(1000.0, 5e-4, 0.0) == math.inf
    adaptive = SimulationSettings(spacing=5e-4, frames=1)
    assert next_step(adaptive, 0.0, 0, 0.0, limit=longest) <= longest
    fixed = SimulationSettings(spacing=5e-4, frames=1, time_step=1e-3)
    assert next_step(fixed, 0.0, 0, 0.0, limit=longest) > longest


def test_a_fixed_step_that_is_too_long_is_noted() -> None:
    scene = Scene.model_validate(
        {
            "simulation": {"spacing": 5e-4, "frames": 1, "time_step": 1e-3},
            "materials": {"m": {"density": 1000.0, "viscosity": 0.0, "surface_tension": 0.07}},
            "fluids": [{"material": "m", "shape": "sphere", "center": [0, 0, 0], "radius": 2e-3}],
        }
    )
    notes = Simulation(scene).notes
    assert any("is longer than surface tension allows (0.000377 s)" in note for note in notes)


def test_a_drop_has_the_tension_asked_for_and_keeps_its_momentum() -> None:
    """Laplace's pressure and Rayleigh's frequency within 20 %; the whole matrix is in verify/."""
    drop = FreeDrop(Material(density=1000.0, viscosity=0.0, surface_tension=0.07), 5e-4, 2.5e-3)
    dt = capillary_step(1000.0, 5e-4, 0.07)
    period = 2.0 * math.pi / drop.rayleigh_frequency
    drop.advance(period, dt)
    pressure = drop.advance(0.5 * period, dt)[:, 2].mean()
    near(pressure, drop.laplace_pressure, "pressure, Pa", rel=0.2)
    drop.pull(0.2 * drop.rayleigh_frequency)
    rows = drop.advance(1.5 * period, dt)
    swing = fit_swing(rows[:, 0], rows[:, 1], drop.rayleigh_frequency)
    near(swing.undamped**2, drop.rayleigh_frequency**2, "frequency², 1/s²", rel=0.2)
    u = drop.particles["velocity"].astype(np.float64)
    speed = math.sqrt(0.07 / (1000.0 * drop.radius))
    below(np.abs(u.mean(axis=0)).max(), 1e-4 * speed, "drift, m/s")
    farthest = np.linalg.norm(drop.offsets(), axis=1).max()
    below(farthest - drop.radius, 0.1 * drop.radius, "bulge, m")


def test_a_fit_finds_a_swing() -> None:
    t = np.linspace(0.0, 3.0, 200)
    swing = fit_swing(t, 0.3 * np.exp(-0.4 * t) * np.cos(5.0 * t + 1.0) + 0.01, 4.0)
    assert swing.frequency == pytest.approx(5.0, rel=1e-3)
    assert swing.damping == pytest.approx(0.4, rel=1e-2)


@pytest.mark.parametrize(("factor", "moves"), [(1.0, False), (0.0, True), (0.5, True)])
def test_friction_of_a_material_multiplies_that_of_a_wall(factor: float, moves: bool) -> None:
    """On a slope of 0.5 a single particle stays with μ = 0.8, and slides with 0 and 0.4.

    It slides at g (sin − μ cos), Coulomb's law, but for the pull or the friction of the first step,
    of which each is less than g Δt.
    """
    tilt = math.atan(0.5)
    normal = (math.sin(tilt), math.cos(tilt), 0.0)
    scene = Scene.model_validate(
        {
            "simulation": {"spacing": 0.02, "duration": 0.5, "fps": 100.0, "time_step": 0.002},
            "materials": {"m": {"density": 1000.0, "viscosity": 0.0, "wall_friction": factor}},
            "fluids": [{"material": "m", "shape": "box", "center": [0.01 * n for n in normal],
                        "size": [0.02] * 3}],
            "colliders": [{"shape": "plane", "normal": list(normal), "contact": "friction",
                           "friction": 0.8}],
        }
    )  # fmt: skip
    simulation = Simulation(scene)
    for _ in simulation.frames():
        pass
    assert simulation.particles.count == 1
    speed = float(np.linalg.norm(view(simulation.particles.array("velocity"), 1)))
    expected = 0.5 * 9.81 * (math.sin(tilt) - 0.8 * factor * math.cos(tilt))
    if moves:
        near(speed, expected, "speed, m/s", abs=9.81 * 0.002)
    else:
        below(speed, 1e-3, "speed, m/s")


def test_a_drop_that_spins_keeps_its_spin() -> None:
    """Within 3 % over 40 steps; with tension taken where the step ends it would lose a quarter."""
    drop = FreeDrop(Material(density=1000.0, viscosity=0.0, surface_tension=0.07), 5e-4, 2.5e-3)
    drop.particles["velocity"] = np.cross([0.0, 0.0, 20.0], drop.offsets())
    before = _spin(drop)
    dt = capillary_step(1000.0, 5e-4, 0.07)
    drop.advance(40 * dt, dt)
    near(_spin(drop), before, "spin", rel=0.03)


def _spin(drop: FreeDrop) -> float:
    u = drop.particles["velocity"].astype(np.float64)
    return float(np.cross(drop.offsets(), u)[:, 2].sum())
