"""What an output has to offer: it sees frames as plain arrays, and knows no solver."""

from collections.abc import Mapping
from typing import Protocol, runtime_checkable

from viscoil.snapshots.snapshot import Snapshot


@runtime_checkable
class Output(Protocol):
    """Something that a run feeds: every frame, every step, and the end."""

    def frame(self, snapshot: Snapshot) -> None:
        """Takes a finished frame."""

    def step(self, stats: Mapping[str, object]) -> None:
        """Takes the figures of a finished time step."""

    def close(self) -> None:
        """Finishes what can only be finished once the run has ended."""
