"""What importers ask of the files that a scene names; a scene itself knows no arrays."""

from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

Vector = tuple[float, float, float]


@dataclass(frozen=True)
class Outline:
    """What a mesh looks like from afar, in the unit of its file."""

    low: Vector
    """Lowest corner of the box around it."""
    high: Vector
    """Highest corner of that box."""
    is_box: bool
    """Whether it is that box."""
    is_closed: bool
    """Whether it encloses a volume."""


class Geometry(Protocol):
    """The files beside a scene, as the scene that is written will name them."""

    def outline(self, path: Path) -> Outline:
        """Of a mesh; raises MeshError."""

    def particles(self, path: Path) -> int:
        """How many particles a file holds; raises ParticleFileError."""

    def reference(self, path: Path) -> str:
        """The name of a file as the new scene will find it."""

    def stretched(self, path: Path, scale: Vector) -> str:
        """The name of a copy of a mesh, stretched by a factor along each axis."""
