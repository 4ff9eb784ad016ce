"""The whole scene as one frozen model."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import Field, model_validator

from viscoil.core.names import unknown_name
from viscoil.scene._base import Location, Model, Problem
from viscoil.scene.channels import as_table, channel_problems, channel_widths, items
from viscoil.scene.colliders import Collider
from viscoil.scene.emitters import Emitter
from viscoil.scene.fields import Field as ForceField
from viscoil.scene.fluids import Fluid
from viscoil.scene.kill import Kill
from viscoil.scene.materials import Material
from viscoil.scene.presets import PRESETS
from viscoil.scene.settings import Camera, OutputSpec, SimulationSettings
from viscoil.scene.solvers import AnySolverSettings, default_settings
from viscoil.scene.solvers.registry import name_definitions

DEFAULT_OUTPUTS = (
    OutputSpec(type="frames"),
    OutputSpec(type="preview"),
    OutputSpec(type="video"),
)
MOST_APART = 3  # largest particle spacing over the smallest
MOST_SPACINGS = 7  # as many as the neighbour search has levels


class Scene(Model):
    """What to simulate, in SI units, complete and checked."""

    simulation: SimulationSettings
    """Resolution, duration, time step and domain."""
    solver: AnySolverSettings = default_settings()
    """How the equations are solved."""
    materials: dict[str, Material] = Field(default_factory=dict)
    """Materials by name; presets that fluids or emitters name are added."""
    fluids: tuple[Fluid, ...] = ()
    """Bodies of fluid at the start."""
    emitters: tuple[Emitter, ...] = ()
    """Nozzles that fluid flows out of."""
    colliders: tuple[Collider, ...] = ()
    """Solids that fluid meets."""
    fields: tuple[ForceField, ...] = ()
    """Forces that act at a distance: wind, whirls, turbulence, pulls, drag."""
    kill: tuple[Kill, ...] = ()
    """Volumes in which particles are removed."""
    outputs: tuple[OutputSpec, ...] = Field(default=DEFAULT_OUTPUTS)
    """What is written: particle files, pictures and a film unless given."""
    camera: Camera | None = None
    """Where the preview looks from."""

    @model_validator(mode="before")
    @classmethod
    def _add_presets(cls, data: Any) -> Any:
        if not isinstance(data, Mapping) or not isinstance(data.get("materials", {}), Mapping):
            return data
        materials = dict(data.get("materials", {}))
        for _, name in _material_uses(data):
            if name not in materials and name in PRESETS:
                materials[name] = {"preset": name}
        return {**data, "materials": materials}

    @model_validator(mode="before")
    @classmethod
    def _apply_scale(cls, data: Any) -> Any:
        """Every spacing over the cube root of simulation.scale, which then is 1."""
        settings = as_table(data.get("simulation")) if isinstance(data, Mapping) else {}
        scale = settings.get("scale")
        if not isinstance(scale, (int, float)) or isinstance(scale, bool) or not scale > 0.0:
            return data
        if scale == 1.0:
            return data
        finer = float(scale) ** (-1.0 / 3.0)
        result = {**data, "simulation": {**_scaled(settings, finer), "scale": 1.0}}
        for group in ("fluids", "emitters"):
            if isinstance(data.get(group), list | tuple):
                result[group] = [_scaled(item, finer) for item in data[group]]
        return result

    def _problems(self) -> Iterator[Problem]:
        yield from super()._problems()
        yield from name_problems(dict(self))
        yield from _export_problems(self)
        yield from _spacing_problems(self)
        yield from _one_resolution_problems(self)

    def spacing_of(self, body: Fluid | Emitter) -> float:
        """Particle spacing of a fluid or emitter, m."""
        return self.simulation.spacing if body.spacing is None else body.spacing

    @property
    def spacings(self) -> tuple[float, ...]:
        """The different particle spacings of fluids and emitters, m, ascending."""
        found = {self.spacing_of(body) for body in (*self.fluids, *self.emitters)}
        return tuple(sorted(found)) or (self.simulation.spacing,)

    @property
    def mixed(self) -> bool:
        """Whether particles have sizes of their own, other than simulation.spacing."""
        return self.spacings != (self.simulation.spacing,)

    @property
    def bodies(self) -> tuple[int, ...]:
        """Of each fluid, the number of its body, from 1, if it is a separate one, and else 0."""
        count = itertools.count(1)
        return tuple(next(count) if self._is_separate(fluid) else 0 for fluid in self.fluids)

    @property
    def parted(self) -> bool:
        """Whether there are bodies that may collide."""
        return max(self.bodies, default=0) > 1

    def _is_separate(self, fluid: Fluid) -> bool:
        solid = self.materials[fluid.material].kind == "elastic"
        return solid if fluid.separate is None else fluid.separate

    @property
    def name(self) -> str:
        """Name of the scene and of its run folder."""
        return self.simulation.name

    @property
    def frames(self) -> int:
        """Number of frames to simulate after the initial one."""
        return self.simulation.frame_count

    @property
    def channel_widths(self) -> dict[str, int]:
        """Channels that particles have beside the standard ones, and how many numbers each holds."""
        return channel_widths(dict(self))

    def __repr__(self) -> str:
        groups = ("fluids", "emitters", "colliders", "fields")
        counts = [(len(getattr(self, group)), group) for group in groups]
        parts = [f"{n} {group.removesuffix('s') if n == 1 else group}" for n, group in counts if n]
        spacing = f"spacing {self.simulation.spacing:g} m"
        return f"<Scene {self.name!r}: {', '.join([*parts, spacing])}, {self.frames} frames>"

    __str__ = __repr__

    def with_frames(self, frames: int) -> Scene:
        """The same scene, but that many frames long."""
        data = self.to_dict()
        data["simulation"].pop("duration", None)
        data["simulation"]["frames"] = frames
        return Scene.model_validate(data)

    @classmethod
    def load(
        cls, name_or_path: str | Path, overrides: Iterable[tuple[str, str]] | Sequence[str] = ()
    ) -> Scene:
        """Read a TOML file or a built-in scene; raises SceneError with one sentence a problem.

        Overrides are pairs of dotted key and TOML value, or texts such as "fluids.0.radius=0.1".
        """
        from viscoil.scene.loader import load

        return load(name_or_path, overrides)

    @classmethod
    def from_toml(cls, text: str, file: str = "scene") -> Scene:
        """Read TOML text; `file` is what error messages call it."""
        from viscoil.scene.loader import from_text

        return from_text(text, file)

    def to_dict(self) -> dict[str, Any]:
        """Plain data, every default filled in; `Scene.model_validate` takes it back."""
        return self.model_dump(exclude_none=True)

    def to_toml(self) -> str:
        """The scene as TOML text, every default filled in; equal scenes give equal text."""
        from viscoil.scene.writer import to_toml

        return to_toml(self.to_dict())

    @classmethod
    def json_schema(cls) -> dict[str, Any]:
        """JSON Schema of a scene file, for editors."""
        schema = cls.model_json_schema()
        name_definitions(schema)
        return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}


def _scaled(table: Any, factor: float) -> Any:
    """A table with its spacing multiplied, if it has one."""
    spacing = as_table(table).get("spacing")
    if not isinstance(spacing, (int, float)) or isinstance(spacing, bool):
        return table
    return {**as_table(table), "spacing": spacing * factor}


def name_problems(data: Mapping[str, Any]) -> list[Problem]:
    """Materials and channels that are named but do not exist, in tables or finished models."""
    return [*_material_problems(data), *channel_problems(data)]


def _material_problems(data: Mapping[str, Any]) -> list[Problem]:
    materials = data.get("materials", {})
    tables = {*(materials if isinstance(materials, Mapping) else ())}
    in_scene = {*tables, *(name for _, name in _material_uses(data))}
    named = [(place, name, {*tables, *PRESETS}) for place, name in _material_uses(data)]
    named += [(place, name, in_scene) for place, name in _material_filters(data)]
    return [
        (place, unknown_name("material", name, known), name)
        for place, name, known in named
        if name not in known
    ]


def _export_problems(scene: Scene) -> Iterator[Problem]:
    formats = [output.format for output in scene.outputs]
    for i, form in enumerate(formats):
        if form is not None and form in formats[:i]:
            yield ("outputs", i, "format"), "is exported twice: remove one of the two", form


def _spacing_problems(scene: Scene) -> Iterator[Problem]:
    """Resolutions too different, or too many of them, for particles to see each other well."""
    finest = scene.spacings[0]
    if scene.spacings[-1] <= (MOST_APART + 1e-6) * finest:
        if len(scene.spacings) > MOST_SPACINGS:
            text = f"has {len(scene.spacings)} different spacings; {MOST_SPACINGS} are possible"
            yield (), text, None
        return
    for place, body in _bodies(scene):
        spacing = scene.spacing_of(body)
        if spacing > (MOST_APART + 1e-6) * finest:
            text = f"must not exceed {MOST_APART} times the smallest in the scene ({finest:g})"
            yield (*place, "spacing"), text, spacing


def _one_resolution_problems(scene: Scene) -> Iterator[Problem]:
    """What works only where all particles are of the same size, which simulation.spacing gives."""
    if not scene.mixed:
        return
    text = "works with one resolution: remove it, or the spacing of fluids and emitters"
    for name, material in scene.materials.items():
        for key in ("surface_tension", "adhesion", "xsph"):
            if getattr(material, key) > 0.0:
                yield ("materials", name, key), text, getattr(material, key)
    for place, body in _bodies(scene):
        if body.temperature is not None:
            yield (*place, "temperature"), text, body.temperature
    for i, field in enumerate(scene.fields):
        if field.type == "wind" and field.surface_only:
            yield ("fields", i, "surface_only"), text, True


def _bodies(scene: Scene) -> Iterator[tuple[Location, Fluid | Emitter]]:
    """Where fluids and emitters are in the scene, and they themselves."""
    for group in ("fluids", "emitters"):
        for i, body in enumerate(getattr(scene, group)):
            yield (group, i), body


def _material_uses(data: Mapping[str, Any]) -> Iterator[tuple[Location, str]]:
    """Where a material is named, and which."""
    for group in ("fluids", "emitters"):
        for place, table in items(data, group):
            name = table.get("material")
            if isinstance(name, str):
                yield (*place, "material"), name


def _material_filters(data: Mapping[str, Any]) -> Iterator[tuple[Location, str]]:
    """Where something is said to act on a material, and which; a preset alone does not count."""
    for group in ("fields", "kill"):
        for place, table in items(data, group):
            names = table.get("materials")
            for i, name in enumerate(names if isinstance(names, Sequence) else ()):
                if isinstance(name, str):
                    yield (*place, "materials", i), name
