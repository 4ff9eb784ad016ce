"""Heat against closed forms: diffusion of a step, conservation, exchange, and what it softens."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import quadrants as qd
from bars import above, below, near
from rigs import SPACING, Rig, jitter, lattice
from scipy.special import erf

from viscoil.colliders import ColliderSet
from viscoil.core.compute import Floats, scalars, view, write
from viscoil.core.errors import SceneError
from viscoil.forces.exposure import Exposure
from viscoil.forces.heat import laws
from viscoil.forces.heat.heat import Heat
from viscoil.materials.table import Materials
from viscoil.particles.store import ChannelKind
from viscoil.scene import Material, Scene
from viscoil.simulation.simulation import Simulation

pytestmark = [pytest.mark.usefixtures("compute"), pytest.mark.physics]

# Copper-like, so that heat travels some spacings in a second.
METAL = {"density": 8960.0, "viscosity": 10.0, "conductivity": 400.0, "heat_capacity": 385.0}
DIFFUSIVITY = 400.0 / (8960.0 * 385.0)  # m²/s


class HeatRig(Rig):
    """Particles that keep their places and exchange heat."""

    def __init__(
        self,
        position: Any,
        temperature: Any,
        materials: tuple[dict[str, Any], ...] = (METAL,),
        colliders: tuple[Any, ...] = (),
        periodic: tuple[float, float, float] = (0.0, 0.0, 0.0),
        **settings: Any,
    ) -> None:
        super().__init__(position, colliders=colliders, periodic=periodic)
        self.particles.add_channel("temperature", ChannelKind("f32", 1, "K"))
        self.particles["temperature"] = temperature
        scene = Scene.model_validate(
            {
                "simulation": {"spacing": SPACING, "frames": 1, **settings},
                "materials": {f"m{k}": m for k, m in enumerate(materials)},
                "colliders": colliders,
            }
        )
        self.materials = Materials(list(scene.materials.values()))
        exposure = Exposure(self.solver.smoothing, self.solver.settings.support)
        self.heat = Heat(scene, ColliderSet(scene.colliders), exposure)

    def flow(self, dt: float, steps: int = 1) -> None:
        c = self.prepare(dt)
        for _ in range(steps):
            self.heat.act(c.view, c.unknowns.velocity)

    @property
    def temperature(self) -> np.ndarray:
        return np.array(self.particles["temperature"], np.float64)

    @property
    def x(self) -> np.ndarray:
        return np.array(self.particles["position"], np.float64)


def diffused_step(share: float, steps: int) -> tuple[np.ndarray, np.ndarray]:
    """x/d and the error in units of the half jump, of a bar of 40 spacings, heat gone 4 spacings far.

    T = 350 + 50 erf(x/√(4 α t)) in the continuum.
    """
    box = (0.0, 7 * SPACING, 7 * SPACING)
    points = jitter(lattice((40, 7, 7)) + 3.5 * SPACING * np.array([0, 1, 1]), share)
    rig = HeatRig(points, np.where(points[:, 0] < 0.0, 300.0, 400.0), periodic=box)
    time = (4.0 * SPACING) ** 2 / (4.0 * DIFFUSIVITY)
    rig.flow(time / steps, steps)
    expected = 350.0 + 50.0 * erf(rig.x[:, 0] / np.sqrt(4.0 * DIFFUSIVITY * time))
    return rig.x[:, 0] / SPACING, (rig.temperature - expected) / 50.0


@pytest.mark.parametrize("steps", [16, 40])
def test_a_step_in_temperature_diffuses_as_erf(steps: int) -> None:
    """Every particle of a lattice within 3 %, with explicit steps (40) and with three stages (16)."""
    _, error = diffused_step(0.0, steps)
    below(np.abs(error).max(), 0.03, "worst error")


def test_a_step_diffuses_as_erf_in_disorder() -> None:
    """Layer by layer within 3 %, where particles are up to 0.15 spacings from their places.

    Single ones err more, because the moments of random neighbourhoods vary.
    """
    x, error = diffused_step(0.15, 40)
    layers = np.floor(x).astype(int)
    means = [error[layers == k].mean() for k in range(-20, 20)]
    below(np.abs(means).max(), 0.03, "worst layer")
    below(error.std(), 0.03, "scatter")


def test_total_heat_is_conserved() -> None:
    """Σ C T of two unlike materials over many steps of many stages, to 1e-6 of what could flow.

    Each temperature is rounded to 3e-5 K a step, at random: 500 particles and 30 steps add up to some
    3e-5 √(500 · 30)/500 = 7e-6 K in the mean, beside differences of 100 K.
    """
    ice = {"density": 900.0, "viscosity": 1.0, "conductivity": 20.0, "heat_capacity": 2000.0}
    points = jitter(lattice((8, 8, 8)), 0.2)
    rig = HeatRig(points, np.random.default_rng(1).uniform(250.0, 350.0, 512), (METAL, ice))
    rig.particles["material"] = (np.array(rig.particles["position"])[:, 1] > 0.0).astype(np.int32)

    def total() -> float:
        capacity = np.where(rig.particles["material"] == 0, 8960.0 * 385.0, 900.0 * 2000.0)
        return float((capacity * rig.temperature).sum() / capacity.sum())

    before, spread = total(), rig.temperature.std()
    rig.flow(2.0, 30)
    below(rig.temperature.std(), 0.3 * spread, "spread, K")
    near(total(), before, "mean temperature, K", abs=1e-6 * 100.0, derived=True)


def test_a_body_of_one_temperature_stays() -> None:
    rig = HeatRig(jitter(lattice((6, 6, 6)), 0.2), 311.125)
    rig.flow(0.3, 5)
    assert (rig.temperature == 311.125).all()


@pytest.mark.parametrize("dt", [0.1, 30.0, 1e5])
def test_any_step_is_stable(dt: float) -> None:
    """From random temperatures: never beyond those at the start, and evenly warm in the end."""
    rig = HeatRig(jitter(lattice((8, 8, 8)), 0.25), np.random.default_rng(1).uniform(250, 350, 512))
    mean = rig.temperature.mean()
    for _ in range(5):
        rig.flow(dt)
        assert rig.temperature.min() > 250.0 and rig.temperature.max() < 350.0
    if dt > 1e4:
        near(rig.temperature, mean, "evenness, K", abs=0.1)


def test_unlike_materials_share_the_flux() -> None:
    """Two halves with k and 10 k between walls of fixed mean: the drop divides as 10 to 1.

    In a steady state k dT/dx is the same on both sides; the ends are held by rewriting them.
    """
    poor = {**METAL, "conductivity": 40.0}
    points = lattice((20, 7, 7)) + 3.5 * SPACING * np.array([0, 1, 1])
    rig = HeatRig(points, 350.0, (METAL, poor), periodic=(0.0, 7 * SPACING, 7 * SPACING))
    c = rig.prepare(20.0)
    x = rig.x[:, 0]
    rig.particles["material"] = (x > 0.0).astype(np.int32)
    for _ in range(60):
        t = rig.temperature
        t[x < -8 * SPACING], t[x > 8 * SPACING] = 400.0, 300.0
        rig.particles["temperature"] = t
        rig.heat.act(c.view, c.unknowns.velocity)
    good = (x > -7 * SPACING) & (x < -2 * SPACING)
    bad = (x > 2 * SPACING) & (x < 7 * SPACING)
    slopes = [np.polyfit(x[part], rig.temperature[part], 1)[0] for part in (good, bad)]
    near(slopes[1] / slopes[0], 10.0, "ratio of slopes", rel=0.02)


def test_air_cools_a_body_by_its_surface() -> None:
    """dQ/dt = h A (T_air − T) of a cube of 10³, whose exposure is its area to some percent."""
    rig = HeatRig(lattice((10, 10, 10)), 400.0, ambient_temperature=300.0, cooling=1000.0)
    rig.flow(0.01)
    lost = 8960.0 * 385.0 * SPACING**3 * (400.0 - rig.temperature).sum()
    near(lost, 1000.0 * 600 * SPACING**2 * 100.0 * 0.01, "heat lost, J", rel=0.08)


def test_walls_warm_what_touches_them() -> None:
    """dQ/dt = h A (T_wall − T) of a lattice on a plate; other walls are adiabatic."""
    plate = {"shape": "plane", "temperature": 350.0, "heat_transfer": 2000.0}
    for wall, power in ((plate, 2000.0 * 64 * SPACING**2 * 50.0), ({"shape": "plane"}, 0.0)):
        walls = (wall, {"shape": "plane", "point": (0, 1, 0), "normal": (0, -1, 0),
                        "temperature": 999.0})  # fmt: skip
        spec = Scene.model_validate(
            {"simulation": {"spacing": SPACING, "frames": 1}, "colliders": walls}
        ).colliders
        rig = HeatRig(lattice((8, 8, 8), center=(0, 4 * SPACING, 0)), 300.0, colliders=spec)
        rig.flow(0.01)
        gained = 8960.0 * 385.0 * SPACING**3 * (rig.temperature - 300.0).sum()
        near(gained, power * 0.01, "heat gained, J", rel=0.02)


def test_exchange_is_stable_for_any_transfer() -> None:
    """A particle whose transfer is infinite takes on the temperature of the wall, and no more."""
    plate = {"shape": "plane", "temperature": 350.0, "heat_transfer": 1e12}
    tables = {"simulation": {"spacing": SPACING, "frames": 1}, "colliders": [plate]}
    spec = Scene.model_validate(tables).colliders
    rig = HeatRig([[0.0, 0.5 * SPACING, 0.0]], 300.0, colliders=spec)
    rig.flow(0.1)
    np.testing.assert_allclose(rig.temperature, 350.0, atol=1e-3)


# Softness


@qd.kernel
def _curve(n: qd.i32, count: qd.i32, x: Floats, knots: Floats, values: Floats, out: Floats):
    for i in range(n):
        out[i] = laws.curve(x[i], 1, count, knots, values)


@pytest.mark.parametrize("count", [1, 2, 5])
def test_curves_are_linear_between_knots_and_held(count: int) -> None:
    rng = np.random.default_rng(count)
    knots, values = np.sort(rng.uniform(250, 350, count)), rng.uniform(-5, 5, count)
    x = np.concatenate([rng.uniform(200, 400, 500), knots])
    arrays = [scalars(qd.f32, len(x)), scalars(qd.f32, count + 1), scalars(qd.f32, count + 1)]
    out = scalars(qd.f32, len(x))
    out.fill(np.nan)
    starts = [x, np.append(0.0, knots), np.append(0.0, values)]
    for array, numbers in zip(arrays, starts, strict=True):
        write(array, numbers)
    _curve(len(x), count, *arrays, out)
    np.testing.assert_allclose(view(out), np.interp(x, knots, values), atol=1e-3)


@pytest.mark.parametrize(
    "rheology",
    [
        {"viscosity": 40.0},
        {"modulus": 800.0, "relaxation_time": 0.1, "solvent_viscosity": 2.0},
        {"modulus": 3000.0, "relaxation_time": float("inf")},
    ],
)
def test_a_warm_material_has_the_viscosity_of_its_curve(rheology: dict[str, float]) -> None:
    """At 310 K, half way of a log-linear curve from 1 to 1e-2, all moduli are a tenth.

    A sheared, falling block moves as one of a material that was given so: the same numbers but for
    the rounding of the factor (1e-7), which twenty iterations of both projections amplify.
    """
    keys = ("viscosity", "modulus", "solvent_viscosity")
    weak = {k: v * (0.1 if k in keys else 1.0) for k, v in rheology.items()}
    curve = {"temperatures": (300.0, 320.0), "stiffening": (1.0, 1e-2)}
    warm = moved({**rheology, "thermal": curve}, temperature=310.0)
    given, cold = moved(weak), moved({**rheology, "thermal": curve}, temperature=250.0)
    apart = np.abs(warm - given).max()
    below(apart, 1e-4, "warm against given, m/s")
    above(np.abs(cold - given).max(), 1e-2, "cold against given, m/s")
    near(cold, moved(rheology), "cold against unheated, m/s", abs=1e-6, derived=True)


def moved(rheology: dict[str, Any], **fluid: Any) -> np.ndarray:
    """Velocities after three steps of a block that turns inside itself and falls."""
    d = SPACING
    body = {"shape": "box", "material": "goo", "center": (0, 0, 0), "size": (6 * d, 6 * d, 6 * d)}
    scene = Scene.model_validate(
        {
            "simulation": {"spacing": d, "frames": 3, "time_step": 1 / 120},
            "solver": {"velocity_tolerance": 1e-6, "velocity_iterations": 60},
            "materials": {"goo": {"density": 1000.0, "conductivity": 0.0, **rheology}},
            "fluids": [{**body, **fluid}],
        }
    )
    simulation = Simulation(scene)
    x = np.array(simulation.particles["position"])
    simulation.particles["velocity"] = np.stack([4.0 * x[:, 1], 2.0 * x[:, 2] ** 2, 0 * x[:, 0]], 1)
    for _ in range(3):
        simulation.step()
    order = np.argsort(simulation.particles["id"])
    return np.array(simulation.particles["velocity"], np.float64)[order]


def test_inviscid_fluid_with_a_curve_stays_inviscid() -> None:
    """A factor on nothing, however large: no infinities from compliances that are infinite already.

    The water moves as it does without a curve, to the bit.
    """
    for factor in (1e-9, 1e9):
        curve = {"temperatures": (300.0,), "stiffening": (factor,)}
        water = moved({"viscosity": 0.0, "thermal": curve}, temperature=350.0)
        np.testing.assert_array_equal(water, moved({"viscosity": 0.0}))
    assert np.ptp(water[:, 0]) > 0.1  # it shears, and would feel a viscosity


def melting(**simulation: Any) -> Scene:
    """A cold block on a warm plate in warm air, fed by a warm jet."""
    d = SPACING
    curve = {"temperatures": (270.0, 290.0), "stiffening": (1.0, 1e-3)}
    ice = {"density": 900.0, "viscosity": 500.0, "conductivity": 50.0, "thermal": curve}
    made = {"material": "ice", "shape": "box", "center": (0, 2.5 * d, 0), "size": (5 * d,) * 3}
    jet = {"material": "ice", "shape": "disc", "center": (0, 0.3, 0), "direction": (0, -1, 0),
           "radius": 0.03, "speed": 1.0, "temperature": 330.0}  # fmt: skip
    return Scene.model_validate(
        {
            "simulation": {"spacing": d, "frames": 9, "ambient_temperature": 300.0, "cooling": 1e4,
                           **simulation},
            "materials": {"ice": ice},
            "fluids": [{**made, "temperature": 265.0}],
            "emitters": [jet],
            "colliders": [{"shape": "plane", "temperature": 340.0, "heat_transfer": 1e4}],
        }
    )  # fmt: skip


def test_a_stopped_run_goes_on_to_the_same_bits(tmp_path: Path) -> None:
    whole = Simulation(melting())
    for _ in range(4):
        whole.step()
    whole.save(tmp_path / "state.npz")
    rest = Simulation(melting(), checkpoint=tmp_path / "state.npz")
    for _ in range(5):
        whole.step()
        rest.step()
    for name in whole.particles:
        assert whole.particles[name].tobytes() == rest.particles[name].tobytes(), name
    warmth = whole.particles["temperature"]
    assert 265.0 <= warmth.min() < 270.0 and 320.0 < warmth.max() <= 340.0


def test_materials_can_be_changed_on_the_way() -> None:
    """Conductivity and the rest of a thermal material survive a change of another number."""
    simulation = Simulation(melting())
    simulation.set_material("ice", viscosity=100.0)
    assert simulation.material("ice").conductivity == 50.0
    assert simulation.material("ice").thermal is not None
    simulation.set_material("ice", conductivity=0.0)
    simulation.step()
    assert Material.model_validate(simulation.material("ice").minimal()) == simulation.material(
        "ice"
    )


HEAD = "[simulation]\nspacing = 0.1\nframes = 3\n"
BODY = '[[fluids]]\nmaterial = "a"\nshape = "sphere"\ncenter = [0, 0, 0]\nradius = 1.0\n'
GOO = "[materials.a]\ndensity = 1.0\nviscosity = 1.0\n"
MISTAKES = [
    (HEAD + "cooling = 5.0\n" + GOO + BODY,
     "s:4: simulation.cooling (5.0) needs ambient_temperature beside it: add it"),
    (HEAD + GOO + "thermal = { temperatures = [1.0, 2.0], stiffening = [1.0] }\n" + BODY,
     "s:7: materials.a.thermal.stiffening ([1.0]) must have as many numbers as temperatures (2)"),
    (HEAD + GOO + "thermal = { temperatures = [2.0, 1.0], stiffening = [1.0, 2.0] }\n" + BODY,
     "s:7: materials.a.thermal.temperatures ([2.0, 1.0]) must be ascending"),
    (HEAD + GOO + "thermal = { temperatures = [2.0], stiffening = [0.0] }\n" + BODY,
     "s:7: materials.a.thermal.stiffening.0 is 0.0 but must be at least 1e-09"),
    (HEAD + GOO + BODY + '[[colliders]]\nshape = "plane"\nheat_transfer = 3.0\n',
     "s:14: colliders.0.heat_transfer (3.0) needs temperature beside it: add it"),
]  # fmt: skip


@pytest.mark.parametrize("text, sentence", MISTAKES)
def test_mistakes_are_answered_in_a_sentence(text: str, sentence: str) -> None:
    with pytest.raises(SceneError) as caught:
        Scene.from_toml(text, "s")
    assert any(one.startswith(sentence) for one in caught.value.problems), caught.value.problems


def test_any_temperature_in_a_scene_makes_the_channel() -> None:
    for extra in (
        {"colliders": [{"shape": "plane", "temperature": 300.0}]},
        {"simulation": {"spacing": 0.1, "frames": 1, "ambient_temperature": 300.0}},
        {"materials": {"a": {"density": 1.0, "viscosity": 1.0,
                             "thermal": {"temperatures": (1.0,), "stiffening": (1.0,)}}}},
    ):  # fmt: skip
        scene = Scene.model_validate({"simulation": {"spacing": 0.1, "frames": 1}, **extra})
        assert scene.channel_widths == {"temperature": 1}
        assert Scene.from_toml(scene.to_toml()) == scene
