"""An output that writes frames for another program while the simulation runs."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from viscoil.core.errors import RunError
from viscoil.exchange.format import Format
from viscoil.exchange.points import channel
from viscoil.outputs.frames import DEFAULT_CHANNELS
from viscoil.runs.export_folder import ExportFolder
from viscoil.scene import Scene
from viscoil.snapshots.snapshot import Snapshot


class ExportOutput:
    """Writes each frame, and ties all frames in the folder together once the run ends.

    From the files on the disk, so that a run that was interrupted and resumed gives the whole.
    """

    def __init__(
        self, folder: Path | str, form: Format, scene: Scene, channels: Sequence[str]
    ) -> None:
        self.folder = ExportFolder(folder)
        self.channels = tuple(channels)
        self._form = form
        self._scene = scene
        self.folder.begin(scene, form.name, form.frame_files, form.ties(scene))

    def frame(self, snapshot: Snapshot) -> None:
        self._form.write_frame(self.folder.path, snapshot, self._chosen(snapshot))

    def step(self, stats: Mapping[str, object]) -> None:
        """Frames are all that is written."""

    def close(self) -> None:
        frames = self.folder.frames
        if frames:
            self._form.finish(self.folder.path, self._scene, frames)

    def _chosen(self, snapshot: Snapshot) -> list[str]:
        names = with_size(self.channels, snapshot.channels)
        left_out = channels_without_place(self._form, snapshot, names)
        if left_out and self.channels != DEFAULT_CHANNELS:
            raise cannot_hold(self._form, left_out)
        return [name for name in names if name not in left_out]


def with_size(names: Sequence[str], known: Mapping[str, object] | Sequence[str]) -> list[str]:
    """Channels beside the position, each once; where particles differ in size, it comes along."""
    size = ["size"] if "size" in known else []
    return [name for name in dict.fromkeys([*names, *size]) if name != "position"]


def channels_without_place(form: Format, snapshot: Snapshot, names: Sequence[str]) -> list[str]:
    """The channels that the format has no place for."""
    return [name for name in names if not form.holds(name, channel(snapshot, name))]


def cannot_hold(form: Format, names: Sequence[str]) -> RunError:
    """What to say of channels that a user named and the format has no place for."""
    return RunError(
        f'"{form.name}" has no place for the channel {", ".join(names)}: leave it out of channels, '
        "or choose another format"
    )
