"""A film of pictures: H.264 in MP4, made by the ffmpeg that imageio-ffmpeg brings."""

import contextlib
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO

from viscoil.core.errors import MissingExtraError, RunError
from viscoil.core.files import replacing
from viscoil.outputs.png import picture_size, telling_of
from viscoil.snapshots.snapshot import Snapshot

# Transparent pixels are shown on black. 4:2:0 needs even sides. Without BT.709 in the file, players
# choose the colour space by the picture's size.
FILTERS = (
    "format=gbrap,premultiply=inplace=1,format=gbrp,"
    "pad=ceil(iw/2)*2:ceil(ih/2)*2,scale=out_color_matrix=bt709:out_range=tv"
)
ENCODING = (
    *("-vf", FILTERS),
    *("-colorspace", "bt709", "-color_primaries", "bt709"),
    *("-color_trc", "bt709", "-color_range", "tv"),
    *("-c:v", "libx264", "-preset", "medium", "-crf", "17"),
    *("-pix_fmt", "yuv420p", "-movflags", "+faststart"),
)


class VideoOutput:
    """Films the preview pictures once the run ends.

    From the pictures on the disk rather than frame by frame, so that a run that was interrupted
    and resumed still gives the whole film.
    """

    def __init__(self, pictures: Path | str, path: Path | str, fps: float) -> None:
        self.pictures = Path(pictures)
        self.path = Path(path)
        self.fps = fps

    def frame(self, snapshot: Snapshot) -> None:
        """The preview output draws the frame."""

    def step(self, stats: Mapping[str, object]) -> None:
        """Frames are all that is shown."""

    def close(self) -> None:
        pictures = sorted(self.pictures.glob("frame_*.png"))
        if pictures:
            write_video(pictures, self.path, self.fps)


def write_video(pictures: Sequence[Path], path: Path | str, fps: float) -> None:
    """Makes a film of PNG files of any program; the file appears only once it is whole."""
    if not pictures:
        raise RunError("there are no pictures to make a video of: run the scene with a preview")
    path = Path(path)
    with replacing(path) as part, tempfile.TemporaryFile() as log:
        encoder = _start(part, fps, log)
        try:
            _feed(encoder, pictures)
        except BaseException:
            encoder.kill()
            encoder.communicate()  # closes the pipe, and waits
            raise
        if encoder.wait() != 0:
            raise RunError(f"the video {path} was not written: {_last_line(log)}")


def _start(path: Path, fps: float, log: IO[bytes]) -> "subprocess.Popen[bytes]":
    source = f"-f image2pipe -c:v png -framerate {fps:g} -i -".split()
    command = [_ffmpeg(), "-y", "-v", "error", "-xerror", *source, *ENCODING]
    return subprocess.Popen(
        [*command, str(path)], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=log
    )


def _ffmpeg() -> str:
    try:
        import imageio_ffmpeg

        return str(imageio_ffmpeg.get_ffmpeg_exe())
    except (ImportError, RuntimeError) as error:
        raise MissingExtraError(
            "videos need ffmpeg, which is not here: pip install imageio-ffmpeg"
        ) from error


def _feed(encoder: "subprocess.Popen[bytes]", pictures: Sequence[Path]) -> None:
    """Sends all pictures; an encoder that stops early is noticed by its exit code."""
    assert encoder.stdin is not None
    first = None
    with contextlib.suppress(BrokenPipeError):
        for path in pictures:
            with telling_of(path):
                data = path.read_bytes()
                size = picture_size(data)
            if size != (first := first or size):
                raise RunError(
                    f"{path} has another size than {pictures[0]} ({size[0]} x {size[1]} and "
                    f"{first[0]} x {first[1]} pixels): remove the pictures of the earlier run"
                )
            encoder.stdin.write(data)
    with contextlib.suppress(BrokenPipeError):
        encoder.stdin.close()


def _last_line(log: IO[bytes]) -> str:
    log.seek(0)
    lines = log.read().decode(errors="replace").split("\n")
    return next((line.strip() for line in reversed(lines) if line.strip()), "ffmpeg failed")
