"""Channels as scripts use them: new ones, and values in the order of particles' ids.

Particles change their places in every step, and some are removed; their ids stay.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from viscoil.core import compute
from viscoil.core.errors import ViscoilError
from viscoil.core.names import unknown_name
from viscoil.particles.store import ChannelKind, Particles
from viscoil.scene.channels import bad_name

Ids = npt.NDArray[np.int32]


def living(particles: Particles) -> npt.NDArray[np.bool_]:
    """Which particles were not removed after the last step."""
    return np.asarray(compute.view(particles.alive, particles.count) != 0)


def living_ids(particles: Particles) -> Ids:
    """The ids of the particles that live, ascending."""
    return np.sort(particles.numpy("id")[living(particles)])


def values_by_id(particles: Particles, name: str) -> npt.NDArray[Any]:
    """A copy of a channel of the particles that live, in the order of their ids."""
    check_known(particles, name)
    return np.asarray(particles.numpy(name)[_places(particles)])


def write_by_id(particles: Particles, name: str, values: Any, ids: Any, materials: int) -> None:
    """Writes values for these ids, in this order, or for all that live, by ascending ids."""
    check_known(particles, name)
    if name == "id":
        raise ViscoilError("ids cannot be written, because they tell particles apart: leave them")
    places = _places(particles)
    if ids is not None:
        places = places[_ranks(particles.numpy("id")[places], np.atleast_1d(np.asarray(ids)))]
    kind = particles.kinds[name]
    numbers = _fitting(name, values, kind, len(places))
    if name == "material" and not ((numbers >= 0) & (numbers < materials)).all():
        raise ViscoilError(
            f'"material" holds indices of the scene\'s materials: use 0 to {materials - 1}'
        )
    particles[name][places] = numbers


def new_kind(name: str, width: int, dtype: Any, unit: str, rest: Any) -> ChannelKind:
    """What a user's channel holds; a sentence for a name or numbers that it cannot have."""
    if not isinstance(name, str) or (bad := bad_name(name)) is not None:
        why = "is no name for a channel: use a text" if not isinstance(name, str) else bad
        raise ViscoilError(f"{name!r} {why}")
    numbers = np.atleast_1d(_numbers(name, rest))
    if numbers.shape not in ((1,), (width,)) or not np.isfinite(numbers).all():
        amount = "a finite number" if width == 1 else f"a finite number, or {width} of them"
        raise ViscoilError(f"channel {name!r} cannot be {rest!r} at rest: give {amount}")
    at_rest = tuple(numbers.tolist()) if len(numbers) > 1 else numbers.tolist()[0]
    return ChannelKind(_type_of(name, dtype), width, unit, at_rest)


def check_known(particles: Particles, name: str) -> None:
    """Raises ViscoilError for a channel that there is not."""
    if name not in particles:
        raise ViscoilError(f"{name!r} {unknown_name('channel', name, particles)}")


def _type_of(name: str, dtype: Any) -> str:
    try:
        found = {"f": "f32", "i": "i32"}[np.dtype(dtype).kind]
    except (TypeError, KeyError):
        raise ViscoilError(
            f"channel {name!r} cannot hold {dtype!r}: give float or int as its dtype"
        ) from None
    return found


def _places(particles: Particles) -> npt.NDArray[np.int64]:
    """Where the particles that live are in the arrays, by ascending ids."""
    places = np.flatnonzero(living(particles))
    return places[np.argsort(particles.numpy("id")[places])]


def _ranks(known: Ids, ids: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
    """Where ids stand among those that live."""
    if ids.ndim != 1 or (len(ids) and ids.dtype.kind not in "iu"):
        raise ViscoilError("ids must be a list of whole numbers: take them from simulation.ids")
    ids = ids.astype(np.int64)
    if len(np.unique(ids)) < len(ids):
        raise ViscoilError("an id is there twice, so that two values are given: leave one of them")
    ranks = np.searchsorted(known, ids)
    found = np.append(known, -1)[np.minimum(ranks, len(known))] == ids
    if not found.all():
        raise ViscoilError(
            f"there is no particle with the id {ids[~found][0]}, or no longer: choose among "
            "simulation.ids"
        )
    return ranks


def _fitting(name: str, values: Any, kind: ChannelKind, count: int) -> npt.NDArray[Any]:
    """The values, one row a particle."""
    shape = (count,) if kind.width == 1 else (count, kind.width)
    numbers = _numbers(name, values)
    try:
        return np.broadcast_to(numbers, shape)
    except ValueError:
        raise ViscoilError(
            f"values of shape {numbers.shape} do not fit the channel {name!r} of {count} "
            f"particles: give an array of shape {shape}"
        ) from None


def _numbers(name: str, values: Any) -> npt.NDArray[Any]:
    try:
        numbers = np.asarray(values)
    except ValueError:
        numbers = np.asarray(None)
    if numbers.dtype.kind not in "biuf":
        raise ViscoilError(f"channel {name!r} holds numbers: give an array of them")
    return numbers
