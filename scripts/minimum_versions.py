"""Prints a constraints file that holds each dependency at the lowest version pyproject.toml allows.

`make test-minimum` runs the tests with it, so that the lower bounds are known to work.
"""

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

PYPROJECT = Path(__file__).parent.parent / "pyproject.toml"

REQUIREMENT = re.compile(
    r"(?P<name>[\w.-]+) (?P<extras>\[[^]]*\])? (?P<range>[^;]*) (?P<marker>;.*)?", re.VERBOSE
)


def requirements(project: dict[str, Any]) -> Iterator[str]:
    """Those of the package itself, then those of its extras, as they stand in pyproject.toml."""
    yield from project["dependencies"]
    for extra in project["optional-dependencies"].values():
        yield from extra


def pin(requirement: str) -> str:
    """The requirement with its lower bound as the only version: `numpy==2.0`."""
    parts = REQUIREMENT.fullmatch(requirement)
    lowest = parts and re.search(r">=\s*([\w.]+)", parts["range"])
    if not parts or not lowest:
        sys.exit(f"minimum_versions: {requirement!r} has no lower bound: give it one with >=")
    return f"{parts['name']}=={lowest[1]}{parts['marker'] or ''}"


def constraints(project: dict[str, Any]) -> list[str]:
    """A pin for each dependency; extras that consist of other extras add none."""
    of_others = (r for r in requirements(project) if not r.startswith(f"{project['name']}["))
    return sorted({pin(requirement) for requirement in of_others})


def main() -> None:
    with PYPROJECT.open("rb") as file:
        print("\n".join(constraints(tomllib.load(file)["project"])))


if __name__ == "__main__":
    main()
