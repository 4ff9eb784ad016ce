"""Materials: every way to give them resolves to the same physical numbers."""

from math import inf, isclose
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from viscoil.core.errors import SceneError
from viscoil.scene import PRESETS, Material, Scene


def material(**table: Any) -> Material:
    return Material.model_validate({"density": 1000.0, **table})


def error(**table: Any) -> str:
    """The sentence about [materials.goo] with this table."""
    lines = "\n".join(f"{key} = {value}" for key, value in table.items())
    text = f"[simulation]\nspacing = 1\nframes = 1\n[materials.goo]\ndensity = 1\n{lines}\n"
    with pytest.raises(SceneError) as caught:
        Scene.from_toml(text)
    (sentence,) = caught.value.problems
    return sentence.split("materials.goo", 1)[1]


@pytest.mark.parametrize(
    ("table", "kind", "viscosity", "modulus", "relaxation_time"),
    [
        ({"viscosity": 8}, "viscous", 8.0, inf, 0.0),
        ({"viscosity": 8, "relaxation_time": 0}, "viscous", 8.0, inf, 0.0),
        ({"viscosity": 0}, "inviscid", 0.0, 0.0, 0.0),
        ({"modulus": 0, "relaxation_time": 2}, "inviscid", 0.0, 0.0, 0.0),
        ({"modulus": 500, "relaxation_time": 0.5}, "viscoelastic", 250.0, 500.0, 0.5),
        ({"viscosity": 250, "relaxation_time": 0.5}, "viscoelastic", 250.0, 500.0, 0.5),
        ({"viscosity": 250, "modulus": 500}, "viscoelastic", 250.0, 500.0, 0.5),
        (
            {"viscosity": 250, "modulus": 500, "relaxation_time": 0.5},
            "viscoelastic",
            250.0,
            500.0,
            0.5,
        ),
        ({"modulus": 500, "relaxation_time": inf}, "elastic", inf, 500.0, inf),
        ({"relaxation_time": 0.15, "compliance": 0}, "paper", 0.0, 0.0, 0.15),
    ],
)
def test_resolution(
    table: dict[str, Any], kind: str, viscosity: float, modulus: float, relaxation_time: float
) -> None:
    resolved = material(**table)
    assert resolved.kind == kind
    assert (resolved.viscosity, resolved.modulus) == (viscosity, modulus)
    assert resolved.relaxation_time == relaxation_time
    assert resolved.compliance == table.get("compliance")


@pytest.mark.parametrize(
    ("table", "sentence"),
    [
        ({}, " needs viscosity (0 for an inviscid liquid), or modulus with"),
        ({"modulus": 3}, " needs viscosity (0 for an inviscid liquid), or modulus with"),
        ({"relaxation_time": 3}, " needs viscosity (0 for an inviscid liquid), or modulus with"),
        ({"viscosity": "inf"}, ".viscosity (inf) must be finite: for an elastic solid give"),
        (
            {"modulus": "inf", "relaxation_time": 1},
            ".modulus (inf) must be finite: for a purely viscous",
        ),
        ({"viscosity": 1, "relaxation_time": "inf"}, ".relaxation_time (inf) makes an elastic"),
        ({"viscosity": 1, "modulus": 0}, ".modulus (0.0) must be greater than 0 beside"),
        (
            {"viscosity": 1, "modulus": 2, "relaxation_time": 3},
            ".viscosity (1.0) disagrees with modulus times relaxation_time, which is 6:",
        ),
        (
            {"viscosity": 0, "modulus": 2, "relaxation_time": 3},
            ".viscosity (0.0) disagrees with modulus times relaxation_time, which is 6:",
        ),
        ({"compliance": 1}, ".compliance (1) needs relaxation_time beside it"),
        (
            {"compliance": 1, "relaxation_time": 1, "viscosity": 1},
            ".compliance (1) is the paper's own unit and excludes viscosity:",
        ),
        ({"compliance": 1, "relaxation_time": "inf"}, ".compliance (1) and relaxation_time must"),
        ({"viscosity": 1, "color": [0, 0, 2]}, ".color.2 is 2 but must be at most 1"),
    ],
)
def test_mistakes(table: dict[str, Any], sentence: str) -> None:
    assert error(**table).startswith(sentence)


