"""Writes plain dictionaries and lists as TOML text, the one that a run folder keeps."""

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")


def to_toml(data: Mapping[str, Any]) -> str:
    """TOML text of the data; keys with the value None are left out, as TOML has no null."""
    return "\n".join(_table(data, ())) + "\n"


def _table(table: Mapping[str, Any], path: tuple[str, ...]) -> Iterator[str]:
    """Plain values first, since TOML would count a value after a header to that header's table."""
    nested = {k: v for k, v in table.items() if _is_table(v) or _is_table_array(v)}
    for key, value in table.items():
        if key not in nested and value is not None:
            yield f"{_key(key)} = {_value(value)}"
    for key, value in nested.items():
        here = (*path, key)
        header = ".".join(map(_key, here))
        for item in [value] if _is_table(value) else value:
            lines = list(_table(item, here))
            if not (_is_table(value) and lines[:1] == [""]):  # else its sub-tables imply it
                yield ""
                yield f"[{header}]" if _is_table(value) else f"[[{header}]]"
            yield from lines


def _is_table(value: Any) -> bool:
    return isinstance(value, Mapping)


def _is_table_array(value: Any) -> bool:
    return _is_list(value) and len(value) > 0 and all(_is_table(item) for item in value)


def _is_list(value: Any) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str)


def _key(key: str) -> str:
    return key if _BARE_KEY.fullmatch(key) else _string(key)


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return _string(value)
    if isinstance(value, Mapping):
        pairs = (f"{_key(k)} = {_value(v)}" for k, v in value.items() if v is not None)
        return "{" + ", ".join(pairs) + "}"
    if _is_list(value):
        return "[" + ", ".join(map(_value, value)) + "]"
    return _number(value)


def _number(value: float | int) -> str:
    if isinstance(value, float) and math.isnan(value):
        return "nan"
    return repr(value)


def _string(text: str) -> str:
    # JSON strings are TOML basic strings but for DEL, which TOML wants escaped.
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
