"""Writes docs/scene-reference.md from the scene schema; --check only says whether it is current."""

import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from viscoil.scene import Scene

PAGE = Path(__file__).parent.parent / "docs" / "scene-reference.md"

HEAD = """\
# Scene reference

Made by `python scripts/scene_reference.py` from the schema; do not edit by hand.

A scene is a TOML file. Units are SI: metres, seconds, kilograms, pascals; angles are in radians.
y is up. `viscoil check FILE` says what is wrong with a scene and where, and `viscoil schema`
prints a JSON Schema that lets an editor complete and check keys. What a `material` may be called
without a table of its own is listed in [Materials](materials.md).
"""

TABLES = {
    "simulation": "[simulation]",
    "solver": "[solver]",
    "materials": "[materials.NAME]",
    "fluids": "[[fluids]]",
    "emitters": "[[emitters]]",
    "colliders": "[[colliders]]",
    "fields": "[[fields]]",
    "kill": "[[kill]]",
    "outputs": "[[outputs]]",
    "camera": "[camera]",
}
INLINE = ("Rotation", "Keyframe", "Bounds", "Region", "Thermal")


def page() -> str:
    """The whole page."""
    schema = Scene.json_schema()
    parts = [HEAD, *(_table(schema, key) for key in TABLES), _inline(schema)]
    return "\n".join(parts)


def _table(schema: Mapping[str, Any], key: str) -> str:
    node = schema["properties"][key]
    lines = [f"## `{TABLES[key]}`", "", str(node["description"]), ""]
    for name in _models(node):
        model = schema["$defs"][name]
        if len(_models(node)) > 1:
            tag = node.get("items", node)["discriminator"]["propertyName"]
            value = model["properties"][tag]["const"]
            lines += [f'### `{tag} = "{value}"`', "", _first(model["description"]), ""]
        lines += _rows(model)
    return "\n".join(lines)


def _models(node: Mapping[str, Any]) -> list[str]:
    """Names of the models that a table can be."""
    inner = node.get("items") or node.get("additionalProperties") or node
    refs = [inner["$ref"]] if "$ref" in inner else []
    for choice in (*inner.get("oneOf", []), *inner.get("anyOf", [])):
        refs += [choice["$ref"]] if "$ref" in choice else []
    return [ref.rsplit("/", 1)[-1] for ref in refs]


def _rows(model: Mapping[str, Any]) -> Iterator[str]:
    yield "| key | value | default | meaning |"
    yield "|---|---|---|---|"
    required = model.get("required", [])
    for key, node in model["properties"].items():
        default = "required" if key in required else _default(node)
        yield f"| `{key}` | {_kind(node)} | {default} | {node['description']} |".replace("\n", " ")
    yield ""


def _first(text: str) -> str:
    return text.split("\n\n")[0].replace("\n", " ")


def _default(node: Mapping[str, Any]) -> str:
    value = node.get("default")
    if value is None or value in ("", []):
        return ""
    if isinstance(value, bool):
        return f"`{str(value).lower()}`"
    return f'`"{value}"`' if isinstance(value, str) else f"`{_number(value)}`"


def _number(value: Any) -> str:
    if isinstance(value, list):
        return f"[{', '.join(map(_number, value))}]"
    return f"{value:.4g}" if isinstance(value, float) else repr(value).replace("'", '"')


def _kind(node: Mapping[str, Any]) -> str:
    """The kind of value in words, with its bounds or choices."""
    choices = [_kind(n) for n in node.get("anyOf", []) if n.get("type") != "null"]
    if choices:
        return choices[0]
    if "enum" in node or "const" in node:
        return ", ".join(f'`"{value}"`' for value in node.get("enum", [node.get("const")]))
    if "$ref" in node:
        return f"[{node['$ref'].rsplit('/', 1)[-1]}](#inline-tables)"
    if node["type"] == "array":
        return _array(node)
    words = {
        "number": "number",
        "integer": "whole number",
        "boolean": "true or false",
        "object": "table",
    }
    return words.get(node["type"], "text") + _bounds(node)


def _array(node: Mapping[str, Any]) -> str:
    if "prefixItems" in node:
        return f"list of {len(node['prefixItems'])} numbers{_bounds(node['prefixItems'][0])}"
    return f"list of {_kind(node['items'])}"


def _bounds(node: Mapping[str, Any]) -> str:
    signs = {"exclusiveMinimum": ">", "minimum": "≥", "exclusiveMaximum": "<", "maximum": "≤"}
    found = [f"{sign} {_number(node[key])}" for key, sign in signs.items() if key in node]
    return f" {', '.join(found)}" if found else ""


def _inline(schema: Mapping[str, Any]) -> str:
    lines = ["## Inline tables", ""]
    for name in INLINE:
        model = schema["$defs"][name]
        lines += [f"### {name}", "", _first(model["description"]), "", *_rows(model)]
    return "\n".join(lines)


def main() -> int:
    """Write the page, or with --check compare it."""
    if "--check" in sys.argv[1:]:
        current = PAGE.is_file() and PAGE.read_text(encoding="utf-8") == page()
        if not current:
            print(f"{PAGE.name} is out of date: run make docs", file=sys.stderr)
        return 0 if current else 1
    PAGE.parent.mkdir(exist_ok=True)
    PAGE.write_text(page(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
