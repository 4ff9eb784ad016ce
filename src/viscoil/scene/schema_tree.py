"""Walks the JSON Schema of a scene beside a scene's data, to tell what may stand where."""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from viscoil.scene._base import Location
from viscoil.scene.solvers.registry import settings_models

Node = Mapping[str, Any]

TAGGED = ("fluids", "emitters", "colliders", "fields", "kill")
"""Arrays whose tables are told apart by `shape` or `type`, which pydantic puts into the location."""


def _schema() -> dict[str, Any]:
    return _schema_with(tuple(settings_models()))


@cache
def _schema_with(solvers: tuple[str, ...]) -> dict[str, Any]:
    """The schema while these solvers are registered."""
    from viscoil.scene.schema import Scene

    return Scene.json_schema()


def without_tags(location: Location) -> Location:
    """A location as it stands in the file, without the tag that pydantic adds."""
    if len(location) > 2 and location[0] in TAGGED and location[2] in _tags(str(location[0])):
        return (*location[:2], *location[3:])
    return location


def _tags(group: str) -> Mapping[str, Any]:
    items: Mapping[str, Any] = _schema()["properties"][group]["items"]
    mapping: Mapping[str, Any] = items["discriminator"]["mapping"]
    return mapping


def node_at(path: Location, data: Any) -> Node:
    """The schema of the key at that path; empty where the schema knows nothing of it."""
    return _merge(_walk(path, data)[0])


def keys_of(path: Location, data: Any) -> list[str]:
    """The keys that the table at that path may have."""
    node, table = _walk(path, data)
    return list(_table(node, table).get("properties", {}))


def tag_of(path: Location, data: Any) -> str:
    """The key that tells tables like the one at that path apart; "shape" if none does."""
    return str(node_at(path, data).get("discriminator", {}).get("propertyName", "shape"))


def siblings_with(path: Location, key: str, data: Any) -> list[str]:
    """The shapes or types that have the key, for a table that is told apart by such a tag."""
    node = node_at(path, data)
    mapping = node.get("discriminator", {}).get("mapping", {})
    return [tag for tag, ref in mapping.items() if key in _follow(ref).get("properties", {})]


def home_of(model: str) -> tuple[Location, Mapping[str, str]] | None:
    """Where tables of this model stand in a scene, and the tag that tells them apart, if any does."""
    for key, node in _schema()["properties"].items():
        if _names(node, model):
            return (key,), {}
        if _names(node.get("additionalProperties"), model):
            return (key, "NAME"), {}
        if _names(node.get("items"), model):
            return (key, 0), {}
        for path, holder in (((key,), node), ((key, 0), node.get("items") or {})):
            choice = holder.get("discriminator", {})
            for tag, ref in choice.get("mapping", {}).items():
                if ref.endswith(f"/{model}"):
                    return path, {choice["propertyName"]: tag}
    return None


def _names(node: Any, model: str) -> bool:
    """Whether a node of the schema is this model, or nothing."""
    choices = [node, *node.get("anyOf", [])] if isinstance(node, Mapping) else []
    return any(str(choice.get("$ref", "")).endswith(f"/{model}") for choice in choices)


def _walk(path: Location, data: Any) -> tuple[Node, Any]:
    """The schema and the data at that path."""
    node: Node = _schema()
    for part in path:
        node = _child(_table(node, data), part)
        data = _get(data, part)
    return node, data


def _get(data: Any, part: str | int) -> Any:
    if isinstance(data, Mapping):
        return data.get(part)
    if isinstance(data, Sequence) and isinstance(part, int) and part < len(data):
        return data[part]
    return None


def _child(node: Node, part: str | int) -> Node:
    if isinstance(part, int):
        prefix: Sequence[Node] = node.get("prefixItems", [])
        items: Node = node.get("items", {})
        return prefix[part] if part < len(prefix) else items
    extra = node.get("additionalProperties")
    properties: Mapping[str, Node] = node.get("properties", {})
    return properties.get(part, extra if isinstance(extra, Mapping) else {})


def _table(node: Node, data: Any) -> Node:
    """The schema with references followed and the shape chosen by the data."""
    default = node.get("default")
    node = _merge(node)
    if "discriminator" in node:
        name = node["discriminator"]["propertyName"]
        tag = _get(data, name) or _get(default, name)
        ref = node["discriminator"]["mapping"].get(tag) if isinstance(tag, str) else None
        return _follow(ref) if ref else {}
    return node


def _merge(node: Node) -> Node:
    """Follow a reference or the non-null part of a union; keep the key's own description."""
    inner = next((n for n in node.get("anyOf", []) if n.get("type") != "null"), None)
    if inner is None and "$ref" in node:
        inner = _follow(node["$ref"])
    return node if inner is None else {**_merge(inner), **_without(node)}


def _without(node: Node) -> Node:
    return {key: value for key, value in node.items() if key not in ("$ref", "anyOf", "default")}


def _follow(ref: str) -> Node:
    node: Node = _schema()["$defs"][ref.rsplit("/", 1)[-1]]
    return node
