"""Closed forms against each other and against numerical integration; the rheometer in brief.

`verify/test_rheology.py` holds the simulator to the full bars.
"""

import numpy as np
import pytest
from bars import near

from viscoil.cli import main
from viscoil.core.errors import ViscoilError
from viscoil.rheology import measure
from viscoil.rheology.laws import OldroydB, newtonian_wave, start_up_couette, waters_king
from viscoil.rheology.rheometer import decaying_wave, setup, step_strain
from viscoil.scene import Material

FLUID = OldroydB(modulus=100.0, relaxation_time=0.2, solvent_viscosity=3.0)


def integrate(rate: float, end: float, steps: int = 4000) -> np.ndarray:
    """A (3×3) at time `end` in shear at `rate`, by the classical Runge-Kutta method."""
    grad = np.zeros((3, 3))
    grad[0, 1] = rate

    def slope(a: np.ndarray) -> np.ndarray:
        return grad @ a + a @ grad.T - (a - np.eye(3)) / FLUID.relaxation_time

    a, h = np.eye(3), end / steps
    for _ in range(steps):
        k1 = slope(a)
        k2 = slope(a + 0.5 * h * k1)
        k3 = slope(a + 0.5 * h * k2)
        k4 = slope(a + h * k3)
        a = a + h / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4)
    return a


@pytest.mark.parametrize("time", [0.05, 0.3, 1.5])
def test_start_up_is_what_the_differential_equation_gives(time: float) -> None:
    a = integrate(4.0, time)
    stress = FLUID.modulus * a[0, 1] + 4.0 * FLUID.solvent_viscosity
    assert FLUID.start_up(4.0, time) == pytest.approx(stress, rel=1e-9)
    normal = FLUID.modulus * (a[0, 0] - a[1, 1])
    assert FLUID.start_up_normal(4.0, time) == pytest.approx(normal, rel=1e-9)


def test_start_up_ends_in_the_steady_state() -> None:
    np.testing.assert_allclose(integrate(4.0, 8.0), FLUID.steady_conformation(4.0), rtol=1e-9)
    assert FLUID.start_up(4.0, 8.0) == pytest.approx(4.0 * FLUID.viscosity)


def test_oscillation_is_the_transform_of_step_strain() -> None:
    """G* = iω ∫ G(t) e^(−iωt) dt + iω η_s, G(t) the stress after a unit strain."""
    omega = 7.0
    time = np.linspace(0.0, 20.0 * FLUID.relaxation_time, 400_001)
    modulus = FLUID.step_strain(1.0, time)
    transform = np.trapezoid(modulus * np.exp(-1j * omega * time), time)
    expected = 1j * omega * (transform + FLUID.solvent_viscosity)
    assert FLUID.complex_modulus(omega) == pytest.approx(expected, rel=1e-6)


def test_moduli_cross_at_the_relaxation_time() -> None:
    crossing = OldroydB(100.0, 0.2).complex_modulus(5.0)
    assert crossing == pytest.approx(50.0 + 50.0j)


@pytest.mark.parametrize("wave_number", [5.0, 60.0])
def test_shear_wave_is_what_the_differential_equation_gives(wave_number: float) -> None:
    """Overdamped and oscillating; the matrix exponential of (u, s) by its eigenvectors."""
    density, end = 1000.0, 0.4
    solvent = FLUID.solvent_viscosity * wave_number
    matrix = np.array(
        [
            [-wave_number / density * solvent, -wave_number / density],
            [FLUID.modulus * wave_number, -1.0 / FLUID.relaxation_time],
        ]
    )
    values, vectors = np.linalg.eig(matrix)
    state = vectors @ (np.exp(values * end) * np.linalg.solve(vectors, [1.0, 0.0]))
    found = FLUID.shear_wave(density, wave_number, end)
    assert found == pytest.approx(state[0].real, rel=1e-9)


def test_shear_wave_of_a_fast_fluid_is_newtonian() -> None:
    fast = OldroydB(modulus=1e6, relaxation_time=1e-6, solvent_viscosity=2.0)
    expected = newtonian_wave(fast.viscosity, 1000.0, 30.0, 0.5)
    assert fast.shear_wave(1000.0, 30.0, 0.5) == pytest.approx(expected, rel=1e-4)


def test_poiseuille_has_the_published_values() -> None:
    """Waters and King 1970, centre line, E = 1."""
    times = (0.25, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 8.0, 10.0)
    table = {
        1.0 / 9.0: (0.750, 1.490, 2.466, 2.460, 2.058, 1.321, 1.317, 1.524, 1.485, 1.504),
        0.5: (0.730, 1.289, 1.817, 1.875, 1.761, 1.542, 1.484, 1.491, 1.500, 1.500),
    }
    for share, published in table.items():
        found = [float(waters_king(0.0, t, 1.0, share)) for t in times]
        np.testing.assert_allclose(found, published, atol=6e-4)


def test_couette_flow_starts_at_the_wall_and_ends_linear() -> None:
    y = np.linspace(0.0, 1.0, 11)
    assert start_up_couette(y, 1e-3)[:-2].max() < 1e-3
    np.testing.assert_allclose(start_up_couette(y, 2.0), y, atol=1e-6)


@pytest.mark.physics
def test_a_wave_decays_with_the_viscosity_that_was_asked_for() -> None:
    """24 particles a wavelength: gradients lose 2.3 %, implicit steps 0.5 %."""
    honey = Material(density=1420.0, viscosity=8.0)
    near(decaying_wave(setup(honey), steps=50), 8.0, "viscosity, Pa s", rel=0.03)


@pytest.mark.physics
def test_a_step_strain_relaxes_as_asked_for() -> None:
    """Implicit steps of τ/50 add 1 % to τ, and take 1 % from G beside the 2.3 % of the gradients."""
    gel = Material(density=1000.0, modulus=200.0, relaxation_time=0.5)
    found = step_strain(setup(gel), duration=1.0)
    near(found.relaxation_time, 0.5, "relaxation time, s", rel=0.05)
    near(found.modulus, 200.0, "modulus, Pa", rel=0.05)


def test_what_has_nothing_to_measure_is_refused() -> None:
    with pytest.raises(ViscoilError, match="nothing to measure"):
        measure(Material(density=1000.0, viscosity=0.0))
    with pytest.raises(ViscoilError, match="compliance"):
        measure(Material(density=1000.0, relaxation_time=0.1, compliance=1e-3))


def test_the_command_suggests_a_preset(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["rheometer", "honye"]) == 1
    assert 'did you mean "honey"' in capsys.readouterr().err
