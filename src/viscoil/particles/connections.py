# mypy: disable-error-code="valid-type,no-untyped-def,no-untyped-call,misc"
"""Lists between particles: springs, pairs that stick, sets that keep a shape.

Each particle has room for a bounded number of connections, which name the other particle by its id and
hold a few numbers (a rest length, a strength). Ids outlive sorting and removal; where the particle of
an id lies now is looked up once after each sort. A connection that finds no room is counted: the figures
of a step have it under `lost_connections`, and the progress of a run tells it.

In a kernel:

    for k in range(i * links.room, i * links.room + links.count[i]):
        j = links.place[k]
        length = links.value[k * links.width]
"""

import dataclasses
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import quadrants as qd

from viscoil.core.compute import Floats, Ints, replace, scalars, view, write
from viscoil.core.errors import ViscoilError

NOBODY = -1


@dataclasses.dataclass
class Links:
    """The connections as kernels see them; row i has the places from i times `room` on."""

    room: qd.i32  # connections that a particle may have
    width: qd.i32  # numbers that a connection holds
    count: Ints  # (particles) connections of each
    other: Ints  # (particles times room) id of the other particle
    place: Ints  # (particles times room) where that particle lies now
    value: Floats  # (particles times room times width)


@qd.kernel(fastcache=True)
def _reorder(n: qd.i32, order: Ints, old: Links, new: Links):
    """Row i ← row order[i]."""
    for i in range(n):
        source = order[i] * old.room
        target = i * new.room
        new.count[i] = old.count[order[i]]
        for k in range(old.count[order[i]]):
            new.other[target + k] = old.other[source + k]
            for w in range(old.width):
                new.value[(target + k) * old.width + w] = old.value[(source + k) * old.width + w]


@qd.kernel(fastcache=True)
def _number_places(n: qd.i32, ids: Ints, place_of: Ints):
    for i in range(n):
        place_of[ids[i]] = i


@qd.kernel(fastcache=True)
def _look_up(n: qd.i32, ids: Ints, place_of: Ints, links: Links):
    """Finds the places of the others, and drops connections to particles that are gone.

    What is left moves up, in its order. An entry of `place_of` counts only if the particle there has
    that id: entries of the dead are never cleared.
    """
    for i in range(n):
        row = i * links.room
        kept = 0
        for k in range(links.count[i]):
            other = links.other[row + k]
            j = place_of[other]
            alive = False
            if j >= 0 and j < n:
                alive = ids[j] == other
            if alive:
                links.other[row + kept] = other
                links.place[row + kept] = j
                for w in range(links.width):
                    links.value[(row + kept) * links.width + w] = links.value[
                        (row + k) * links.width + w
                    ]
                kept += 1
        links.count[i] = kept


