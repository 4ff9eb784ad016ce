"""Material laws: the springs, viscosities and times that they make of a material, in closed form."""

from math import inf

import pytest
from hypothesis import given
from hypothesis import strategies as st

from viscoil.materials.element import Element
from viscoil.materials.registry import LAWS, element
from viscoil.scene import PRESETS, Material

ROUNDING = 4.0 * 2.0**-52  # of a handful of operations in double precision
amounts = st.floats(1e-6, 1e6)


def steady_shear_stress(e: Element, rate: float) -> float:
    """σ_xy of shear at a rate (1/s) that has lasted: dQ_xy/dt = rate − Q_xy/τ = 0, and the solvent."""
    return e.relaxation_time * rate / e.shear_compliance + e.solvent_viscosity * rate


@pytest.mark.parametrize("name", PRESETS)
def test_one_law_is_meant_for_each_preset(name: str) -> None:
    material = Material.from_preset(name)
    assert [law.applies(material) for law in LAWS].count(True) == 1
    assert element(material).shear_compliance < inf


@given(amounts, amounts, amounts, amounts)
def test_a_viscoelastic_fluid_has_its_viscosity_in_the_end(
    modulus: float, tau: float, solvent: float, rate: float
) -> None:
    """Oldroyd-B in steady shear: σ = (G τ + η_s) rate, and at once, before Q forgets, G per strain."""
    material = Material(
        density=1000.0, modulus=modulus, relaxation_time=tau, solvent_viscosity=solvent
    )
    e = element(material)
    assert 1.0 / e.shear_compliance == pytest.approx(modulus, rel=ROUNDING)
    assert e.normal_compliance == e.shear_compliance
    assert e.viscosity == pytest.approx(modulus * tau, rel=ROUNDING)
    expected = (modulus * tau + solvent) * rate
    assert steady_shear_stress(e, rate) == pytest.approx(expected, rel=2.0 * ROUNDING)


@given(amounts, amounts)
def test_a_viscous_fluid_is_a_dashpot_without_a_spring(viscosity: float, solvent: float) -> None:
    """The limit G → ∞, τ → 0 at the same η: the whole compliance of a time t is t/η."""
    material = Material(density=1000.0, viscosity=viscosity, solvent_viscosity=solvent)
    assert element(material) == Element(0.0, 0.0, viscosity, solvent, 0.0)


@given(amounts)
def test_an_elastic_solid_is_a_spring_that_never_forgets(modulus: float) -> None:
    e = element(Material(density=1000.0, modulus=modulus, relaxation_time=inf))
    assert 1.0 / e.shear_compliance == pytest.approx(modulus, rel=ROUNDING)
    assert (e.viscosity, e.relaxation_time, e.solvent_viscosity) == (inf, inf, 0.0)


def test_an_inviscid_fluid_may_have_a_solvent() -> None:
    """No element: nothing answers a strain, and a solvent is all that answers its rate."""
    for solvent in (0.0, 3.0):
        material = Material(density=1000.0, viscosity=0.0, solvent_viscosity=solvent)
        e = element(material)
        assert (e.normal_compliance, e.shear_compliance) == (inf, inf)
        assert e.solvent_viscosity == solvent
        assert material.carries_stress == (solvent > 0.0)


@given(st.just(0.0) | st.floats(1e-9, 1.0), st.floats(1.0, 1e4), st.floats(0.0, 10.0))
def test_the_papers_compliance_is_that_of_unit_mass(
    alpha: float, density: float, tau: float
) -> None:
    """α/ρ against shear and half of it against stretching, nothing in series, nothing beside."""
    material = Material(
        density=density, compliance=alpha, relaxation_time=tau, solvent_viscosity=7.0
    )
    assert element(material) == Element(0.5 * alpha / density, alpha / density, inf, 0.0, tau)
