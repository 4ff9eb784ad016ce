"""What a change of a material has changed, with what follows from it."""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from viscoil.scene import Material

UNITS = {
    "density": "kg/m³",
    "viscosity": "Pa s",
    "modulus": "Pa",
    "relaxation_time": "s",
    "solvent_viscosity": "Pa s",
    "surface_tension": "N/m",
    "adhesion": "N/m",
    "conductivity": "W/(m K)",
    "heat_capacity": "J/(kg K)",
}


class Change(NamedTuple):
    """One key of a material."""

    before: Any
    after: Any


class MaterialChange(Mapping[str, Change]):
    """The keys that are no longer what they were: `change["modulus"].after`.

    Keys that follow from others are among them: viscosity = modulus x relaxation_time.
    """

    def __init__(self, name: str, before: Material, after: Material) -> None:
        self.name = name
        """Of the material."""
        self.material = after
        """As it is now."""
        self._changes = {
            key: Change(getattr(before, key), getattr(after, key))
            for key in type(after).model_fields
            if getattr(before, key) != getattr(after, key)
        }

    def __getitem__(self, key: str) -> Change:
        return self._changes[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._changes)

    def __len__(self) -> int:
        return len(self._changes)

    def __repr__(self) -> str:
        parts = [_text(key, change) for key, change in self._changes.items()]
        return f"<{self.name}: {', '.join(parts) or 'nothing changed'}>"


def _text(key: str, change: Change) -> str:
    unit = f" {UNITS[key]}" if key in UNITS else ""
    return f"{key} {_number(change.before)} → {_number(change.after)}{unit}"


def _number(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)
