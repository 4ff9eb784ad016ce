"""Changes to a scene from the command line: `--set simulation.spacing=0.01`."""

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from viscoil.core.errors import SceneError
from viscoil.scene._toml import tomllib
from viscoil.scene.presets import PRESETS

Path = tuple[str | int, ...]

# Setting one of these takes the other out, since a scene may have only one of the two.
_ALTERNATIVES = {
    "duration": "frames",
    "frames": "duration",
    "speed": "flow_rate",
    "flow_rate": "speed",
}


@dataclass(frozen=True)
class Override:
    """A value for one key of a scene."""

    key: str
    path: Path
    value: Any

    def __str__(self) -> str:
        return f"--set {self.key}"


def parse_override(item: tuple[str, str] | str) -> Override:
    """Read `("fluids.0.radius", "0.1")` or `"fluids.0.radius=0.1"`; a bare word is a text."""
    if isinstance(item, str):
        key, equals, value = item.partition("=")
        if not equals:
            raise SceneError(f'--set {item} has no value: write it as "--set {item}=VALUE"')
    else:
        key, value = item
    return Override(key.strip(), _path(key), _value(key.strip(), value.strip()))


def _path(key: str) -> Path:
    try:
        node: Any = tomllib.loads(f"{key} = 0")
    except tomllib.TOMLDecodeError:
        node = None
    parts: list[str | int] = []
    while isinstance(node, dict) and len(node) == 1:
        name, node = next(iter(node.items()))
        parts.append(int(name) if name.isascii() and name.isdecimal() else name)
    if node != 0 or not parts:
        raise SceneError(
            f'--set "{key.strip()}" is no key: write it like "simulation.spacing=0.01"'
        )
    return tuple(parts)


def _value(key: str, text: str) -> Any:
    try:
        data = tomllib.loads(f"value = {text}")
    except tomllib.TOMLDecodeError:
        data = {}
    if data.keys() == {"value"}:
        return data["value"]
    if text[:1] in ("[", "{", '"', "'"):
        sentence = f"--set {key} has the value {text}, which is not valid TOML: correct it"
        raise SceneError(sentence)
    return text


def apply(data: Mapping[str, Any], overrides: Sequence[Override]) -> dict[str, Any]:
    """A copy of the scene's data with the overrides in it."""
    result = copy.deepcopy(dict(data))
    given = {override.path for override in overrides}
    for override in overrides:
        _apply_one(result, override, given)
    return result


def _apply_one(data: dict[str, Any], override: Override, given: set[Path]) -> None:
    node: Any = data
    for depth, part in enumerate(override.path[:-1]):
        node = _step(node, override, depth)
        if override.path[:depth] == ("materials",) and part in PRESETS:
            # A material that the scene takes from the presets without a table of its own.
            _start_from_preset(node, str(part))
    _assign(node, override)
    last = override.path[-1]
    other = _ALTERNATIVES.get(last) if isinstance(last, str) else None
    if other and isinstance(node, dict) and (*override.path[:-1], other) not in given:
        node.pop(other, None)


def _start_from_preset(table: Any, name: str) -> None:
    if table == {}:
        table["preset"] = name


def _step(node: Any, override: Override, depth: int) -> Any:
    part = override.path[depth]
    if isinstance(node, list):
        return node[_index(node, override, depth)]
    if not isinstance(node, dict):
        where = ".".join(map(str, override.path[:depth]))
        raise SceneError(f"{override}: {where} holds a value, not a table: shorten the key")
    key = str(part)
    if depth == 0 and key not in node:
        _check_group(override, key)
    return node.setdefault(key, {})


def _check_group(override: Override, key: str) -> None:
    """An array such as fluids has no elements to change when the scene does not have it."""
    if key in ("fluids", "emitters", "colliders", "outputs"):
        raise SceneError(f"{override}: the scene has no {key}: add some to the file first")


def _assign(node: Any, override: Override) -> None:
    depth = len(override.path) - 1
    if isinstance(node, list):
        node[_index(node, override, depth)] = override.value
    elif isinstance(node, dict):
        node[str(override.path[-1])] = override.value
    else:
        _step(node, override, depth)


def _index(node: list[Any], override: Override, depth: int) -> int:
    part = override.path[depth]
    where = ".".join(map(str, override.path[:depth]))
    if isinstance(part, int) and part < len(node):
        return part
    if not node:
        raise SceneError(f"{override}: {where} is empty: there is nothing to change")
    if len(node) == 1:
        raise SceneError(f"{override}: {where} has only the number 0: use that")
    last = len(node) - 1
    raise SceneError(f"{override}: {where} has only the numbers 0 to {last}: use one of them")
