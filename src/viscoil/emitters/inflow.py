"""All emitters of a scene at once: what flows in during a run."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from viscoil.colliders import ColliderSet
from viscoil.core.errors import SceneError
from viscoil.emitters.mesh_emitters import MeshEmitter, clear_of
from viscoil.emitters.nozzles import Emission, Emitter, EmitterFrame
from viscoil.particles.store import Particles
from viscoil.sampling.initial_channels import ItemChannels
from viscoil.scene import Scene

# Of a spacing: particles rest on walls at half of one. What misses that by more than distance fields and
# facets of round meshes do would be thrown out of the wall by the first step.
LEAST_CLEARANCE = 0.45


class Inflow:
    """The emitters of a scene, and how many layers each has emitted."""

    def __init__(self, scene: Scene, channels: ItemChannels, colliders: ColliderSet) -> None:
        self.emitters = [_make(scene, k, colliders) for k in range(len(scene.emitters))]
        self.notes = _notes(self.emitters)
        """A sentence for each nozzle that colliders cut into."""
        self.layers = [0] * len(self.emitters)
        """The next layer of each emitter; with the time, the whole state to restore."""
        self.max_speed = 0.0
        """Of all that has flown in, m/s."""
        self._scene = scene
        self._channels = channels

    @property
    def nozzles(self) -> list[EmitterFrame]:
        """Where particles are driven after they have appeared."""
        return [e.frame for e in self.emitters if e.frame is not None]

    def add_to(self, particles: Particles, time: float, dt: float) -> None:
        """Adds what appears by `time` (s) after a step of `dt` (s), up to the most of the scene."""
        most = self._scene.simulation.max_particles
        for k, emitter in enumerate(self.emitters):
            emission = emitter.emit(time, dt, self.layers[k])
            if emission is None:
                continue
            self.layers[k] = emission.next_layer
            if isinstance(emitter, MeshEmitter):
                emission = emission.where(
                    clear_of(emission.positions, particles.numpy("position"), emitter.spacing)
                )
            if most is None or particles.count + len(emission.positions) <= most:
                self._append(particles, k, emission, time)

    def _append(self, particles: Particles, k: int, emission: Emission, time: float) -> None:
        emitter, first = self.emitters[k], particles.next_id
        speeds = np.linalg.norm(emission.velocities, axis=-1)
        self.max_speed = max(self.max_speed, float(np.max(speeds, initial=0.0)))
        ids = np.arange(first, first + len(emission.positions))
        particles.append(
            {
                "position": emission.positions,
                "velocity": emission.velocities,
                "material": emitter.material_index,
                "size": emitter.spacing / self._scene.simulation.spacing,
                "birth": time,
                **self._channels.of(self._scene.emitters[k], ids),
            }
        )


def _make(scene: Scene, k: int, colliders: ColliderSet) -> Emitter | MeshEmitter:
    spec = scene.emitters[k]
    index = list(scene.materials).index(spec.material)
    # every emitter scatters its particles in its own way
    seed = scene.simulation.seed * len(scene.emitters) + k
    spacing = scene.spacing_of(spec)
    if spec.shape == "mesh":
        return MeshEmitter(spec, index, spacing, seed)

    def clear(points: NDArray[np.float64]) -> NDArray[np.bool_]:
        distance = colliders.distance(points.astype(np.float32), max(spec.start, 0.0))
        return np.asarray(distance >= LEAST_CLEARANCE * spacing)

    return Emitter(spec, index, spacing, scene.solver.support, seed, clear)


def _notes(emitters: Sequence[Emitter | MeshEmitter]) -> list[str]:
    notes = []
    for k, emitter in enumerate(emitters):
        if isinstance(emitter, Emitter) and emitter.left_out:
            places = emitter.left_out + emitter.points
            notes.append(
                f"emitters.{k}: {emitter.left_out} of {places} particles of a layer would start within "
                "half a spacing of a collider and are left out"
            )
            if not emitter.points:
                raise SceneError(
                    f"emitters.{k} lies within colliders: move the emitter or the colliders away"
                )
    return notes
