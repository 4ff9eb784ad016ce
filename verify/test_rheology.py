"""Materials in SI units: the virtual rheometer against closed forms.

Two errors are known and part of every tolerance. A gradient over a support of two spacings sees a
wave of n particles too flat, by (2π/n)² times about 0.17 in the viscosity: 2.3 % at n = 24 and 1.3 %
at n = 32. Implicit steps are of first order: Δt/2τ in a relaxation time, half the decay of one step
in a viscosity.
"""

import numpy as np
import pytest
from figures import report

from viscoil import Scene, Simulation
from viscoil.rheology import rheometer
from viscoil.rheology.laws import OldroydB, waters_king
from viscoil.rheology.slab import Grid
from viscoil.scene import DcpbdSettings, Material

HONEY = Material(density=1420.0, viscosity=8.0)
GEL = Material(density=1000.0, modulus=200.0, relaxation_time=0.5)


def test_step_strain_gives_the_relaxation_time() -> None:
    found = rheometer.step_strain(rheometer.setup(GEL))
    time, modulus = found.relaxation_time / 0.5, found.modulus / 200.0
    report("rheology: relaxation time after a step strain, of asked", time, "0.95 to 1.05")
    report("rheology: modulus after a step strain, of asked", modulus, "0.95 to 1.05")
    assert time == pytest.approx(1.0, abs=0.05)
    assert modulus == pytest.approx(1.0, abs=0.05)


@pytest.mark.parametrize("turn", [0.1, 0.3, 1.0, 3.0, 10.0])
def test_oscillation_gives_both_moduli(turn: float) -> None:
    """At ωτ = 0.1 the error of G′ is that of the step, Δt/2τ = 1 %, and of the gradients."""
    omega = turn / GEL.relaxation_time
    found = rheometer.oscillation(rheometer.setup(GEL), omega, settle=4.0)
    law = OldroydB(GEL.modulus, GEL.relaxation_time).complex_modulus(omega)
    storage, loss = found.real / law.real, found.imag / law.imag
    report(f"rheology: G' at ωτ = {turn:g}, of asked", storage, "0.95 to 1.05")
    report(f"rheology: G'' at ωτ = {turn:g}, of asked", loss, "0.95 to 1.05")
    assert storage == pytest.approx(1.0, abs=0.05)
    assert loss == pytest.approx(1.0, abs=0.05)


def test_a_decaying_wave_gives_the_viscosity_in_every_direction() -> None:
    found = {}
    for name, diagonal in (("x", False), ("(1,1,0)", True)):
        bench = rheometer.setup(HONEY, per_wavelength=32, diagonal=diagonal)
        found[name] = rheometer.decaying_wave(bench, steps=50) / HONEY.viscosity
        report(f"rheology: viscosity of a wave along {name}, of asked", found[name], "0.97 to 1.03")
    assert found["x"] == pytest.approx(1.0, abs=0.03)
    assert found["(1,1,0)"] == pytest.approx(1.0, abs=0.03)


def test_viscosity_does_not_depend_on_the_arrangement() -> None:
    """Particles in disorder, each displaced by up to a tenth of the spacing along each axis.

    The first steps, in which density pushes the particles apart, are not looked at.
    """
    bench = rheometer.setup(HONEY, disorder=0.1)
    slab = bench.slab()
    found = []
    for step in range(60):
        slab.shear(bench.time_step, 0.5)
        if step >= 30:
            found.append(slab.stress / slab.rate)
    ratio = float(np.mean(found)) / HONEY.viscosity
    report("rheology: viscosity in disorder, of asked", ratio, "0.9 to 1.1")
    assert ratio == pytest.approx(1.0, abs=0.1)


def test_viscosity_stays_what_it_is_while_the_fluid_flows() -> None:
    """A strain of two: every particle has changed all its neighbours along the flow."""
    bench = rheometer.setup(HONEY, time_step=0.005)
    slab = bench.slab()
    while slab.strain < 2.0:
        slab.shear(bench.time_step, 0.5)
    ratio = slab.stress / slab.rate / HONEY.viscosity
    report("rheology: viscosity at a strain of 2, of asked", ratio, "0.95 to 1.05")
    assert ratio == pytest.approx(1.0, abs=0.05)


