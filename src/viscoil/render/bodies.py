"""What is drawn: triangles, their look, and how large the thing is."""

from dataclasses import dataclass

from viscoil.memory import emitted_volume, starting_particles
from viscoil.meshes import TriangleMesh
from viscoil.render.looks import Look
from viscoil.scene import Scene


@dataclass(frozen=True)
class Body:
    """Triangles with the attribute `normal`, and their look."""

    mesh: TriangleMesh
    look: Look
    size: float
    """What depths in the look are told in, m."""


def fluid_size(scene: Scene, material: str) -> float | None:
    """Edge of a cube with the volume of the largest body of a material, m; None if there is none.

    It comes from the scene and not from the particles, so that colours stay while a jar is filled.
    """
    duration = scene.frames / scene.simulation.fps
    fluids = [f for f in scene.fluids if f.material == material]
    spacings = [scene.spacing_of(f) for f in fluids]
    volumes = [starting_particles(f, d) * d**3 for f, d in zip(fluids, spacings, strict=True)]
    volumes += [emitted_volume(e, duration) for e in scene.emitters if e.material == material]
    largest = max(volumes, default=0.0)
    return largest ** (1 / 3) if largest > 0 else None
