"""Particles of different sizes together: calibration, conservation, and the way from scene to file."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from bars import below, near
from density_rigs import displacements, measure
from numpy.typing import NDArray
from preview_rigs import D, sample_surface
from rigs import SPACING, USUAL, Rig, jitter, lattice, numbers, tensors

from viscoil import Scene, Simulation
from viscoil.core.compute import write
from viscoil.core.errors import SceneError
from viscoil.neighbors.lattice import smoothing_value
from viscoil.neighbors.scale import make_scale
from viscoil.outputs.frames import FramesOutput, read_frame
from viscoil.solvers.dcpbd import acting_stress
from viscoil.solvers.dcpbd.position_projection import LEAST_STIFFNESS, lattice_stiffness
from viscoil.solvers.dcpbd.velocity_projection import VelocityProjection

Float = NDArray[np.float64]
DT = 1.0 / 240.0

pytestmark = [pytest.mark.usefixtures("compute"), pytest.mark.physics]


def stacked(ratio: int, layers: int, width: int) -> tuple[Float, Float]:
    """A fine block on a coarse one, and sizes; the faces touch at y = 0. `width` in coarse spacings."""
    d = ratio * SPACING
    coarse = lattice((width, layers, width), d, (0.0, -0.5 * layers * d, 0.0))
    fine = (ratio * width, layers, ratio * width)
    above = lattice(fine, SPACING, (0.0, 0.5 * layers * SPACING, 0.0))
    sizes = np.repeat([float(ratio), 1.0], [len(coarse), len(above)])
    return np.concatenate([coarse, above]), sizes


def shaken(seed: int = 0) -> tuple[Float, Float]:
    """A small disordered body, half of it coarse."""
    points, sizes = stacked(2, 2, 3)
    return jitter(points, 0.15, seed), sizes


def still(points: Float, sizes: Float, **more: Any) -> Rig:
    return Rig(points, size=sizes, position_iterations=0, max_position_iterations=0, **more)


@pytest.mark.parametrize("size", [0.5, 2.0, 3.0])
def test_a_lattice_of_any_size_has_its_rest_density(size: float) -> None:
    """As one of size 1 does, to the rounding of a sum of some 30 values; the unit is not among them."""
    rig = still(lattice((7, 7, 7), size * SPACING), np.full(343, size))
    c = rig.prepare(DT)
    compression, _ = measure(rig, c)
    middle = np.abs(numbers(c.view.near.position, c.n)).max(axis=1) < 1.5 * size * SPACING
    assert middle.sum() == 27
    np.testing.assert_allclose(compression[middle], 0.0, atol=1e-5)


@pytest.mark.parametrize(("ratio", "bar"), [(2, 0.005), (3, 0.02)])
def test_lattices_that_touch_have_their_rest_density(ratio: int, bar: float) -> None:
    """Layers (d_i + d_j)/2 apart stand for each other: see `resolution`.

    The bars are what that leaves: the second layers of the fine side count (0.004 at 1:2), and at
    1:3 where a fine particle stands above the coarse lattice.
    """
    points, sizes = stacked(ratio, 4, 7)
    rig = still(points, sizes)
    c = rig.prepare(DT)
    compression, _ = measure(rig, c)
    x, s = numbers(c.view.near.position, c.n), numbers(c.view.near.size, c.n)
    inner = np.abs(x[:, [0, 2]]).max(axis=1) < 1.1 * ratio * SPACING
    inner &= (x[:, 1] < 2.0 * SPACING) & (x[:, 1] > -2.0 * ratio * SPACING)
    assert set(s[inner].tolist()) == {1.0, float(ratio)}
    for size in (1.0, float(ratio)):
        print(f"1:{ratio}, size {size:g}: C", np.unique(compression[inner & (s == size)].round(4)))
    below(abs(compression[inner & (s == 1.0)].mean()), bar, "compression of the fine")
    below(abs(compression[inner & (s > 1.0)].mean()), bar, "compression of the coarse")


def exact_compression(y: Float, s: Float) -> Float:
    """C in double precision, by brute force."""
    scale = make_scale(SPACING, 2.0, USUAL)
    pair = 0.5 * (s[:, None] + s[None])
    apart = np.linalg.norm(y[:, None] - y[None], axis=-1)
    w = (s[None] / pair) ** 2 * smoothing_value(USUAL, apart / (pair * scale.support))
    np.fill_diagonal(w, scale.own)
    return np.asarray(scale.volume * scale.value_scale * w.sum(axis=1) - 1.0)


def test_density_is_what_brute_force_says() -> None:
    rig = still(*shaken())
    c = rig.prepare(DT)
    compression, _ = measure(rig, c)
    expected = exact_compression(numbers(c.view.near.position, c.n), numbers(c.view.near.size, c.n))
    np.testing.assert_allclose(compression, expected, atol=1e-5)


def test_pressure_pushes_against_the_gradient_of_the_constraint() -> None:
    """f = −∂/∂y Σ V p C with V = s³ d³, by central differences; tolerances as for one size."""
    rig = still(*shaken(3))
    c = rig.prepare(DT)
    y, s = numbers(c.view.near.position, c.n), numbers(c.view.near.size, c.n)
    pressure = np.random.default_rng(0).uniform(0.0, 1.0, c.n).astype(np.float32)
    force = displacements(rig, c, pressure) * (rig.mass * s**3 / DT**2)[:, None]
    h = 1e-6 * SPACING
    for i in np.concatenate([np.flatnonzero(s == 2.0)[:10], np.flatnonzero(s == 1.0)[:10]]):
        for axis in range(3):
            shift = np.zeros_like(y)
            shift[i, axis] = h
            slope = exact_compression(y + shift, s) - exact_compression(y - shift, s)
            power = float((SPACING**3 * s**3 * pressure) @ slope) / (2.0 * h)
            assert force[i, axis] == pytest.approx(-power, abs=1e-5 * np.abs(force).max())
    np.testing.assert_allclose(force.sum(axis=0), 0.0, atol=1e-5 * np.abs(force).max())


def test_stiffness_is_the_answer_to_pressure() -> None:
    """S_i = −dC_i/dp_i, as for one size; the floor falls with the square of the size."""
    rig = still(*shaken(5))
    c = rig.prepare(DT)
    y, s = numbers(c.view.near.position, c.n), numbers(c.view.near.size, c.n)
    stiffness = 0.35 * measure(rig, c)[1]
    full = lattice_stiffness(rig.solver.smoothing, 2.0, c.view.scale)
    least = LEAST_STIFFNESS * full
    for i in range(0, c.n, 5):
        direction = displacements(rig, c, np.eye(c.n)[i])
        h = 1e-6 * SPACING / np.abs(direction).max()
        ahead = exact_compression(y + h * direction, s)[i]
        behind = exact_compression(y - h * direction, s)[i]
        lowest = DT**2 * SPACING**3 / rig.mass * least / s[i] ** 2
        expected = max(-(ahead - behind) / (2.0 * h), lowest)
        assert stiffness[i] == pytest.approx(expected, rel=2e-4)


def test_velocities_are_projected_without_force_or_torque() -> None:
    """Momentum and spin of u* and u** agree to rounding; a rigid motion is left alone."""
    points, sizes = shaken(7)
    rng = np.random.default_rng(7)
    rig = Rig(points, rng.normal(0.0, 1.0, points.shape), size=sizes, corotation=False)
    c = rig.prepare(DT)
    before = numbers(c.unknowns.velocity, c.n)
    found = VelocityProjection(rig.solver.settings)(c)
    change = numbers(c.unknowns.velocity, c.n) - before
    below(found.residual, 0.05, "residual")
    x, m = numbers(c.view.near.position, c.n), numbers(c.view.near.size, c.n)[:, None] ** 3
    near((m * change).sum(axis=0) / m.sum(), 0.0, "force, m/s", abs=1e-6)
    torque = np.cross(x, m * change).sum(axis=0) / m.sum()
    near(torque, 0.0, "torque, m²/s", abs=1e-5 * 4.0 * SPACING)
    flow = np.array([1.0, 2.0, 3.0]) + np.cross([0.0, 5.0, 2.0], x)
    for array in (c.unknowns.velocity, c.unknowns.free_velocity):
        write(array, flow)
    VelocityProjection(rig.solver.settings)(c)
    near(numbers(c.unknowns.velocity, c.n), flow, "rigid motion, m/s", abs=2e-5)


def test_virtual_work() -> None:
    """Σ V_i σ_i:L_i = −Σ f_i·u_i, which makes the projection a symmetric system."""
    points, sizes = shaken(9)
    rig = Rig(points, size=sizes)
    c = rig.prepare(DT)
    rng = np.random.default_rng(9)
    stress, flow = rng.normal(0.0, 1.0, (c.n, 6)), rng.normal(0.0, 1.0, (c.n, 3))
    write(c.unknowns.stress, stress)
    c.unknowns.bend.fill(0.0)
    acting_stress.let_stress_act(c.n, c.view.scale, c.view.near, c.stencil, c.unknowns)
    c.unknowns.free_velocity.fill(0.0)
    view = c.view
    acting_stress.velocities_under_stress(
        c.n, view.scale, view.near, view.walls.arrays, c.stencil, c.unknowns
    )
    s = numbers(c.view.near.size, c.n)
    force = numbers(c.unknowns.velocity, c.n) * (rig.mass * s**3)[:, None] / DT
    x, k = numbers(c.view.near.position, c.n), tensors(numbers(c.stencil.correction, c.n))
    start, j = rig.neighbors.as_numpy(c.n)
    i = np.repeat(np.arange(c.n), np.diff(start))
    g = numbers(c.stencil.weight, len(j))
    arm = np.einsum("pab,pb->pa", k[i], x[i] - x[j])
    rates = np.zeros((c.n, 3, 3))  # V_i L_i
    np.add.at(rates, i, g[:, None, None] * (flow[j] - flow[i])[:, :, None] * arm[:, None, :])
    work = np.einsum("nab,nab->n", tensors(stress), rates)
    # the kernel rounds each of some 30 products per particle
    assert work.sum() == pytest.approx(-(force * flow).sum(), abs=1e-5 * np.abs(work).sum())
    linear = rng.normal(0.0, 1.0, (3, 3))
    exact = np.zeros((c.n, 3, 3))
    np.add.at(exact, i, g[:, None, None] * ((x[j] - x[i]) @ linear.T)[:, :, None] * arm[:, None, :])
    exact /= (SPACING**3 * s**3)[:, None, None]
    whole = k.any(axis=(1, 2))
    assert whole.mean() > 0.9
    np.testing.assert_allclose(exact[whole], np.tile(linear, (whole.sum(), 1, 1)), atol=1e-4)


TANK: dict[str, Any] = {
    "shape": "box",
    "container": True,
    "open": ["+y"],
    "center": [0.0, 0.2, 0.0],
    "size": [0.08, 0.4, 0.08],
    "contact": "slip",
}


def layered(fine_below: bool = False, **more: Any) -> Scene:
    """A tank with two layers of different spacing, 8 cm wide and deep."""
    sides = [{"spacing": 0.02}, {}]
    if fine_below:
        sides.reverse()
    boxes = [
        {"material": "water", "shape": "box", "center": [0.0, y, 0.0], "size": [0.08, 0.04, 0.08]}
        for y in (0.02, 0.06)
    ]
    return Scene.model_validate(
        {
            "simulation": {"spacing": 0.01, "duration": 0.5, **more},
            "fluids": [box | side for box, side in zip(boxes, sides, strict=True)],
            "colliders": [TANK],
        }
    )


@pytest.mark.parametrize("fine_below", [False, True])
def test_two_resolutions_rest_on_each_other(fine_below: bool) -> None:
    """The bars of a resting column, small: loss of height, speed, compression, and no swapping.

    Inviscid water never rests quite: single particles at the interface are pushed about, a few
    at a time and never the same ones from start to start. So the energy of all is held, over ten
    steps, to that of 0.05 √(g H), which gradients that forget the size of a pair exceed; and nobody
    may be thrown up by half of the fine spacing.
    """
    simulation = Simulation(layered(fine_below))
    figures = [simulation.step() for _ in range(60)]
    p = simulation.particles
    size, y, volume = p["size"], p["position"][:, 1], p["size"] ** 3
    near((volume * y).sum() / volume.sum(), 0.04, "middle, m", rel=0.01)
    last, mass = figures[-10:], 998.0 * 0.08**3
    energy = np.mean([step["kinetic_energy"] for step in last])
    below(energy, 0.5 * mass * 0.05**2 * 9.81 * 0.08, "kinetic energy, J")
    below(max(step["max_speed"] for step in last), (9.81 * 0.01) ** 0.5, "max speed, m/s")
    below(figures[-1]["density_error_mean"], 0.01, "density error")
    lower, upper = y[size == (1.0 if fine_below else 2.0)], y[size == (2.0 if fine_below else 1.0)]
    # who changed sides has passed the first layer of the others, which is a spacing of theirs thick
    above_it, below_it = (0.02, 0.01) if fine_below else (0.01, 0.02)
    below(lower.max() - 0.04, above_it, "way up of the lower, m")
    below(0.04 - upper.min(), below_it, "way down of the upper, m")


@pytest.mark.parametrize("fine_below", [False, True])
def test_oil_stays_on_water(fine_below: bool) -> None:
    """Layers of density 800 on 1000 stay two layers: their centres of mass keep their distance."""
    table = layered(fine_below).to_dict()
    table["materials"] = {
        "oil": {"density": 800.0, "viscosity": 0.05},
        "water": {"density": 1000.0, "viscosity": 0.0},
    }
    table["fluids"][1]["material"] = "oil"
    simulation = Simulation(Scene.model_validate(table))
    for _ in range(60):
        figures = simulation.step()
    p = simulation.particles
    oil, y = p["material"] == 0, p["position"][:, 1]
    near(y[oil].mean() - y[~oil].mean(), 0.04, "distance of the layers, m", rel=0.03)
    below(figures["density_error_mean"], 0.01, "density error")
    mass = 900.0 * 0.08**3
    below(figures["kinetic_energy"], 0.5 * mass * 0.01 * 9.81 * 0.08, "kinetic energy, J")


def test_masses_count() -> None:
    """A moving body of both sizes has momentum ρ V u and energy ρ V u²/2.

    After a step: opposite corrections at the interface, some 1e-2 m/s, add their square to the energy.
    """
    table = layered(gravity=[0.0, 0.0, 0.0]).to_dict()
    table["fluids"] = [fluid | {"velocity": [1.0, 2.0, 3.0]} for fluid in table["fluids"]]
    figures = Simulation(Scene.model_validate({**table, "colliders": []})).step()
    mass = 998.0 * 0.08**3
    momentum = figures["linear_momentum"]
    near(momentum, mass * np.array([1.0, 2.0, 3.0]), "momentum, kg m/s", rel=1e-5)
    near(figures["kinetic_energy"], 0.5 * mass * 14.0, "kinetic energy, J", rel=1e-4)


def test_a_checkpoint_goes_on_to_the_same_bits(tmp_path: Path) -> None:
    simulation = Simulation(layered())
    simulation.next_frame()
    simulation.save(tmp_path / "half.npz")
    simulation.next_frame()
    again = Simulation(layered(), checkpoint=tmp_path / "half.npz")
    again.next_frame()
    for name in ("position", "size", "id"):
        np.testing.assert_array_equal(again.particles[name], simulation.particles[name])


def test_emitters_emit_their_own_size() -> None:
    scene = Scene.model_validate(
        {
            "simulation": {"spacing": 0.02, "duration": 0.2, "gravity": [0.0, 0.0, 0.0]},
            "emitters": [
                {
                    "material": "water",
                    "shape": "rectangle",
                    "spacing": d,
                    "center": [x, 0.0, 0.0],
                    "direction": [0.0, 1.0, 0.0],
                    "size": [0.08, 0.08],
                    "speed": 1.0,
                    "jitter": 0.0,
                }
                for d, x in ((0.01, 0.0), (0.02, 0.5))
            ],
        }
    )
    simulation = Simulation(scene)
    for _ in range(6):
        simulation.next_frame()
    size, x = simulation.particles["size"], simulation.particles["position"]
    assert set(np.unique(size).tolist()) == {0.5, 1.0}
    assert ((x[:, 0] > 0.25) == (size == 1.0)).all()
    # both nozzles have emitted the same volume, but for a layer
    fine, coarse = (0.01**3 * (size == 0.5).sum(), 0.02**3 * (size == 1.0).sum())
    near(fine, coarse, "volume, m³", abs=2 * 0.08**2 * 0.02)
    near(simulation.particles["velocity"][:, 1], 1.0, "speed, m/s", abs=0.1)


def test_frames_hold_sizes_only_where_they_differ(tmp_path: Path) -> None:
    for scene, expected in ((layered(), [1.0, 2.0]), (uniform(), None)):
        output = FramesOutput(tmp_path, ["position"])
        output.frame(Simulation(scene).snapshot())
        frame = read_frame(tmp_path / "frame_000000.npz")
        if expected is None:
            assert "size" not in frame
        else:
            assert np.unique(frame["size"]).tolist() == expected


def uniform() -> Scene:
    table = layered().to_dict()
    for fluid in table["fluids"]:
        fluid.pop("spacing", None)
    return Scene.model_validate(table)


def test_the_preview_draws_each_at_its_size() -> None:
    """Where three lattices side by side have their face at y = 0 the surface is there, too.

    To a tenth of the spacing, as where all are alike; a spacing away it is inside or outside.
    """
    for ratio in (2.0, 3.0):
        halves = [
            lattice((10, 5, 10), s * D, (x, -2.5 * s * D, 0.0))
            for s, x in ((1.0, -5.0 * D), (ratio, 5.0 * ratio * D))
        ]
        size = np.repeat([1.0, ratio], [500, 500]).astype(np.float32)
        for s, x in ((1.0, -5.0 * D), (ratio, 5.0 * ratio * D)):
            steps = np.linspace(-0.8, 0.8, 33) * s * D
            points = np.array([(x, y, 0.0) for y in steps])
            distance, _ = sample_surface(points, np.concatenate(halves), size)
            crossing = float(np.interp(0.0, distance, steps))
            assert (np.diff(distance) > 0.0).all()
            assert abs(crossing) < 0.1 * s * D  # of fixed lattices: nothing is simulated here
            # they are counted in the smallest support, which keeps rays from overshooting
            assert (distance[steps > 0.0] < steps[steps > 0.0] + 0.1 * D).all()


def test_spacings_may_differ_by_three() -> None:
    table = layered().to_dict()
    table["fluids"][0]["spacing"] = 0.031
    with pytest.raises(ValueError, match="must not exceed 3 times the smallest in the scene"):
        Scene.model_validate(table)
    table["fluids"][0]["spacing"] = 0.03
    assert Scene.model_validate(table).spacings == (0.01, 0.03)


def test_seven_spacings_are_possible() -> None:
    table = layered().to_dict()
    box = table["fluids"][0]
    table["fluids"] = [box | {"spacing": 0.01 + 0.001 * k} for k in range(8)]
    with pytest.raises(ValueError, match="has 8 different spacings; 7 are possible"):
        Scene.model_validate(table)


def test_fluids_of_different_spacing_must_not_overlap() -> None:
    """Boxes that touch do not; moved into each other by more than a quarter of the finer, they do."""
    table = layered().to_dict()
    Simulation(Scene.model_validate(table))
    table["fluids"][1]["center"] = [0.0, 0.052, 0.0]
    with pytest.raises(SceneError, match="overlap"):
        Simulation(Scene.model_validate(table))


def test_small_steps_for_small_particles() -> None:
    """The adaptive step is that of the finest spacing, whatever the unit."""
    fast: dict[str, Any] = {
        "cfl": 0.4,
        "max_time_step": 1.0,
        "fps": 1e-3,
        "gravity": [0.0, 0.0, 0.0],
    }
    scene = layered(**fast)
    table = scene.to_dict()
    for fluid in table["fluids"]:
        fluid["velocity"] = [0.0, 1.0, 0.0]
        fluid["spacing"] = {0.02: 0.005}.get(fluid.get("spacing"), 0.01)
    assert Simulation(Scene.model_validate(table)).step()["dt"] == pytest.approx(0.002, rel=1e-3)
