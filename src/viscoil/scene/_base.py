"""The base of every scene model, and the number types that scene files are made of."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Annotated, Any

from annotated_types import Ge, Gt
from pydantic import BaseModel, ConfigDict, Field, Strict, ValidationError, model_validator
from pydantic_core import InitErrorDetails, PydanticCustomError
from typing_extensions import Self

from viscoil.core.errors import SceneError

Location = tuple[str | int, ...]
Problem = tuple[Location, str, Any]
"""Where in the model (relative to it), a sentence without its subject, the offending value."""


def _require_shape(schema: dict[str, Any]) -> None:
    """In a file the shape or type tells which table it is; only Python code may leave it out."""
    tags = [key for key in ("shape", "type") if "const" in schema["properties"].get(key, {})]
    if tags:
        schema["required"] = [*schema.get("required", []), *tags]


class Model(BaseModel):
    """Frozen; an unknown key is an error, and so are values that do not go together."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        use_attribute_docstrings=True,
        json_schema_extra=_require_shape,
    )

    if not TYPE_CHECKING:  # a checker takes the arguments from the fields

        def __init__(self, **values: Any) -> None:
            """As Python code makes one; SceneError if values make no sense."""
            try:
                super().__init__(**values)
            except ValidationError as error:
                from viscoil.scene.messages import model_sentences

                raise SceneError(*model_sentences(type(self), error, values)) from None

        # so that what pydantic builds itself goes on to raise its own error, with its locations
        __init__.__pydantic_base_init__ = True

    @model_validator(mode="after")
    def _check(self) -> Self:
        reject(list(self._problems()))
        return self

    def _problems(self) -> Iterator[Problem]:
        """What is wrong between values that are each allowed; a subclass adds to those above it."""
        yield from ()


# Strict scalars: TOML has types, so "0.1" (text) where a number belongs is a mistake to report.
Number = Annotated[float, Strict(), Field(allow_inf_nan=False)]
Positive = Annotated[Number, Gt(0)]
NonNegative = Annotated[Number, Ge(0)]
Whole = Annotated[int, Strict()]
Switch = Annotated[bool, Strict()]
Vec2 = tuple[Positive, Positive]
Vec3 = tuple[Number, Number, Number]
Size3 = tuple[Positive, Positive, Positive]
Unit = Annotated[Number, Ge(0), Field(le=1)]
Color = tuple[Unit, Unit, Unit]

ZERO: Vec3 = (0.0, 0.0, 0.0)

UP: Vec3 = (0.0, 1.0, 0.0)


def zero_vector(key: str, vector: Vec3) -> Iterator[Problem]:
    """The problem with a direction that has no length, if it has none."""
    if not any(vector):
        yield (key,), "must not be the zero vector, because it gives a direction", vector


def exactly_one(first: str, second: str, given: Sequence[Any]) -> Iterator[Problem]:
    """The problem with two keys of which exactly one must be given: None is not."""
    count = sum(value is not None for value in given)
    if count == 0:
        yield (), f"needs either {first} or {second}: add one of them", None
    elif count > 1:
        yield (), f"has both {first} and {second}: remove one of them", None


def reject(problems: Sequence[Problem]) -> None:
    """Raise one validation error that holds all problems, each at its own key; none: do nothing.

    A plain ValueError in a model validator is reported at the whole table; this one names the key.
    The text goes in through the context because pydantic would expand braces in it.
    """
    if not problems:
        return
    details = [
        InitErrorDetails(
            type=PydanticCustomError("scene", "{text}", {"text": text}), loc=loc, input=value
        )
        for loc, text, value in problems
    ]
    raise ValidationError.from_exception_data("scene", details)  # pydantic puts the model's name
