"""NumPy archives: one array per channel, for programs of one's own."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from viscoil.core.files import write_whole
from viscoil.exchange.format import Format
from viscoil.exchange.points import RADIUS, channel, check_names, radii
from viscoil.snapshots.snapshot import Snapshot


class NpzFormat(Format):
    """Arrays `position`, `radius` and the channels; `time`, `frame`, `spacing`, `material_names`.

    Channels keep their types. Nothing is pickled.
    """

    name = "npz"
    suffix = ".npz"
    opened_by = "NumPy (np.load)"

    def write(self, path: Path, snapshot: Snapshot, channels: Sequence[str]) -> None:
        of_the_frame: dict[str, Any] = {
            "time": np.float64(snapshot.time),
            "frame": np.int64(snapshot.frame),
            "spacing": np.float64(snapshot.spacing),
            "material_names": np.array([look.name for look in snapshot.materials], np.str_),
        }
        own = {name: np.asarray(channel(snapshot, name)) for name in ("position", *channels)}
        check_names(["position", RADIUS, *channels, *of_the_frame], self.name)
        with write_whole(path) as file:
            np.savez(file, allow_pickle=False, **own, radius=radii(snapshot), **of_the_frame)
