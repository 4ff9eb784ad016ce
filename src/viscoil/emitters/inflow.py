"""All emitters of a scene at once: what flows in during a run."""

import numpy as np

from viscoil.emitters.mesh_emitters import MeshEmitter, clear_of
from viscoil.emitters.nozzles import Emission, Emitter, EmitterFrame
from viscoil.particles.store import Particles
from viscoil.sampling.initial_channels import ItemChannels
from viscoil.scene import Scene


class Inflow:
    """The emitters of a scene, and how many layers each has emitted."""

    def __init__(self, scene: Scene, channels: ItemChannels) -> None:
        self.emitters = [_make(scene, k) for k in range(len(scene.emitters))]
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


def _make(scene: Scene, k: int) -> Emitter | MeshEmitter:
    spec = scene.emitters[k]
    index = list(scene.materials).index(spec.material)
    # every emitter scatters its particles in its own way
    seed = scene.simulation.seed * len(scene.emitters) + k
    spacing = scene.spacing_of(spec)
    if spec.shape == "mesh":
        return MeshEmitter(spec, index, spacing, seed)
    return Emitter(spec, index, spacing, scene.solver.support, seed)
