"""Writes docs/builtin-meshes.md from the catalogue; --check only says whether it is current."""

import sys
from collections.abc import Iterator
from pathlib import Path

from viscoil.geometry.meshes.builtin import ENTRIES, Entry

PAGE = Path(__file__).parent.parent / "docs" / "builtin-meshes.md"

HEAD = """\
# Built-in meshes

Made by `python scripts/builtin_mesh_reference.py` from the catalogue; do not edit by hand.
`python scripts/builtin_mesh_pictures.py` draws each into build/meshes.

Meshes of our own, made by code when they are asked for, for scenes and tests without files. Units
are metres, y is up, and creatures and vehicles look along +x. Unless the table says otherwise the
origin is the middle of the base.

```python
from viscoil.geometry.meshes.builtin import builtin

mesh = builtin("dragon", time=0.25)  # vertices (n, 3) in m, faces (m, 3)
```

In a scene they are named like files:

```toml
[[colliders]]
shape = "mesh"
file = "builtin:dragon"
offset = 0.01 # gives its wings a thickness
```

- A **closed** mesh consists of parts that each have an inside. The parts may overlap.
- An **open** mesh has sheets of no thickness. As a collider it needs the shell mode, or a surface
  offset, since a sheet has no inside.
- `boat`, `dragon` and `tank` are made as badly as models in production are: parts run through each
  other, and three or more faces meet at some edges. `flipped-sphere` and `mobius` have no
  consistent outside.
- `cobbles`, `drain-grid` and `drain-pit` have one origin and fit together where they are; `garbage`
  lies on the floor of the pit when it is moved down by 0.78 m.
- The `dragon` moves: its wings beat and its tail, neck and legs swing once a second, and its faces
  stay the same.

"""


def page() -> str:
    """The whole page."""
    return HEAD + "\n".join(_table()) + "\n"


def _table() -> Iterator[str]:
    yield "| name | what it is | size x × y × z, m | surface | origin |"
    yield "|---|---|---|---|---|"
    for name, entry in ENTRIES.items():
        size = " × ".join(f"{length:g}" for length in entry.size)
        yield f"| `{name}` | {entry.about} | {size} | {_kind(entry)} | {entry.origin} |"


def _kind(entry: Entry) -> str:
    kind = "closed" if entry.closed else "open"
    return f"{kind}, animated" if entry.animated else kind


def main() -> int:
    """Write the page, or with --check compare it."""
    if "--check" in sys.argv[1:]:
        current = PAGE.is_file() and PAGE.read_text(encoding="utf-8") == page()
        if not current:
            print(f"{PAGE.name} is out of date: run make docs", file=sys.stderr)
        return 0 if current else 1
    PAGE.write_text(page(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