def test_a_material_is_the_same_at_other_spacings_and_steps() -> None:
    """The same slab, spacing d or d/2; the same waves, step Δt or Δt/4."""
    first = rheometer.setup(GEL)
    d, dt = first.grid.spacing, first.time_step
    finer = rheometer.setup(GEL, spacing=0.5 * d, per_wavelength=48, time_step=dt)
    shorter = rheometer.setup(GEL, spacing=d, time_step=0.25 * dt)
    found = [rheometer.step_strain(bench, duration=1.0) for bench in (first, finer, shorter)]
    wave = rheometer.setup(HONEY)
    d, dt = wave.grid.spacing, wave.time_step
    waves = [
        rheometer.decaying_wave(wave, steps=50),
        rheometer.decaying_wave(
            rheometer.setup(HONEY, spacing=0.5 * d, per_wavelength=48, time_step=dt), steps=50
        ),
        rheometer.decaying_wave(rheometer.setup(HONEY, time_step=0.25 * dt), steps=200),
    ]
    for name, values in (
        ("modulus", [r.modulus for r in found]),
        ("relaxation time", [r.relaxation_time for r in found]),
        ("viscosity", waves),
    ):
        for change, value in zip(
            ("half the spacing", "a quarter of the step"), values[1:], strict=True
        ):
            ratio = value / values[0]
            report(f"rheology: {name} at {change}, of before", ratio, "0.95 to 1.05")
            assert ratio == pytest.approx(1.0, abs=0.05)


@pytest.mark.parametrize("share", [1.0 / 9.0, 0.5])
def test_poiseuille_flow_starts_as_waters_and_king_say(share: float) -> None:
    """E = 1, 24 particles across the gap; the error is taken over the steady 1.5."""
    gap, time = 0.15, 0.5
    density = 1000.0
    total = density * (0.5 * gap) ** 2 / time  # E = τ η₀/(ρ h²) = 1
    fluid = Material(
        density=density,
        modulus=(1.0 - share) * total / time,
        relaxation_time=time,
        solvent_viscosity=share * total,
    )
    bench = rheometer.Setup(fluid, Grid(gap / 24, 48), time / 100.0, DcpbdSettings())
    turns = np.array([0.25, 0.5, 1.0, 1.25, 1.5, 2.0, 3.0, 4.0, 5.0])
    _, centre = rheometer.poiseuille(bench, turns * time)
    law = np.array([float(waters_king(0.0, t, 1.0, share)) for t in turns])
    error = float(np.abs(centre - law).max() / 1.5)
    report(f"rheology: error of start-up Poiseuille flow, β = {share:.3g}", error, "at most 0.05")
    report(
        f"rheology: its greatest speed, β = {share:.3g}", float(centre.max()), f"{law.max():.3f}"
    )
    assert error <= 0.05


def test_a_block_between_plates_is_sheared_as_its_viscosity_says() -> None:
    """Full solver: two sticky plates, the upper one moving at V, and a body force f along x.

    Periodic along the flow (ends would need a shear stress of their own), free surfaces along z. The
    steady flow is u = V Y + f/(2η) y (H − y). Its curvature gives the viscosity against a force that
    is known, whatever the solver says about its stress; the stress of the particles in the middle,
    where that of the body force vanishes, is η V/(H − d): the held layers are half a spacing
    inside the plates.
    """
    layers, height, speed, viscosity, density = 12, 0.1, 0.1, 8.0, 1000.0
    force = 320.0  # N/m³: half the speed of the plate at mid height
    simulation = Simulation(_plates(layers, height, speed, viscosity, density, force))
    curvature, stress = [], []
    while simulation.time < 0.5:
        simulation.step()
        if simulation.time > 0.4:
            p = simulation.particles
            y, u = p["position"][:, 1].astype(float), p["velocity"][:, 0].astype(float)
            inside = (y > height / layers) & (y < height - height / layers)
            curvature.append(2.0 * np.polyfit(y[inside], u[inside], 2)[0])
            middle = np.abs(y - 0.5 * height) < 0.25 * height
            stress.append(p["stress"][middle, 3].mean())
    measured = -force / float(np.mean(curvature)) / viscosity
    expected = viscosity * speed / (height - height / layers)
    ratio = float(np.mean(stress)) / expected
    report("rheology: viscosity of a block between plates, of asked", measured, "0.9 to 1.1")
    report("rheology: shear stress in it, of expected", ratio, "0.9 to 1.1")
    assert measured == pytest.approx(1.0, abs=0.1)
    assert ratio == pytest.approx(1.0, abs=0.1)


def _plates(
    layers: int, height: float, speed: float, viscosity: float, density: float, force: float
) -> Scene:
    half = 0.5 * height
    motion = [
        {"time": 0.0, "translation": [0.0, 0.0, 0.0]},
        {"time": 10.0, "translation": [10.0 * speed, 0.0, 0.0]},
    ]
    upper = {"shape": "box", "center": [0.0, height + 0.05, 0.0], "size": [4.0, 0.1, 4.0]}
    return Scene.model_validate(
        {
            "simulation": {
                "spacing": height / layers,
                "duration": 1.0,
                "time_step": 0.004,
                "gravity": [force / density, 0.0, 0.0],
                "periodic": [height, 0.0, 0.0],
            },
            "materials": {"oil": {"density": density, "viscosity": viscosity}},
            "fluids": [
                {
                    "material": "oil",
                    "shape": "box",
                    "center": [half, half, half],
                    "size": [height, height, height],
                }
            ],
            "colliders": [{"shape": "plane"}, {**upper, "motion": motion}],
        }
    )
