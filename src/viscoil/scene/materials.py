"""Materials in physical units, and how a table in a scene file becomes one.

A material is a Maxwell fluid: modulus G (Pa) and relaxation time τ (s), with viscosity
η = G τ (Pa s). G = inf with τ = 0 is a purely viscous fluid, τ = inf an elastic solid,
η = 0 an inviscid liquid. A solvent viscosity beside it makes it Oldroyd-B.
"""

import math
from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Annotated, Any, Literal

from annotated_types import Ge, Le
from pydantic import Strict, model_serializer, model_validator

from viscoil.core.names import unknown_name
from viscoil.scene._base import (
    Color,
    Model,
    NonNegative,
    Number,
    Positive,
    Problem,
    Unit,
    reject,
)
from viscoil.scene.presets import PRESETS

Kind = Literal["inviscid", "viscous", "viscoelastic", "elastic", "paper"]
Rheology = tuple[float, float, float]
"""Viscosity (Pa s), modulus (Pa), relaxation time (s)."""

TRIPLE = ("viscosity", "modulus", "relaxation_time")
EXTRAS = ("surface_tension", "adhesion", "xsph", "wall_friction", "body_friction")
THERMAL = ("conductivity", "heat_capacity")
DEFAULT_COLOR: Color = (0.55, 0.65, 0.8)
DEFAULT_CONDUCTIVITY = 0.6
DEFAULT_HEAT_CAPACITY = 4180.0

_MaybeInfinite = Annotated[float, Strict(), Ge(0)]
_Factor = Annotated[Number, Ge(1e-9), Le(1e9)]


def _as_input_schema(schema: dict[str, Any]) -> None:
    """Editors validate what a user writes, where a preset may supply every number."""
    schema.pop("required", None)
    for name in (*TRIPLE, "compliance", "preset"):
        schema["properties"][name].pop("default", None)
    schema["properties"]["preset"] = {
        "type": "string",
        "enum": sorted(PRESETS),
        "description": schema["properties"]["preset"]["description"],
    }


class Thermal(Model):
    """How a material softens or stiffens with temperature."""

    temperatures: tuple[Positive, ...]
    """Ascending temperatures, K."""
    stiffening: tuple[_Factor, ...]
    """Factors on viscosity and modulus at these temperatures; between them they grow evenly."""

    def _problems(self) -> Iterator[Problem]:
        yield from super()._problems()
        if not self.temperatures:
            yield ("temperatures",), "is empty: give at least one", None
        if any(b <= a for a, b in pairwise(self.temperatures)):
            yield ("temperatures",), "must be ascending", self.temperatures
        if len(self.stiffening) != len(self.temperatures):
            text = f"must have as many numbers as temperatures ({len(self.temperatures)})"
            yield ("stiffening",), text, self.stiffening


