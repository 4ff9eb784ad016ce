"""Materials that a user changes while a simulation runs."""

from typing import Any

import pytest
from simulation_rigs import block, state, weightless

from viscoil.core.errors import ViscoilError
from viscoil.scene import Scene
from viscoil.simulation.simulation import Simulation

pytestmark = pytest.mark.usefixtures("compute")


def test_materials_can_be_changed_on_the_way() -> None:
    simulation = Simulation(weightless(block(3)))
    simulation.set_material("paste", viscosity=5.0)
    assert simulation.material("paste").viscosity == 5.0
    assert simulation.material("paste").density == 1200.0
    simulation.set_material("jelly", relaxation_time=0.6)
    jelly = simulation.material("jelly")
    assert (jelly.modulus, jelly.relaxation_time, jelly.viscosity) == (2000.0, 0.6, 1200.0)
    simulation.set_material("jelly", viscosity=600.0)
    jelly = simulation.material("jelly")
    assert (jelly.modulus, jelly.relaxation_time) == (1000.0, 0.6)
    with pytest.raises(ViscoilError, match=r"no material 'custard'.*paste, jelly, rigid"):
        simulation.set_material("custard", viscosity=1.0)


def test_a_relaxation_time_makes_a_viscous_material_elastic() -> None:
    """Its viscosity stays, and with it how it flows in the end; and so it does with a modulus."""
    simulation = Simulation(weightless(block(3)))
    simulation.set_material("paste", relaxation_time=0.5)
    paste = simulation.material("paste")
    assert (paste.viscosity, paste.modulus, paste.relaxation_time) == (50.0, 100.0, 0.5)
    simulation.set_material("paste", viscosity=20.0, modulus=80.0)
    assert simulation.material("paste").relaxation_time == 0.25
    simulation.set_material("paste", viscosity=20.0, relaxation_time=0.0)
    assert simulation.material("paste").kind == "viscous"
    simulation.set_material("paste", modulus=40.0)
    assert simulation.material("paste").relaxation_time == 0.5
    simulation.set_material("rigid", relaxation_time=0.2)
    rigid = simulation.material("rigid")
    assert (rigid.kind, rigid.compliance, rigid.relaxation_time) == ("paper", 0.0, 0.2)
    simulation.set_material("jelly", compliance=0.1)
    jelly = simulation.material("jelly")
    assert (jelly.kind, jelly.relaxation_time) == ("paper", 0.3)


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"viscosity": -1.0}, "materials.paste.viscosity is -1.0 but must be at least 0"),
        ({"relaxation_time": -0.1}, "materials.paste.relaxation_time is -0.1 but must be"),
        ({"modulus": float("nan")}, "materials.paste.modulus is nan but must be"),
        ({"density": 0.0}, "materials.paste.density is 0.0 but must be greater than 0"),
        ({"relaxation_time": float("inf")}, "needs modulus instead of viscosity"),
        ({"viscosty": 1.0}, 'materials.paste.viscosty is no known key: did you mean "viscosity"?'),
        ({"viscosity": "thick"}, 'materials.paste.viscosity is the text "thick" but must be'),
    ],
    ids=str,
)
def test_senseless_materials_are_refused(values: dict[str, Any], words: str) -> None:
    """In one sentence, and the material stays as it was."""
    simulation = Simulation(weightless(block(3)))
    before = simulation.material("paste")
    with pytest.raises(ViscoilError) as caught:
        simulation.set_material("paste", **values)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value) and "pydantic" not in str(caught.value)
    assert simulation.material("paste") == before


def test_a_changed_material_acts_from_the_next_step() -> None:
    """As if the scene had had it from the start, when changed before the first step."""
    changed = Simulation(weightless(block(5, angular_velocity=(0.0, 5.0, 0.0))))
    changed.set_material("paste", viscosity=1.0)
    values = weightless(block(5, angular_velocity=(0.0, 5.0, 0.0))).to_dict()
    values["materials"]["paste"]["viscosity"] = 1.0
    given = Simulation(Scene.model_validate(values))
    for _ in range(3):
        changed.step()
        given.step()
    assert state(changed) == state(given)
