"""Writes docs/materials.md from the presets; --check only says whether it is current."""

import sys
from collections.abc import Iterator
from pathlib import Path

from viscoil.scene import PRESETS, Material

PAGE = Path(__file__).parent.parent / "docs" / "materials.md"

HEAD = """\
# Materials

Made by `python scripts/material_reference.py` from the presets; do not edit by hand.

A material is given in numbers that a laboratory could measure. They do not depend on the particle
spacing, on the time step or on the number of iterations: a scene that is refined shows the same
honey in more detail.

| what it does | give | example |
|---|---|---|
| splashes (inviscid) | `viscosity = 0` | an ideal liquid |
| flows and stays where it is (viscous) | `viscosity` | honey |
| springs back at first, flows in the end (viscoelastic) | `modulus` and `relaxation_time` | dough |
| springs back for good (elastic) | `modulus` and `relaxation_time = inf` | gelatin |

`density` goes with each. `solvent_viscosity` adds a purely viscous part beside an elastic one and
takes the ringing out of it. Of viscosity η, modulus G and relaxation time τ two decide the third,
since η = G τ.

How to choose: within τ the material remembers its shape, so τ is the time after which it has settled
for a new one. A body of height H keeps its form against its own weight if G is well above ρ g H,
and a thread of it slumps over the time η / (ρ g H).

A preset is used by its name, or as a start for a material of one's own:

```toml
[materials.old-honey]
preset = "honey"
viscosity = 80.0
```

The numbers are of the right order for the everyday substance, which varies with recipe, temperature
and brand by a factor of two or more. `viscoil materials` prints them, with their sources.
"""

GROUPS = {
    "viscous": "Viscous",
    "viscoelastic": "Viscoelastic",
    "elastic": "Elastic",
}

COLUMNS = {
    "viscous": {"density": "density, kg/m³", "viscosity": "viscosity, Pa s"},
    "viscoelastic": {
        "density": "density, kg/m³",
        "modulus": "modulus, Pa",
        "relaxation_time": "relaxation time, s",
        "viscosity": "viscosity, Pa s",
        "solvent_viscosity": "solvent viscosity, Pa s",
    },
    "elastic": {
        "density": "density, kg/m³",
        "modulus": "modulus, Pa",
        "solvent_viscosity": "solvent viscosity, Pa s",
    },
}

TAIL = """\
## As in the paper

Barreiro et al. 2017 give a material by a relaxation time and a compliance α. Those numbers depend on
resolution and step, so they are useful to repeat the paper's figures and for little else:

```toml
[materials.rope]
density = 1000.0
relaxation_time = 0.15
compliance = 0.005
```
"""


def page() -> str:
    """The whole page."""
    return "\n".join([HEAD, *("\n".join(_group(kind)) for kind in GROUPS), TAIL])


def _group(kind: str) -> Iterator[str]:
    columns = COLUMNS[kind]
    yield f"## {GROUPS[kind]}"
    yield ""
    yield f"| preset | {' | '.join(columns.values())} | what it is | source |"
    yield "|---" * (len(columns) + 3) + "|"
    for name, preset in sorted(PRESETS.items()):
        material = Material.from_preset(name)
        if material.kind == kind:
            numbers = " | ".join(f"{getattr(material, key):g}" for key in columns)
            yield f"| `{name}` | {numbers} | {preset.description} | {preset.source} |"
    yield ""


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
