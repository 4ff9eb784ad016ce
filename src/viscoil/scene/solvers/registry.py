"""Which solvers a scene may name, and which model checks the [solver] table of each."""

from collections.abc import Mapping
from importlib.metadata import entry_points
from typing import Annotated, Any

from pydantic import BeforeValidator, GetJsonSchemaHandler, SerializeAsAny
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

from viscoil.core.names import unknown_name
from viscoil.scene._base import reject
from viscoil.scene.solvers.base import SolverSettings
from viscoil.scene.solvers.dcpbd import DcpbdSettings

DEFAULT = "dcpbd"
PACKAGES = "viscoil.solvers"  # entry points by which other packages offer solvers

_models: dict[str, type[SolverSettings]] = {"dcpbd": DcpbdSettings}


def settings_models() -> Mapping[str, type[SolverSettings]]:
    """By the name of the solver."""
    return _models


def default_settings() -> SolverSettings:
    """Those of a scene that says nothing of its solver."""
    return _models[DEFAULT].model_validate({})


def register_settings(model: type[SolverSettings]) -> None:
    """Lets scenes name the solver that is the default of the model's `method`."""
    _models[str(model.model_fields["method"].default)] = model


def settings_model(table: Any) -> type[SolverSettings]:
    """The model of a [solver] table or of finished settings; the default's for a name not known."""
    if isinstance(table, SolverSettings):
        return type(table)
    method = table.get("method", DEFAULT) if isinstance(table, Mapping) else DEFAULT
    return _models.get(method if isinstance(method, str) else DEFAULT, _models[DEFAULT])


def _is_known(method: str) -> bool:
    """Whether there is such a solver; one of another package is loaded, and registers itself."""
    if method not in _models:
        for found in entry_points(group=PACKAGES, name=method):
            found.load()
    return method in _models


def _by_method(table: Any) -> Any:
    """Settings by the model that the table's method names."""
    if not isinstance(table, Mapping):
        return table
    method = table.get("method", DEFAULT)
    if not isinstance(method, str) or not _is_known(method):
        reject([(("method",), unknown_name("solver", method, _models), method)])
    return _models[method].model_validate(dict(table))


class _Choice:
    """Makes the JSON Schema say what each solver's table may hold."""

    @classmethod
    def __get_pydantic_json_schema__(
        cls, _: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        models = [handler(model.__pydantic_core_schema__) for model in _models.values()]
        return {"oneOf": models, "discriminator": {"propertyName": "method"}}


def name_definitions(schema: dict[str, Any]) -> None:
    """Moves the models of solvers among the definitions of a scene's JSON Schema, as others are."""
    node = schema["properties"]["solver"]
    mapping = {}
    for name, model in zip(_models, node["oneOf"], strict=True):
        schema["$defs"][model["title"]] = model
        mapping[name] = f"#/$defs/{model['title']}"
    node["oneOf"] = [{"$ref": ref} for ref in mapping.values()]
    node["discriminator"]["mapping"] = mapping


AnySolverSettings = Annotated[SerializeAsAny[SolverSettings], BeforeValidator(_by_method), _Choice]