class TestPresetOverrides:
    """One number replaces that number of the preset and keeps the rest meaningful."""

    def test_viscosity_of_a_viscous_one(self) -> None:
        assert Material.model_validate({"preset": "honey", "viscosity": 80}).viscosity == 80

    def test_viscosity_of_a_viscoelastic_one_keeps_its_relaxation_time(self) -> None:
        changed = Material.model_validate({"preset": "ketchup", "viscosity": 10})
        assert (changed.relaxation_time, changed.modulus) == (0.5, 20.0)

    def test_relaxation_time_keeps_the_modulus(self) -> None:
        changed = Material.model_validate({"preset": "ketchup", "relaxation_time": 2})
        assert (changed.modulus, changed.viscosity) == (200.0, 400.0)

    def test_relaxation_time_of_a_viscous_one_keeps_its_viscosity(self) -> None:
        changed = Material.model_validate({"preset": "honey", "relaxation_time": 0.5})
        assert (changed.modulus, changed.viscosity) == (16.0, 8.0)

    def test_two_numbers_replace_all(self) -> None:
        table = {"preset": "honey", "modulus": 3.0, "relaxation_time": 2.0}
        assert Material.model_validate(table).viscosity == 6.0

    def test_compliance_replaces_all_but_the_relaxation_time(self) -> None:
        changed = Material.model_validate({"preset": "ketchup", "compliance": 0.01})
        assert (changed.kind, changed.relaxation_time) == ("paper", 0.5)

    def test_transmission(self) -> None:
        """How clear it is comes with a preset, can be replaced, and goes to the file."""
        assert Material.from_preset("water").transmission == 0.8
        assert Material.from_preset("thick-cream").transmission == 0.0
        changed = Material.model_validate({"preset": "water", "transmission": 0.1})
        assert Material.model_validate(changed.minimal()) == changed

    def test_density_and_color(self) -> None:
        table = {"preset": "honey", "density": 1.0, "color": [0, 0, 0]}
        changed = Material.model_validate(table)
        assert (changed.density, changed.color, changed.viscosity) == (1.0, (0, 0, 0), 8.0)


REQUIRED = {
    "water",
    "olive-oil",
    "honey",
    "syrup",
    "ketchup",
    "toothpaste",
    "thick-cream",
    "runny-cream",
    "melted-chocolate",
    "dough",
    "gel",
    "egg-white",
    "lava",
}


def test_presets_are_all_there() -> None:
    assert set(PRESETS) == REQUIRED


@pytest.mark.parametrize("name", PRESETS)
def test_preset_is_complete_and_says_where_it_is_from(name: str) -> None:
    preset = PRESETS[name]
    assert preset.description.endswith(".") and "value" in preset.source
    resolved = Material.from_preset(name)
    assert 300 < resolved.density < 3000
    assert resolved.kind in ("viscous", "viscoelastic", "elastic")
    assert Material.model_validate(dict(preset.values)) == resolved


def test_yield_stress_is_admitted() -> None:
    for name in ("ketchup", "toothpaste", "thick-cream", "runny-cream"):
        assert "yield stress" in PRESETS[name].description


sane = st.floats(1e-6, 1e9)


@given(sane, sane)
def test_two_of_three_numbers_give_the_third(modulus: float, relaxation_time: float) -> None:
    first = material(modulus=modulus, relaxation_time=relaxation_time)
    for given_keys in (("viscosity", "modulus"), ("viscosity", "relaxation_time")):
        again = material(**{key: getattr(first, key) for key in given_keys})
        for key in ("viscosity", "modulus", "relaxation_time"):
            assert isclose(getattr(again, key), getattr(first, key), rel_tol=1e-14)


@given(
    st.one_of(
        st.fixed_dictionaries({"viscosity": sane | st.just(0.0)}),
        st.fixed_dictionaries({"modulus": sane, "relaxation_time": sane | st.just(inf)}),
        st.fixed_dictionaries({"viscosity": sane, "relaxation_time": sane | st.just(0.0)}),
        st.fixed_dictionaries({"viscosity": sane, "modulus": sane}),
        st.fixed_dictionaries({"compliance": sane, "relaxation_time": sane | st.just(0.0)}),
    ),
    sane,
)
def test_dump_gives_the_same_material_back(table: dict[str, float], solvent: float) -> None:
    first = material(**table, solvent_viscosity=solvent)
    assert Material.model_validate(first.model_dump()) == first