class Material(Model, json_schema_extra=_as_input_schema):
    """One [materials.NAME] table; once read, every number holds, whichever ones were given."""

    preset: None = None
    """Preset to start from; the other keys replace its numbers."""
    density: Positive
    """Rest density, kg/m³; needed unless a preset gives it."""
    viscosity: _MaybeInfinite = 0.0
    """Viscosity, Pa s; alone it makes a purely viscous fluid, and 0 an inviscid one."""
    modulus: _MaybeInfinite = 0.0
    """Elastic modulus, Pa; goes with relaxation_time."""
    relaxation_time: _MaybeInfinite = 0.0
    """Time over which stress relaxes, s; inf makes an elastic solid."""
    solvent_viscosity: NonNegative = 0.0
    """Viscosity of the solvent beside the elastic part, Pa s."""
    compliance: NonNegative | None = None
    """Compliance of Barreiro et al. 2017, beside relaxation_time; depends on spacing and step."""
    surface_tension: NonNegative = 0.0
    """Surface tension κ, N/m; 0 has none and costs nothing."""
    adhesion: NonNegative = 0.0
    """Work of adhesion to walls, N/m, times that of the collider; κ wets half, 2 κ wholly."""
    xsph: NonNegative = 0.0
    """Smoothing c of velocities per step (XSPH); no viscosity: it depends on spacing and step."""
    wall_friction: NonNegative = 1.0
    """Factor of the friction of colliders on this material."""
    body_friction: NonNegative = 0.3
    """Friction between separate bodies of it; of two materials, the mean by what each presses."""
    conductivity: NonNegative = DEFAULT_CONDUCTIVITY
    """Thermal conductivity, W/(m K); that of water unless given."""
    heat_capacity: Positive = DEFAULT_HEAT_CAPACITY
    """Specific heat capacity, J/(kg K); that of water unless given."""
    thermal: Thermal | None = None
    """How viscosity and modulus change with temperature; not at all unless given."""
    color: Color = DEFAULT_COLOR
    """Red, green and blue from 0 to 1, used by the preview."""
    transmission: Unit = 0.35
    """Share of light that passes a thin layer, used by the preview; 0 is opaque, 1 is clear."""

    @classmethod
    def from_preset(cls, name: str) -> "Material":
        """The preset of that name."""
        return cls.model_validate({"preset": name})

    def __repr__(self) -> str:
        shown = {k: v for k, v in self.minimal().items() if k not in ("color", "transmission")}
        if not self.solvent_viscosity:
            shown.pop("solvent_viscosity")
        return f"Material({', '.join(f'{key}={value!r}' for key, value in shown.items())})"

    __str__ = __repr__

    @property
    def kind(self) -> Kind:
        """What the numbers amount to; "paper" when given as relaxation time and compliance."""
        if self.compliance is not None:
            return "paper"
        if self.viscosity == 0:
            return "inviscid"
        if math.isinf(self.relaxation_time):
            return "elastic"
        return "viscous" if self.relaxation_time == 0 else "viscoelastic"

    @property
    def carries_stress(self) -> bool:
        """Whether anything but pressure acts in it: all but an inviscid liquid without a solvent."""
        return self.kind != "inviscid" or self.solvent_viscosity > 0

    @model_validator(mode="before")
    @classmethod
    def _resolve(cls, data: Any) -> Any:
        if not isinstance(data, Mapping):
            return data
        table = _merge_preset(dict(data))
        numbers = all(_is_amount(table[k]) for k in (*TRIPLE, "compliance") if k in table)
        if not numbers or not table.keys() <= cls.model_fields.keys():
            return table  # the field checks report what is wrong with it
        if "compliance" in table:
            return _check_paper(table)
        return table | dict(zip(TRIPLE, _solve_triple(table), strict=True))

    @model_serializer(mode="plain")
    def minimal(self) -> dict[str, Any]:
        """Only what is needed to build the same material again."""
        rheology: dict[Kind, tuple[str, ...]] = {
            "paper": ("relaxation_time", "compliance"),
            "inviscid": ("viscosity",),
            "viscous": ("viscosity",),
            "viscoelastic": TRIPLE,
            "elastic": ("modulus", "relaxation_time"),
        }
        keys = ("density", *rheology[self.kind], "solvent_viscosity", "color", "transmission")
        table = {key: getattr(self, key) for key in keys}
        extras = (
            (key, getattr(self, key), type(self).model_fields[key].default)
            for key in EXTRAS + THERMAL
        )
        table |= {key: value for key, value, default in extras if value != default}
        return table if self.thermal is None else {**table, "thermal": self.thermal.model_dump()}


def _is_amount(value: Any) -> bool:
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return number and value >= 0  # false for NaN


def _merge_preset(table: dict[str, Any]) -> dict[str, Any]:
    """The table with the preset's numbers beneath it.

    One of viscosity, modulus and relaxation time replaces that number of the preset; two or
    more, or a compliance, replace the preset's rheology altogether.
    """
    table = {key: value for key, value in table.items() if value is not None}
    name = table.pop("preset", None)
    if name is None:
        return table
    if not isinstance(name, str) or name not in PRESETS:
        reject([(("preset",), unknown_name("preset", name, PRESETS), name)])
    base = dict(PRESETS[name].values)
    given = [key for key in TRIPLE if key in table]
    if "compliance" in table or len(given) > 1:
        keep_time = "compliance" in table and "relaxation_time" in base
        base = {k: v for k, v in base.items() if k not in TRIPLE or (k == TRIPLE[2] and keep_time)}
    elif given == ["viscosity"]:
        base.pop("modulus", None)
    return base | table


