"""Simulates and renders the pictures of the README: readme_pictures.py [NAME ...].

Runs go to runs/images and are used again if they are there; pictures go to docs/images, halved, which
keeps them small enough for the repository.
"""

import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from viscoil.cli import main as viscoil
from viscoil.outputs.png import read_png, write_png

ROOT = Path(__file__).parent.parent
RUNS = ROOT / "runs/images"
SIZE, SAMPLES = "1280x720", "16"  # four pixels, and so 64 samples, become one


@dataclass(frozen=True)
class Picture:
    """A frame of a scene, and how it is shown."""

    scene: str
    frame: int
    changes: tuple[str, ...] = ()
    """As --set takes them."""
    options: tuple[str, ...] = ()
    """Of `viscoil render`."""


PICTURES = {
    "honey": Picture("honey", 62, ("simulation.spacing=0.0015",), ("--zoom", "1.6")),
    "cream": Picture("cream-waffle", 115, (), ("--zoom", "1.3")),
    "palette": Picture("palette", 10),
    "bunny": Picture("bunny-dam", 7, ("simulation.spacing=0.0085",), ("--zoom", "1.4")),
}


def make(name: str, picture: Picture) -> None:
    """Simulate up to the frame, unless that was done, and draw it."""
    run = RUNS / name
    if not (run / "frames" / f"frame_{picture.frame:06d}.npz").exists():
        changes = [part for change in picture.changes for part in ("--set", change)]
        frames = ["--frames", str(picture.frame), "--out", str(run), "--overwrite"]
        _command("run", picture.scene, *frames, *changes)
    shown = ["--frames", str(picture.frame), "--size", SIZE, "--samples", SAMPLES, "--overwrite"]
    _command("render", str(run), *shown, *picture.options)
    source = run / "render" / f"frame_{picture.frame:06d}.png"
    write_png(ROOT / "docs/images" / f"{name}.png", halved(read_png(source)))


def _command(*arguments: str) -> None:
    if code := viscoil(arguments):
        sys.exit(code)


def halved(picture: np.ndarray) -> np.ndarray:
    """A picture of half the size, each pixel the mean of four."""
    height, width = (side // 2 * 2 for side in picture.shape[:2])
    blocks = picture[:height, :width].reshape(height // 2, 2, width // 2, 2, 3)
    return np.asarray(np.rint(blocks.mean(axis=(1, 3))), dtype=np.uint8)


def main() -> int:
    """Make the pictures that are named, or all of them."""
    for name in sys.argv[1:] or PICTURES:
        make(name, PICTURES[name])
    return 0


if __name__ == "__main__":
    sys.exit(main())
