"""Puts a scene together from the tables of the JSON."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from viscoil.core.errors import SceneError
from viscoil.scene.importers.geometry import Geometry
from viscoil.scene.importers.splishsplash.bodies import Body, read_body
from viscoil.scene.importers.splishsplash.configuration import Setting, read_configuration
from viscoil.scene.importers.splishsplash.document import Section, read_document
from viscoil.scene.importers.splishsplash.emitters import kill_volume, most_particles, read_emitter
from viscoil.scene.importers.splishsplash.fields import read_field
from viscoil.scene.importers.splishsplash.fluids import (
    SLAB,
    particle_count,
    read_block,
    read_model,
)
from viscoil.scene.importers.splishsplash.materials import COLORS, Made, read_material
from viscoil.scene.importers.splishsplash.motors import HINGES, apply_motor
from viscoil.scene.writer import to_toml

_EMITTER_KEYS = (
    "maxEmitterParticles", "emitterReuseParticles", "emitterBoxMin", "emitterBoxMax",
    *(f"emitterBox{end}{i}" for end in ("Min", "Max") for i in range(3)),
)  # fmt: skip


@dataclass(frozen=True)
class Imported:
    """A scene as tables, and what was not carried over."""

    tables: dict[str, Any]
    """As `Scene` takes them; files are named relative to the scene that will be written."""
    lost: tuple[str, ...]
    """What was not carried over, or not as it was, one line each."""
    source: Path
    """The JSON."""

    def to_toml(self) -> str:
        """The scene file, with what was lost as comments at its top."""
        head = [f"# From {self.source.name}, a scene of SPlisHSPlasH."]
        if self.lost:
            head += ["#", "# Not carried over, or not as it was:", *(f"# - {x}" for x in self.lost)]
        return "\n".join([*head, "", to_toml(self.tables)])


def import_scene(path: Path, geometry: Geometry) -> Imported:
    """The scene in a JSON file; raises SceneError, in one sentence, for one that cannot be one."""
    document = read_document(path)
    configuration = document.child("Configuration") or Section(
        {}, "Configuration", document.file, document.losses
    )
    setting, tables = read_configuration(configuration)
    fluids, count = _fluids(document, path.parent, geometry, setting)
    emitters = [e for s in document.children("Emitters") if (e := read_emitter(s, setting))]
    materials = _materials(document, setting, [*fluids, *emitters])
    if not fluids and not emitters:
        raise SceneError(f"{path}: has no fluid: add FluidBlocks, FluidModels or Emitters")
    tables["materials"] = {name: made.table for name, made in materials.items()}
    tables["fluids"], tables["emitters"] = fluids, emitters
    sticky = any(made.sticks for made in materials.values())
    tables["colliders"] = _colliders(document, path.parent, geometry, setting, sticky)
    tables["fields"] = [f for s in document.children("AnimationFields") if (f := read_field(s))]
    _limit_emitters(document, tables, materials, count)
    _leave(document)
    kept = {key: _rounded(value) for key, value in tables.items() if value}
    return Imported(kept, document.losses.lines, path)


def _rounded(value: Any) -> Any:
    """Numbers with as many digits as single precision has, which is what the JSON often held."""
    if isinstance(value, float):
        return float(f"{value:.7g}") + 0.0  # + 0.0 turns -0.0 into 0.0
    if isinstance(value, dict):
        return {key: _rounded(item) for key, item in value.items()}
    return [_rounded(item) for item in value] if isinstance(value, list) else value


def _fluids(
    document: Section, folder: Path, geometry: Geometry, setting: Setting
) -> tuple[list[dict[str, Any]], int]:
    """Bodies of fluid, and how many particles they have together, but for meshes."""
    blocks = [b for s in document.children("FluidBlocks") if (b := read_block(s, setting))]
    models = [read_model(s, folder, geometry, setting) for s in document.children("FluidModels")]
    count = sum(particle_count(b, setting.spacing) for b in blocks) + sum(n for _, n in models)
    return [*blocks, *(table for table, _ in models)], count


def _materials(
    document: Section, setting: Setting, makers: Iterable[dict[str, Any]]
) -> dict[str, Made]:
    """The materials that fluids and emitters are of, each with a colour if there are several."""
    used = list(dict.fromkeys(maker["material"] for maker in makers))
    given: dict[str, Section] = {}
    for section in document.children("Materials"):
        given[section.text("id", "Fluid")] = section
    for name in used:
        older = None if name in given else document.child(name)  # files before version 2.8
        given.setdefault(name, older or Section({}, name, document.file, document.losses))
    result = {name: read_material(given[name], setting) for name in used}
    for name, section in given.items():
        if name not in result:
            document.losses.add(section.place, f"is of {name!r}, which no fluid is made of")
    if len(result) > 1:
        for i, made in enumerate(result.values()):
            made.table["color"] = list(COLORS[i % len(COLORS)])
    return result


def _colliders(
    document: Section, folder: Path, geometry: Geometry, setting: Setting, sticky: bool
) -> list[dict[str, Any]]:
    sections = enumerate(document.children("RigidBodies"))
    bodies = [read_body(s, folder, geometry, setting, sticky, i) for i, s in sections]
    for motor in document.children(HINGES):
        apply_motor(motor, bodies, setting.duration)
    return [body.table for body in bodies] + _slab(document, setting, bodies)


def _slab(document: Section, setting: Setting, bodies: list[Body]) -> list[dict[str, Any]]:
    """The walls between which a scene of two dimensions flows."""
    if not setting.flat:
        return []
    if any(body.table.get("dynamic") for body in bodies):
        raise SceneError(
            f"{document.file}: has bodies that move freely in two dimensions, which Viscoil "
            "cannot do: set sim2D to false"
        )
    half = 0.5 * SLAB * setting.spacing
    document.losses.add(
        "Configuration.sim2D", f"a slab of {SLAB} particles between two smooth walls instead"
    )
    return [
        {
            "shape": "plane",
            "point": [0.0, 0.0, -side * half],
            "normal": [0.0, 0.0, side],
            "contact": "slip",
            "visible": False,
        }
        for side in (1.0, -1.0)
    ]


def _limit_emitters(
    document: Section, tables: dict[str, Any], materials: dict[str, Made], count: int
) -> None:
    """Sets how many particles there may be, and where those that left are removed."""
    emitted = {e["material"] for e in tables["emitters"]}
    used = {name: made for name, made in materials.items() if name in emitted}
    most = most_particles(used, count)
    if most is not None:
        tables["simulation"]["max_particles"] = most
        document.losses.add("Emitters", "the walls that its nozzles have were left out")
    tables["kill"] = [k for name, made in used.items() if (k := kill_volume(name, made))]
    for made in materials.values():
        made.section.leave(_EMITTER_KEYS, "limits of emitters that have no effect")
        made.section.finish()


def _leave(document: Section) -> None:
    document.leave(("Simulation",), "settings of its solver for bodies")
    joints = tuple(key for key in document.data if key.endswith(("Joints", "Springs")))
    document.leave(tuple(j for j in joints if j != HINGES), "joints between bodies")
    document.finish()
