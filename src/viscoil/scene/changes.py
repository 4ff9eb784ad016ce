"""Materials that change while a simulation runs."""

from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from viscoil.core.errors import SceneError
from viscoil.scene.materials import TRIPLE, Material
from viscoil.scene.messages import table_sentences
from viscoil.scene.schema import Scene


def changed_material(name: str, material: Material, values: Mapping[str, Any]) -> Material:
    """The material with other values, as a scene calls them; SceneError if they make no sense."""
    table = {**_kept(material, values), **values}
    try:
        return Material.model_validate(table)
    except ValidationError as error:
        raise SceneError(*table_sentences(error, ("materials", name), table)) from None


def check_fit(scene: Scene, name: str, material: Material) -> None:
    """Raises SceneError if the scene cannot have this material in the place of its own."""
    changed = scene.model_copy(update={"materials": {**scene.materials, name: material}})
    problems = [
        f"{'.'.join(map(str, place))} ({value}) {text}"
        for place, text, value in changed._problems()
        if place[:2] == ("materials", name)
    ]
    if changed.channel_widths != scene.channel_widths:
        problems.append(
            f"materials.{name}.thermal needs temperatures, and this scene has none: give it "
            "simulation.ambient_temperature before it starts"
        )
    if problems:
        raise SceneError(*problems)


def _kept(material: Material, values: Mapping[str, Any]) -> dict[str, Any]:
    """What stays of a material: viscosity = modulus x relaxation time, and what is given decides.

    One of the three replaces itself. Beside a new viscosity the relaxation time stays; beside
    another one the modulus or relaxation time that there is, or else the viscosity.
    """
    kept = material.minimal()
    given = [key for key in TRIPLE if key in values]
    if "compliance" in values:
        dropped = ["viscosity", "modulus"]
    elif len(given) > 1:
        dropped = [*TRIPLE, "compliance"]
    elif given == ["viscosity"]:
        dropped = ["modulus", "compliance"]
    elif given and material.kind != "viscous":
        dropped = ["viscosity", "compliance"] if given == ["modulus"] else ["viscosity"]
    else:
        dropped = []
    return {key: value for key, value in kept.items() if key not in dropped}