class Connections:
    """Connections of one kind among the particles of a simulation (`Particles.connect`)."""

    def __init__(self, room: int, width: int = 1) -> None:
        """Up to `room` connections for each particle, of `width` numbers each."""
        if room < 1:
            raise ViscoilError(f"connections need room for at least one per particle, not {room}")
        if width < 1:
            raise ViscoilError(
                f"a connection holds at least one number, not {width}: give a width of 1 and leave it 0"
            )
        self.room, self.width = room, width
        self.overflow = 0
        """Connections that found no room since the start."""
        self.links = self._allocate(1)
        self._spare = self._allocate(1)
        self._place_of: Any = scalars(qd.i32, 1)

    def add(
        self,
        places: npt.ArrayLike,
        ids: npt.ArrayLike,
        values: npt.ArrayLike = 0.0,
    ) -> int:
        """Connects the particles at these places to those with these ids; how many found no room.

        One way only: for both ways, add both. Where the others lie is known after the next
        `update`. `values` are (n, width) or one for all.
        """
        rows = np.asarray(places, np.int64)
        others = np.broadcast_to(np.asarray(ids, np.int32), rows.shape)
        numbers = np.broadcast_to(np.asarray(values, np.float32), (len(rows), self.width))
        counts, other, value = self._views()
        turn = _turns(rows)  # among those that are added to the same particle
        at = counts[rows] + turn
        fits = at < self.room
        target = rows[fits] * self.room + at[fits]
        other[target] = others[fits]
        value.reshape(-1, self.width)[target] = numbers[fits]
        counts += np.bincount(rows[fits], minlength=len(counts)).astype(np.int32)
        self._write_back(counts, other, value)
        lost = int(np.count_nonzero(~fits))
        self.overflow += lost
        return lost

    def update(self, count: int, ids: Any, next_id: int) -> None:
        """Finds where all connected particles lie, and drops connections to those that are gone."""
        if self._place_of.shape[0] < next_id:
            self._place_of = scalars(qd.i32, int(1.25 * next_id) + 1)
            self._place_of.fill(NOBODY)
        _number_places(count, ids, self._place_of)
        _look_up(count, ids, self._place_of, self.links)

    def resize(self, capacity: int, count: int) -> None:
        """Room for the connections of `capacity` particles; those of the first `count` stay."""
        kept = {**self.save(count), "place": np.array(view(self.links.place)[: count * self.room])}
        self.links = self._spare = self._allocate(1)  # frees the old ones before others are made
        self.links, self._spare = self._allocate(capacity), self._allocate(capacity)
        for name in ("count", "other", "place", "value"):
            write(getattr(self.links, name), kept[name])

    def reorder(self, order: Any, survivors: int) -> None:
        """Puts the row of particle order[i] at place i."""
        _reorder(survivors, order, self.links, self._spare)
        self.links, self._spare = self._spare, self.links

    def clear_rows(self, first: int, last: int) -> None:
        """The particles from `first` on, up to `last`, have none: they are new."""
        write(self.links.count, np.zeros(last - first, np.int32), first)

    def of(self, place: int) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.float32]]:
        """(ids of the others, (n, width) values) of the particle at a place, copied."""
        counts, other, value = self._views()
        rows = slice(place * self.room, place * self.room + counts[place])
        return np.array(other[rows]), np.array(value.reshape(-1, self.width)[rows])

    def save(self, count: int) -> dict[str, npt.NDArray[Any]]:
        """Copies of the rows of `count` particles."""
        counts, other, value = self._views()
        return {
            "count": np.array(counts[:count]),
            "other": np.array(other[: count * self.room]),
            "value": np.array(value[: count * self.room * self.width]),
            "overflow": np.array([self.overflow]),
        }

    def load(self, arrays: Mapping[str, npt.NDArray[Any]]) -> None:
        """Takes back what `save` gave; places are found by the next `update`."""
        for name in ("count", "other", "value"):
            write(getattr(self.links, name), arrays[name])
        self.overflow = int(arrays["overflow"][0])

    def _views(self) -> tuple[npt.NDArray[Any], npt.NDArray[Any], npt.NDArray[Any]]:
        """Counts, others and values: shared memory on the CPU, copies on a GPU."""
        return view(self.links.count), view(self.links.other), view(self.links.value)

    def _write_back(self, *views: npt.NDArray[Any]) -> None:
        """What was written to the arrays of `_views` reaches kernels, on a GPU too."""
        links = self.links
        for array, numbers in zip((links.count, links.other, links.value), views, strict=True):
            replace(array, numbers)

    def _allocate(self, capacity: int) -> Links:
        slots = capacity * self.room
        return Links(
            room=self.room,
            width=self.width,
            count=scalars(qd.i32, capacity),
            other=scalars(qd.i32, slots),
            place=scalars(qd.i32, slots),
            value=scalars(qd.f32, slots * self.width),
        )


def _turns(rows: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """How many equal numbers come before each one."""
    order = np.argsort(rows, kind="stable")
    ordered = rows[order]
    starts = np.flatnonzero(np.concatenate([[True], ordered[1:] != ordered[:-1]]))
    lengths = np.diff(np.concatenate([starts, [len(rows)]]))
    turns = np.empty_like(rows)
    turns[order] = np.arange(len(rows)) - np.repeat(starts, lengths)
    return turns
