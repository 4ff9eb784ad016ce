"""Writes plain dictionaries and lists as TOML text, the one that a run folder keeps."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

# tomli-w writes a table in one line where that is short. Behind an indent of this size nothing is.
_NEVER_SHORT = 100
# It writes every number of a list on a line of its own. No string has a line break in it.
_BREAKS = (re.compile(r"\[\n *"), "["), (re.compile(r",\n *\]"), "]"), (re.compile(r",\n +"), ", ")


def to_toml(data: Mapping[str, Any]) -> str:
    """TOML text of the data, a list a line; None is left out, as TOML has no null."""
    import tomli_w  # not needed to read a scene

    text = tomli_w.dumps(_without_none(data), indent=_NEVER_SHORT)
    for pattern, replacement in _BREAKS:
        text = pattern.sub(replacement, text)
    return text


def _without_none(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _without_none(item) for key, item in value.items() if item is not None}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_without_none(item) for item in value if item is not None]
    return value
