"""What new particles are made of, and which channels the particles of a scene will have."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any

from pydantic import PlainValidator, WithJsonSchema
from pydantic_core import PydanticCustomError

from viscoil.core.names import unknown_name
from viscoil.scene._base import (
    Color,
    Location,
    Model,
    NonNegative,
    Positive,
    Problem,
    Vec3,
)
from viscoil.scene.solvers.registry import settings_model, settings_models

BASE = ("position", "velocity", "id", "material", "birth")
"""The channels that every particle has; its solver adds others."""
OPTIONAL = {"color": 3, "temperature": 1, "lifespan": 1}
"""Channels that exist if the scene uses them, and how many numbers they hold."""
OF_SOLVER = "solver_"
"""Before the names of a solver's own arrays in a checkpoint."""
_NOT_CHANNELS = (
    "alive", "time", "frame", "spacing", "size", "body", "bodies", "collider_pose", "metadata", "file",
    "allow_pickle",
)  # fmt: skip
"""Names under which files hold other things."""


def _channel_value(value: Any) -> float | Vec3:
    numbers = value if isinstance(value, (list, tuple)) else [value]
    sound = all(isinstance(v, (int, float)) and not isinstance(v, bool) for v in numbers)
    if not sound or len(numbers) not in (1, 3) or any(abs(v) > 3e38 or v != v for v in numbers):
        text = "must be a finite number or a list of 3 of them"
        raise PydanticCustomError("scene", "{text}", {"text": text})
    if len(numbers) == 1:
        return float(numbers[0])
    x, y, z = (float(v) for v in numbers)
    return x, y, z


ChannelValue = Annotated[
    float | Vec3,
    PlainValidator(_channel_value),
    WithJsonSchema(
        {
            "anyOf": [
                {"type": "number"},
                {"type": "array", "items": {"type": "number"}, "minItems": 3, "maxItems": 3},
            ]
        }
    ),
]


class Made(Model):
    """What the particles of a fluid or an emitter are made of."""

    material: str
    """Name of a table under [materials], or of a preset."""
    color: Color | None = None
    """Red, green and blue from 0 to 1 of these particles; that of the material unless given."""
    temperature: NonNegative | None = None
    """Temperature of these particles, K; that of the air, or 293.15, unless given."""
    channels: dict[str, ChannelValue] | None = None
    """Further channels and the values that these particles start with: numbers or lists of 3."""
    max_age: Positive | None = None
    """Age at which these particles are removed, s; without it they stay."""
    max_age_spread: NonNegative = 0.0
    """How much earlier or later than max_age a particle may go, s; so that a body fades away."""

    def _problems(self) -> Iterator[Problem]:
        yield from super()._problems()
        for name in self.channels or ():
            if (bad := bad_name(name)) is not None:
                yield ("channels", name), bad, None
        if self.max_age_spread > (self.max_age or 0.0):
            text = "needs max_age beside it: add it"
            if self.max_age is not None:
                text = f"must not exceed max_age ({self.max_age:g})"
            yield ("max_age_spread",), text, self.max_age_spread


def bad_name(name: str) -> str | None:
    """What is wrong with the name of a user's channel."""
    solvers = [name for model in settings_models().values() for name in model.CHANNELS]
    if name in (*BASE, *solvers, *OPTIONAL, *_NOT_CHANNELS) or name.startswith(OF_SOLVER):
        return "is a name that Viscoil uses itself: choose another one"
    if not name.isidentifier():
        return "is no name for a channel: use letters, digits and underscores"
    return None


def channel_widths(data: Mapping[str, Any]) -> dict[str, int]:
    """Channels beside the standard ones, and how many numbers each holds, of a scene's tables."""
    widths: dict[str, int] = {}
    if _knows_heat(data):
        widths["temperature"] = OPTIONAL["temperature"]
    for _, table in _makers(data):
        if table.get("color") is not None:
            widths["color"] = OPTIONAL["color"]
        if table.get("max_age") is not None:
            widths["lifespan"] = OPTIONAL["lifespan"]
        for name, value in _user_channels(table).items():
            widths.setdefault(name, _width(value))
    return widths


def _knows_heat(data: Mapping[str, Any]) -> bool:
    """Whether anything in the scene has a temperature."""
    materials = data.get("materials")
    tables = [as_table(m) for m in materials.values()] if isinstance(materials, Mapping) else []
    places = [*_makers(data), *items(data, "colliders")]
    return (
        any(table.get("thermal") is not None for table in tables)
        or any(table.get("temperature") is not None for _, table in places)
        or as_table(data.get("simulation")).get("ambient_temperature") is not None
    )


def channel_problems(data: Mapping[str, Any]) -> list[Problem]:
    """Channels that are given in two shapes, and outputs that name one that will not exist."""
    widths = channel_widths(data)
    problems: list[Problem] = []
    for place, table in _makers(data):
        for name, value in _user_channels(table).items():
            if _width(value) != widths[name]:
                text = f"must hold {_amount(widths[name])}, as it does elsewhere in the scene"
                problems.append(((*place, "channels", name), text, value))
    known = (*BASE, *settings_model(data.get("solver")).CHANNELS, *widths)
    for place, name in _channel_uses(data):
        if name not in known:
            problems.append((place, _unknown_channel(name, known), name))
    return problems


def _unknown_channel(name: str, known: Sequence[str]) -> str:
    if name in OPTIONAL:
        key = {"lifespan": "max_age"}.get(name, name)
        return f'does not exist in this scene: give a fluid or emitter "{key}", or remove it here'
    return unknown_name("channel", name, known)


def as_table(item: Any) -> Mapping[str, Any]:
    """An unchecked table or a finished model, as a table."""
    return item if isinstance(item, Mapping) else getattr(item, "__dict__", {})


def items(data: Mapping[str, Any], group: str) -> Iterator[tuple[Location, Mapping[str, Any]]]:
    """Where the tables of an array of tables are, and they themselves."""
    found = data.get(group)
    for i, item in enumerate(found if isinstance(found, Sequence) else ()):
        yield (group, i), as_table(item)


def _makers(data: Mapping[str, Any]) -> Iterator[tuple[Location, Mapping[str, Any]]]:
    for group in ("fluids", "emitters"):
        yield from items(data, group)


def _user_channels(table: Mapping[str, Any]) -> Mapping[str, Any]:
    channels = table.get("channels")
    return channels if isinstance(channels, Mapping) else {}


def _channel_uses(data: Mapping[str, Any]) -> Iterator[tuple[Location, str]]:
    for place, table in items(data, "outputs"):
        names = table.get("channels")
        for i, name in enumerate(names if isinstance(names, Sequence) else ()):
            if isinstance(name, str):
                yield (*place, "channels", i), name


def _width(value: Any) -> int:
    return len(value) if isinstance(value, (list, tuple)) else 1


def _amount(width: int) -> str:
    return "a number" if width == 1 else f"a list of {width} numbers"