def _check_paper(table: dict[str, Any]) -> dict[str, Any]:
    extra = [key for key in ("viscosity", "modulus") if table.get(key)]
    if extra:
        text = (
            f"is the paper's own unit and excludes {' and '.join(extra)}: remove one or the other"
        )
        reject([(("compliance",), text, table["compliance"])])
    if "relaxation_time" not in table:
        text = "needs relaxation_time beside it (0 is allowed): add it"
        reject([(("compliance",), text, table["compliance"])])
    if math.isinf(table["relaxation_time"]) or math.isinf(table["compliance"]):
        text = "and relaxation_time must both be finite"
        reject([(("compliance",), text, table["compliance"])])
    return table


def _solve_triple(table: Mapping[str, Any]) -> Rheology:
    """Find all of viscosity, modulus and relaxation time from those that are given."""
    given = {key: float(table[key]) for key in TRIPLE if key in table}
    viscosity, modulus, time = (given.get(key) for key in TRIPLE)
    _check_infinite(viscosity, modulus, time)
    if len(given) == 3:
        return _check_consistent(given["viscosity"], given["modulus"], given["relaxation_time"])
    if modulus is not None and time is not None:
        return _normal(_product(modulus, time), modulus, time)
    if viscosity is not None and modulus is not None:
        return _from_modulus(viscosity, modulus)
    if viscosity is not None:
        return _normal(viscosity, viscosity / time if time else math.inf, time or 0.0)
    text = (
        "needs viscosity (0 for an inviscid liquid), or modulus with relaxation_time, "
        "or relaxation_time with compliance: add what is missing"
    )
    reject([((), text, None)])
    raise AssertionError


def _from_modulus(viscosity: float, modulus: float) -> Rheology:
    if viscosity > 0 and modulus == 0:
        text = "must be greater than 0 beside a viscosity: remove it for a purely viscous fluid"
        reject([(("modulus",), text, modulus)])
    return _normal(viscosity, modulus, viscosity / modulus if viscosity else 0.0)


def _check_infinite(viscosity: float | None, modulus: float | None, time: float | None) -> None:
    """Refuse infinities that leave another number undetermined."""
    if viscosity is not None and math.isinf(viscosity) and not (modulus and time == math.inf):
        text = "must be finite: for an elastic solid give modulus and relaxation_time = inf"
        reject([(("viscosity",), text, viscosity)])
    if modulus is not None and math.isinf(modulus) and (viscosity is None or time):
        text = "must be finite: for a purely viscous fluid give viscosity alone"
        reject([(("modulus",), text, modulus)])
    if time == math.inf and modulus is None and viscosity is not None:
        text = "makes an elastic solid, which needs modulus instead of viscosity"
        reject([(("relaxation_time",), text, time)])


def _check_consistent(viscosity: float, modulus: float, time: float) -> Rheology:
    product = viscosity if math.isinf(modulus) else _product(modulus, time)
    if not math.isclose(product, viscosity, rel_tol=1e-6):
        text = (
            f"disagrees with modulus times relaxation_time, which is {product:g}: "
            "remove one of the three"
        )
        reject([(("viscosity",), text, viscosity)])
    return _normal(viscosity, modulus, time)


def _normal(viscosity: float, modulus: float, time: float) -> Rheology:
    """One form for each behaviour, so that equal materials compare equal."""
    if viscosity == 0:
        return (0.0, 0.0, 0.0)
    if math.isinf(modulus):
        return (viscosity, math.inf, 0.0)
    return (viscosity, modulus, time)


def _product(modulus: float, time: float) -> float:
    return 0.0 if modulus == 0 or time == 0 else modulus * time
