"""What differs between the scene of a run and the one that it is to go on with."""

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any

from viscoil.core.errors import SceneError
from viscoil.scene import Scene
from viscoil.scene._toml import tomllib

# A longer or shorter run of the same scene may be resumed, under any name.
FREE_KEYS = (
    "simulation.duration",
    "simulation.frames",
    "simulation.name",
    "simulation.description",
)
MOST_SHOWN = 6  # changes in a sentence
LONGEST = 40  # characters of a value in a sentence


@dataclass(frozen=True)
class Change:
    """A key of the scene and its values; None where it is not given."""

    key: str
    before: Any
    after: Any

    def __str__(self) -> str:
        if self.before is None:
            return f"{self.key} is new ({_short(self.after)})"
        if self.after is None:
            return f"{self.key} is gone (it was {_short(self.before)})"
        return f"{self.key} is {_short(self.after)} and was {_short(self.before)}"


def changes(before: str, after: str, same_files: Mapping[str, Set[str]]) -> list[Change]:
    """What differs between two scenes in TOML text, but for the length of the run.

    `same_files` maps names of files to those that the same content had before. Raises ValueError
    if the earlier text is no TOML.
    """
    old, new = _comparable(_completed(before)), _comparable(after)
    for key, value in new.items():
        if key.endswith(".file") and old.get(key) in same_files.get(value, ()):
            old[key] = value
    keys = sorted(old.keys() | new.keys())
    return [
        Change(k, old.get(k), new.get(k))
        for k in keys
        if k not in FREE_KEYS and old.get(k) != new.get(k)
    ]


def sentence(found: Sequence[str]) -> str:
    """The first few changes, as part of a sentence."""
    shown = list(found[:MOST_SHOWN])
    more = len(found) - len(shown)
    return ", ".join([*shown, *([f"and {more} more"] if more else [])])


def misfit(before: Scene, after: Scene) -> str | None:
    """Why a state of one scene cannot go on in another, or None if it can."""
    old, new = before.simulation, after.simulation
    names = list(before.materials)
    if list(after.materials)[: len(names)] != names:
        return f"particles know their material by its place in the order {', '.join(names)}"
    if (old.spacing, before.spacings) != (new.spacing, after.spacings):
        return "particles cannot change their spacing"
    if before.solver.method != after.solver.method:
        return f"it was written by another solver ({before.solver.method})"
    if old.fps != new.fps:
        return f"frames are counted at {old.fps:g} per second (simulation.fps)"
    if old.periodic != new.periodic:
        return "the periodic box cannot change (simulation.periodic)"
    if before.channel_widths != after.channel_widths:
        known = ", ".join(before.channel_widths) or "none"
        return f"its particles have other channels (beside the standard ones: {known})"
    if len(before.emitters) != len(after.emitters):
        return f"it has {len(before.emitters)} emitters, each with its own count of layers"
    if _bodies(before) != _bodies(after):
        return "it has other rigid bodies"
    return None


def _bodies(scene: Scene) -> list[int]:
    return [k for k, spec in enumerate(scene.colliders) if getattr(spec, "dynamic", False)]


def _completed(text: str) -> str:
    """The text with defaults that came with a later version; as it is, if it cannot be read."""
    try:
        return Scene.from_toml(text).to_toml()
    except SceneError:
        return text


def _comparable(text: str) -> dict[str, Any]:
    """Dotted keys and their values; the order of the materials counts, for particles number it."""
    data = tomllib.loads(text)
    return {**_flat(data), "materials": list(data.get("materials", {}))}


def _flat(data: Any, prefix: str = "") -> dict[str, Any]:
    """Nested tables as dotted keys; lists of plain values are values."""
    if isinstance(data, list) and data and isinstance(data[0], dict):
        data = {str(i): item for i, item in enumerate(data)}
    if not isinstance(data, dict):
        return {prefix: data}
    flat: dict[str, Any] = {}
    for key, value in data.items():
        flat |= _flat(value, f"{prefix}.{key}" if prefix else key)
    return flat


def _short(value: Any) -> str:
    text = f"[{', '.join(map(str, value))}]" if isinstance(value, list) else str(value)
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 3]}..."
