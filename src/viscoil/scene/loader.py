"""Reads scene files: built-in or from disk, with overrides, into a checked Scene."""

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from viscoil.core.errors import SceneError
from viscoil.core.names import nearest
from viscoil.scene._toml import tomllib
from viscoil.scene.locator import KeyLines
from viscoil.scene.messages import Places, sentences
from viscoil.scene.overrides import Override, apply, parse_override

if TYPE_CHECKING:
    from viscoil.scene.schema import Scene

BUILTIN = Path(__file__).parent / "builtin"


def builtin_scenes() -> dict[str, Path]:
    """Built-in scenes: name to file, in alphabetical order."""
    return {path.stem: path for path in sorted(BUILTIN.glob("*.toml"))}


def load(name_or_path: str | Path, overrides: Iterable[tuple[str, str] | str] = ()) -> "Scene":
    """Read a TOML file or a built-in scene; raises SceneError with one sentence a problem."""
    parsed = [parse_override(item) for item in overrides]
    path = find(name_or_path)
    name = re.sub(r'[/\\:*?"<>|\s]+', "-", path.stem)
    return _build(_read(path), str(path), parsed, default_name=name, folder=path.parent)


def from_text(text: str, file: str) -> "Scene":
    """Read TOML text; `file` is what error messages call it."""
    return _build(text, file, [], default_name=None)


def find(name_or_path: str | Path) -> Path:
    """The file that a user means by a path or by the name of a built-in scene."""
    path = Path(name_or_path)
    if path.is_file():
        return path
    builtin = builtin_scenes()
    if str(name_or_path) in builtin:
        return builtin[str(name_or_path)]
    if path.is_dir():
        raise SceneError(f"{path} is a folder: give a scene file (.toml) in it")
    raise SceneError(_not_found(path, builtin))


def _not_found(path: Path, builtin: Mapping[str, Path]) -> str:
    try:
        beside = [str(path.parent / p.name) for p in sorted(path.parent.glob("*.toml"))]
    except OSError:
        beside = []
    guess = nearest(str(path), beside) or nearest(path.stem, builtin)
    if guess is not None:
        kind = "the built-in scene " if guess in builtin else ""
        return f'there is no scene file {path}: did you mean {kind}"{guess}"?'
    return (
        f"there is no scene file {path}: give a path to a .toml file, "
        f"or one of the built-in scenes {', '.join(builtin)}"
    )


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        line = path.read_bytes()[: error.start].count(b"\n") + 1
        raise SceneError(f"{path}:{line}: this is not UTF-8 text: save the file as UTF-8") from None
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise SceneError(f"{path} cannot be read ({reason}): check the file") from None


def _build(
    text: str,
    file: str,
    overrides: list[Override],
    default_name: str | None,
    folder: Path = Path(),
) -> "Scene":
    from viscoil.scene.schema import Scene, name_problems

    written = _parse(text, file)
    data = apply(_with_paths_from(folder, written), overrides)
    if default_name is not None and isinstance(data.setdefault("simulation", {}), dict):
        data["simulation"].setdefault("name", default_name)
    try:
        return Scene.model_validate(data)
    except ValidationError as error:
        places = Places(file, KeyLines(text), overrides)
        # These are looked for last, and not at all when something else is wrong already.
        names = name_problems(data)
        raise SceneError(*sentences(error, names, data, places)) from None


def _with_paths_from(folder: Path, data: dict[str, Any]) -> dict[str, Any]:
    """The data with the files that it names found from the scene file; built-in ones stay."""
    result = dict(data)
    for group in ("fluids", "emitters", "colliders", "kill"):
        items = data.get(group)
        if isinstance(items, list):
            result[group] = [_found_from(folder, item) for item in items]
    return result


def _found_from(folder: Path, item: Any) -> Any:
    file = item.get("file") if isinstance(item, Mapping) else None
    if not isinstance(file, str) or not file or file.startswith("builtin:"):
        return item
    return {**item, "file": str((folder / file).absolute())}


def _parse(text: str, file: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text.replace("\r\n", "\n"))
    except tomllib.TOMLDecodeError as error:
        raise SceneError(_syntax_sentence(str(error), text, file)) from None


def _syntax_sentence(message: str, text: str, file: str) -> str:
    found = re.fullmatch(r"(.*) \(at (?:line (\d+), column (\d+)|end of document)\)", message, re.S)
    what, line, column = found.groups() if found else (message, None, None)
    at = f" at column {column}" if column else " at the end of the file"
    number = line or text.count("\n") + 1
    return f"{file}:{number}: this is not valid TOML{at} ({_plain(what)}): correct this line"


def _plain(what: str) -> str:
    if "overwrite" in what or "twice" in what:
        return "this key or table was given before"
    return what[:1].lower() + what[1:].rstrip(".")
