"""The preview as an output of a run: a picture per frame, and the latest under a fixed name."""

from collections.abc import Mapping
from pathlib import Path

from viscoil.core.files import reporting
from viscoil.outputs.frames import frame_name
from viscoil.outputs.png import write_png
from viscoil.preview import Camera, render
from viscoil.snapshots.snapshot import Snapshot


class PreviewOutput:
    """Draws every frame to `folder`/frame_000123.png and the latest one to `latest` as well."""

    def __init__(
        self,
        folder: Path | str,
        latest: Path | str,
        camera: Camera,
        width: int = 960,
        height: int = 540,
    ) -> None:
        self.folder = Path(folder)
        self.latest = Path(latest)
        self.camera = camera
        self.width = width
        self.height = height
        with reporting(self.folder):
            self.folder.mkdir(parents=True, exist_ok=True)

    def frame(self, snapshot: Snapshot) -> None:
        picture = render(snapshot, self.camera, self.width, self.height)
        write_png(self.folder / frame_name(snapshot.frame, ".png"), picture)
        write_png(self.latest, picture)

    def step(self, stats: Mapping[str, object]) -> None:
        """Frames are all that is drawn."""

    def close(self) -> None:
        """Every picture is on the disk already."""
