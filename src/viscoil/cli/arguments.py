"""Kinds of arguments that several commands take, with their help where it is the same for all."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter
from cyclopts.validators import Number

Count = Annotated[int, Parameter(validator=Number(gte=1))]
AtLeastTwo = Annotated[int, Parameter(validator=Number(gte=2))]
Size = Annotated[float, Parameter(validator=Number(gt=0))]
Flag = Annotated[bool, Parameter(negative="", show_default=False)]
Names = Annotated[list[str], Parameter(negative="", show_default=False)]
"""Names with commas between them, and the option again for more; see `listed`."""

SceneName = Annotated[
    str,
    Parameter(
        name="scene",
        show_default=False,
        help="A scene file (.toml), or the name of a built-in scene.",
    ),
]
Overrides = Annotated[
    list[str],
    Parameter(
        name="--set",
        negative="",
        help="Change a value of the scene, such as --set simulation.spacing=0.01 (repeatable).",
    ),
]
Threads = Annotated[
    int,
    Parameter(validator=Number(gte=1), help="Number of CPU threads (default: all cores)."),
]
Arch = Annotated[
    Literal["cpu", "cuda", "metal", "vulkan", "amdgpu"], Parameter(help="What computes.")
]
RunPath = Annotated[
    Path,
    Parameter(
        name="run",
        show_default=False,
        help="The folder that `viscoil run` wrote, such as runs/honey.",
    ),
]


@Parameter(name="*")
@dataclass(frozen=True)
class FrameWork:
    """Options of the commands that make something of each frame of a run.

    Such a command says in its docstring, under `work.out` and `work.overwrite`, what these mean.
    """

    frames: Annotated[str | None, Parameter(allow_leading_hyphen=True)] = None
    """Which frames, such as 12, 10:50 (ends included), ::5, 0,10,20 or -1 (default: all)."""
    out: Path | None = None
    overwrite: Flag = False
    quiet: Flag = False
    """Print only the final lines."""


ALL_FRAMES = FrameWork()


def listed(names: list[str]) -> list[str]:
    """The names that a user gives as in "velocity,id", each once."""
    parts = [part.strip() for text in names for part in text.split(",")]
    return list(dict.fromkeys(part for part in parts if part))
