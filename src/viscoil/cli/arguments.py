"""Kinds of arguments that several commands take."""

from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter
from cyclopts.validators import Number

Arch = Literal["cpu", "cuda", "metal", "vulkan", "amdgpu"]
Count = Annotated[int, Parameter(validator=Number(gte=1))]
AtLeastTwo = Annotated[int, Parameter(validator=Number(gte=2))]
Size = Annotated[float, Parameter(validator=Number(gt=0))]
Overrides = Annotated[list[str], Parameter(name="--set", negative="")]
Flag = Annotated[bool, Parameter(negative="", show_default=False)]
SceneName = Annotated[str, Parameter(name="scene", show_default=False)]
RunPath = Annotated[Path, Parameter(name="run", show_default=False)]
"""The folder that `viscoil run` wrote."""
Frames = Annotated[str, Parameter(name="--frames", allow_leading_hyphen=True)]
"""Which frames of a run; see `Run.select`."""
Names = Annotated[list[str], Parameter(negative="", show_default=False)]
"""Names with commas between them, and the option again for more; see `listed`."""


def listed(names: list[str]) -> list[str]:
    """The names that a user gives as in "velocity,id", each once."""
    parts = [part.strip() for text in names for part in text.split(",")]
    return list(dict.fromkeys(part for part in parts if part))
