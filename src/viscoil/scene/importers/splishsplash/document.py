"""The JSON of a scene, table by table: values of the right kind, and what nobody asked for."""

import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from viscoil.core.errors import SceneError
from viscoil.scene.importers.geometry import Vector

MOST_BYTES = 64 << 20
Json = dict[str, Any]


class Losses:
    """What is not carried over, or not as it was."""

    def __init__(self) -> None:
        self._places: dict[str, list[str]] = {}

    @property
    def lines(self) -> tuple[str, ...]:
        """One line each: where in the JSON, and what; several places of the same are one line."""
        return tuple(f"{', '.join(places)}: {what}" for what, places in self._places.items())

    def add(self, place: str, what: str) -> None:
        places = self._places.setdefault(what, [])
        if place not in places:
            places.append(place)


class Section:
    """One table of the JSON; it remembers which of its keys were asked for."""

    def __init__(self, data: Json, place: str, file: str, losses: Losses) -> None:
        self.data, self.place, self.file, self.losses = data, place, file, losses
        self._asked: set[str] = set()
        self._children: dict[str, Section] = {}

    def __contains__(self, key: str) -> bool:
        return self.data.get(key) is not None

    def number(self, key: str, default: float) -> float:
        value = self._value(key)
        if value is None:
            return default
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise self.bad(key, "must be a number")
        if not abs(value) < 1e300:
            raise self.bad(key, "must be finite")
        return float(value)

    def positive(self, key: str, default: float) -> float:
        value = self.number(key, default)
        if value <= 0.0:
            raise self.bad(key, "must be greater than 0")
        return value

    def whole(self, key: str, default: int) -> int:
        return int(self.number(key, default))

    def switch(self, key: str, default: bool = False) -> bool:
        value = self._value(key)
        if value is None:
            return default
        if value not in (0, 1, True, False):
            raise self.bad(key, "must be true or false")
        return bool(value)

    def text(self, key: str, default: str) -> str:
        value = self._value(key)
        if value is None:
            return default
        if not isinstance(value, (str, int)):
            raise self.bad(key, "must be text")
        return str(value)

    def vector(self, key: str, default: Vector) -> Vector:
        """Three numbers; one number stands for three."""
        value = self._value(key)
        if value is None:
            return default
        values = value if isinstance(value, list) else [value] * 3
        sound = all(isinstance(v, (int, float)) and not isinstance(v, bool) for v in values)
        if len(values) != 3 or not sound or not all(abs(v) < 1e300 for v in values):
            raise self.bad(key, "must be 3 numbers")
        return float(values[0]), float(values[1]), float(values[2])

    def numbers(self, key: str) -> list[float]:
        value = self._value(key)
        if value is None:
            return []
        if not isinstance(value, list) or not all(isinstance(v, (int, float)) for v in value):
            raise self.bad(key, "must be a list of numbers")
        return [float(v) for v in value]

    def child(self, key: str) -> "Section | None":
        value = self._value(key)
        if value is None:
            return None
        if not isinstance(value, dict):
            raise self.bad(key, "must be a table")
        child = Section(value, self._path(key), self.file, self.losses)
        return self._children.setdefault(key, child)

    def children(self, key: str) -> Iterator["Section"]:
        value = self._value(key)
        if value is None:
            return
        if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
            raise self.bad(key, "must be a list of tables")
        for i, item in enumerate(value):
            yield Section(item, f"{key}[{i}]", self.file, self.losses)

    def lost(self, key: str, what: str) -> None:
        """A line about one key of this table, with its value."""
        self._asked.add(key)
        self.losses.add(f"{self._path(key)} = {json.dumps(self.data.get(key))[:60]}", what)

    def leave(self, keys: tuple[str, ...], why: str) -> None:
        """One line for those of the keys that are there and nobody asked for, with their reason."""
        here = [key for key in keys if key in self.data and key not in self._asked]
        self._asked.update(keys)
        if here:
            self.losses.add(self.place or "the scene", f"{', '.join(here)}: {why}")

    def finish(self) -> None:
        """A line for every key that nobody asked for."""
        for key in self.data:
            if key not in self._asked:
                self.losses.add(self.place or "the scene", f"{key} is not known, and left out")

    def bad(self, key: str, what: str) -> SceneError:
        """What to raise for a value that cannot be used."""
        value = json.dumps(self.data.get(key))[:60]
        return SceneError(
            f"{self.file}: {self._path(key)} {what}, and it is {value}: correct the JSON"
        )

    def refused(self, what: str) -> SceneError:
        """What to raise for a scene that has no counterpart."""
        return SceneError(f"{self.file}: {self.place} {what}")

    def _path(self, key: str) -> str:
        return f"{self.place}.{key}" if self.place else key

    def _value(self, key: str) -> Any:
        self._asked.add(key)
        return self.data.get(key)


def read_document(path: Path) -> Section:
    """The whole JSON file; raises SceneError in one sentence."""
    data = _parsed(_text(path), path)
    if not isinstance(data, dict):
        raise SceneError(f"{path}: is no scene: its JSON must be a table with a Configuration")
    return Section(data, "", str(path), Losses())


def _text(path: Path) -> str:
    try:
        if not path.is_file():
            raise SceneError(f"there is no file {path}: check the path")
        if path.stat().st_size > MOST_BYTES:
            raise SceneError(f"{path}: is larger than {MOST_BYTES >> 20} MiB: it is no scene")
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise SceneError(f"{path}: is not UTF-8 text: save it as UTF-8") from None
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise SceneError(f"{path}: cannot be read ({reason}): check the file") from None


def _parsed(text: str, path: Path) -> Any:
    try:
        return json.loads(text, parse_constant=_no_constant, parse_int=_whole)
    except json.JSONDecodeError as error:
        what = f"{error.msg[:1].lower()}{error.msg[1:]} at column {error.colno}"
        raise SceneError(
            f"{path}:{error.lineno}: this is not valid JSON ({what}): correct this line"
        ) from None
    except RecursionError:
        raise SceneError(f"{path}: its JSON is nested too deeply: it is no scene") from None
    except ValueError as error:
        raise SceneError(f"{path}: {error}: correct the JSON") from None


def _no_constant(name: str) -> float:
    raise ValueError(f"{name} is no number in JSON")


def _whole(text: str) -> float | int:
    return int(text) if len(text) < 20 else math.copysign(1e300, -1.0 if text[0] == "-" else 1.0)
