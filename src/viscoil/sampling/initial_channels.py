"""Channels that fluids and emitters write into the particles they make."""

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from viscoil.particles.store import ChannelKind, Particles
from viscoil.scene import Emitter, Fluid, Scene

ROOM_TEMPERATURE = 293.15  # K
UNITS = {"color": "1", "temperature": "K", "lifespan": "s"}

Floats = NDArray[np.float32]
Ids = NDArray[np.int64]


class ItemChannels:
    """The channels beside the standard ones that a scene's particles have, and their first values."""

    def __init__(self, scene: Scene) -> None:
        self._scene = scene
        self._widths = scene.channel_widths
        air = scene.simulation.ambient_temperature
        self._ambient = ROOM_TEMPERATURE if air is None else air

    def add_to(self, particles: Particles) -> None:
        for name, width in self._widths.items():
            particles.add_channel(name, ChannelKind("f32", width, UNITS.get(name, "1")))

    def of_fluids(self, sources: NDArray[np.int32]) -> dict[str, Floats]:
        """Of the first particles; `sources` tells which fluid each is from, in ascending order."""
        counts = np.bincount(sources, minlength=len(self._scene.fluids))
        ends = np.cumsum(counts)
        parts = [
            self.of(fluid, np.arange(end - count, end))
            for fluid, count, end in zip(self._scene.fluids, counts, ends, strict=True)
        ]
        return {name: np.concatenate([part[name] for part in parts]) for name in self._widths}

    def of(self, item: Fluid | Emitter, ids: Ids) -> dict[str, Floats]:
        """Of particles with these ids that the item makes."""
        return {name: self._values(name, width, item, ids) for name, width in self._widths.items()}

    def _values(self, name: str, width: int, item: Fluid | Emitter, ids: Ids) -> Floats:
        if name == "lifespan":
            return self._lifespans(item, ids)
        value: float | Sequence[float] | None = (item.channels or {}).get(name, 0.0)
        if name == "color":
            value = item.color or self._scene.materials[item.material].color
        elif name == "temperature":
            value = self._ambient if item.temperature is None else item.temperature
        shape = (len(ids),) if width == 1 else (len(ids), width)
        return np.array(np.broadcast_to(np.asarray(value, dtype=np.float32), shape))

    def _lifespans(self, item: Fluid | Emitter, ids: Ids) -> Floats:
        if item.max_age is None:
            return np.full(len(ids), np.inf, dtype=np.float32)
        spread = item.max_age_spread * (2.0 * random_shares(ids, self._scene.simulation.seed) - 1.0)
        return (item.max_age + spread).astype(np.float32)


def random_shares(ids: Ids | Iterable[int], seed: int) -> NDArray[np.float64]:
    """Numbers from 0 to 1 that depend on the ids and the seed alone (splitmix64)."""
    salt = seed * 0xD1B54A32D192ED03 % 2**64
    z = np.asarray(ids, dtype=np.uint64) + np.uint64(salt)
    z = (z + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    z = z ^ (z >> np.uint64(31))
    return np.asarray((z >> np.uint64(11)).astype(np.float64) * 2.0**-53)
