# mypy: disable-error-code="valid-type,no-untyped-def,no-untyped-call,misc"
"""The channel store: one independent array per particle property (DYVERSO, section 6).

Arrays change size only at capacity steps: they grow when they are full, and shrink when less than half
of them has been in use for a while. Particles are removed by a mask; the next sort puts the dead ones
last and they are cut off, so that removal costs nothing of its own. Ids are stable: they survive
sorting and removal, and are never given twice.

Particles have the base channels, those of their solver, and those that a scene or a user adds.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
import quadrants as qd

from viscoil.core.compute import Floats, Ints, Vec3s, Vec6s, on_cpu, scalars, vectors, view, write
from viscoil.core.errors import ViscoilError
from viscoil.particles.connections import Connections
from viscoil.particles.views import ChannelView, Lease

# By how much arrays grow when they are full. Not by more, because the solver's arrays have the same
# length: spare room costs several hundred bytes a particle.
GROWTH = 1.25
SMALLEST_CAPACITY = 1024
PATIENCE = 32  # sorts for which less than half must have been in use before the arrays shrink
MOST_IDS = 2**31  # that 32 bits can tell apart
CONNECTIONS = "connections."  # before the names of their arrays in a checkpoint


@dataclass(frozen=True)
class ChannelKind:
    """What one particle holds in a channel: `width` numbers of type `dtype`, at `rest` to begin with."""

    dtype: str  # "f32" or "i32"
    width: int = 1  # 1, 3 or 6
    unit: str = "1"
    rest: float | tuple[float, ...] = 0.0

    def allocate(self, capacity: int) -> Any:
        """An array for that many particles, zeroed."""
        if self.width > 1:
            return vectors(self.width, capacity)
        return scalars(qd.f32 if self.dtype == "f32" else qd.i32, capacity)


# The channels that particles have whatever the solver, which adds its own.
BASE_CHANNELS: Mapping[str, ChannelKind] = {
    "position": ChannelKind("f32", 3, "m"),  # x
    "velocity": ChannelKind("f32", 3, "m/s"),  # u
    "id": ChannelKind("i32", 1),  # stable, from 0
    "material": ChannelKind("i32", 1),  # index into the scene's materials
    "birth": ChannelKind("f32", 1, "s"),  # simulated time of creation
}

# A channel of scenes of mixed resolution only.
SIZE = ChannelKind("f32", 1, rest=1.0)  # s: spacing of the particle in units of simulation.spacing


# A channel of scenes with separate bodies only.
BODY = ChannelKind("i32", 1)  # number of the body, from 1; 0: of none


@qd.kernel(fastcache=True)
def _gather_floats(n: qd.i32, order: Ints, source: Floats, target: Floats):
    for i in range(n):
        target[i] = source[order[i]]


@qd.kernel(fastcache=True)
def _gather_ints(n: qd.i32, order: Ints, source: Ints, target: Ints):
    for i in range(n):
        target[i] = source[order[i]]


@qd.kernel(fastcache=True)
def _gather_vec3(n: qd.i32, order: Ints, source: Vec3s, target: Vec3s):
    for i in range(n):
        target[i] = source[order[i]]


@qd.kernel(fastcache=True)
def _gather_vec6(n: qd.i32, order: Ints, source: Vec6s, target: Vec6s):
    for i in range(n):
        target[i] = source[order[i]]


_GATHER = {
    ("f32", 1): _gather_floats,
    ("i32", 1): _gather_ints,
    ("f32", 3): _gather_vec3,
    ("f32", 6): _gather_vec6,
}


class Particles:
    """All particles of a simulation. Elements past `count` are garbage."""

    def __init__(
        self, capacity: int = 0, channels: Mapping[str, ChannelKind] | None = None
    ) -> None:
        """With room for `capacity` particles, and these channels beside the base ones."""
        self.count = 0
        self.next_id = 0
        self.capacity = max(capacity, 1)
        self.kinds: dict[str, ChannelKind] = {}
        self._arrays: dict[str, Any] = {}
        self._spare: dict[tuple[str, int], Any] = {}
        self._sorts_half_empty = 0
        self._most_since = 0
        self._lease = Lease()
        self._copies: dict[str, npt.NDArray[Any]] = {}  # that views write through, on a GPU
        self.alive = self._mask(self.capacity)
        self.connections: dict[str, Connections] = {}
        """Lists between particles, by name: see `connect`."""
        self.require({**BASE_CHANNELS, **(channels or {})})

    def require(self, channels: Mapping[str, ChannelKind]) -> None:
        """Adds these channels, at rest, unless they are there."""
        for name, kind in channels.items():
            if name not in self.kinds:
                self.add_channel(name, kind)

    def add_channel(self, name: str, kind: ChannelKind) -> None:
        """Adds a channel at rest; users may add as many as they like."""
        if name in self.kinds:
            raise ViscoilError(f"there is already a channel named {name!r}: choose another name")
        if (kind.dtype, kind.width) not in _GATHER:
            raise ViscoilError(
                f"channel {name!r}: a particle can hold 1 integer, or 1, 3 or 6 floats"
            )
        self.kinds[name] = kind
        self._arrays[name] = kind.allocate(self.capacity)
        if kind.rest != 0.0:
            write(self._arrays[name], np.broadcast_to(kind.rest, self.numpy(name).shape))

    def connect(self, name: str, room: int, width: int = 1) -> Connections:
        """Lists of connections between particles, up to `room` for each, of `width` numbers each.

        They follow the particles through sorting, removal and checkpoints.
        """
        if name not in self.connections:
            made = Connections(room, width)
            made.resize(self.capacity, 0)
            self.connections[name] = made
        return self.connections[name]

    def update_connections(self) -> None:
        """After a sort: finds where connected particles lie, drops what leads to those that are gone."""
        for connections in self.connections.values():
            connections.update(self.count, self.array("id"), self.next_id)

    @property
    def lost_connections(self) -> dict[str, int]:
        """By the names of the lists: connections that found no room since the start."""
        return {name: connections.overflow for name, connections in self.connections.items()}

    def array(self, name: str) -> Any:
        """The array that kernels use."""
        if name not in self.kinds:
            raise ViscoilError(
                f"there is no channel {name!r}: choose among {', '.join(self.kinds)}"
            )
        return self._arrays[name]

    def __getitem__(self, name: str) -> ChannelView:
        """The channel as NumPy sees it, without a copy on the CPU: to read and to write to.

        It is good until particles move in memory, as in every step; an older one raises an error.
        """
        if on_cpu():
            return ChannelView(name, self.numpy(name), self._lease)
        array = self.array(name)
        copy = self._copies.get(name)
        if copy is None:
            copy = self._copies[name] = view(array, self.count)
        return ChannelView(name, copy, self._lease, partial(write, array, copy))

    def __setitem__(self, name: str, values: npt.ArrayLike | ChannelView) -> None:
        self[name][...] = values

    def numpy(self, name: str) -> npt.NDArray[Any]:
        """A bare view (a copy on a GPU) for code that drops it before particles can move.

        Held over a step it shows the memory of something else: users are given `particles[name]`.
        """
        return view(self.array(name), self.count)

    def end_views(self) -> None:
        """Arrays have moved, or will: views that were given out until now raise an error."""
        self._lease.over = True
        self._lease = Lease(self._lease.written)
        self._copies.clear()

    def take_written(self) -> bool:
        """Whether anything was written through views since this was asked last."""
        written, self._lease.written = self._lease.written, False
        return written

    def __contains__(self, name: object) -> bool:
        return name in self.kinds

    def __iter__(self) -> Iterator[str]:
        return iter(self.kinds)

    def __len__(self) -> int:
        return self.count

    def __repr__(self) -> str:
        return f"<Particles: {self.count} of {', '.join(self.kinds)}>"

    def append(self, channels: Mapping[str, npt.ArrayLike]) -> None:
        """Adds particles with fresh ids; channels that are not given start at rest."""
        given = {name: np.asarray(values) for name, values in channels.items()}
        added = len(given["position"])
        if self.next_id + added > MOST_IDS:
            raise ViscoilError(
                f"{self.next_id} particles were born, and ids end at {MOST_IDS - 1}: start a new "
                "run from the last frame, or use a larger simulation.spacing"
            )
        self.end_views()
        self.reserve(self.count + added)
        ids = np.arange(self.next_id, self.next_id + added)
        for name, kind in self.kinds.items():
            shape = (added,) if kind.width == 1 else (added, kind.width)
            values = given.get(name, ids if name == "id" else kind.rest)
            write(self._arrays[name], np.broadcast_to(values, shape), self.count)
        for connections in self.connections.values():
            connections.clear_rows(self.count, self.count + added)
        self.count += added
        self.next_id += added
        self._most_since = max(self._most_since, self.count)

    def save(self) -> tuple[dict[str, npt.NDArray[Any]], dict[str, Any]]:
        """Copies of all arrays, and what else `load` needs to make the same particles of them."""
        arrays = {name: np.array(self.numpy(name)) for name in self}
        arrays["alive"] = np.array(view(self.alive, self.count))
        kinds = {n: [k.dtype, k.width, k.unit, k.rest] for n, k in self.kinds.items()}
        for name, connections in self.connections.items():
            saved = connections.save(self.count)
            arrays |= {f"{CONNECTIONS}{name}.{part}": array for part, array in saved.items()}
        lists = {name: [c.room, c.width] for name, c in self.connections.items()}
        return arrays, {"next_id": self.next_id, "channels": kinds, "connections": lists}

    @classmethod
    def load(
        cls, arrays: Mapping[str, npt.NDArray[Any]], metadata: Mapping[str, Any]
    ) -> "Particles":
        """The particles that were saved; raises KeyError where something is not there."""
        count = len(arrays["position"])
        kept = metadata["channels"]
        particles = cls(count)
        particles.require({name: _kind_of(*saved) for name, saved in kept.items()})
        if count:
            particles.append({name: arrays[name] for name in kept})
            write(particles.alive, arrays["alive"])
        particles.next_id = metadata["next_id"]
        for name, (room, width) in metadata.get("connections", {}).items():
            begin = f"{CONNECTIONS}{name}."
            own = {n.removeprefix(begin): a for n, a in arrays.items() if n.startswith(begin)}
            particles.connect(name, room, width).load(own)
        particles.update_connections()
        return particles

    def become(self, other: "Particles") -> None:
        """Takes over the particles of another store, which must not be used after that."""
        self.end_views()
        vars(self).update(vars(other))

    def reserve(self, count: int) -> None:
        """Makes room for `count` particles, in capacity steps."""
        if count > self.capacity:
            self._resize(max(count, int(self.capacity * GROWTH), SMALLEST_CAPACITY))

    def reorder(self, order: Any, survivors: int) -> None:
        """Puts particle order[i] at place i and cuts off everything past `survivors`."""
        self.end_views()
        for name, kind in self.kinds.items():
            spare = self.spare(kind)
            _GATHER[kind.dtype, kind.width](survivors, order, self._arrays[name], spare)
            self._spare[kind.dtype, kind.width] = self._arrays[name]
            self._arrays[name] = spare
        for connections in self.connections.values():
            connections.reorder(order, survivors)
        if survivors < self.count:
            self.alive.fill(1)
        self.count = survivors

    def spare(self, kind: ChannelKind) -> Any:
        """The array that `reorder` will write next for channels of this kind; scratch until then."""
        spare = self._spare.get((kind.dtype, kind.width))
        if spare is None or spare.shape[0] < self.capacity:
            spare = self._spare[kind.dtype, kind.width] = kind.allocate(self.capacity)
        return spare

    def trim(self) -> None:
        """Shrinks arrays of which less than half was in use at `PATIENCE` calls, one per sort, in a row.

        A flow that comes and goes faster than that keeps its memory; one that does not pays for a
        copy of its channels once in so many steps at most.
        """
        self.end_views()  # also if nothing has moved, so that no script works by luck
        self._most_since = max(self._most_since, self.count)
        if self.capacity <= SMALLEST_CAPACITY or 2 * self._most_since >= self.capacity:
            self._sorts_half_empty = self._most_since = 0
            return
        self._sorts_half_empty += 1
        if self._sorts_half_empty == PATIENCE:
            self._resize(max(int(self._most_since * GROWTH), SMALLEST_CAPACITY))

    def _resize(self, capacity: int) -> None:
        """Moves channel by channel, so that only one of them is ever there twice."""
        self.end_views()
        self._sorts_half_empty = self._most_since = 0
        self._spare.clear()
        self.capacity = capacity
        for name, kind in self.kinds.items():
            grown = kind.allocate(capacity)
            write(grown, self.numpy(name))
            self._arrays[name] = grown
        for connections in self.connections.values():
            connections.resize(capacity, self.count)
        alive = self._mask(capacity)
        write(alive, view(self.alive, self.count))
        self.alive = alive

    @staticmethod
    def _mask(capacity: int) -> Any:
        mask = scalars(qd.i32, capacity)
        mask.fill(1)
        return mask


def _kind_of(dtype: str, width: int, unit: str, rest: Any = 0.0) -> ChannelKind:
    """As it was saved; earlier versions did not save what a channel is at rest."""
    return ChannelKind(dtype, width, unit, tuple(rest) if isinstance(rest, list) else rest)
