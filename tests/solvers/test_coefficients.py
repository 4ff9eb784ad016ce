"""What DC-PBD makes of a material in a step: closed forms that hold for steps of any length.

In small shear the constraint is σ = (memory q⁰ + c)/a with q the shear of Q and c = Δt rate, and q is
then updated to (q⁰ + c) relaxation (eq. 6, linear).
"""

from math import inf
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from viscoil.core.compute import view
from viscoil.materials.element import Element
from viscoil.materials.registry import element
from viscoil.scene import Material
from viscoil.solvers.dcpbd.coefficients import (
    INVISCID,
    VOLUME_STIFFNESS,
    Coefficients,
    coefficients,
)
from viscoil.solvers.dcpbd.stress_table import StressTables

ROUNDING = 16.0 * 2.0**-52  # of a dozen operations in double precision
amounts = st.floats(1e-3, 1e3)
steps = st.floats(1e-5, 1.0)


def of(dt: float, **keys: Any) -> Coefficients:
    return coefficients(element(Material(density=1000.0, **keys)), dt)


@given(amounts, amounts, amounts, steps)
def test_steady_shear_has_the_viscosity_whatever_the_step(
    modulus: float, tau: float, solvent: float, dt: float
) -> None:
    """The fixed point of q is τ rate, and there σ = (G τ + η_s) rate exactly.

    1 − relaxation loses digits where Δt is small beside τ, so q is put in and not iterated.
    """
    c = of(dt, modulus=modulus, relaxation_time=tau, solvent_viscosity=solvent)
    assert (tau + dt) * c.relaxation == pytest.approx(tau, rel=ROUNDING)
    stress = (c.memory * tau + dt) / c.shear_compliance
    assert stress == pytest.approx(modulus * tau + solvent, rel=ROUNDING)


@given(amounts, amounts, steps)
def test_stress_relaxes_as_backward_euler_does(modulus: float, tau: float, dt: float) -> None:
    """A strain of 1 that is held: G/(1 + Δt/τ)ⁿ after n steps, the first included."""
    c = of(dt, modulus=modulus, relaxation_time=tau)
    stress, q = 1.0 / c.shear_compliance, c.relaxation
    for n in range(1, 5):
        expected = modulus / (1.0 + dt / tau) ** n
        assert stress == pytest.approx(expected, rel=n * ROUNDING)
        stress, q = c.memory * q / c.shear_compliance, q * c.relaxation


@given(amounts, steps)
def test_a_solid_keeps_its_stress(modulus: float, dt: float) -> None:
    """1/a = G, and nothing is forgotten."""
    c = of(dt, modulus=modulus, relaxation_time=inf)
    assert 1.0 / c.shear_compliance == pytest.approx(modulus, rel=ROUNDING)
    assert c.memory == pytest.approx(1.0, rel=ROUNDING)
    assert c.relaxation == 1.0


@given(amounts, amounts, steps)
def test_viscosities_side_by_side_add_up(viscosity: float, solvent: float, dt: float) -> None:
    """σ = (η + η_s) rate for c = Δt rate; a solvent alone does the same without a polymer."""
    both = of(dt, viscosity=viscosity, solvent_viscosity=solvent)
    assert dt / both.shear_compliance == pytest.approx(viscosity + solvent, rel=ROUNDING)
    alone = of(dt, viscosity=0.0, solvent_viscosity=solvent)
    assert dt / alone.shear_compliance == pytest.approx(solvent, rel=ROUNDING)
    assert (alone.memory, alone.relaxation, both.relaxation) == (0.0, 0.0, 0.0)


@given(amounts, steps)
def test_a_thread_that_is_pulled_has_troutons_viscosity(viscosity: float, dt: float) -> None:
    """Free to narrow, with a volume that is 50 times as stiff: 3 η · 2·50/(2·50 + 1), 1 % below 3 η.

    As for a solid with G = η and 3K = 50 · 2η: E = 9KG/(3K + G).
    """
    c = of(dt, viscosity=viscosity)
    deviator, mean = 1.0 / c.normal_compliance, 1.0 / c.volume_compliance

    def stress(along: float, across: float) -> tuple[float, float]:
        middle = (along + 2.0 * across) / 3.0
        return (
            deviator * (along - middle) + mean * middle,
            deviator * (across - middle) + mean * middle,
        )

    one, other = stress(2.0 * dt, 0.0), stress(0.0, 2.0 * dt)
    narrowing = -one[1] / other[1]
    found = one[0] + narrowing * other[0]
    share = 2.0 * VOLUME_STIFFNESS / (2.0 * VOLUME_STIFFNESS + 1.0)
    assert found == pytest.approx(3.0 * viscosity * share, rel=100.0 * ROUNDING)


@given(amounts, steps, steps)
def test_a_remembered_pressure_is_the_same_in_a_step_of_another_length(
    viscosity: float, first: float, second: float
) -> None:
    """p = strain/a = pressure_memory θ/a: of a fluid, whose a grows with Δt, as of the paper's."""
    paper: dict[str, float] = {"compliance": viscosity, "relaxation_time": 0.0}
    for keys in ({"viscosity": viscosity}, paper):
        stiffness = [
            c.pressure_memory / c.volume_compliance
            for c in (of(dt, **keys) for dt in (first, second))
        ]
        assert stiffness[0] == pytest.approx(stiffness[1], rel=ROUNDING)


@given(steps)
def test_a_material_without_compliance_is_all_memory(dt: float) -> None:
    """α = 0: rigid, whatever the step, and its volume is that of any other."""
    c = of(dt, compliance=0.0, relaxation_time=0.1)
    assert c.normal_compliance == c.shear_compliance == c.volume_compliance == 0.0
    assert (c.memory, c.volume_memory, c.active) == (1.0, 1.0 / VOLUME_STIFFNESS, True)


def test_nothing_carries_nothing() -> None:
    assert coefficients(Element(inf, inf, inf, 0.0, 0.0), 0.01) == INVISCID
    assert not INVISCID.active


@pytest.mark.usefixtures("compute")
def test_the_table_follows_materials_and_steps() -> None:
    """Rows are those of the coefficients, to single precision; another number of materials fits too."""
    honey, water = Material.from_preset("honey"), Material(density=1000.0, viscosity=0.0)
    tables = StressTables()
    for materials, dt in (([honey, water], 0.01), ([honey, water], 0.002), ([water], 0.002)):
        tables.update(materials, dt)
        for name in ("shear_compliance", "volume_memory", "relaxation", "pressure_memory"):
            expected = [getattr(coefficients(element(m), dt), name) for m in materials]
            np.testing.assert_allclose(view(getattr(tables.table, name)), expected, rtol=6e-8)
        assert tables.any_active == (honey in materials)
