"""Turns validation errors into sentences that say what is wrong, where, and what to do."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from viscoil.core.names import nearest, unknown_name
from viscoil.scene._base import Location, Problem
from viscoil.scene.locator import KeyLines
from viscoil.scene.overrides import Override
from viscoil.scene.schema_tree import (
    Node,
    home_of,
    keys_of,
    node_at,
    siblings_with,
    tag_of,
    without_tags,
)

_TYPE_WORDS = {
    "float_type": "a number",
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "finite_number": "a finite number",
    "bool_type": "true or false",
    "string_type": "a text in quotes",
    "model_type": "a table",
    "model_attributes_type": "a table",
    "dict_type": "a table",
}
_BOUND_WORDS = {
    "greater_than": ("gt", "greater than"),
    "greater_than_equal": ("ge", "at least"),
    "less_than": ("lt", "less than"),
    "less_than_equal": ("le", "at most"),
}
_FOLLOWS = "default_factory_not_called"


class Places:
    """Tells where a key was given: which line of which file, or which override."""

    def __init__(self, file: str, lines: KeyLines, overrides: Sequence[Override]) -> None:
        self._file = file
        self._lines = lines
        self._overrides = overrides

    def line(self, path: Location) -> int:
        """Line for sorting; 0 for what is not in the file."""
        return 0 if self._override(path) else self._lines.find(path) or 0

    def name(self, path: Location) -> str:
        """`file:line` of the key or of the table around it, or the override that set it."""
        override = self._override(path)
        if override is not None:
            return str(override)
        line = self._lines.find(path)
        return self._file if line is None else f"{self._file}:{line}"

    def _override(self, path: Location) -> Override | None:
        wanted = tuple(map(str, path))
        for override in reversed(self._overrides):
            have = tuple(map(str, override.path))
            created = path not in self._lines.lines and have[: len(wanted)] == wanted != ()
            if wanted[: len(have)] == have or created:
                return override
        return None


def sentences(
    error: ValidationError, problems: Sequence[Problem], data: Mapping[str, Any], places: Places
) -> list[str]:
    """One sentence for each error and each further problem, in the order of the file."""
    found: dict[tuple[Location, str], int] = {}
    for item in _causes(error.errors(include_url=False), data):
        subject, predicate = _describe(item, without_tags(item["loc"]), data)
        found.setdefault((subject, predicate), places.line(subject))
    for path, text, value in problems:
        found.setdefault((path, f"{_value_mark(value)}{text}"), places.line(path))
    ordered = sorted(found, key=lambda key: found[key])
    return [_sentence(places.name(path), path, predicate) for path, predicate in ordered]


def table_sentences(error: ValidationError, path: Location, table: Mapping[str, Any]) -> list[str]:
    """One sentence for each error in a table that came from no file; `path` is where it belongs."""
    data: Any = table
    for part in reversed(path):
        data = {part: data} if isinstance(part, str) else [data]
    errors = error.errors(include_url=False)
    for item in errors:
        item["loc"] = (*path, *item["loc"])
    found = [_describe(item, item["loc"], data) for item in _causes(errors, data)]
    return [f"{'.'.join(map(str, where))} {predicate}" for where, predicate in found]


def model_sentences(
    model: type[BaseModel], error: ValidationError, values: Mapping[str, Any]
) -> list[str]:
    """One sentence for each error in a model that Python code makes."""
    if model.__name__ == "Scene":
        from viscoil.scene.schema import name_problems

        places = Places("scene", KeyLines(""), ())
        return sentences(error, name_problems(values), values, places)
    home = home_of(model.__name__)
    if home is None:
        found = [(item["loc"], _nested(item, model)) for item in error.errors(include_url=False)]
        return [f"{'.'.join(map(str, (model.__name__, *loc)))} {text}" for loc, text in found]
    path, tag = home
    told = table_sentences(error, path, {**tag, **values})
    return [sentence.replace(".".join(map(str, path)), model.__name__, 1) for sentence in told]


def _nested(error: ErrorDetails, model: type[BaseModel]) -> str:
    """What is wrong with a value of a model that stands only within others."""
    if error["type"] == "extra_forbidden":
        return unknown_name("key", str(error["loc"][-1]), model.model_fields)
    if error["type"] == "literal_error":
        return f"is {_show(error['input'])} but must be {error.get('ctx', {})['expected']}"
    return _describe(error, ("", *error["loc"]), {})[1]


def _causes(errors: Sequence[ErrorDetails], data: Mapping[str, Any]) -> list[ErrorDetails]:
    """The errors without those that only follow from another one."""
    errors = [e for e in errors if e["type"] != _FOLLOWS]
    unknown = [without_tags(e["loc"]) for e in errors if e["type"] == "extra_forbidden"]
    meant = {(*p[:-1], nearest(str(p[-1]), keys_of(p[:-1], data))) for p in unknown}
    return [e for e in errors if e["type"] != "missing" or without_tags(e["loc"]) not in meant]


def _sentence(where: str, path: Location, predicate: str) -> str:
    subject = ".".join(map(str, path)) or "the scene"
    return f"{where}: {subject} {predicate}"


def _describe(error: ErrorDetails, path: Location, data: Mapping[str, Any]) -> tuple[Location, str]:
    """The key that the sentence is about, and what is to be said of it."""
    kind, value, context = error["type"], error["input"], error.get("ctx", {})
    node = node_at(path, data)
    if kind == "scene":
        return path, f"{_value_mark(value)}{context['text']}"
    if kind == "extra_forbidden":
        return path, _unknown_key(path, data)
    if kind in ("too_long", "too_short") or (kind == "missing" and isinstance(path[-1], int)):
        return _wrong_length(path if kind != "missing" else path[:-1], data)
    if kind == "missing":
        return path, _missing(node)
    if kind.startswith("union_tag"):
        return _wrong_tag(path, context, data)
    if kind == "literal_error":
        return path, f"{_value_mark(value)}{unknown_name('choice', value, _choices(node))}"
    if kind in _BOUND_WORDS:
        key, words = _BOUND_WORDS[kind]
        return path, f"is {_show(value)} but must be {words} {context[key]:g}{_meaning(node)}"
    if kind == "string_too_short":
        return path, f"is empty: write something{_meaning(node)}, or remove it"
    if kind == "tuple_type":
        return path, f"is {_show(value)} but must be {_list_words(path, node)}"
    wanted = _TYPE_WORDS.get(kind, "of another kind")
    return path, f"is {_show(value)} but must be {wanted}{_meaning(node)}"


def _unknown_key(path: Location, data: Mapping[str, Any]) -> str:
    *table, key = path
    tags = siblings_with(tuple(table), str(key), data)
    known = keys_of(tuple(table), data)
    guess = nearest(str(key), known)
    if tags and guess is None:
        tag = tag_of(tuple(table), data)
        return f"does not go with this {tag} but with {' or '.join(tags)}: remove it"
    if guess is not None:
        return f'is no known key: did you mean "{guess}"?'
    where = ".".join(map(str, table)) or "a scene"
    return f"is no known key: remove it, since {where} can have only {', '.join(known)}"


def _missing(node: Node) -> str:
    return f"is missing: add it{_meaning(node)}"


def _wrong_length(path: Location, data: Mapping[str, Any]) -> tuple[Location, str]:
    value: Any = data
    for part in path:
        value = value[part]
    return path, f"is {_show(value)} but must be {_list_words(path, node_at(path, data))}"


def _list_words(path: Location, node: Node) -> str:
    count = node.get("minItems")
    if count is not None:
        return f"a list of {count} numbers{_meaning(node)}"
    if len(path) == 1:
        return f"an array of tables: write [[{path[0]}]]"
    return f"a list in brackets{_meaning(node)}"


def _wrong_tag(
    path: Location, context: Mapping[str, Any], data: Mapping[str, Any]
) -> tuple[Location, str]:
    mapping = node_at(path, data).get("discriminator", {}).get("mapping", {})
    key = str(context["discriminator"]).strip("'")
    if "tag" not in context:
        return (*path, key), f"is missing: add one of {', '.join(map(json.dumps, mapping))}"
    tag = context["tag"]
    return (*path, key), f"{_value_mark(tag)}{unknown_name(key, tag, mapping)}"


def _choices(node: Node) -> list[str]:
    return list(node["enum"]) if "enum" in node else [node["const"]]


def _meaning(node: Node) -> str:
    """What the key means, from its description in the schema."""
    text = str(node.get("description", "")).replace("\n", " ").split(";")[0].rstrip(".")
    return f" ({text[:1].lower()}{text[1:]})" if text else ""


def _value_mark(value: Any) -> str:
    """The value in brackets, for sentences that do not say it themselves."""
    return "" if value is None or isinstance(value, Mapping) else f"({_show(value, False)}) "


def _show(value: Any, say_kind: bool = True) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        short = value if len(value) <= 40 else f"{value[:37]}..."
        quoted = json.dumps(short, ensure_ascii=False)
        return f"the text {quoted}" if say_kind else quoted
    if isinstance(value, (int, float)):
        return f"{value!r}"
    if isinstance(value, (list, tuple)):
        shown = [_show(item, False) for item in value[:4]]
        return f"[{', '.join(shown + ['...'] * (len(value) > 4))}]"
    return "a table" if isinstance(value, Mapping) else str(value)
