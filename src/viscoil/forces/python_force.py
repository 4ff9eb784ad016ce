"""A force that is a Python function: NumPy arrays in, accelerations out.

It is called once a step, on all particles, when gravity and the fields of the scene have acted on
velocities and before any constraint has. That costs a pass of NumPy over the particles; where it
matters, a force is a class with kernels, as the others here.
"""

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from viscoil.core.compute import view, write
from viscoil.core.errors import ViscoilError
from viscoil.forces.drive import Drive
from viscoil.forces.protocol import Force, StepView

Array = npt.NDArray[Any]


class ForceInput:
    """What a force function sees: arrays of one row a particle, in one order, to be read only.

    They are good until the function returns.
    """

    def __init__(self, step: StepView, velocity: Any) -> None:
        self._step = step
        self._velocity = velocity
        self.time = step.time
        """At the start of the step, s."""
        self.dt = float(step.scale.dt)
        """Length of the step, s."""

    def __len__(self) -> int:
        return self._step.n

    def __getitem__(self, name: str) -> Array:
        """Any channel of the particles, such as one of the script's own."""
        return _read_only(self._step.particles.numpy(name))

    @property
    def position(self) -> Array:
        """(n, 3), m: at the start of the step."""
        return _read_only(view(self._step.near.position, self._step.n))

    @property
    def velocity(self) -> Array:
        """(n, 3), m/s: with gravity and the forces that acted before this one."""
        return _read_only(view(self._velocity, self._step.n))

    @property
    def mass(self) -> Array:
        """(n,), kg."""
        inverse: Array = view(self._step.near.inverse_mass, self._step.n)
        return 1.0 / inverse

    @property
    def material(self) -> Array:
        """(n,): indices of the scene's materials, in its order."""
        return _read_only(view(self._step.near.material, self._step.n))

    @property
    def id(self) -> Array:
        """(n,): which particle a row is of, in all steps."""
        return self["id"]


ForceFunction = Callable[[ForceInput], npt.ArrayLike]


class PythonForce(Force):
    """u* ← u* + Δt a, with a of a function."""

    name: ClassVar[str] = "python forces"

    def __init__(
        self, function: ForceFunction, function_name: str, max_acceleration: float = 0.0
    ) -> None:
        """`max_acceleration` (m/s²) is by which steps are chosen, as by gravity."""
        self._function = function
        self._function_name = function_name
        self._drive = Drive(acceleration=max_acceleration)

    def act(self, step: StepView, velocity: Any) -> None:
        """u* ← u* + Δt a."""
        seen = ForceInput(step, velocity)
        acceleration = self._checked(self._function(seen), seen)
        self.given = float(np.linalg.norm(acceleration, axis=-1).max(initial=0.0))
        change = np.float32(seen.dt) * acceleration
        write(velocity, view(velocity, step.n) + change)

    def drive(self, time: float, longest: float) -> Drive:
        """By the `max_acceleration` that it was made with."""
        return self._drive

    def _checked(self, given: Any, seen: ForceInput) -> Array:
        """Accelerations, m/s²; a sentence if they are none."""
        try:
            found = np.asarray(given, dtype=np.float32)
        except (TypeError, ValueError):
            found = np.empty(0, np.float32)
        if found.shape not in ((len(seen), 3), (3,)):
            raise ViscoilError(
                f"the force {self._function_name} returned {_kind(given)}: return accelerations in "
                f"m/s² of shape ({len(seen)}, 3), one row a particle, or 3 numbers for all of them"
            )
        if not (finite := np.isfinite(found)).all():
            rows = np.flatnonzero(~finite.reshape(-1, 3).all(axis=1))
            where = f" of the particle {seen.id[rows[0]]}" if found.ndim == 2 else ""
            raise ViscoilError(
                f"the force {self._function_name} returned an acceleration{where} that is not "
                f"finite, at {seen.time:.6g} s: check what it divides by"
            )
        return found


def _kind(given: Any) -> str:
    if isinstance(given, np.ndarray):
        return f"an array of shape {given.shape}"
    return "nothing" if given is None else f"{given!r:.40}"


def _read_only(array: Array) -> Array:
    array = array.view()
    array.flags.writeable = False
    return array
