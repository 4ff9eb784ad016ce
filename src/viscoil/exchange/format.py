"""What a file format offers, so that exporting is the same for all of them."""

from abc import abstractmethod
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from viscoil.outputs.frames import frame_name
from viscoil.runs.run import Run
from viscoil.scene import Scene
from viscoil.snapshots.snapshot import Array, Snapshot, check_places


class Format(Protocol):
    """A kind of file that a frame of particles is written to.

    A format is a small value that other processes can be given. It keeps nothing between frames: what
    ties frames together (a time series, a stage) is made by `finish` from the scene and from the
    files of the frames, so that frames can be written in any order, by several processes, and in
    runs that were interrupted. Formats derive from this class, which answers for most of them what
    they need not say.
    """

    name: str
    """What a user calls it, such as "usd"."""
    suffix: str
    """Of a frame's file, with its dot."""
    opened_by: str
    """Programs that open it, for the sentence at the end: "ParaView", "Houdini"."""

    def prepare(self) -> None:
        """Raises MissingExtraError, which names the pip command, without the library it needs."""

    def holds(self, name: str, values: Array) -> bool:
        """Whether files of this format have a place for a channel like this one."""
        return True

    def for_run(self, run: Run, frames: Sequence[int]) -> "tuple[Format, str]":
        """The format as it suits frames of a run, from which more than particles may come along.

        The text tells what does not, and why; it is empty where there is nothing to tell.
        """
        return self, ""

    @property
    def frame_files(self) -> Sequence[str]:
        """Names of a frame's files with a * for its number, that of the particles first."""
        return (f"frame_*{self.suffix}",)

    def ties(self, scene: Scene) -> Sequence[str]:
        """Names of what is beside the frames when the export is finished."""
        return ()

    def write_frame(self, folder: Path, snapshot: Snapshot, channels: Sequence[str]) -> None:
        """Writes a frame under its name, as `write` does, unless particles in it are nowhere."""
        check_places(snapshot)
        self.write(folder / frame_name(snapshot.frame, self.suffix), snapshot, channels)

    @abstractmethod
    def write(self, path: Path, snapshot: Snapshot, channels: Sequence[str]) -> None:
        """Writes a frame, whole or not at all; `channels` are those beside the position.

        Raises RunError for a channel that is not there, or numbers that the format cannot hold.
        """

    def finish(self, folder: Path, scene: Scene, frames: Sequence[int]) -> Path:
        """Ties the frames together that are in the folder, and returns what a user opens."""
        return folder
