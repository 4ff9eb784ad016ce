"""What a script may change between the steps of a simulation, and what it may hear of them."""

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy.typing as npt

from viscoil.bodies.rigid_bodies import ColliderForce, RigidBodies
from viscoil.core.errors import ViscoilError
from viscoil.forces.protocol import Forces
from viscoil.forces.python_force import ForceFunction, PythonForce
from viscoil.materials.table import Materials
from viscoil.particles.store import Particles
from viscoil.scene import Material, Scene
from viscoil.scene.changes import changed_material, check_fit
from viscoil.simulation import channels
from viscoil.simulation.callbacks import Callbacks, Handle, check_callable, name_of
from viscoil.simulation.material_change import MaterialChange
from viscoil.snapshots.snapshot import Snapshot


class Controls:
    """The part of a simulation that is about its materials, channels, forces and callbacks."""

    scene: Scene
    """What is simulated, as it was at the start."""
    particles: Particles
    bodies: RigidBodies
    """The rigid bodies: `simulation.bodies.states[k]` is that of the collider k."""
    _materials: Materials
    _forces: Forces

    def __init__(self, scene: Scene) -> None:
        self.scene = scene
        self._material_names = list(scene.materials)
        self._restored: set[str] = set()  # channels of a checkpoint that a script may take up
        self._on_step: Callbacks[dict[str, Any]] = Callbacks("on_step")
        self._on_frame: Callbacks[Snapshot] = Callbacks("on_frame")

    def material(self, name: str) -> Material:
        """The material as it is now."""
        return self._materials.materials[self._material_index(name)]

    def set_material(self, name: str, **values: Any) -> MaterialChange:
        """Changes parameters of a material from the next step on, as they are called in a scene.

        Returns what is different now, with what follows from the given values. Raises SceneError,
        and changes nothing, if they make no sense.
        """
        index = self._material_index(name)
        before = self._materials.materials[index]
        after = changed_material(name, before, values)
        check_fit(self.scene, name, after)
        self._materials.materials[index] = after
        return MaterialChange(name, before, after)

    @property
    def collider_forces(self) -> list[ColliderForce]:
        """What fluid did to colliders in the last step: dynamic ones, or all if the scene says so."""
        return self.bodies.forces

    @property
    def ids(self) -> channels.Ids:
        """The ids of the particles that there are, ascending; those just removed are not among them."""
        return channels.living_ids(self.particles)

    def channel(self, name: str) -> npt.NDArray[Any]:
        """A copy of a channel in the order of `ids`, to follow particles from step to step."""
        return channels.values_by_id(self.particles, name)

    def set_channel(
        self, name: str, values: npt.ArrayLike, ids: npt.ArrayLike | None = None
    ) -> None:
        """Writes a channel, one row an id: of `ids`, or of all particles in the order of `self.ids`."""
        count = len(self._material_names)
        channels.write_by_id(self.particles, name, values, ids, count)

    def add_channel(
        self, name: str, *, width: int = 1, dtype: npt.DTypeLike = float, unit: str = "1",
        rest: float | Sequence[float] = 0.0,
    ) -> None:  # fmt: skip
        """Adds a channel of 1, 3 or 6 floats, or of an int, a particle.

        All particles start with `rest`, also those that emitters make. It is sorted and saved with
        the others. One of the same kind that came with a checkpoint is taken up as it is, so
        that a script that resumes is the script that started.
        """
        kind = channels.new_kind(name, width, dtype, unit, rest)
        if name in self._restored and self.particles.kinds.get(name) == kind:
            self._restored.remove(name)
            return
        self.particles.add_channel(name, kind)

    def add_force(self, function: ForceFunction, *, max_acceleration: float = 0.0) -> Handle:
        """Adds a force: a function of a `ForceInput` that returns accelerations (n, 3) in m/s².

        `max_acceleration` (m/s²) is the most that it will do, by which adaptive steps are chosen as
        they are by gravity. Forces are not saved in checkpoints.
        """
        check_callable("add_force", function)
        if not 0.0 <= max_acceleration < math.inf:
            raise ViscoilError(
                f"max_acceleration must be finite and not negative, not {max_acceleration}"
            )
        force = PythonForce(function, name_of(function), max_acceleration)
        self._forces.add(force)
        return Handle(f"add_force({name_of(function)})", lambda: self._forces.remove(force))

    def on_step(self, function: Callable[[dict[str, Any]], object]) -> Handle:
        """Calls a function with the figures of every step, when the step is done.

        That is after particles were measured, which may raise DivergedError, and after those that
        leave the scene were marked. What it adds to the figures goes to the statistics of a run.
        """
        return self._on_step.add(function)

    def on_frame(self, function: Callable[[Snapshot], object]) -> Handle:
        """Calls a function with a snapshot after every step that ends a frame, after `on_step`."""
        return self._on_frame.add(function)

    def _material_index(self, name: str) -> int:
        if name not in self._material_names:
            known = ", ".join(self._material_names)
            raise ViscoilError(f"there is no material {name!r} in this scene; it has {known}")
        return self._material_names.index(name)
