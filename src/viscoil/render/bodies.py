"""What is drawn: triangles, their look, and how large the thing is."""

from dataclasses import dataclass

from viscoil.geometry.meshes import TriangleMesh
from viscoil.snapshots.looks import Look


@dataclass(frozen=True)
class Body:
    """Triangles with the attribute `normal`, and their look."""

    mesh: TriangleMesh
    look: Look
    size: float
    """Size of the body, m: the unit of depths in the look."""
